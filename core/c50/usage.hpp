// How much of the training data each column is used for.
#pragma once

#include <vector>

#include "base/bits.hpp"
#include "c50/cases.hpp"
#include "c50/trial.hpp"

namespace clausewise::c50 {

// Per column: the weight of the training rows whose path through the tree tests it, or that are covered by a rule with
// a condition on it. All rows weigh 1 if `weights` is empty.
std::vector<double> usage_of_trial(const Cases& cases, const Trial& trial, bool has_rules,
                                   const std::vector<float>& weights);

// The same for several trials: rows for which any of them uses the column.
class UsageOfTrials {
public:
    explicit UsageOfTrials(const Cases& cases);
    void add(const Cases& cases, const Trial& trial, bool has_rules);
    // Per column.
    std::vector<double> weights(const std::vector<float>& weights) const;

private:
    void add_path(const Cases& cases, const Tree& tree, std::int32_t id, const std::vector<std::int32_t>& rows);

    std::size_t n_rows_;
    std::vector<Words> used_;  // per column, one bit per row
};

}  // namespace clausewise::c50
