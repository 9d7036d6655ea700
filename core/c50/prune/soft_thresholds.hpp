// Fuzzy thresholds: the bounds between which a threshold is not crisp.
#pragma once

#include "c50/cases.hpp"
#include "c50/tree.hpp"

namespace clausewise::c50 {

// Sets the bounds of every threshold test, and the errors of its nodes as a side effect. Weights may change in the last
// place, where values are missing.
void soften_thresholds(Cases& cases, Tree& tree);

}  // namespace clausewise::c50
