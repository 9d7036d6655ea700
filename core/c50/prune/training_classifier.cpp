#include "c50/prune/training_classifier.hpp"

#include <algorithm>

namespace clausewise::c50 {
namespace {

constexpr double kMinFraction = 0.01;  // of a case that is followed beyond a threshold

// The share of the first branch for a value between the bounds.
float share_below(const SoftBounds& bounds, float x) {
    if (x <= bounds.low) return 1.0f;
    if (x >= bounds.high) return 0.0f;
    if (x <= bounds.middle)
        return static_cast<float>(1.0 - 0.5 * (x - bounds.low) / ((bounds.middle - bounds.low) + 1e-6));
    return static_cast<float>(0.5 - 0.5 * (x - bounds.middle) / ((bounds.high - bounds.middle) + 1e-6));
}

}  // namespace

TrainingClassifier::TrainingClassifier(const Cases& cases, const Tree& tree)
    : cases_(cases), tree_(tree), scores_(cases.n_classes), of_leaf_(tree.nodes.size(), Verdict{-1, 0.0}) {
    steps_.reserve(tree.nodes.size());
    for (const Node& node : tree.nodes) {
        const std::int32_t* ranks =
            node.is_leaf() ? nullptr : cases.matrix.column(static_cast<std::size_t>(node.test.column)).ranks.data();
        const SoftBounds* bounds = node.test.bounds.is_set ? &node.test.bounds : nullptr;
        steps_.push_back({node.test.kind, node.test.column, node.test.threshold_rank, node.size, &node.test, bounds,
                          ranks, node.children.data(), node.distribution.data()});
    }
}

std::int32_t TrainingClassifier::classify_below(std::int32_t row, std::int32_t unknown_column, std::int32_t from,
                                                std::int32_t parent) {
    std::fill(scores_.begin(), scores_.end(), 0.0);
    descend(from, parent, row, 1.0f, unknown_column);
    if (cases_.costs.is_active()) return cases_.costs.cheapest(scores_.data());
    return static_cast<std::int32_t>(std::max_element(scores_.begin(), scores_.end()) - scores_.begin());
}

std::int32_t TrainingClassifier::leaf_of(std::int32_t row) const {
    std::int32_t id = 0;
    while (step(id).kind != TestKind::leaf) {
        const Step& here = step(id);
        const std::int32_t branch = here.bounds ? kMissingBranch : here.branch_of(row);
        if (branch < 0) return -1;
        id = here.children[branch];
    }
    return id;
}

// All rows of a leaf get the same verdict.
Verdict TrainingClassifier::judge(std::int32_t row) {
    const std::int32_t leaf = leaf_of(row);
    if (leaf < 0) return judge_by_scores(row);
    Verdict& known = of_leaf_[static_cast<std::size_t>(leaf)];
    if (known.label < 0) known = judge_by_scores(row);
    return known;
}

Verdict TrainingClassifier::judge_by_scores(std::int32_t row) {
    const std::int32_t label = classify(row, -1);
    if (!cases_.costs.is_active()) return {label, scores_[static_cast<std::size_t>(label)]};
    double total = 0.0;
    for (std::size_t c = 0; c < scores_.size(); ++c) total += cases_.costs.expected(c, scores_.data());
    return {label, 1.0 - cases_.costs.expected(static_cast<std::size_t>(label), scores_.data()) / total};
}

void TrainingClassifier::descend(std::int32_t id, std::int32_t parent, std::int32_t row, float fraction,
                                 std::int32_t unknown_column) {
    while (step(id).kind != TestKind::leaf) {
        const Step& here = step(id);
        const std::int32_t branch = here.column == unknown_column ? kMissingBranch : here.branch_of(row);
        if (branch == kNoBranch) {
            arrive(here, fraction);
            return;
        }
        if (branch == kMissingBranch) {
            for (const std::int32_t child : tree_[id].children)
                if (step(child).size > 1e-4)
                    descend(child, id, row, fraction * step(child).size / here.size, unknown_column);
            return;
        }
        if (here.bounds) {
            const Column& column = cases_.matrix.column(static_cast<std::size_t>(here.column));
            const float share = share_below(*here.bounds, column.values[static_cast<std::size_t>(here.ranks[row])]);
            const float below = fraction * share, above = fraction * (1.0f - share);
            if (below >= kMinFraction) descend(here.children[0], id, row, below, unknown_column);
            if (above >= kMinFraction) descend(here.children[1], id, row, above, unknown_column);
            return;
        }
        if (here.kind == TestKind::threshold && fraction < kMinFraction) return;
        parent = id;
        id = here.children[branch];
    }
    arrive(step(id).size < 1e-4 ? step(parent) : step(id), fraction);
}

void TrainingClassifier::arrive(const Step& node, float fraction) {
    for (std::size_t c = 0; c < scores_.size(); ++c)
        scores_[c] += static_cast<float>(fraction * node.distribution[c]) / node.size;
}

}  // namespace clausewise::c50
