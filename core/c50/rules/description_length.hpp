// The description length of a rule set, which selection minimises.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "c50/cases.hpp"
#include "c50/information.hpp"

namespace clausewise::c50 {

// The weight of a bit of the rules relative to a bit of the exceptions.
inline constexpr double kTheoryDiscount = 0.23;

// The length of a rule subset and of its exceptions, in hundredths of a bit.
class DescriptionLength {
public:
    DescriptionLength(const Cases& cases, float tree_errors, LogFactorial& log_factorial)
        : n_cases_(static_cast<float>(cases.n_rows())), log_factorial_(log_factorial) {
        const auto k = static_cast<float>(cases.n_classes);
        float rate = ((tree_errors + k) - 1.0f) / static_cast<float>(cases.n_rows() + cases.n_classes);
        if (rate > 0.5f) rate = 0.45f;
        bits_per_error_ = static_cast<float>(-lg(rate));
        bits_per_hit_ = static_cast<float>(-lg(1.0 - rate));
        bits_per_class_ = lg(static_cast<double>(cases.n_classes) - 1.0);
    }
    double operator()(std::size_t n_rules, double rule_bits, float errors) {
        const double theory = kTheoryDiscount * std::max(0.0, rule_bits - log_factorial_(n_rules));
        const float error_bits = errors * bits_per_error_;
        const float hit_bits = (n_cases_ - errors) * bits_per_hit_;
        return std::rint(100.0 * (theory + error_bits + hit_bits + errors * bits_per_class_));
    }
    // least(n_rules, rule_bits) + least_per_error() * errors is a lower bound on the length: it allows for the rounding
    // to single precision and by rint.
    double least(std::size_t n_rules, double rule_bits) {
        const double theory = kTheoryDiscount * (rule_bits - log_factorial_(n_rules));
        return 100.0 * (theory + (1.0 - kRounding) * n_cases_ * bits_per_hit_) - 1.0;
    }
    double least_per_error() const {
        return 100.0 * ((1.0 - kRounding) * (bits_per_error_ + bits_per_class_) - (1.0 + kRounding) * bits_per_hit_);
    }

private:
    static constexpr double kRounding = 1.0 / (1 << 20);  // eight times the rounding of two single-precision operations

    float n_cases_;
    LogFactorial& log_factorial_;
    float bits_per_error_, bits_per_hit_;
    double bits_per_class_;
};

}  // namespace clausewise::c50
