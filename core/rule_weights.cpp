#include "rule_weights.hpp"

#include <algorithm>
#include <cmath>

#include "bits.hpp"

namespace clausewise {
namespace {

constexpr int kMaxSteps = 50;
constexpr int kMaxHalvings = 30;
// Newton's method stops when a further step promises less than this part of the objective.
constexpr double kTolerance = 1e-8;

// Rows that no weights can tell apart, as one: the rules that fire, and the weights of their rows.
struct Groups {
    std::vector<std::uint32_t> starts{0};
    std::vector<std::uint16_t> rules;
    std::vector<double> weight;    // Σ row_weight
    std::vector<double> positive;  // Σ row_weight · target
    std::vector<double> offset;
    std::vector<std::uint32_t> group_of_row;

    std::size_t size() const { return weight.size(); }
};

// Per row, which rules fire: n_rows × words_for(n_rules).
std::vector<std::uint64_t> by_row(const FiredBits& fired) {
    const std::size_t n_words = words_for(fired.n_rows), n_parts = words_for(fired.n_rules);
    std::vector<std::uint64_t> patterns(fired.n_rows * n_parts);
    std::uint64_t square[64];
    for (std::size_t part = 0; part < n_parts; ++part) {
        const std::size_t first = part * 64, n = std::min<std::size_t>(64, fired.n_rules - first);
        for (std::size_t w = 0; w < n_words; ++w) {
            for (std::size_t r = 0; r < 64; ++r) square[r] = r < n ? fired.words[(first + r) * n_words + w] : 0;
            transpose_64x64(square);
            const std::size_t n_here = std::min<std::size_t>(64, fired.n_rows - 64 * w);
            for (std::size_t i = 0; i < n_here; ++i) patterns[(64 * w + i) * n_parts + part] = square[i];
        }
    }
    return patterns;
}

std::uint64_t mixed(std::uint64_t hash) {
    hash ^= hash >> 32;
    hash *= 0xd6e8feb86659fd93u;
    return hash ^ hash >> 32;
}

Groups grouped(const FiredBits& fired, const double* target, const double* row_weight, const double* offset) {
    const std::size_t n_parts = words_for(fired.n_rules);
    const std::vector<std::uint64_t> patterns = by_row(fired);
    Groups groups;
    groups.group_of_row.resize(fired.n_rows);
    // Open addressing with at most half of the places taken; a place holds a row of the group, plus one.
    std::size_t n_places = 16;
    while (n_places < 2 * fired.n_rows) n_places *= 2;
    std::vector<std::uint32_t> table(offset ? 0 : n_places);
    for (std::size_t row = 0; row < fired.n_rows; ++row) {
        const std::uint64_t* const own = patterns.data() + row * n_parts;
        std::size_t place = 0;
        bool is_new = true;
        if (!offset) {
            std::uint64_t hash = 0;
            for (std::size_t p = 0; p < n_parts; ++p) hash = mixed(hash ^ own[p]) + p;
            for (place = hash & (n_places - 1); table[place] != 0; place = (place + 1) & (n_places - 1)) {
                const std::size_t other = table[place] - 1;
                if (std::equal(own, own + n_parts, patterns.data() + other * n_parts)) {
                    groups.group_of_row[row] = groups.group_of_row[other];
                    is_new = false;
                    break;
                }
            }
        }
        if (is_new) {
            if (!offset) table[place] = static_cast<std::uint32_t>(row + 1);
            groups.group_of_row[row] = static_cast<std::uint32_t>(groups.size());
            groups.weight.push_back(0.0);
            groups.positive.push_back(0.0);
            groups.offset.push_back(offset ? offset[row] : 0.0);
            for_each_bit(own, n_parts,
                         [&](std::size_t rule) { groups.rules.push_back(static_cast<std::uint16_t>(rule)); });
            groups.starts.push_back(static_cast<std::uint32_t>(groups.rules.size()));
        }
        const std::uint32_t group = groups.group_of_row[row];
        groups.weight[group] += row_weight[row];
        groups.positive[group] += row_weight[row] * target[row];
    }
    return groups;
}

// log(1 + exp(x)) without overflow.
double log_one_plus_exp(double x) { return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)); }

// L Lᵀ = matrix in place (lower triangle), then the solution of matrix · x = right in `right`.
void solve_positive(std::vector<double>& matrix, std::size_t n, std::vector<double>& right) {
    for (std::size_t j = 0; j < n; ++j) {
        double* const row_j = &matrix[j * n];
        for (std::size_t k = 0; k < j; ++k) row_j[j] -= row_j[k] * row_j[k];
        // Rounding may leave a tiny negative number where rules are copies of each other and the penalty is small.
        row_j[j] = std::sqrt(std::max(row_j[j], 1e-12));
        for (std::size_t i = j + 1; i < n; ++i) {
            double* const row_i = &matrix[i * n];
            double value = row_i[j];
            for (std::size_t k = 0; k < j; ++k) value -= row_i[k] * row_j[k];
            row_i[j] = value / row_j[j];
        }
    }
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t k = 0; k < i; ++k) right[i] -= matrix[i * n + k] * right[k];
        right[i] /= matrix[i * n + i];
    }
    for (std::size_t i = n; i-- > 0;) {
        for (std::size_t k = i + 1; k < n; ++k) right[i] -= matrix[k * n + i] * right[k];
        right[i] /= matrix[i * n + i];
    }
}

class Newton {
public:
    Newton(const Groups& groups, std::size_t n_rules, double penalty)
        : groups_(groups), n_(n_rules + 1), penalty_(penalty), margin_(groups.size()) {}

    double objective(const std::vector<double>& weights) {
        double sum = 0.0;
        for (std::size_t r = 0; r + 1 < n_; ++r) sum += weights[r] * weights[r];
        sum *= penalty_ / 2;
        for (std::size_t g = 0; g < groups_.size(); ++g) {
            double margin = groups_.offset[g] + weights[n_ - 1];
            for (std::uint32_t i = groups_.starts[g]; i < groups_.starts[g + 1]; ++i)
                margin += weights[groups_.rules[i]];
            margin_[g] = margin;
            sum += groups_.weight[g] * log_one_plus_exp(margin) - groups_.positive[g] * margin;
        }
        return sum;
    }

    // First and second derivatives at the weights that `objective` was last asked for.
    void derivatives(const std::vector<double>& weights, std::vector<double>& gradient,
                     std::vector<double>& gram) const {
        gradient.assign(n_, 0.0);
        gram.assign(n_ * n_, 0.0);
        const std::size_t last = n_ - 1;
        for (std::size_t g = 0; g < groups_.size(); ++g) {
            const double probability = 1.0 / (1.0 + std::exp(-margin_[g]));
            const double slope = groups_.weight[g] * probability - groups_.positive[g];
            const double curvature = groups_.weight[g] * probability * (1.0 - probability);
            const std::uint16_t* const begin = groups_.rules.data() + groups_.starts[g];
            const std::uint16_t* const end = groups_.rules.data() + groups_.starts[g + 1];
            for (const std::uint16_t* a = begin; a < end; ++a) {
                gradient[*a] += slope;
                double* const row = &gram[*a * n_];
                for (const std::uint16_t* b = begin; b <= a; ++b) row[*b] += curvature;
                gram[last * n_ + *a] += curvature;
            }
            gradient[last] += slope;
            gram[last * n_ + last] += curvature;
        }
        for (std::size_t r = 0; r < last; ++r) {
            gradient[r] += penalty_ * weights[r];
            gram[r * n_ + r] += penalty_;
        }
        gram[last * n_ + last] += 1e-9;
    }

    const std::vector<double>& margin() const { return margin_; }

private:
    const Groups& groups_;
    std::size_t n_;
    double penalty_;
    std::vector<double> margin_;
};

}  // namespace

FittedWeights fit_weights(const FiredBits& fired, const double* target, const double* row_weight, const double* offset,
                          double penalty, const std::vector<double>& start, const Control& control) {
    const Groups groups = grouped(fired, target, row_weight, offset);
    const std::size_t n = fired.n_rules + 1;
    Newton newton(groups, fired.n_rules, penalty);
    FittedWeights fit;
    fit.weights = start;
    fit.objective = newton.objective(fit.weights);
    std::vector<double> step, factor, tried(n);
    for (int iteration = 0;; ++iteration) {
        control.check();
        newton.derivatives(fit.weights, step, fit.gram);
        if (iteration == kMaxSteps) break;
        const std::vector<double> gradient = step;
        factor = fit.gram;
        solve_positive(factor, n, step);
        double promised = 0.0;
        for (std::size_t i = 0; i < n; ++i) promised += gradient[i] * step[i];
        if (promised <= kTolerance * (1.0 + fit.objective)) break;
        double length = 1.0, objective = 0.0;
        int halvings = 0;
        for (; halvings < kMaxHalvings; ++halvings, length /= 2) {
            for (std::size_t i = 0; i < n; ++i) tried[i] = fit.weights[i] - length * step[i];
            objective = newton.objective(tried);
            if (objective < fit.objective) break;
        }
        if (halvings == kMaxHalvings) {
            newton.objective(fit.weights);  // margins of the weights that stay
            break;
        }
        fit.weights = tried;
        fit.objective = objective;
    }
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = i + 1; j < n; ++j) fit.gram[i * n + j] = fit.gram[j * n + i];
    fit.margin.resize(fired.n_rows);
    for (std::size_t row = 0; row < fired.n_rows; ++row) fit.margin[row] = newton.margin()[groups.group_of_row[row]];
    return fit;
}

std::vector<double> weighted_overlap(const FiredBits& a, const FiredBits& b, const double* row_weight) {
    const std::size_t n_words = words_for(a.n_rows);
    std::vector<double> sums(a.n_rules * b.n_rules);
    for (std::size_t i = 0; i < a.n_rules; ++i)
        for (std::size_t j = 0; j < b.n_rules; ++j) {
            const std::uint64_t* const first = a.words + i * n_words;
            const std::uint64_t* const second = b.words + j * n_words;
            double sum = 0.0;
            for (std::size_t w = 0; w < n_words; ++w)
                for (std::uint64_t word = first[w] & second[w]; word != 0; word &= word - 1)
                    sum += row_weight[w * 64 + static_cast<std::size_t>(lowest_bit(word))];
            sums[i * b.n_rules + j] = sum;
        }
    return sums;
}

}  // namespace clausewise
