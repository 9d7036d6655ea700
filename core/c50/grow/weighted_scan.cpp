// Cuts of a continuous column: any weights and missing values.
#include "c50/grow/splitter.hpp"

#include "c50/grow/radix_sort.hpp"

namespace clausewise::c50 {

// Scans case by case, in double precision.
void Splitter::scan_weighted(const Column& column, const NodeView& node, SplitScratch& scratch, CutScan& scan) const {
    const std::size_t n_classes = cases_.n_classes;
    // The position of the row in the node makes the keys distinct, so that equal values keep the node's order.
    auto& keys = scratch.wide_keys;
    keys.clear();
    for (std::size_t i = 0; i < node.rows.size(); ++i) {
        const std::int32_t rank = column.ranks[static_cast<std::size_t>(node.rows.first[i])];
        scan.n_all += cases_.weight(node.rows.first[i]);
        if (rank == kMissing) scan.n_unknown += cases_.weight(node.rows.first[i]);
        else keys.push_back(static_cast<std::uint64_t>(rank) << 32 | i);
    }
    scan.n_known = scan.n_all - scan.n_unknown;
    if (scan.n_known < 2.0 * cases_.min_cases || keys.size() < 2) return;
    sort_keys(keys, scratch.wide_sorted, 32);

    const std::size_t n = keys.size();
    const auto rank_at = [&](std::size_t p) { return static_cast<std::int32_t>(keys[p] >> 32); };
    const auto row_at = [&](std::size_t p) { return node.rows.first[keys[p] & 0xffffffffu]; };
    auto& weights = scratch.weights;
    auto& sequence = scratch.sequence;
    weights.resize(n);
    sequence.resize(n);
    auto& low = scratch.low;
    auto& high = scratch.high;
    std::vector<double> total(n_classes, 0.0);
    low.assign(n_classes, 0.0);
    high.assign(n_classes, 0.0);
    for (std::size_t p = 0; p < n; ++p) {
        weights[p] = cases_.weight(row_at(p));
        sequence[p] = static_cast<std::uint16_t>(cases_.class_of(row_at(p)));
        total[sequence[p]] += weights[p];
    }
    scan.base = scan.n_unknown > 0.0 ? total_information(total.data(), n_classes) / scan.n_known : node.base;
    scan.lowest_rank = rank_at(0);
    scan.highest_rank = rank_at(n - 1);

    const double side = smallest_side(scan.n_known);
    std::ptrdiff_t last = static_cast<std::ptrdiff_t>(n) - 1;
    for (double above = 0.0; last >= 0 && above < side; --last) above += weights[static_cast<std::size_t>(last)];
    std::ptrdiff_t p = 0;
    const auto is_cut = [&](std::ptrdiff_t at) {
        return rank_at(static_cast<std::size_t>(at)) != rank_at(static_cast<std::size_t>(at) + 1);
    };
    double below = 0.0;
    const auto pass = [&](std::ptrdiff_t at) {
        const auto i = static_cast<std::size_t>(at);
        below += weights[i];
        low[sequence[i]] += weights[i];
    };
    while (p <= last && (below + weights[static_cast<std::size_t>(p)] < side - 1e-5 || !is_cut(p))) pass(p++);
    if (p > last) return;

    const auto label = [&](std::ptrdiff_t from, std::ptrdiff_t to) -> int {
        const std::uint16_t c = sequence[static_cast<std::size_t>(from)];
        for (std::ptrdiff_t i = from + 1; i < to; ++i)
            if (sequence[static_cast<std::size_t>(i)] != c) return 0;
        return c + 1;
    };
    int left_label = label(0, p + 1);
    while (p <= last) {
        pass(p);
        if (!is_cut(p)) {
            ++p;
            continue;
        }
        ++scan.n_cuts;
        std::ptrdiff_t group_end = p + 2;
        while (group_end <= last && !is_cut(group_end - 1)) ++group_end;
        const int right_label = label(p + 1, group_end);
        const bool reaches_limit =
            p == last || rank_at(static_cast<std::size_t>(last)) == rank_at(static_cast<std::size_t>(p) + 1);
        if (left_label == 0 || left_label != right_label || reaches_limit) {
            const double low_information = total_information(low.data(), n_classes);
            if (low_information >= scan.best) {
                for (++p; p <= last; ++p) scan.n_cuts += is_cut(p);
                return;
            }
            for (std::size_t c = 0; c < n_classes; ++c) high[c] = total[c] - low[c];
            scan.offer(low_information + total_information(high.data(), n_classes), below,
                       rank_at(static_cast<std::size_t>(p)), rank_at(static_cast<std::size_t>(p) + 1));
        }
        left_label = right_label;
        ++p;
    }
}

}  // namespace clausewise::c50
