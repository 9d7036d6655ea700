#include "c50/pruner.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

namespace clausewise::c50 {
namespace {

constexpr double kErrorMargin = 0.1;

}  // namespace

float LocalPruner::estimate_leaf(float size, float errors, std::int32_t label) const {
    if (cases_.class_scale.empty()) return errors + extra_errors_(size, errors);
    // Two-class costs scaled the weights; the estimate is made on unscaled ones.
    const float own = cases_.class_scale[static_cast<std::size_t>(label)];
    const float other = cases_.class_scale[static_cast<std::size_t>(1 - label)];
    const float plain_errors = errors / other;
    const float plain_size = (size - errors) / own + plain_errors;
    return errors + other * extra_errors_(plain_size, plain_errors);
}

float LocalPruner::estimate(Tree& tree, std::int32_t id, RowSpan rows, Pass pass, std::size_t depth) {
    const ClassCounts counts =
        pass.is_as_grown ? count_classes(cases_, tree[id], {nullptr, nullptr}) : count_classes(cases_, rows);
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
        raised < 0 ? static_cast<float>(grower_.regime().n_cases) : estimate_raised(tree, id, raised, rows, depth);
    if (leaf <= raise + kErrorMargin && leaf <= branches + kErrorMargin) {
        tree[id].make_leaf();
        return leaf;
    }
    if (raised >= 0 && raise <= branches + kErrorMargin) {
        const float share = tree[raised].size / counts.total;
        tree[id].test = tree[raised].test;
        tree[id].children = tree[raised].children;
        const bool regrows = pass.rebuilds && share < 0.95;
        if (regrows) grower_.grow_branches(tree, id, rows, depth);
        return estimate(tree, id, rows, {true, false, regrows && cases_.has_unit_weights()}, depth);
    }
    return branches;
}

// Adds up the estimates of branches. Those below the minimum count together, as one leaf.
class LocalPruner::BranchSum {
public:
    explicit BranchSum(const LocalPruner& pruner) : pruner_(pruner) {}

    // add_to(pool) is called to add the branch's cases per class.
    template <class AddTo>
    void add(double weight, float estimate, AddTo&& add_to) {
        if (weight >= pruner_.cases_.min_cases) {
            total_ += estimate;
            return;
        }
        pool_.resize(pruner_.cases_.n_classes, 0.0f);
        add_to(pool_);
        pooled_size_ = static_cast<float>(pooled_size_ + weight);
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
    const auto add_branch = [&](std::int32_t child, RowSpan branch, double weight) {
        const float branch_estimate = estimate(tree, child, branch, pass, depth + 1);
        sum.add(weight, branch_estimate, [&](std::vector<float>& pool) {
            for (const std::int32_t row : branch) {
                float& count = pool[cases_.class_of(row)];
                count = static_cast<float>(count + static_cast<float>(cases_.weight(row)));
            }
        });
    };
    if (pass.is_as_grown && tree[id].test.kind == TestKind::threshold) {
        // Growing left the rows of the branches side by side.
        std::int32_t* const border = border_of(tree, id, rows);
        const std::vector<std::int32_t> children = tree[id].children;
        add_branch(children[0], {rows.first, border}, static_cast<double>(border - rows.first));
        add_branch(children[1], {border, rows.last}, static_cast<double>(rows.last - border));
        return sum.total();
    }
    pass.is_as_grown = false;
    Division division(cases_, tree[id].test, rows, size, grower_.spare_rows());
    const std::size_t n_branches = tree[id].children.size();
    for (std::size_t b = 0; b < n_branches; ++b)
        division.enter(b, [&](RowSpan branch, double weight) { add_branch(tree[id].children[b], branch, weight); });
    return sum.total();
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
        const double weight = static_cast<double>(child.size) + static_cast<double>(branch.size());
        if (weight < kSmallestBranch) continue;
        sum.add(weight, estimate_with(tree, node.children[b], branch), [&](std::vector<float>& pool) {
            const ClassCounts counts = count_classes(cases_, child, branch);
            for (std::size_t c = 0; c < pool.size(); ++c) pool[c] += static_cast<float>(counts.per_class[c]);
        });
    }
    return sum.total();
}

void relabel_with_training_errors(Tree& tree, std::int32_t id) {
    Node& node = tree[id];
    if (node.is_leaf()) {
        const bool counts = node.size > 1e-3;
        node.errors = counts ? node.size - node.distribution[static_cast<std::size_t>(node.label)] : 0.0f;
        node.n_leaves = counts ? 1 : 0;
        return;
    }
    node.errors = 0.0f;
    node.n_leaves = 0;
    for (const std::int32_t child : node.children) {
        relabel_with_training_errors(tree, child);
        node.errors += tree[child].errors;
        node.n_leaves += tree[child].n_leaves;
    }
}

void relabel_by_costs(const Cases& cases, Tree& tree) {
    for (Node& node : tree.nodes) {
        if (node.size < kSmallestBranch) continue;
        for (std::size_t c = 0; c < cases.class_scale.size(); ++c) node.distribution[c] /= cases.class_scale[c];
        node.label = cases.costs.cheapest(node.distribution.data());
        node.errors = node.size - node.distribution[static_cast<std::size_t>(node.label)];
    }
}

namespace {

// One round of global pruning: the nodes that are cheapest to cut, per leaf saved.
class WeakestNodes {
public:
    WeakestNodes(const Tree& tree, double slack) : tree_(tree), slack_(slack) {
        if (!tree[0].is_leaf()) visit(0);
    }
    bool fit_in_slack() const { return !paths_.empty() && total_ <= slack_; }
    const std::vector<std::vector<std::int32_t>>& paths() const { return paths_; }

    static float extra_if_leaf(const Node& node) {
        return (node.size - node.distribution[static_cast<std::size_t>(node.label)]) - node.errors;
    }

private:
    void visit(std::int32_t id) {
        path_.push_back(id);
        const float lowest_before = lowest_;
        const std::size_t n_before = paths_.size();
        const double total_before = total_;
        const Node& node = tree_[id];
        for (const std::int32_t child : node.children)
            if (!tree_[child].is_leaf() && tree_[child].size > 0.1) visit(child);
        const float extra = extra_if_leaf(node);
        if (!(extra > slack_)) {
            const double cost = static_cast<double>(extra) / static_cast<double>(node.n_leaves - 1);
            if (cost < lowest_ || (cost <= lowest_ && cost < lowest_before)) {
                paths_ = {path_};
                // Single precision on purpose: equal costs that it cannot represent do not tie.
                lowest_ = static_cast<float>(cost);
                total_ = extra;
            } else if (cost <= lowest_) {
                if (paths_.size() > n_before) {
                    paths_.resize(n_before);
                    total_ = total_before;
                }
                paths_.push_back(path_);
                total_ += extra;
            }
        }
        path_.pop_back();
    }

    const Tree& tree_;
    double slack_;
    float lowest_ = 1e38f;
    double total_ = 0.0;
    std::vector<std::int32_t> path_;  // root … node
    std::vector<std::vector<std::int32_t>> paths_;
};

}  // namespace

void prune_globally(const Cases& cases, Tree& tree) {
    double errors = tree[0].errors;
    const std::vector<bool> tested = tested_columns(tree, cases.matrix.n_columns());
    bool tests_missing = false;
    for (std::size_t a = 0; a < tested.size(); ++a) tests_missing |= tested[a] && cases.matrix.column(a).has_missing;
    if (tests_missing) {
        errors = 0.0;
        TrainingClassifier classifier(cases, tree);
        for (std::int32_t row = 0; row < static_cast<std::int32_t>(cases.n_rows()); ++row) {
            if (row % 65536 == 0) cases.cancel.check();
            if (classifier.classify(row, -1) != static_cast<std::int32_t>(cases.class_of(row)))
                errors += cases.weight(row);
        }
    }
    double slack = std::sqrt(errors * (1.0 - errors / static_cast<double>(cases.n_rows())));
    while (slack > 0.0) {
        cases.cancel.check();
        const WeakestNodes weakest(tree, slack);
        if (!weakest.fit_in_slack()) return;
        for (const auto& path : weakest.paths()) {
            Node& node = tree[path.back()];
            const float extra = WeakestNodes::extra_if_leaf(node);
            const std::int32_t n_saved = node.n_leaves - 1;
            node.make_leaf();
            for (const std::int32_t id : path) {
                tree[id].errors += extra;
                tree[id].n_leaves -= n_saved;
            }
            slack -= extra;
        }
    }
}

namespace {

// What a subset test on the way down lets through.
struct LetThrough {
    std::int32_t column;
    std::vector<bool> values;
};

// The branch for values that did not occur keeps only those that the nearest test on the column above lets through.
void drop_excluded_values(Tree& tree, std::int32_t id, std::vector<LetThrough>& above) {
    Test& test = tree[id].test;
    const bool is_subset = test.kind == TestKind::subset;
    if (is_subset && test.n_branches > test.n_formed_branches) {
        const auto nearest = std::find_if(above.rbegin(), above.rend(),
                                          [&](const LetThrough& each) { return each.column == test.column; });
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
            LetThrough passed{test.column, {}};
            for (const std::int32_t branch : test.branch_of_value)
                passed.values.push_back(branch == static_cast<std::int32_t>(b));
            above.push_back(std::move(passed));
        }
        drop_excluded_values(tree, tree[id].children[b], above);
        if (is_subset) above.pop_back();
    }
}

// Leaf branches that are alike become one, in the place of the first.
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
    // Branch 0, "not applicable", is never merged: take it away, and put it back if nothing changed.
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

void tidy_discrete_tests(Tree& tree, bool use_subsets, bool for_rules) {
    std::vector<LetThrough> above;
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

TrainingClassifier::TrainingClassifier(const Cases& cases, const Tree& tree)
    : cases_(cases), tree_(tree), scores_(cases.n_classes) {
    steps_.reserve(tree.nodes.size());
    for (const Node& node : tree.nodes) {
        const std::int32_t* ranks =
            node.is_leaf() ? nullptr : cases.matrix.column(static_cast<std::size_t>(node.test.column)).ranks.data();
        steps_.push_back({node.test.kind, node.test.column, node.test.threshold_rank, node.size, &node.test, ranks,
                          node.children.data(), node.distribution.data()});
    }
}

std::int32_t TrainingClassifier::classify(std::int32_t row, std::int32_t unknown_column, std::int32_t from) {
    std::fill(scores_.begin(), scores_.end(), 0.0);
    descend(from, from, row, 1.0f, unknown_column);
    if (cases_.costs.is_active()) return cases_.costs.cheapest(scores_.data());
    return static_cast<std::int32_t>(std::max_element(scores_.begin(), scores_.end()) - scores_.begin());
}

void TrainingClassifier::descend(std::int32_t id, std::int32_t parent, std::int32_t row, float fraction,
                                 std::int32_t unknown_column) {
    while (step(id).kind != TestKind::leaf) {
        const Step& here = step(id);
        const std::int32_t branch = here.column == unknown_column ? -1 : here.branch_of(row);
        if (branch < 0) {
            for (const std::int32_t child : tree_[id].children)
                if (step(child).size > 1e-4)
                    descend(child, id, row, fraction * step(child).size / here.size, unknown_column);
            return;
        }
        if (fraction < 0.01) return;
        parent = id;
        id = here.children[branch];
    }
    const Step& source = step(id).size < 1e-4 ? step(parent) : step(id);
    for (std::size_t c = 0; c < scores_.size(); ++c)
        scores_[c] += static_cast<float>(fraction * source.distribution[c]) / source.size;
}

}  // namespace clausewise::c50
