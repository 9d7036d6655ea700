// Rows on which the same rules fire, merged into groups.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "compact/weighted_cover.hpp"

namespace clausewise::compact {

// Pairs of a rule and a group of rows, listed by one of the two.
struct IndexLists {
    std::vector<std::uint32_t> starts;
    std::vector<std::uint32_t> entries;

    const std::uint32_t* begin(std::size_t key) const { return entries.data() + starts[key]; }
    const std::uint32_t* end(std::size_t key) const { return entries.data() + starts[key + 1]; }
};

// Groups of rows that get the same margin whatever the weights.
struct RowGroups {
    IndexLists rules_of_group;
    IndexLists groups_of_rule;
    std::vector<double> weight;    // Σ row_weight
    std::vector<double> positive;  // Σ row_weight · target
    std::vector<double> offset;    // empty if there are no offsets
    std::vector<std::uint32_t> group_of_row;

    std::size_t size() const { return weight.size(); }
};

// Merges rows on which the same rules fire.
RowGroups group_rows(const FiredBits& fired, const double* target, const double* row_weight);
// For rows with offsets of their own, which cannot be merged.
RowGroups one_group_per_row(const FiredBits& fired, const double* target, const double* row_weight,
                            const double* offset);

}  // namespace clausewise::compact
