// For one row: the rules that fire, and the near misses (rules with exactly one failing term) with that term.
#pragma once

#include <cstdint>
#include <vector>

#include "coverage/premises.hpp"

namespace clausewise::coverage {

// In the order of the rules.
struct RowExplanation {
    std::vector<std::int32_t> fired;
    std::vector<std::int32_t> near;
    std::vector<std::int64_t> failing_terms;  // one per near miss
};

// Near misses of many rows would take more memory than anything else about them, so they are found row by row, when
// somebody asks. That needs no tables: a rule is left at its second failing term.
RowExplanation explain_row(const Premises& premises, const double* row);

}  // namespace clausewise::coverage
