// From candidate rules to the subset with the shortest description of the training data.
#pragma once

#include <vector>

#include "c50/cases.hpp"
#include "c50/information.hpp"
#include "c50/rules/formed_rules.hpp"

namespace clausewise::c50 {

struct SelectedRules {
    std::vector<FormedRule> rules;
    std::int32_t default_label = 0;
    std::vector<std::int32_t> rows;  // as in FormedRules
};

SelectedRules select_rules(const Cases& cases, const std::vector<double>& class_totals, FormedRules formed,
                           float tree_errors, LogFactorial& log_factorial, const std::vector<float>& error_costs);

}  // namespace clausewise::c50
