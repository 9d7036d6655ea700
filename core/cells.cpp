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
    struct Part {
        std::int32_t parent, rule, child;
        std::int32_t child_rule;    // the rule for which `child` was made
        std::int32_t n_rows;
    };
    std::vector<Part> parts(cases.n_classes, Part{-1, -1, -1, -1, 0});
    std::vector<std::int32_t> part_of_row(cases.classes.begin(), cases.classes.end());
    for (const std::int32_t part : part_of_row) ++parts[static_cast<std::size_t>(part)].n_rows;
    for (std::int32_t r = 0; r < static_cast<std::int32_t>(rules.size()); ++r) {
        cases.control.check();
        rules[static_cast<std::size_t>(r)].covered.for_each([&](std::int32_t row) {
            std::int32_t& part = part_of_row[static_cast<std::size_t>(row)];
            const auto old = static_cast<std::size_t>(part);
            if (parts[old].child_rule != r) {
                parts[old].child_rule = r;
                parts[old].child = static_cast<std::int32_t>(parts.size());
                parts.push_back({part, r, -1, -1, 0});
            }
            part = parts[old].child;
            --parts[old].n_rows;
            ++parts[static_cast<std::size_t>(part)].n_rows;
        });
    }

    Cells cells;
    for (std::size_t p = 0; p < parts.size(); ++p) {
        if (parts[p].n_rows == 0) continue;
        cells.weight.push_back(static_cast<float>(parts[p].n_rows));
        auto root = static_cast<std::int32_t>(p);
        for (; parts[static_cast<std::size_t>(root)].parent >= 0; root = parts[static_cast<std::size_t>(root)].parent)
            cells.rules_of_cell.members.push_back(parts[static_cast<std::size_t>(root)].rule);
        cells.rules_of_cell.end_list();
        cells.label.push_back(static_cast<std::uint16_t>(root));
    }
    cells.cells_of_rule = cells.rules_of_cell.transposed(rules.size());
    return cells;
}

}  // namespace clausewise
