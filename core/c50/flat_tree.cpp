#include "c50/flat_tree.hpp"

#include <stdexcept>

namespace clausewise::c50 {

void FlatTree::check() const {
    const std::size_t n_nodes = kind.size();
    const auto require = [](bool holds) {
        if (!holds) throw std::invalid_argument("the arrays of the tree are inconsistent");
    };
    const auto are_starts = [&](const std::vector<std::int32_t>& starts, std::size_t n_members) {
        return starts.size() == n_nodes + 1 && starts.front() == 0 && std::is_sorted(starts.begin(), starts.end()) &&
               static_cast<std::size_t>(starts.back()) == n_members;
    };
    require(n_nodes > 0 && n_classes > 0 && column.size() == n_nodes && threshold.size() == n_nodes);
    require(cut.size() == n_nodes && low.size() == n_nodes && high.size() == n_nodes);
    require(distribution.size() / n_classes == n_nodes && distribution.size() % n_classes == 0);
    require(are_starts(child_start, child.size()) && are_starts(value_start, value_branch.size()));
    for (std::size_t node = 0; node < n_nodes; ++node) {
        const std::int32_t n_children = child_start[node + 1] - child_start[node];
        const bool is_threshold = kind[node] == static_cast<std::int32_t>(TestKind::threshold);
        const bool is_leaf = kind[node] == static_cast<std::int32_t>(TestKind::leaf);
        require(is_leaf || (column[node] >= 0 && n_children >= (is_threshold ? 2 : 1)));
        require(is_threshold || std::isnan(low[node]));
        for (std::int32_t c = child_start[node]; c < child_start[node + 1]; ++c) {
            // A node comes before its children, so there are no cycles.
            const std::int32_t next = child[static_cast<std::size_t>(c)];
            require(next > static_cast<std::int32_t>(node) && static_cast<std::size_t>(next) < n_nodes);
        }
        for (std::int32_t v = value_start[node]; v < value_start[node + 1]; ++v)
            require(value_branch[static_cast<std::size_t>(v)] >= kNoBranch &&
                    value_branch[static_cast<std::size_t>(v)] < n_children);
    }
}

}  // namespace clausewise::c50
