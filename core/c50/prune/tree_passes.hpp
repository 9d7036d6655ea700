// Small passes over a whole tree, before and after pruning.
#pragma once

#include <cstddef>
#include <vector>

#include "c50/cases.hpp"
#include "c50/tree.hpp"

namespace clausewise::c50 {

// With costs: restores unscaled class counts, and labels every node with the class of least expected cost.
void relabel_by_costs(const Cases& cases, Tree& tree);
// Drops values that cannot arrive at a discrete test, and merges leaf branches: those of subset tests that predict the
// same class, and those of multiway tests that are empty or, if so, predict the same class.
void tidy_discrete_tests(Tree& tree, std::size_t n_columns, bool merges_by_label);
// Lowers every threshold to the greatest training value that does not exceed it.
void snap_thresholds(const Matrix& matrix, Tree& tree);

// Per column: does the tree test it?
std::vector<bool> tested_columns(const Tree& tree, std::size_t n_columns);

}  // namespace clausewise::c50
