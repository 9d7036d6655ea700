#include "c50/usage.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace clausewise::c50 {
namespace {

void add_tree_usage(const Tree& tree, std::int32_t id, std::vector<bool>& above, std::vector<double>& usage) {
    const Node& node = tree[id];
    if (node.is_leaf()) return;
    const auto column = static_cast<std::size_t>(node.test.column);
    const bool is_new = !above[column];
    if (is_new) {
        above[column] = true;
        usage[column] += node.size;
    }
    for (const std::int32_t child : node.children) add_tree_usage(tree, child, above, usage);
    if (is_new) above[column] = false;
}

}  // namespace

std::vector<double> tree_usage(const Tree& tree, std::size_t n_columns) {
    std::vector<double> usage(n_columns, 0.0);
    std::vector<bool> above(n_columns, false);
    add_tree_usage(tree, 0, above, usage);
    return usage;
}

std::vector<double> rule_usage(const Cases& cases, const std::vector<FormedRule>& rules) {
    std::vector<double> usage(cases.matrix.n_columns(), 0.0);
    std::vector<std::vector<std::size_t>> rules_of(usage.size());
    for (std::size_t r = 0; r < rules.size(); ++r)
        for (const Condition& condition : rules[r].conditions) {
            auto& list = rules_of[static_cast<std::size_t>(condition.column)];
            if (list.empty() || list.back() != r) list.push_back(r);
        }
    std::vector<bool> is_counted(cases.n_rows());
    for (std::size_t a = 0; a < usage.size(); ++a) {
        if (rules_of[a].empty()) continue;
        cases.cancel.check();
        std::fill(is_counted.begin(), is_counted.end(), false);
        for (const std::size_t r : rules_of[a])
            rules[r].covered.for_each([&](std::int32_t row) {
                if (is_counted[static_cast<std::size_t>(row)]) return;
                is_counted[static_cast<std::size_t>(row)] = true;
                usage[a] += cases.weight(row);
            });
    }
    return usage;
}

}  // namespace clausewise::c50
