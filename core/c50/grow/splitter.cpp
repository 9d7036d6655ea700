#include "c50/grow/splitter.hpp"

#include <algorithm>
#include <cmath>

namespace clausewise::c50 {
namespace {

// −z·lg(z/n): the contribution of a part to the information of a division.
double part_information(double z, double n) { return z <= 0.0 ? 0.0 : -z * lg(z / n); }

}  // namespace

Split Splitter::evaluate(std::size_t column, const NodeView& node, double least_ratio, SplitScratch& scratch) const {
    const Column& data = cases_.matrix.column(column);
    if (!data.is_usable()) return {};
    return data.is_discrete ? discrete(column, node) : continuous(column, node, least_ratio, scratch);
}

CutRange Splitter::cut_range(const NodeView& node) const {
    const double side = cases_.smallest_side(node.counts.total);
    return {std::max(static_cast<std::int32_t>(std::ceil(side - 1e-5)), 1),
            static_cast<std::int32_t>(node.rows.size()) - static_cast<std::int32_t>(std::ceil(side))};
}

Split Splitter::continuous(std::size_t index, const NodeView& node, double least_ratio, SplitScratch& scratch) const {
    const Column& column = cases_.matrix.column(index);
    CutScan scan;
    if (!cases_.has_unit_weights()) {
        scan_weighted(index, node, least_ratio, scratch, scan);
    } else {
        scan.n_known = scan.n_all = node.counts.total;
        scan.base = node.base;
        if (scan.n_known < 2.0 * cases_.min_cases) return {};
        if (cases_.n_classes > 2) scan_many_classes(column, node, scratch, scan);
        else scan_two_classes(index, node, least_ratio, scratch, scan);
    }
    if (scan.best >= kNoCut || scan.is_excluded) return {};

    const double known_share = scan.n_known / scan.n_all;
    double gain = (1.0 - (1.0 - known_share)) * (scan.base - scan.best / scan.n_known);
    if (gain <= 0.0) return {};
    const auto value = [&](std::int32_t rank) { return column.values[static_cast<std::size_t>(rank)]; };
    const float left = value(scan.rank_below), right = value(scan.rank_above);
    const float range_per_gap = (value(scan.highest_rank) - value(scan.lowest_rank)) / (right - left);
    const double n_cuts = static_cast<double>(scan.n_cuts);
    gain -= lg(range_per_gap < n_cuts ? static_cast<double>(range_per_gap) : n_cuts) / scan.n_all;
    if (gain <= 0.0) return {};

    Split split;
    split.gain = static_cast<float>(gain);
    split.information = static_cast<float>((part_information(scan.n_unknown, scan.n_all) +
                                            part_information(scan.weight_below, scan.n_all) +
                                            part_information(scan.n_known - scan.weight_below, scan.n_all)) /
                                           scan.n_all);
    split.test.kind = TestKind::threshold;
    split.test.column = static_cast<std::int32_t>(index);
    split.test.n_branches = 2;
    float middle = static_cast<float>(0.5 * static_cast<double>(left + right));
    if (middle >= right) middle = left;
    split.test.threshold = middle;
    split.test.threshold_rank = column.rank_at_most(middle);
    return split;
}

}  // namespace clausewise::c50
