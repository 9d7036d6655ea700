// Rows on which the same rules fire, as one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "compact/weighted_cover.hpp"

namespace clausewise::compact {

// Pairs of rules and groups of rows, listed by one of the two.
struct Listed {
    std::vector<std::uint32_t> starts;
    std::vector<std::uint32_t> entries;

    const std::uint32_t* begin(std::size_t key) const { return entries.data() + starts[key]; }
    const std::uint32_t* end(std::size_t key) const { return entries.data() + starts[key + 1]; }
};

// Rows that no weights can tell apart, as one.
struct RowGroups {
    Listed rules_of_group;
    Listed groups_of_rule;
    std::vector<double> weight;    // Σ row_weight
    std::vector<double> positive;  // Σ row_weight · target
    std::vector<double> offset;    // empty: none
    std::vector<std::uint32_t> group_of_row;

    std::size_t size() const { return weight.size(); }
};

// Without an offset: rows on which the same rules fire are one group.
RowGroups group_rows(const FiredBits& fired, const double* target, const double* row_weight);
// With an offset of its own every row is a group.
RowGroups one_group_per_row(const FiredBits& fired, const double* target, const double* row_weight,
                            const double* offset);

}  // namespace clausewise::compact
