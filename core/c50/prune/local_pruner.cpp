#include "c50/prune/local_pruner.hpp"

#include <algorithm>
#include <vector>

#include "c50/division.hpp"

namespace clausewise::c50 {
namespace {

constexpr double kErrorMargin = 0.1;

}  // namespace

float LocalPruner::estimate_leaf(float size, float errors, std::int32_t label) const {
    if (cases_.class_scale.empty()) return errors + extra_errors_(size, errors);
    // Two-class costs have scaled the weights; the estimate uses the unscaled ones.
    const float own = cases_.class_scale[static_cast<std::size_t>(label)];
    const float other = cases_.class_scale[static_cast<std::size_t>(1 - label)];
    const float plain_errors = errors / other;
    const float plain_size = (size - errors) / own + plain_errors;
    return errors + other * extra_errors_(plain_size, plain_errors);
}

float LocalPruner::estimate(Tree& tree, std::int32_t id, RowSpan rows, Pass pass, std::size_t depth) {
    // On the way through a branch that might be raised, only the leaves count, and what is divided at missing values.
    if (!pass.updates && !tree[id].is_leaf() &&
        !cases_.matrix.column(static_cast<std::size_t>(tree[id].test.column)).has_missing)
        return estimate_branches(tree, id, rows, 0.0f, pass, depth);
    // Nodes hold weights in single precision.
    const ClassCounts counts = pass.is_as_grown && cases_.has_unit_weights()
                                   ? count_classes(cases_, tree[id], {nullptr, nullptr})
                                   : count_classes(cases_, rows);
    const float leaf = estimate_leaf(counts.total, counts.errors(), counts.majority);
    if (pass.updates && !pass.is_as_grown) {
        Node& node = tree[id];
        node.label = counts.majority;
        node.size = counts.total;
        node.distribution.assign(counts.per_class.begin(), counts.per_class.end());
    }
    if (tree[id].is_leaf()) return leaf;
    const float branches = estimate_branches(tree, id, rows, counts.total, pass, depth);
    if (!pass.updates) return branches;

    std::int32_t raised = -1;
    for (const std::int32_t child : tree[id].children) {
        const Node& branch = tree[child];
        if (branch.is_leaf() || branch.size < 0.1 * counts.total) continue;
        if (tree[id].test.kind == TestKind::threshold && branch.test.column == tree[id].test.column) continue;
        if (raised < 0 || branch.size > tree[raised].size) raised = child;
    }
    cases_.cancel.check();
    const float raise =
        raised < 0 ? static_cast<float>(grower_.settings().n_cases) : estimate_raised(tree, id, raised, rows, depth);
    if (leaf <= raise + kErrorMargin && leaf <= branches + kErrorMargin) {
        tree[id].make_leaf();
        return leaf;
    }
    if (raised >= 0 && raise <= branches + kErrorMargin) {
        const float share = tree[raised].size / counts.total;
        const std::int32_t label_of_raised = tree[raised].label;
        tree[id].test = tree[raised].test;
        tree[id].children = tree[raised].children;
        const bool regrows = pass.rebuilds && share < 0.95;
        // Cases of equal value are scanned in the order of the node, which dividing exact weights has changed.
        if (regrows && cases_.has_exact_sums) std::sort(rows.begin(), rows.end());
        if (regrows) grower_.grow_branches(tree, id, rows, depth, label_of_raised);
        return estimate(tree, id, rows, {true, false, regrows && cases_.adds_in_any_order()}, depth);
    }
    return branches;
}

// Sums the estimates of branches. Branches below the minimum weight are pooled and count as one leaf.
class LocalPruner::BranchSum {
public:
    explicit BranchSum(const LocalPruner& pruner) : pruner_(pruner) {}

    // Calls add_to(pool) to add the cases of a small branch per class.
    template <class AddTo>
    void add(float weight, float estimate, AddTo&& add_to) {
        if (weight >= pruner_.cases_.min_cases) {
            total_ += estimate;
            return;
        }
        pool_.resize(pruner_.cases_.n_classes, 0.0f);
        add_to(pool_);
        pooled_size_ += weight;
    }
    float total() const {
        if (!(pooled_size_ > 0.0f)) return total_;
        const auto largest = std::max_element(pool_.begin(), pool_.end());
        return total_ + pruner_.estimate_leaf(pooled_size_, pooled_size_ - *largest,
                                              static_cast<std::int32_t>(largest - pool_.begin()));
    }

private:
    const LocalPruner& pruner_;
    float total_ = 0.0f, pooled_size_ = 0.0f;
    std::vector<float> pool_;
};

float LocalPruner::estimate_branches(Tree& tree, std::int32_t id, RowSpan rows, float size, Pass pass,
                                     std::size_t depth) {
    BranchSum sum(*this);
    const auto add_branch = [&](std::int32_t child, RowSpan branch, float weight) {
        const float branch_estimate = estimate(tree, child, branch, pass, depth + 1);
        sum.add(weight, branch_estimate, [&](std::vector<float>& pool) {
            // Single precision, so the order matters, which dividing exact weights may have changed.
            std::vector<std::int32_t> in_order(branch.begin(), branch.end());
            std::sort(in_order.begin(), in_order.end());
            for (const std::int32_t row : in_order) {
                float& count = pool[cases_.class_of(row)];
                count = static_cast<float>(count + static_cast<float>(cases_.weight(row)));
            }
        });
    };
    if (pass.is_as_grown && tree[id].test.kind == TestKind::threshold) {
        // Growing left the rows of the two branches contiguous.
        std::int32_t* const border = border_of(tree, id, rows);
        const std::vector<std::int32_t> children = tree[id].children;
        const RowSpan branches[] = {{rows.first, border}, {border, rows.last}};
        for (std::size_t b = 0; b < 2; ++b) {
            const auto weight = static_cast<float>(cases_.weight_of(branches[b]));
            if (weight >= kMinBranchWeight) add_branch(children[b], branches[b], weight);
        }
        return sum.total();
    }
    pass.is_as_grown = false;
    Division division(cases_, tree[id].test, rows, size, grower_.spare_rows());
    const std::size_t n_branches = tree[id].children.size();
    for (std::size_t b = 0; b < n_branches; ++b)
        division.enter_to_prune(
            b, [&](RowSpan branch, float weight) { add_branch(tree[id].children[b], branch, weight); });
    return sum.total();
}

std::int32_t* LocalPruner::border_of(const Tree& tree, std::int32_t id, RowSpan rows) const {
    if (cases_.has_unit_weights()) return rows.first + static_cast<std::ptrdiff_t>(tree[tree[id].children[0]].size);
    const Test& test = tree[id].test;
    const std::int32_t* const ranks = cases_.matrix.column(static_cast<std::size_t>(test.column)).ranks.data();
    return std::partition_point(rows.first, rows.last,
                                [&](std::int32_t row) { return ranks[row] <= test.threshold_rank; });
}

float LocalPruner::estimate_raised(Tree& tree, std::int32_t id, std::int32_t raised, RowSpan rows, std::size_t depth) {
    if (!cases_.has_unit_weights() || tree[id].test.kind != TestKind::threshold)
        return estimate(tree, raised, rows, {false, false, false}, depth + 1);
    std::int32_t* const border = border_of(tree, id, rows);
    return estimate_with(tree, raised,
                         raised == tree[id].children[0] ? RowSpan{border, rows.last} : RowSpan{rows.first, border});
}

float LocalPruner::estimate_with(const Tree& tree, std::int32_t id, RowSpan others) {
    const Node& node = tree[id];
    if (node.is_leaf()) {
        const ClassCounts counts = count_classes(cases_, node, others);
        return estimate_leaf(counts.total, counts.errors(), counts.majority);
    }
    BranchSum sum(*this);
    Division division(cases_, node.test, others, static_cast<float>(others.size()), grower_.spare_rows());
    for (std::size_t b = 0; b < node.children.size(); ++b) {
        const Node& child = tree[node.children[b]];
        const RowSpan branch = division.rows(b);
        const float weight = child.size + static_cast<float>(branch.size());
        if (weight < kMinBranchWeight) continue;
        sum.add(weight, estimate_with(tree, node.children[b], branch), [&](std::vector<float>& pool) {
            const ClassCounts counts = count_classes(cases_, child, branch);
            for (std::size_t c = 0; c < pool.size(); ++c) pool[c] += static_cast<float>(counts.per_class[c]);
        });
    }
    return sum.total();
}

}  // namespace clausewise::c50
