// Weights of rules: a logistic regression on which rules fire, with a ridge penalty.
#pragma once

#include <cstddef>
#include <vector>

#include "base/cancel.hpp"
#include "compact/weighted_cover.hpp"

namespace clausewise::compact {

struct FittedWeights {
    std::vector<double> weights;  // one per rule, then the intercept
    std::vector<double> margin;   // per row: offset + intercept + weights of the rules that fire
    std::vector<double> gram;     // (n_rules + 1)²: second derivatives where the last step began, penalty included
    double objective = 0.0;
};

// Minimises Σ row_weight · log-loss(target, offset + intercept + Σ weights) + penalty / 2 · Σ weight² by Newton's
// method from `start`, in at most `max_steps` steps, until a further step is expected to lower it by less than
// `tolerance`. `target` lies in [0, 1]; `offset` may be null, and then rows on which the same rules fire are merged.
FittedWeights fit_weights(const FiredBits& fired, const double* target, const double* row_weight, const double* offset,
                          double penalty, const std::vector<double>& start, std::size_t max_steps, double tolerance,
                          const CancelToken& cancel);

}  // namespace clausewise::compact
