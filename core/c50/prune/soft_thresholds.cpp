#include "c50/prune/soft_thresholds.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "c50/division.hpp"
#include "c50/prune/training_classifier.hpp"

namespace clausewise::c50 {
namespace {

constexpr double kMinShare = 1e-6;  // of the known cases, for a branch to be visited

// The errors of the training cases, from the leaves up. Where values of the tested column are missing, a node counts
// none and the nodes below keep theirs, unless there are two-class costs.
void recount_errors(Cases& cases, Tree& tree, std::int32_t id, RowSpan rows, std::vector<std::int32_t>& spare) {
    Node& node = tree[id];
    if (node.is_leaf()) {
        node.errors = node.size - node.distribution[static_cast<std::size_t>(node.label)];
        return;
    }
    cases.cancel.check();
    node.errors = 0.0f;
    Division division(cases, node.test, rows, node.size, spare);
    if (division.has_missing() && cases.class_scale.empty()) return;
    for (std::size_t b = 0; b < node.children.size(); ++b) {
        const std::int32_t child = node.children[b];
        const bool entered = division.enter_to_prune(
            b, [&](RowSpan branch, float) { recount_errors(cases, tree, child, branch, spare); });
        if (entered) node.errors += tree[child].errors;
    }
}

class Softener {
public:
    // The tree is still crisp, and the classifier keeps it so.
    Softener(Cases& cases, Tree& tree) : cases_(cases), tree_(tree), classifier_(cases, tree) {}

    void visit(std::int32_t id, const std::vector<std::int32_t>& rows) {
        Node& node = tree_[id];
        if (node.is_leaf()) return;
        cases_.cancel.check();
        const Column& column = cases_.matrix.column(static_cast<std::size_t>(node.test.column));
        const auto rank_of = [&](std::int32_t row) { return column.ranks[static_cast<std::size_t>(row)]; };
        std::vector<std::int32_t> known, missing;
        std::vector<double> weight_of(node.children.size(), 0.0);
        std::vector<bool> has_known(node.children.size(), false);
        double known_weight = 0.0;
        for (const std::int32_t row : rows) {
            const std::int32_t branch = node.test.branch_of(rank_of(row));
            if (branch == kMissingBranch) {
                missing.push_back(row);
                continue;
            }
            known.push_back(row);
            known_weight += cases_.weight(row);
            if (branch == kNoBranch) continue;
            weight_of[static_cast<std::size_t>(branch)] += cases_.weight(row);
            has_known[static_cast<std::size_t>(branch)] = true;
        }
        const auto n_known = static_cast<float>(known_weight);
        if (node.test.kind == TestKind::threshold) set_bounds(id, known, n_known);
        for (std::size_t b = 0; b < node.children.size(); ++b) {
            const double share = static_cast<double>(static_cast<float>(weight_of[b])) / n_known;
            if (!has_known[b] || !(share > kMinShare)) continue;
            std::vector<std::int32_t> members;
            for (const std::int32_t row : rows) {
                const std::int32_t branch = node.test.branch_of(rank_of(row));
                if (branch == kMissingBranch || branch == static_cast<std::int32_t>(b)) members.push_back(row);
            }
            // Unlike the share of a division, this one is double.
            for (const std::int32_t row : missing) weight(row) = static_cast<float>(weight(row) * share);
            visit(node.children[b], members);
            for (const std::int32_t row : missing) weight(row) = static_cast<float>(weight(row) / share);
        }
    }

private:
    float& weight(std::int32_t row) { return cases_.weights[static_cast<std::size_t>(row)]; }

    void set_bounds(std::int32_t id, std::vector<std::int32_t>& known, float n_known) {
        Node& node = tree_[id];
        const Column& column = cases_.matrix.column(static_cast<std::size_t>(node.test.column));
        const auto rank_of = [&](std::int32_t row) { return column.ranks[static_cast<std::size_t>(row)]; };
        std::stable_sort(known.begin(), known.end(),
                         [&](std::int32_t a, std::int32_t b) { return rank_of(a) < rank_of(b); });
        const auto value = [&](std::size_t i) { return column.values[static_cast<std::size_t>(rank_of(known[i]))]; };
        const auto n_below = static_cast<std::size_t>(
            std::partition_point(known.begin(), known.end(),
                                 [&](std::int32_t row) { return rank_of(row) <= node.test.threshold_rank; }) -
            known.begin());
        // With all cases on one side there is nothing to judge the other side by, and the threshold stays crisp.
        if (n_below == 0 || n_below == known.size()) return;
        const auto middle = static_cast<float>(static_cast<double>(value(n_below - 1) + value(n_below)) / 2.0);
        const float product = node.errors * (n_known - node.errors);
        const auto band = static_cast<float>(2.0 * std::sqrt(product / (n_known + 0.001)));

        // The last position, going outward from `start`, up to which the errors of the other branch stay within limits.
        const auto reach = [&](std::size_t start, std::size_t stop, std::ptrdiff_t step, std::size_t own_branch) {
            float own = 0.0f, other = 0.0f;
            std::size_t reached = start;
            const auto next = [&](std::size_t i) {
                return static_cast<std::size_t>(static_cast<std::ptrdiff_t>(i) + step);
            };
            for (std::size_t i = start; i != stop; i = next(i)) {
                const std::int32_t row = known[i];
                const auto of_row = static_cast<float>(cases_.weight(row));
                if (is_wrong_by(row, id, 1 - own_branch)) other += of_row;
                if (is_wrong_by(row, id, own_branch)) own += of_row;
                if (rank_of(known[next(i)]) == rank_of(row)) continue;
                if (other > 2.0f * own + 1.0f || other - own > 0.5 * band) break;
                reached = next(i);
            }
            return reached;
        };
        node.test.bounds = {std::min(middle, value(reach(n_below - 1, 0, -1, 0))), middle,
                            std::max(middle, value(reach(n_below, known.size() - 1, 1, 1))), true};
    }
    bool is_wrong_by(std::int32_t row, std::int32_t id, std::size_t branch) {
        const std::int32_t label = classifier_.classify_by_branch(row, tree_[id].children[branch], id);
        return static_cast<std::size_t>(label) != cases_.class_of(row);
    }

    Cases& cases_;
    Tree& tree_;
    TrainingClassifier classifier_;
};

}  // namespace

void soften_thresholds(Cases& cases, Tree& tree) {
    std::vector<std::int32_t> rows(cases.n_rows()), spare;
    std::iota(rows.begin(), rows.end(), 0);
    std::vector<std::int32_t> divided = rows;  // dividing may reorder them
    recount_errors(cases, tree, 0, {divided.data(), divided.data() + divided.size()}, spare);
    Softener(cases, tree).visit(0, rows);
}

}  // namespace clausewise::c50
