// Pruning of the whole tree: the weakest subtrees go first.
#pragma once

#include <cstdint>

#include "c50/cases.hpp"
#include "c50/tree.hpp"

namespace clausewise::c50 {

// Sets errors and leaf counts from the training cases. The first step of global pruning.
void relabel_with_training_errors(Tree& tree, std::int32_t id = 0);
// Replaces the weakest subtrees by leaves while the errors stay within one standard error.
void prune_globally(const Cases& cases, Tree& tree);

}  // namespace clausewise::c50
