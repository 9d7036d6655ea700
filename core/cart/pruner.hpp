// Cost-complexity pruning (Breiman et al., 1984).
#pragma once

#include "base/cancel.hpp"
#include "cart/tree.hpp"

namespace clausewise::cart {

// Writes to every node of a grown tree the strength of pruning at which it becomes a leaf.
void find_pruning_strengths(Tree& tree, double total_weight, const CancelToken& cancel);

}  // namespace clausewise::cart
