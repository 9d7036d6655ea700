// Errors weighted by costs, for three and more classes.
#pragma once

#include <vector>

#include "c50/cases.hpp"

namespace clausewise::c50 {

// The cost of each error [predicted × actual] relative to the expected cost; empty without costs, and for two classes.
std::vector<float> relative_error_costs(const Cases& cases, const std::vector<double>& class_totals);

}  // namespace clausewise::c50
