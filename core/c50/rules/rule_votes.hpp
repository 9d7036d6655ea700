// What a finished rule set says of the training cases.
#pragma once

#include <cstdint>
#include <vector>

#include "c50/cases.hpp"
#include "c50/prune/training_classifier.hpp"
#include "c50/rules/formed_rules.hpp"

namespace clausewise::c50 {

// Per row: the class with the most votes (the default class and then the lowest on ties), and the vote of its most
// specific rule. `order` are the rows that the covers refer to by position; empty if these are the rows themselves.
std::vector<Verdict> rule_verdicts(const Cases& cases, const std::vector<FormedRule>& rules, std::int32_t default_label,
                                   const std::vector<std::int32_t>& order);

}  // namespace clausewise::c50
