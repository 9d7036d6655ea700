#include "c50/prune/tree_passes.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "c50/division.hpp"

namespace clausewise::c50 {
namespace {

// Per column, which values pass the subset tests further up; empty for a column without any.
using PassedValues = std::vector<std::vector<bool>>;

// Values that tests above exclude leave the last branch of a subset test, which disappears if nothing is left, and both
// branches of a test of an ordered column.
void drop_excluded_values(Tree& tree, std::int32_t id, const std::vector<bool>& passed) {
    Node& node = tree[id];
    Test& test = node.test;
    const std::int32_t last = test.n_branches - 1;
    bool is_any_left = false;
    for (std::size_t v = 0; v < test.branch_of_value.size(); ++v) {
        std::int32_t& branch = test.branch_of_value[v];
        if (branch < 0 || (branch != last && !test.is_ordered)) continue;
        if (!passed.empty() && !passed[v]) branch = kNoBranch;
        is_any_left = is_any_left || branch == last;
    }
    if (is_any_left || test.is_ordered) return;
    --test.n_branches;
    node.children.pop_back();
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

// Merges empty leaves; `by_label` also others, and then only leaves of equal label.
void merge_multiway(Tree& tree, std::int32_t id, bool by_label) {
    const auto alike = [&](const Node& a, const Node& b) {
        const bool a_is_empty = a.size < kMinBranchWeight, b_is_empty = b.size < kMinBranchWeight;
        return by_label ? a_is_empty == b_is_empty && a.label == b.label : a_is_empty && b_is_empty;
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
    tree[id].test.is_merged = true;
}

void tidy_below(Tree& tree, std::int32_t id, PassedValues& passed, bool merges_by_label) {
    const TestKind kind = tree[id].test.kind;
    if (kind == TestKind::subset) {
        const auto column = static_cast<std::size_t>(tree[id].test.column);
        drop_excluded_values(tree, id, passed[column]);
        const std::vector<std::int32_t> branch_of_value = tree[id].test.branch_of_value;
        const std::vector<bool> before = passed[column];
        for (std::size_t b = 0; b < tree[id].children.size(); ++b) {
            passed[column].resize(branch_of_value.size());
            for (std::size_t v = 0; v < branch_of_value.size(); ++v)
                passed[column][v] = branch_of_value[v] == static_cast<std::int32_t>(b) && (before.empty() || before[v]);
            tidy_below(tree, tree[id].children[b], passed, merges_by_label);
        }
        passed[column] = before;
        if (!tree[id].test.is_ordered)
            merge_branches(tree, id, [](const Node& a, const Node& b) { return a.label == b.label; });
        return;
    }
    for (std::size_t b = 0; b < tree[id].children.size(); ++b)
        tidy_below(tree, tree[id].children[b], passed, merges_by_label);
    if (kind == TestKind::multiway && tree[id].test.n_branches >= 4) merge_multiway(tree, id, merges_by_label);
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
        if (!cases.class_scale.empty()) {
            node.size = 0.0f;
            for (std::size_t c = 0; c < cases.class_scale.size(); ++c)
                node.size += node.distribution[c] /= cases.class_scale[c];
        }
        node.label = cases.costs.cheapest(node.distribution.data());
        node.errors = node.size - node.distribution[static_cast<std::size_t>(node.label)];
    }
}

void tidy_discrete_tests(Tree& tree, std::size_t n_columns, bool merges_by_label) {
    PassedValues passed(n_columns);
    tidy_below(tree, 0, passed, merges_by_label);
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
