#include "compact/logistic_objective.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "base/bits.hpp"

namespace clausewise::compact {
namespace {

// Rows whose class is all but certain have less curvature than this; with many classes most rows are such. They count
// in the gradient, but hardly in the second derivatives, which only set the length of a step.
constexpr double kNegligible = 1e-6;

// exp(x) for x ≤ 0, to about 1e-15: 2^k · exp(r) with x = k ln 2 + r and a polynomial for exp(r). Unlike libm's
// function it can be vectorised, and exponentials take most of the time of a fit.
inline double exp_of_negative(double x) {
    constexpr double kShift = 6755399441055744.0;  // 1.5 · 2^52: adding it rounds to a whole number, in the low bits
    const double bounded = x > -700.0 ? x : -700.0;
    const double shifted = bounded * 1.4426950408889634 + kShift;
    const double k = shifted - kShift;
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

}  // namespace

void LogisticObjective::move_to(const std::vector<double>& weights) {
    if (groups_.offset.empty()) margin_.assign(groups_.size(), weights[n_ - 1]);
    else
        for (std::size_t g = 0; g < groups_.size(); ++g) margin_[g] = groups_.offset[g] + weights[n_ - 1];
    const IndexLists& listed = groups_.groups_of_rule;
    for (std::size_t r = 0; r + 1 < n_; ++r)
        for (const std::uint32_t* g = listed.begin(r); g < listed.end(r); ++g) margin_[*g] += weights[r];
    write_powers(margin_.data(), margin_.size(), power_.data(), probability_.data());
    for (std::size_t g = 0; g < groups_.size(); ++g)
        slope_[g] = groups_.weight[g] * probability_[g] - groups_.positive[g];
}

double LogisticObjective::objective(const std::vector<double>& weights) const {
    double sum = 0.0;
    for (std::size_t r = 0; r + 1 < n_; ++r) sum += weights[r] * weights[r];
    sum *= penalty_ / 2;
    for (std::size_t g = 0; g < groups_.size(); ++g)
        sum +=
            groups_.weight[g] * (std::max(margin_[g], 0.0) + std::log1p(power_[g])) - groups_.positive[g] * margin_[g];
    return sum;
}

void LogisticObjective::gradient(const std::vector<double>& weights, std::vector<double>& gradient) const {
    gradient.assign(n_, 0.0);
    const IndexLists& listed = groups_.groups_of_rule;
    for (std::size_t r = 0; r + 1 < n_; ++r) {
        double sum = penalty_ * weights[r];
        for (const std::uint32_t* g = listed.begin(r); g < listed.end(r); ++g) sum += slope_[*g];
        gradient[r] = sum;
    }
    for (const double slope : slope_) gradient[n_ - 1] += slope;
}

void LogisticObjective::second_derivatives(std::vector<double>& gram) const {
    gram.assign(n_ * n_, 0.0);
    const std::size_t last = n_ - 1;
    double total = 1e-9;  // the intercept is not penalised; this keeps the matrix regular
    for (std::size_t g = 0; g < groups_.size(); ++g) total += curvature(g);
    gram[last * n_ + last] = total;
    for (std::size_t r = 0; r < last; ++r) {
        double* const row = &gram[r * n_];
        for (const std::uint32_t* g = groups_.groups_of_rule.begin(r); g < groups_.groups_of_rule.end(r); ++g) {
            const double own = curvature(*g);
            if (own < kNegligible) continue;
            for (const std::uint32_t* other = groups_.rules_of_group.begin(*g); *other < r; ++other) row[*other] += own;
            row[r] += own;
        }
        gram[last * n_ + r] = row[r];
        row[r] += penalty_;
    }
}

}  // namespace clausewise::compact
