// How much of the training data each column is used for.
#pragma once

#include <vector>

#include "c50/cases.hpp"
#include "c50/rules/formed_rules.hpp"
#include "c50/tree.hpp"

namespace clausewise::c50 {

// Per column: the weight of the training rows whose path through the tree tests it.
std::vector<double> tree_usage(const Tree& tree, std::size_t n_columns);
// Per column: the weight of the training rows covered by a rule with a condition on it.
std::vector<double> rule_usage(const Cases& cases, const std::vector<FormedRule>& rules);

}  // namespace clausewise::c50
