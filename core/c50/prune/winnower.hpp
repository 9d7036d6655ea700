// Winnowing: drops columns that do not help on held-out cases before the final tree is grown.
#pragma once

#include <vector>

#include "c50/cases.hpp"
#include "c50/information.hpp"
#include "c50/prune/pessimistic_errors.hpp"

namespace clausewise::c50 {

// Returns which columns stay in use. Restores the case weights that it changes. `merges_by_label` is as in
// tidy_discrete_tests.
std::vector<bool> winnow(Cases& cases, const CountInformation& information, const PessimisticErrors& extra_errors,
                         bool use_subsets, bool merges_by_label, std::size_t n_threads);

}  // namespace clausewise::c50
