// Boosting: later classifiers see cases with larger weights where earlier ones were wrong.
#pragma once

#include <atomic>
#include <cstddef>

#include "c50/fit.hpp"

namespace clausewise::c50 {

// Builds the trials of a model, one or more, and counts them in `n_done` if given.
void build_trials(Cases& cases, const Options& options, TrialBuilder& builder, Model& model,
                  std::atomic<std::size_t>* n_done);

}  // namespace clausewise::c50
