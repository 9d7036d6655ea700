// What a search for counterfactuals works on: the values that each feature may change to, and how the rules vote.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/bits.hpp"

namespace clausewise::counterfactuals {

// The axes of the features that rules test or that may change. The thresholds of all rules cut an axis into bins, and a
// decision depends only on the bins of a row.
struct Axes {
    std::vector<std::int64_t>
        bin_starts;  // per axis, and at the end; the last two bins are for unknown and missing values
    std::vector<std::uint64_t> accepts;      // per bin, one bit per rule: its term on the feature, if any, holds here
    std::vector<std::int64_t> value_starts;  // per axis, and at the end
    std::vector<double> values;              // what a feature may change to; bins ascend within an axis
    std::vector<std::int32_t> bin_of_value;  // counted from the first bin of the axis
    std::vector<std::int8_t> direction;  // +1: only for rows with a smaller value, -1: with a larger one, 0: for all
    std::vector<double> units;           // per axis, the change that costs 1; 0 for categories, which always cost 1

    std::size_t n_axes() const { return units.size(); }
    std::size_t n_bins() const { return static_cast<std::size_t>(bin_starts.back()); }
    std::int64_t n_bins(std::size_t axis) const { return bin_starts[axis + 1] - bin_starts[axis]; }

    // Throws std::invalid_argument unless the arrays fit together.
    void check(std::size_t n_rules) const;
};

// The votes of the rules. Where a rule with priority fires, these rules decide alone, without start votes.
struct Votes {
    std::vector<std::int32_t> class_of_rule;
    std::vector<double> vote_of_rule;
    Words has_priority;                                      // one bit per rule
    std::vector<double> start, divisors, priority_divisors;  // per class
    std::int32_t default_class;

    std::size_t n_rules() const { return class_of_rule.size(); }
    std::size_t n_classes() const { return divisors.size(); }

    // The class that wins if exactly these rules fire. Sums run in the order of the rules, as they do in prediction, so
    // that both agree to the last bit. `totals` is scratch space, one number per class.
    std::int32_t decide(const std::uint64_t* fires, std::vector<double>& totals) const;

    void check() const;
};

}  // namespace clausewise::counterfactuals
