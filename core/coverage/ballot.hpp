// The votes of rules.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace clausewise::coverage {

// The votes of a rule set. Totals start at the base votes, each rule that fires adds its vote to its class, and finally
// every class total is divided by its divisor.
//
// Sums are doubles for all schemes: counts and per-mille votes are integers, which doubles add exactly (below 2^53),
// and fitted weights are added in the order of the rules. A share is one division of two such integers, correctly
// rounded, so equal shares compare equal here, in NumPy and in SQL.
struct Ballot {
    std::vector<std::int32_t> class_of_rule;
    std::vector<double> vote_of_rule;
    std::vector<double> divisor_of_class;
    std::vector<double> base_of_class;
    bool divides =
        std::any_of(divisor_of_class.begin(), divisor_of_class.end(), [](double divisor) { return divisor != 1.0; });

    std::size_t n_classes() const { return divisor_of_class.size(); }
};

}  // namespace clausewise::coverage
