// Cuts of a continuous column: unit weights, three and more classes.
#include "c50/grow/splitter.hpp"

#include <cmath>

#include "c50/grow/radix_sort.hpp"

namespace clausewise::c50 {

// Also correct for two classes, where scan_two_classes is faster.
void Splitter::scan_many_classes(const Column& column, const NodeView& node, SplitScratch& scratch,
                                 CutScan& scan) const {
    const std::size_t n = node.rows.size(), n_classes = cases_.n_classes;
    const std::int32_t* ranks = column.ranks.data();
    const std::uint16_t* classes = cases_.classes.data();
    auto& rank = scratch.group_rank;
    auto& end = scratch.group_end;
    auto& sequence = scratch.sequence;  // classes of the cases, in order of value
    rank.clear();
    end.clear();
    sequence.resize(n);
    const auto n_values = static_cast<std::size_t>(column.n_values);
    if (n_values * n_classes <= 2 * n) {
        auto& counts = scratch.class_counts;
        counts.assign(n_values * n_classes, 0);
        for (const std::int32_t row : node.rows)
            ++counts[static_cast<std::size_t>(ranks[row]) * n_classes + classes[row]];
        std::size_t position = 0;
        for (std::size_t r = 0; r < n_values; ++r) {
            const std::size_t before = position;
            for (std::size_t c = 0; c < n_classes; ++c)
                for (std::int32_t i = counts[r * n_classes + c]; i > 0; --i)
                    sequence[position++] = static_cast<std::uint16_t>(c);
            if (position == before) continue;
            rank.push_back(static_cast<std::int32_t>(r));
            end.push_back(static_cast<std::int32_t>(position));
        }
    } else {
        auto& keys = scratch.wide_keys;
        keys.resize(n);
        for (std::size_t i = 0; i < n; ++i) {
            const std::int32_t row = node.rows.first[i];
            keys[i] = static_cast<std::uint64_t>(ranks[row]) << 16 | classes[row];
        }
        sort_keys(keys, scratch.wide_sorted, 16);
        for (std::size_t i = 0; i < n; ++i) {
            const auto r = static_cast<std::int32_t>(keys[i] >> 16);
            sequence[i] = static_cast<std::uint16_t>(keys[i] & 0xffff);
            if (!rank.empty() && rank.back() == r) {
                end.back() = static_cast<std::int32_t>(i) + 1;
            } else {
                rank.push_back(r);
                end.push_back(static_cast<std::int32_t>(i) + 1);
            }
        }
    }
    const std::size_t n_groups = rank.size();
    if (n_groups < 2) return;
    scan.lowest_rank = rank[0];
    scan.highest_rank = rank[n_groups - 1];

    const double side = cases_.smallest_side(scan.n_known);
    const auto total = static_cast<std::int32_t>(n);
    const std::int32_t last_end = total - static_cast<std::int32_t>(std::ceil(side));
    std::size_t g = 0;
    while (g < n_groups && end[g] < side - 1e-5) ++g;
    if (g >= n_groups || end[g] > last_end) return;

    auto& low = scratch.low_count;
    auto& high = scratch.high_count;
    low.assign(n_classes, 0);
    high.resize(n_classes);
    for (std::size_t c = 0; c < n_classes; ++c) high[c] = static_cast<std::int32_t>(node.counts.per_class[c]);
    // Running sums of n·lg(n) over the classes equal the exact sums up to `slack`, which shows for most cuts that they
    // are worse than the best one without summing over all classes.
    double low_parts = 0.0, high_parts = 0.0;
    for (std::size_t c = 0; c < n_classes; ++c) high_parts += information_[high[c]];
    const double slack = 1e-9 + 1e-15 * static_cast<double>(n) * information_[total];
    const auto pass = [&](std::int32_t from, std::int32_t to) {
        for (std::int32_t i = from; i < to; ++i) {
            const std::size_t c = sequence[static_cast<std::size_t>(i)];
            low_parts -= information_[low[c]];
            high_parts -= information_[high[c]];
            low_parts += information_[++low[c]];
            high_parts += information_[--high[c]];
        }
    };
    const auto label = [&](std::int32_t from, std::int32_t to) -> int {
        const std::uint16_t c = sequence[static_cast<std::size_t>(from)];
        for (std::int32_t i = from + 1; i < to; ++i)
            if (sequence[static_cast<std::size_t>(i)] != c) return 0;
        return c + 1;
    };
    const auto exact = [&](const std::vector<std::int32_t>& counts, std::int32_t cases) {
        double parts = 0.0;
        for (const std::int32_t count : counts) parts += information_[count];
        return information_[cases] - parts;
    };
    pass(0, end[g]);
    int left_label = label(0, end[g]);
    for (; end[g] <= last_end; ++g) {
        ++scan.n_cuts;
        const int right_label = label(end[g], end[g + 1]);
        if (left_label == 0 || left_label != right_label || end[g + 1] >= last_end) {
            const std::int32_t below = end[g];
            const double low_estimate = information_[below] - low_parts;
            const double estimate = low_estimate + information_[total - below] - high_parts;
            if (low_estimate + slack >= scan.best || estimate - slack < scan.best) {
                const double low_information = exact(low, below);
                if (low_information >= scan.best) {
                    for (++g; end[g] <= last_end; ++g) ++scan.n_cuts;
                    return;
                }
                scan.offer(low_information + exact(high, total - below), below, rank[g], rank[g + 1]);
            }
        }
        left_label = right_label;
        pass(end[g], end[g + 1]);
    }
}

}  // namespace clausewise::c50
