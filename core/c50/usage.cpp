#include "c50/usage.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>

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

// Calls visit(column, row) for the columns of the conditions of every rule and the rows that it covers.
template <class Visit>
void for_each_use(const Trial& trial, Visit&& visit) {
    for (const FormedRule& rule : trial.classifier.rules)
        rule.covered.for_each([&](std::int32_t place) {
            const auto row =
                static_cast<std::size_t>(trial.rows.empty() ? place : trial.rows[static_cast<std::size_t>(place)]);
            for (const Condition& condition : rule.conditions) visit(static_cast<std::size_t>(condition.column), row);
        });
}

void mark(Words& rows, std::size_t row) { rows[row >> 6] |= std::uint64_t{1} << (row & 63); }

}  // namespace

std::vector<double> usage_of_trial(const Cases& cases, const Trial& trial, bool has_rules,
                                   const std::vector<float>& weights) {
    const std::size_t n_columns = cases.matrix.n_columns();
    if (!has_rules) {
        std::vector<double> usage(n_columns, 0.0);
        std::vector<bool> above(n_columns, false);
        add_tree_usage(trial.classifier.tree, 0, above, usage);
        return usage;
    }
    UsageOfTrials usage(cases);
    usage.add(cases, trial, has_rules);
    return usage.weights(weights);
}

UsageOfTrials::UsageOfTrials(const Cases& cases)
    : n_rows_(cases.n_rows()), used_(cases.matrix.n_columns(), Words(words_for(cases.n_rows()), 0)) {}

void UsageOfTrials::add(const Cases& cases, const Trial& trial, bool has_rules) {
    if (has_rules) {
        for_each_use(trial, [&](std::size_t column, std::size_t row) { mark(used_[column], row); });
        return;
    }
    std::vector<std::int32_t> rows(n_rows_);
    std::iota(rows.begin(), rows.end(), 0);
    add_path(cases, trial.classifier.tree, 0, rows);
}

void UsageOfTrials::add_path(const Cases& cases, const Tree& tree, std::int32_t id,
                             const std::vector<std::int32_t>& rows) {
    const Node& node = tree[id];
    if (node.is_leaf()) return;
    cases.cancel.check();
    const auto index = static_cast<std::size_t>(node.test.column);
    const Column& column = cases.matrix.column(index);
    std::vector<std::vector<std::int32_t>> members(node.children.size());
    for (const std::int32_t row : rows) {
        mark(used_[index], static_cast<std::size_t>(row));
        const std::int32_t branch = node.test.branch_of(column.ranks[static_cast<std::size_t>(row)]);
        if (branch >= 0) members[static_cast<std::size_t>(branch)].push_back(row);
        else if (branch == kMissingBranch)
            for (auto& list : members) list.push_back(row);
    }
    for (std::size_t b = 0; b < members.size(); ++b) {
        add_path(cases, tree, node.children[b], members[b]);
        members[b] = {};
    }
}

std::vector<double> UsageOfTrials::weights(const std::vector<float>& weights) const {
    std::vector<double> usage;
    for (const Words& rows : used_) {
        double sum = 0.0;
        for_each_bit(rows.data(), rows.size(),
                     [&](std::size_t row) { sum += weights.empty() ? 1.0 : static_cast<double>(weights[row]); });
        usage.push_back(sum);
    }
    return usage;
}

}  // namespace clausewise::c50
