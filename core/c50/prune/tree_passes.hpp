// Small passes over a whole tree, before and after pruning.
#pragma once

#include <cstddef>
#include <vector>

#include "c50/cases.hpp"
#include "c50/tree.hpp"

namespace clausewise::c50 {

// With costs, instead: true class counts, and the class of least expected cost.
void relabel_by_costs(const Cases& cases, Tree& tree);
// Merges branches of discrete tests that lead to the same (App. A of the behaviour's description).
void tidy_discrete_tests(Tree& tree, bool use_subsets, bool for_rules);
// Every threshold becomes the greatest training value not above it.
void snap_thresholds(const Matrix& matrix, Tree& tree);

// Per column: does a test of the tree ask for it?
std::vector<bool> tested_columns(const Tree& tree, std::size_t n_columns);

}  // namespace clausewise::c50
