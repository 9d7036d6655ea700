#include "c50/prune/global_pruner.hpp"

#include <cmath>
#include <cstddef>
#include <vector>

#include "c50/prune/training_classifier.hpp"
#include "c50/prune/tree_passes.hpp"

namespace clausewise::c50 {
namespace {

// One round of global pruning: the nodes that cost the fewest errors per leaf removed.
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
                // Single precision is part of the behaviour: equal costs that it cannot represent do not tie.
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

}  // namespace clausewise::c50
