// A finished tree in flat arrays, for classifying rows.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/parallel.hpp"
#include "base/table_view.hpp"
#include "c50/tree.hpp"

namespace clausewise::c50 {

struct FlatTree {
    std::size_t n_classes = 0;
    std::vector<std::int32_t> kind, column, child_start, child, value_start, value_branch;
    std::vector<double> threshold;    // rows up to it take the first child
    std::vector<float> cut;           // the same in single precision, for fuzzy thresholds
    std::vector<float> low, high;     // bounds of a fuzzy threshold; NaN if it is crisp
    std::vector<float> distribution;  // nodes × classes
    std::vector<float> size;          // per node: the sum of its distribution

    // Throws std::invalid_argument if following the arrays could leave them or run in a cycle.
    void check() const;

    // Writes the class scores of each row (rows × classes), and the mean size of the leaves that it reaches. A missing
    // value, or one that is not a declared category, follows every branch in proportion to its training cases. A
    // category without a branch ends at the test.
    template <class Real>
    void classify(const TableView<Real>& table, double* scores, double* leaf_sizes, std::size_t n_threads) const {
        constexpr std::size_t kRowsPerTask = 4096;
        const std::size_t n_tasks = (table.n_rows + kRowsPerTask - 1) / kRowsPerTask;
        parallel_for(n_tasks, n_threads, [&](std::size_t task, std::size_t) {
            const std::size_t end = std::min(table.n_rows, (task + 1) * kRowsPerTask);
            for (std::size_t row = task * kRowsPerTask; row < end; ++row) {
                leaf_sizes[row] = 0.0;
                std::fill_n(scores + row * n_classes, n_classes, 0.0);
                descend(table, row, 0, 0, 1.0f, scores + row * n_classes, leaf_sizes[row]);
            }
        });
    }

private:
    static constexpr double kMinFraction = 1e-6;
    static constexpr double kEmpty = 1e-4;

    template <class Real>
    std::int32_t branch_of(std::size_t node, Real value) const {
        if (std::isnan(value)) return kMissingBranch;
        if (kind[node] == static_cast<std::int32_t>(TestKind::threshold))
            return static_cast<double>(value) > threshold[node];
        const auto code = static_cast<std::int64_t>(value);
        const std::int64_t n_values = value_start[node + 1] - value_start[node];
        if (code < 0 || code >= n_values) return kMissingBranch;
        return value_branch[static_cast<std::size_t>(value_start[node] + code)];
    }

    // The share of the first child for a value of a fuzzy threshold.
    template <class Real>
    double share_below(std::size_t node, Real value) const {
        const auto x = static_cast<float>(value);
        if (x <= low[node]) return 1.0;
        if (x >= high[node]) return 0.0;
        if (static_cast<double>(value) <= threshold[node])
            return static_cast<float>(1.0 - 0.5 * (x - low[node]) / ((cut[node] - low[node]) + 1e-10));
        return static_cast<float>(0.5 * (x - high[node]) / ((cut[node] - high[node]) + 1e-10));
    }

    // Fractions are in single precision because C5.0's behaviour is defined so.
    template <class Real>
    void descend(const TableView<Real>& table, std::size_t row, std::size_t node, std::size_t parent, float fraction,
                 double* scores, double& leaf_size) const {
        while (kind[node] != static_cast<std::int32_t>(TestKind::leaf)) {
            const std::int32_t branch = branch_of(node, table.at(row, static_cast<std::size_t>(column[node])));
            if (branch == kNoBranch) break;
            if (branch == kMissingBranch) {
                for (std::int32_t c = child_start[node]; c < child_start[node + 1]; ++c) {
                    const auto next = static_cast<std::size_t>(child[static_cast<std::size_t>(c)]);
                    if (size[next] > kEmpty)
                        descend(table, row, next, node, fraction * size[next] / size[node], scores, leaf_size);
                }
                return;
            }
            if (!std::isnan(low[node])) {
                const double below = share_below(node, table.at(row, static_cast<std::size_t>(column[node])));
                const std::int32_t* const children = child.data() + child_start[node];
                for (const std::int32_t side : {0, 1}) {
                    const double share = fraction * (side == 0 ? below : 1.0 - below);
                    if (share >= kMinFraction)
                        descend(table, row, static_cast<std::size_t>(children[side]), node, static_cast<float>(share),
                                scores, leaf_size);
                }
                return;
            }
            if (kind[node] == static_cast<std::int32_t>(TestKind::threshold) && fraction < kMinFraction) return;
            parent = node;
            node = static_cast<std::size_t>(child[static_cast<std::size_t>(child_start[node] + branch)]);
        }
        const std::size_t source = size[node] < kEmpty ? parent : node;
        for (std::size_t c = 0; c < n_classes; ++c)
            scores[c] += fraction * distribution[source * n_classes + c] / size[source];
        leaf_size += fraction * size[source];
    }
};

}  // namespace clausewise::c50
