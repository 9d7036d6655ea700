#include "c50/prune/training_classifier.hpp"

#include <algorithm>

namespace clausewise::c50 {

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
        if (here.kind == TestKind::threshold && fraction < 0.01) return;
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
