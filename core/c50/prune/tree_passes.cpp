#include "c50/prune/tree_passes.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "c50/division.hpp"

namespace clausewise::c50 {
namespace {

// The values that pass a subset test further up.
struct PassedValues {
    std::int32_t column;
    std::vector<bool> values;
};

// The branch of values that did not occur keeps only those that pass the nearest test of the column above.
void drop_excluded_values(Tree& tree, std::int32_t id, std::vector<PassedValues>& above) {
    Test& test = tree[id].test;
    const bool is_subset = test.kind == TestKind::subset;
    if (is_subset && test.n_branches > test.n_formed_branches) {
        const auto nearest = std::find_if(above.rbegin(), above.rend(),
                                          [&](const PassedValues& each) { return each.column == test.column; });
        bool is_any_left = false;
        for (std::size_t v = 0; v < test.branch_of_value.size(); ++v) {
            if (test.branch_of_value[v] != test.n_formed_branches) continue;
            if (nearest == above.rend() || nearest->values[v]) is_any_left = true;
            else test.branch_of_value[v] = -1;
        }
        if (!is_any_left) {
            --test.n_branches;
            tree[id].children.pop_back();
        }
    }
    for (std::size_t b = 0; b < tree[id].children.size(); ++b) {
        if (is_subset) {
            PassedValues passed{test.column, {}};
            for (const std::int32_t branch : test.branch_of_value)
                passed.values.push_back(branch == static_cast<std::int32_t>(b));
            above.push_back(std::move(passed));
        }
        drop_excluded_values(tree, tree[id].children[b], above);
        if (is_subset) above.pop_back();
    }
}

// Merges leaf branches that are alike into the first of them.
template <class Alike>
void merge_branches(Tree& tree, std::int32_t id, Alike&& alike) {
    Node& node = tree[id];
    std::vector<std::int32_t> kept, new_place(node.children.size());
    for (std::size_t b = 0; b < node.children.size(); ++b) {
        const Node& branch = tree[node.children[b]];
        std::size_t home = kept.size();
        for (std::size_t k = 0; k < kept.size() && home == kept.size(); ++k)
            if (branch.is_leaf() && tree[kept[k]].is_leaf() && alike(tree[kept[k]], branch)) home = k;
        new_place[b] = static_cast<std::int32_t>(home);
        if (home == kept.size()) {
            kept.push_back(node.children[b]);
            continue;
        }
        Node& first = tree[kept[home]];
        for (std::size_t c = 0; c < first.distribution.size(); ++c) first.distribution[c] += branch.distribution[c];
        first.size += branch.size;
        first.errors += branch.errors;
    }
    for (std::int32_t& place : node.test.branch_of_value)
        if (place >= 0) place = new_place[static_cast<std::size_t>(place)];
    node.children = std::move(kept);
    node.test.n_branches = static_cast<std::int32_t>(node.children.size());
}

void merge_multiway(Tree& tree, std::int32_t id, bool for_rules) {
    const auto alike = [&](const Node& a, const Node& b) {
        if (!(a.size > 0.0f) || !(b.size > 0.0f)) return !(a.size > 0.0f) && !(b.size > 0.0f);
        return !for_rules && a.label == b.label;
    };
    // Branch 0, "not applicable", is never merged: remove it, and restore the node if nothing changed.
    Node before = tree[id];
    Node& node = tree[id];
    node.children.erase(node.children.begin());
    for (std::int32_t& place : node.test.branch_of_value) --place;
    merge_branches(tree, id, alike);
    if (tree[id].children.size() + 1 == before.children.size()) {
        tree[id] = std::move(before);
        return;
    }
    tree[id].test.kind = TestKind::subset;
    tree[id].test.n_formed_branches = tree[id].test.n_branches;
}

template <class Visit>
void visit_nodes(const Tree& tree, std::int32_t id, Visit&& visit) {
    visit(id);
    for (std::size_t b = 0; b < tree[id].children.size(); ++b) visit_nodes(tree, tree[id].children[b], visit);
}

}  // namespace

void relabel_by_costs(const Cases& cases, Tree& tree) {
    for (Node& node : tree.nodes) {
        if (node.size < kMinBranchWeight) continue;
        for (std::size_t c = 0; c < cases.class_scale.size(); ++c) node.distribution[c] /= cases.class_scale[c];
        node.label = cases.costs.cheapest(node.distribution.data());
        node.errors = node.size - node.distribution[static_cast<std::size_t>(node.label)];
    }
}

void tidy_discrete_tests(Tree& tree, bool use_subsets, bool for_rules) {
    std::vector<PassedValues> above;
    if (use_subsets) drop_excluded_values(tree, 0, above);
    visit_nodes(tree, 0, [&](std::int32_t id) {
        const Test& test = tree[id].test;
        if (use_subsets && test.kind == TestKind::subset)
            merge_branches(tree, id, [](const Node& a, const Node& b) { return a.label == b.label; });
        else if (!use_subsets && test.kind == TestKind::multiway && test.n_branches >= 4)
            merge_multiway(tree, id, for_rules);
    });
}

void snap_thresholds(const Matrix& matrix, Tree& tree) {
    for (Node& node : tree.nodes)
        if (node.test.kind == TestKind::threshold)
            node.test.threshold = matrix.column(static_cast<std::size_t>(node.test.column))
                                      .values[static_cast<std::size_t>(node.test.threshold_rank)];
}

std::vector<bool> tested_columns(const Tree& tree, std::size_t n_columns) {
    std::vector<bool> tested(n_columns, false);
    visit_nodes(tree, 0, [&](std::int32_t id) {
        if (!tree[id].is_leaf()) tested[static_cast<std::size_t>(tree[id].test.column)] = true;
    });
    return tested;
}

}  // namespace clausewise::c50
