#include "cells.hpp"

#include <algorithm>

namespace clausewise {

Lists Lists::transposed(std::size_t n_lists) const {
    Lists result;
    result.starts.assign(n_lists + 1, 0);
    result.members.resize(members.size());
    for (const std::int32_t m : members) ++result.starts[static_cast<std::size_t>(m) + 1];
    for (std::size_t i = 0; i < n_lists; ++i) result.starts[i + 1] += result.starts[i];
    std::vector<std::size_t> next(result.starts.begin(), result.starts.end() - 1);
    for (std::size_t i = 0; i < size(); ++i)
        for_each(i, [&](std::size_t m) { result.members[next[m]++] = static_cast<std::int32_t>(i); });
    return result;
}

Cells Cells::of(const Cases& cases, const std::vector<FormedRule>& rules) {
    return cases.has_unit_weights() ? merged(cases, rules) : one_per_row(cases, rules);
}

Cells Cells::one_per_row(const Cases& cases, const std::vector<FormedRule>& rules) {
    Cells cells;
    cells.label = cases.classes;
    cells.weight = cases.weights;
    for (const FormedRule& rule : rules) {
        rule.covered.for_each([&](std::int32_t row) { cells.cells_of_rule.members.push_back(row); });
        cells.cells_of_rule.end_list();
    }
    cells.rules_of_cell = cells.cells_of_rule.transposed(cells.size());
    return cells;
}

// Starts with one part per class; each rule divides the parts that it covers in part.
Cells Cells::merged(const Cases& cases, const std::vector<FormedRule>& rules) {
    // Per part: where it came from, and the part that the newest rule makes of it. The latter is all that the loop over
    // rows looks at, so it is kept apart.
    struct Origin {
        std::int32_t parent, rule;
    };
    struct Offspring {
        std::int32_t rule, part;
    };
    std::vector<Origin> origins(cases.n_classes, Origin{-1, -1});
    std::vector<Offspring> offspring(cases.n_classes, Offspring{-1, -1});
    std::vector<std::int32_t> part_of_row(cases.classes.begin(), cases.classes.end());
    for (std::int32_t r = 0; r < static_cast<std::int32_t>(rules.size()); ++r) {
        cases.control.check();
        rules[static_cast<std::size_t>(r)].covered.for_each([&](std::int32_t row) {
            std::int32_t& part = part_of_row[static_cast<std::size_t>(row)];
            Offspring& newest = offspring[static_cast<std::size_t>(part)];
            if (newest.rule == r) {
                part = newest.part;
                return;
            }
            const auto added = static_cast<std::int32_t>(offspring.size());
            newest = {r, added};
            origins.push_back({part, r});
            offspring.push_back({-1, -1});
            part = added;
        });
    }
    std::vector<std::int32_t> n_rows(origins.size(), 0);
    for (const std::int32_t part : part_of_row) ++n_rows[static_cast<std::size_t>(part)];

    Cells cells;
    for (std::size_t p = 0; p < origins.size(); ++p) {
        if (n_rows[p] == 0) continue;
        cells.weight.push_back(static_cast<float>(n_rows[p]));
        auto root = static_cast<std::int32_t>(p);
        for (; origins[static_cast<std::size_t>(root)].parent >= 0;
             root = origins[static_cast<std::size_t>(root)].parent)
            cells.rules_of_cell.members.push_back(origins[static_cast<std::size_t>(root)].rule);
        cells.rules_of_cell.end_list();
        cells.label.push_back(static_cast<std::uint16_t>(root));
    }
    cells.cells_of_rule = cells.rules_of_cell.transposed(rules.size());
    return cells;
}

}  // namespace clausewise
