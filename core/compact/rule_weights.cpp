#include "compact/rule_weights.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/bits.hpp"

namespace clausewise::compact {
namespace {

constexpr int kMaxHalvings = 30;
// Curvature of rows of which the class is all but certain: with many classes most rows are, for each of them. They
// count in the gradient, but hardly in the second derivatives, which only say how far to step.
constexpr double kNegligible = 1e-6;

// Pairs of rules and groups of rows, listed by one of the two.
struct Listed {
    std::vector<std::uint32_t> starts;
    std::vector<std::uint32_t> entries;

    const std::uint32_t* begin(std::size_t key) const { return entries.data() + starts[key]; }
    const std::uint32_t* end(std::size_t key) const { return entries.data() + starts[key + 1]; }
};

// The same pairs listed by the other of the two.
Listed inverted(const Listed& listed, std::size_t n_keys, std::size_t n_others) {
    Listed other{std::vector<std::uint32_t>(n_others + 1), std::vector<std::uint32_t>(listed.entries.size())};
    for (const std::uint32_t entry : listed.entries) ++other.starts[entry + 1];
    for (std::size_t i = 0; i < n_others; ++i) other.starts[i + 1] += other.starts[i];
    std::vector<std::uint32_t> next(other.starts.begin(), other.starts.end() - 1);
    for (std::size_t key = 0; key < n_keys; ++key)
        for (const std::uint32_t* entry = listed.begin(key); entry < listed.end(key); ++entry)
            other.entries[next[*entry]++] = static_cast<std::uint32_t>(key);
    return other;
}

// Rows that no weights can tell apart, as one.
struct Groups {
    Listed rules_of_group;
    Listed groups_of_rule;
    std::vector<double> weight;    // Σ row_weight
    std::vector<double> positive;  // Σ row_weight · target
    std::vector<double> offset;    // empty: none
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

// With an offset of its own every row is a group.
Groups ungrouped(const FiredBits& fired, const double* target, const double* row_weight, const double* offset) {
    const std::size_t n_words = words_for(fired.n_rows);
    Groups groups;
    groups.weight.assign(row_weight, row_weight + fired.n_rows);
    groups.offset.assign(offset, offset + fired.n_rows);
    groups.positive.resize(fired.n_rows);
    groups.group_of_row.resize(fired.n_rows);
    for (std::size_t row = 0; row < fired.n_rows; ++row) {
        groups.positive[row] = row_weight[row] * target[row];
        groups.group_of_row[row] = static_cast<std::uint32_t>(row);
    }
    groups.groups_of_rule.starts.push_back(0);
    for (std::size_t rule = 0; rule < fired.n_rules; ++rule) {
        auto& rows = groups.groups_of_rule.entries;
        for_each_bit(fired.words + rule * n_words, n_words,
                     [&](std::size_t row) { rows.push_back(static_cast<std::uint32_t>(row)); });
        groups.groups_of_rule.starts.push_back(static_cast<std::uint32_t>(rows.size()));
    }
    groups.rules_of_group = inverted(groups.groups_of_rule, fired.n_rules, fired.n_rows);
    return groups;
}

Groups grouped(const FiredBits& fired, const double* target, const double* row_weight) {
    const std::size_t n_parts = words_for(fired.n_rules);
    const std::vector<std::uint64_t> patterns = by_row(fired);
    Groups groups;
    groups.group_of_row.resize(fired.n_rows);
    groups.rules_of_group.starts.push_back(0);
    // Open addressing with at most half of the places taken; a place holds a row of the group, plus one.
    std::size_t n_places = 16;
    while (n_places < 2 * fired.n_rows) n_places *= 2;
    std::vector<std::uint32_t> table(n_places);
    for (std::size_t row = 0; row < fired.n_rows; ++row) {
        const std::uint64_t* const own = patterns.data() + row * n_parts;
        std::uint64_t hash = 0;
        for (std::size_t p = 0; p < n_parts; ++p) hash = mixed(hash ^ own[p]) + p;
        std::size_t place = hash & (n_places - 1);
        while (table[place] != 0 && !std::equal(own, own + n_parts, patterns.data() + (table[place] - 1) * n_parts))
            place = (place + 1) & (n_places - 1);
        if (table[place] == 0) {
            table[place] = static_cast<std::uint32_t>(row + 1);
            groups.group_of_row[row] = static_cast<std::uint32_t>(groups.size());
            groups.weight.push_back(0.0);
            groups.positive.push_back(0.0);
            auto& rules = groups.rules_of_group.entries;
            for_each_bit(own, n_parts, [&](std::size_t rule) { rules.push_back(static_cast<std::uint32_t>(rule)); });
            groups.rules_of_group.starts.push_back(static_cast<std::uint32_t>(rules.size()));
        }
        const std::uint32_t group = groups.group_of_row[table[place] - 1];
        groups.group_of_row[row] = group;
        groups.weight[group] += row_weight[row];
        groups.positive[group] += row_weight[row] * target[row];
    }
    groups.groups_of_rule = inverted(groups.rules_of_group, groups.size(), fired.n_rules);
    return groups;
}

// exp(x) for x ≤ 0, to about 1e-15: 2^k · exp(r) with x = k ln 2 + r and a polynomial for exp(r). In operations that
// the compiler does several at a time; libm's function does one, and fits are mostly exponentials.
inline double exp_of_negative(double x) {
    constexpr double shift = 6755399441055744.0;  // 1.5 · 2^52: adding it rounds to a whole number, in the low bits
    const double bounded = x > -700.0 ? x : -700.0;
    const double shifted = bounded * 1.4426950408889634 + shift;
    const double k = shifted - shift;
    const double r = (bounded - k * 0.693147180369123816490) - k * 1.90821492927058770002e-10;
    double p = 1.0 / 6227020800.0;
    p = p * r + 1.0 / 479001600.0;
    p = p * r + 1.0 / 39916800.0;
    p = p * r + 1.0 / 3628800.0;
    p = p * r + 1.0 / 362880.0;
    p = p * r + 1.0 / 40320.0;
    p = p * r + 1.0 / 5040.0;
    p = p * r + 1.0 / 720.0;
    p = p * r + 1.0 / 120.0;
    p = p * r + 1.0 / 24.0;
    p = p * r + 1.0 / 6.0;
    p = p * r + 0.5;
    p = p * r + 1.0;
    p = p * r + 1.0;
    std::uint64_t bits;
    std::memcpy(&bits, &shifted, sizeof bits);
    bits = (bits + 1023) << 52;
    double power_of_two;
    std::memcpy(&power_of_two, &bits, sizeof bits);
    return p * power_of_two;
}

// exp(−|margin|) and 1 / (1 + exp(−margin)).
CLAUSEWISE_CLONES
void write_powers(const double* margin, std::size_t n, double* power, double* probability) {
    for (std::size_t i = 0; i < n; ++i) {
        const double x = margin[i];
        const double e = exp_of_negative(x > 0 ? -x : x);
        power[i] = e;
        probability[i] = (x > 0 ? 1.0 : e) / (1.0 + e);
    }
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
        : groups_(groups),
          n_(n_rules + 1),
          penalty_(penalty),
          margin_(groups.size()),
          power_(groups.size()),
          probability_(groups.size()),
          slope_(groups.size()) {}

    void move_to(const std::vector<double>& weights) {
        if (groups_.offset.empty()) margin_.assign(groups_.size(), weights[n_ - 1]);
        else
            for (std::size_t g = 0; g < groups_.size(); ++g) margin_[g] = groups_.offset[g] + weights[n_ - 1];
        const Listed& listed = groups_.groups_of_rule;
        for (std::size_t r = 0; r + 1 < n_; ++r)
            for (const std::uint32_t* g = listed.begin(r); g < listed.end(r); ++g) margin_[*g] += weights[r];
        write_powers(margin_.data(), margin_.size(), power_.data(), probability_.data());
        for (std::size_t g = 0; g < groups_.size(); ++g)
            slope_[g] = groups_.weight[g] * probability_[g] - groups_.positive[g];
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
        const Listed& listed = groups_.groups_of_rule;
        for (std::size_t r = 0; r + 1 < n_; ++r) {
            double sum = penalty_ * weights[r];
            for (const std::uint32_t* g = listed.begin(r); g < listed.end(r); ++g) sum += slope_[*g];
            gradient[r] = sum;
        }
        for (const double slope : slope_) gradient[n_ - 1] += slope;
    }

    // Lower triangle.
    void second_derivatives(std::vector<double>& gram) const {
        gram.assign(n_ * n_, 0.0);
        const std::size_t last = n_ - 1;
        double total = 1e-9;  // the intercept is free; this keeps the matrix regular
        for (std::size_t g = 0; g < groups_.size(); ++g) total += curvature(g);
        gram[last * n_ + last] = total;
        for (std::size_t r = 0; r < last; ++r) {
            double* const row = &gram[r * n_];
            for (const std::uint32_t* g = groups_.groups_of_rule.begin(r); g < groups_.groups_of_rule.end(r); ++g) {
                const double own = curvature(*g);
                if (own < kNegligible) continue;
                for (const std::uint32_t* other = groups_.rules_of_group.begin(*g); *other < r; ++other)
                    row[*other] += own;
                row[r] += own;
            }
            gram[last * n_ + r] = row[r];
            row[r] += penalty_;
        }
    }

    const std::vector<double>& margin() const { return margin_; }

private:
    double curvature(std::size_t g) const { return groups_.weight[g] * probability_[g] * (1.0 - probability_[g]); }

    const Groups& groups_;
    std::size_t n_;
    double penalty_;
    std::vector<double> margin_;
    std::vector<double> power_;  // exp(−|margin|)
    std::vector<double> probability_;
    std::vector<double> slope_;  // of the loss by the margin
};

double product(const std::vector<double>& a, const std::vector<double>& b) {
    double sum = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum;
}

}  // namespace

FittedWeights fit_weights(const FiredBits& fired, const double* target, const double* row_weight, const double* offset,
                          double penalty, const std::vector<double>& start, std::size_t max_steps, double tolerance,
                          const CancelToken& cancel) {
    const Groups groups = offset ? ungrouped(fired, target, row_weight, offset) : grouped(fired, target, row_weight);
    const std::size_t n = fired.n_rules + 1;
    Newton newton(groups, fired.n_rules, penalty);
    FittedWeights fit;
    fit.weights = start;
    newton.move_to(fit.weights);
    std::vector<double> gradient, gradient_after, step, factor, tried(n);
    newton.gradient(fit.weights, gradient);
    for (std::size_t n_steps = 0;; ++n_steps) {
        cancel.check();
        if (n_steps == max_steps && n_steps > 0) break;
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

std::vector<double> weighted_cover(const FiredBits& fired, const double* row_weight, const CancelToken& cancel) {
    const std::size_t n_words = words_for(fired.n_rows);
    std::vector<double> sums(fired.n_rules);
    for (std::size_t rule = 0; rule < fired.n_rules; ++rule) {
        cancel.check();
        for_each_bit(fired.words + rule * n_words, n_words, [&](std::size_t row) { sums[rule] += row_weight[row]; });
    }
    return sums;
}

std::vector<double> weighted_overlap(const FiredBits& a, const FiredBits& b, const double* row_weight,
                                     const CancelToken& cancel) {
    const std::size_t n_words = words_for(a.n_rows);
    std::vector<double> sums(a.n_rules * b.n_rules);
    for (std::size_t i = 0; i < a.n_rules; ++i)
        for (std::size_t j = 0; j < b.n_rules; ++j) {
            cancel.check();
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

}  // namespace clausewise::compact
