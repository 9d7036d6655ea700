#include "rule_weights.hpp"

#include <algorithm>
#include <cmath>

#include "bits.hpp"

namespace clausewise {
namespace {

constexpr int kMaxHalvings = 30;

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

// The objective and its derivatives at some weights. Exponentials are most of the work, so the objective itself, which
// needs logarithms as well, is only computed when it is asked for.
class Newton {
public:
    Newton(const Groups& groups, std::size_t n_rules, double penalty)
        : groups_(groups), n_(n_rules + 1), penalty_(penalty), margin_(groups.size()), power_(groups.size()) {}

    void move_to(const std::vector<double>& weights) {
        for (std::size_t g = 0; g < groups_.size(); ++g) {
            double margin = groups_.offset[g] + weights[n_ - 1];
            for (std::uint32_t i = groups_.starts[g]; i < groups_.starts[g + 1]; ++i)
                margin += weights[groups_.rules[i]];
            margin_[g] = margin;
            power_[g] = std::exp(-std::abs(margin));
        }
    }

    double objective(const std::vector<double>& weights) const {
        double sum = 0.0;
        for (std::size_t r = 0; r + 1 < n_; ++r) sum += weights[r] * weights[r];
        sum *= penalty_ / 2;
        for (std::size_t g = 0; g < groups_.size(); ++g)
            sum += groups_.weight[g] * (std::max(margin_[g], 0.0) + std::log1p(power_[g])) -
                   groups_.positive[g] * margin_[g];
        return sum;
    }

    void gradient(const std::vector<double>& weights, std::vector<double>& gradient) const {
        gradient.assign(n_, 0.0);
        for (std::size_t g = 0; g < groups_.size(); ++g) {
            const double slope = groups_.weight[g] * probability(g) - groups_.positive[g];
            for (std::uint32_t i = groups_.starts[g]; i < groups_.starts[g + 1]; ++i)
                gradient[groups_.rules[i]] += slope;
            gradient[n_ - 1] += slope;
        }
        for (std::size_t r = 0; r + 1 < n_; ++r) gradient[r] += penalty_ * weights[r];
    }

    // Lower triangle.
    void second_derivatives(std::vector<double>& gram) const {
        gram.assign(n_ * n_, 0.0);
        const std::size_t last = n_ - 1;
        for (std::size_t g = 0; g < groups_.size(); ++g) {
            const double p = probability(g);
            const double curvature = groups_.weight[g] * p * (1.0 - p);
            const std::uint16_t* const begin = groups_.rules.data() + groups_.starts[g];
            const std::uint16_t* const end = groups_.rules.data() + groups_.starts[g + 1];
            for (const std::uint16_t* a = begin; a < end; ++a) {
                double* const row = &gram[*a * n_];
                for (const std::uint16_t* b = begin; b <= a; ++b) row[*b] += curvature;
                gram[last * n_ + *a] += curvature;
            }
            gram[last * n_ + last] += curvature;
        }
        for (std::size_t r = 0; r < last; ++r) gram[r * n_ + r] += penalty_;
        gram[last * n_ + last] += 1e-9;  // the intercept is free; this keeps the matrix regular
    }

    const std::vector<double>& margin() const { return margin_; }

private:
    double probability(std::size_t g) const {
        return margin_[g] > 0 ? 1.0 / (1.0 + power_[g]) : power_[g] / (1.0 + power_[g]);
    }

    const Groups& groups_;
    std::size_t n_;
    double penalty_;
    std::vector<double> margin_;
    std::vector<double> power_;  // exp(−|margin|)
};

double product(const std::vector<double>& a, const std::vector<double>& b) {
    double sum = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum;
}

}  // namespace

FittedWeights fit_weights(const FiredBits& fired, const double* target, const double* row_weight, const double* offset,
                          double penalty, const std::vector<double>& start, std::size_t max_steps, double tolerance,
                          const Control& control) {
    const Groups groups = grouped(fired, target, row_weight, offset);
    const std::size_t n = fired.n_rules + 1;
    Newton newton(groups, fired.n_rules, penalty);
    FittedWeights fit;
    fit.weights = start;
    newton.move_to(fit.weights);
    std::vector<double> gradient, gradient_after, step, factor, tried(n);
    newton.gradient(fit.weights, gradient);
    for (std::size_t n_steps = 0;; ++n_steps) {
        control.check();
        newton.second_derivatives(fit.gram);
        if (n_steps == max_steps) break;
        step = gradient;
        factor = fit.gram;
        solve_positive(factor, n, step);
        const double slope = product(gradient, step);
        if (slope <= 2 * tolerance) break;
        // The objective is convex: as long as it does not rise at the end of the step more steeply than it fell at its
        // beginning, the step is no longer than twice what would be best.
        int halvings = 0;
        for (double length = 1.0; halvings < kMaxHalvings; ++halvings, length /= 2) {
            for (std::size_t i = 0; i < n; ++i) tried[i] = fit.weights[i] - length * step[i];
            newton.move_to(tried);
            newton.gradient(tried, gradient_after);
            if (product(gradient_after, step) > -0.9 * slope) break;
        }
        if (halvings == kMaxHalvings) {
            newton.move_to(fit.weights);
            break;
        }
        fit.weights = tried;
        gradient.swap(gradient_after);
    }
    fit.objective = newton.objective(fit.weights);
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = i + 1; j < n; ++j) fit.gram[i * n + j] = fit.gram[j * n + i];
    fit.margin.resize(fired.n_rows);
    for (std::size_t row = 0; row < fired.n_rows; ++row) fit.margin[row] = newton.margin()[groups.group_of_row[row]];
    return fit;
}

std::vector<double> weighted_cover(const FiredBits& fired, const double* row_weight) {
    const std::size_t n_words = words_for(fired.n_rows);
    std::vector<double> sums(fired.n_rules);
    for (std::size_t rule = 0; rule < fired.n_rules; ++rule)
        for_each_bit(fired.words + rule * n_words, n_words, [&](std::size_t row) { sums[rule] += row_weight[row]; });
    return sums;
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
