// Finds the best cut of a column by means of a histogram. Weights whose sums are exact, two classes.
//
// The weighted counterpart of bin_scan.hpp: the sums of the bins are those that a scan of the cases in order of value
// would find below each bin, to the bit, so that only bins that may hold the best cut have to be scanned. As class
// weights enter the information in single precision, all comparisons with it leave a slack.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "c50/cases.hpp"
#include "c50/grow/cut_scan.hpp"
#include "c50/grow/node_column.hpp"
#include "c50/grow/node_histograms.hpp"
#include "c50/grow/node_ranks.hpp"
#include "c50/information.hpp"
#include "induction/matrix.hpp"

namespace clausewise::c50 {

class WeightedBinScan : private NodeColumn {
public:
    // `bins` are those of the column, `node` their sum. A cut leaves at least the weight `side` on each side. A column
    // whose gain ratio is below `least_ratio` may be excluded before all of its cuts are counted.
    WeightedBinScan(const Cases& cases, const Column& column, const WeightSum* bins, const WeightSum& node,
                    RowSpan rows, const std::uint8_t* is_in_node, double side, double least_ratio, RankScratch& scratch,
                    CutScan& scan)
        : NodeColumn(column, is_in_node, cases.classes.data()),
          cases_(cases),
          column_(column),
          bins_(bins),
          node_(node),
          rows_(rows),
          side_(side),
          least_ratio_(least_ratio),
          scratch_(scratch),
          scan_(scan),
          share_(node.second / node.all),
          slack_(4e-7 * (1.0 + node.all)),
          information_(information_of(node)) {}

    // Returns false if the search would take too long, or if a full scan might have stopped before the best cut found.
    bool find() {
        while (is_empty(lowest_)) ++lowest_;
        highest_ = column_.n_bins() - 1;
        while (is_empty(highest_)) --highest_;
        scan_.lowest_rank = first_rank_of(lowest_);
        scan_.highest_rank = last_rank_of(highest_);
        if (scan_.lowest_rank == scan_.highest_rank) return true;
        visit_bins([&](std::size_t b, const WeightSum&, const WeightSum& end) {
            if (b == highest_ || !is_admissible(end.all)) return;
            ++n_borders_;
            if (is_far(end)) tighten_limit(quick_left_after(end));
        });
        visit_bins([&](std::size_t b, const WeightSum& below, const WeightSum& end) {
            if (is_inconclusive_) return;
            if (may_hold_best(b, below, end)) scan_bin(b, below);
            if (b < highest_ && is_admissible(end.all) && is_far(end)) consider_border(b, below, end);
        });
        if (scan_.best < kNoCut && !is_inconclusive_) scan_.n_cuts = n_cuts();
        return !is_inconclusive_;
    }

private:
    static constexpr double kRatioRounding = 1e-5;  // gains and ratios are rounded to single precision
    static constexpr std::size_t kMaxScannedPerCase = 3;
    // The first cut may leave a little less below it.
    static constexpr double kSideRounding = 1e-5;

    bool is_empty(std::size_t bin) const { return bins_[bin].all == 0.0; }
    std::int32_t first_rank_of(std::size_t bin) const {
        return column_.has_value_bins ? static_cast<std::int32_t>(bin) : rank_at(next(start_of(bin)));
    }
    std::int32_t last_rank_of(std::size_t bin) const {
        return column_.has_value_bins ? static_cast<std::int32_t>(bin) : rank_at(previous(start_of(bin + 1)));
    }
    // Calls visit(bin, below, end) for the bins with cases, and the sums before and after each.
    template <class Visit>
    void visit_bins(Visit&& visit) const {
        WeightSum below;
        for (std::size_t b = lowest_; b <= highest_; ++b) {
            if (is_empty(b)) continue;
            WeightSum end = below;
            end += bins_[b];
            visit(b, below, end);
            below = end;
        }
    }
    std::size_t bin_after(std::size_t bin) const {
        do ++bin;
        while (is_empty(bin));
        return bin;
    }

    static double information_of(const WeightSum& sum) {
        const double per_class[2] = {sum.all - sum.second, sum.second};
        return total_information(per_class, 2);
    }
    // Below and above a cut, up to half of the slack.
    double quick_left_after(const WeightSum& below) const {
        const WeightSum high = above(below);
        return quick_information(below.all - below.second, below.second) +
               quick_information(high.all - high.second, high.second);
    }
    WeightSum above(const WeightSum& below) const { return {node_.all - below.all, node_.second - below.second}; }
    bool leaves_enough_above(double below) const { return node_.all - below >= side_; }
    bool is_admissible(double below) const { return below >= side_ - kSideRounding && leaves_enough_above(below); }

    void tighten_limit(double left) {
        if (left + slack_ >= limit_) return;
        limit_ = left + slack_;
        least_distance_ = induction::kLn2 * share_ * (1.0 - share_) / node_.all * (information_ - limit_ - slack_);
    }
    // As in bin_scan.hpp: a cut that is not far leaves more information than the limit.
    bool is_far(const WeightSum& below) const {
        const double distance = below.second - below.all * share_;
        return distance * distance >= least_distance_ * (below.all * (node_.all - below.all));
    }
    bool may_hold_best(std::size_t bin, const WeightSum& below, const WeightSum& end) const {
        if (column_.bin_starts[bin + 1] - column_.bin_starts[bin] == 1) return false;
        if (end.all < side_ - kSideRounding || !leaves_enough_above(below.all)) return false;
        // All cases of the second class first, or last. Those of one class alone are no better than the borders.
        const double second = bins_[bin].second;
        const WeightSum corners[] = {below, {below.all + second, end.second}, {end.all - second, below.second}, end};
        return std::any_of(std::begin(corners), std::end(corners), [&](const WeightSum& corner) {
            return is_far(corner) && quick_left_after(corner) - slack_ < limit_;
        });
    }
    void scan_bin(std::size_t bin, WeightSum below) {
        // If most of the column would be scanned for few cases, sorting them is quicker.
        n_scanned_ += static_cast<std::size_t>(start_of(bin + 1) - start_of(bin));
        if (n_scanned_ > kMaxScannedPerCase * rows_.size()) {
            is_inconclusive_ = true;
            return;
        }
        auto& kept = scratch_.kept;
        const std::size_t n = list_bin(bin, kept);
        for (std::size_t i = 0; i + 1 < n; ++i) {
            pass(kept[i], below);
            if (!is_admissible(below.all) || !is_far(below) || rank_at(kept[i]) == rank_at(kept[i + 1])) continue;
            const std::int32_t left = kept[i], right = kept[i + 1];
            consider(below, rank_at(left), rank_at(right), [&] { return is_skipped(below, left, right); });
        }
    }
    double weight_at(std::int32_t at) const { return cases_.weights[static_cast<std::size_t>(row_at(at))]; }
    void pass(std::int32_t at, WeightSum& sum) const { sum += weight_sum(cases_, row_at(at)); }
    template <class IsSkipped>
    void consider(const WeightSum& below, std::int32_t left_rank, std::int32_t right_rank, IsSkipped&& is_skipped) {
        if (quick_left_after(below) - slack_ >= limit_) return;
        const double low = information_of(below), both = low + information_of(above(below));
        if (both >= scan_.best || both >= limit_ || is_skipped()) return;
        if (low + slack_ >= scan_.best) is_inconclusive_ = true;
        scan_.offer(both, below.all, left_rank, right_rank);
        tighten_limit(both);
    }
    void consider_border(std::size_t bin, const WeightSum& below, const WeightSum& end) {
        const std::size_t after = bin_after(bin);
        const std::int32_t left = last_rank_of(bin), right = first_rank_of(after);
        consider(end, left, right, [&] {
            return column_.has_value_bins ? is_value_skipped(below, end, after)
                                          : is_skipped(end, previous(start_of(bin + 1)), next(start_of(after)));
        });
    }

    // Does the skipping rule exclude the cut between two positions: are both neighbouring groups of equal value of one
    // and the same class, and is there another case between the second group and the limit of admissible cuts?
    bool is_skipped(const WeightSum& below, std::int32_t left, std::int32_t right) const {
        const std::uint16_t label = class_at(left);
        if (class_at(right) != label) return false;
        bool is_pure = true;
        WeightSum group;
        for (std::int32_t at = start_of_rank(rank_at(left)); at <= left; ++at)
            if (is_in_node(at)) {
                pass(at, group);
                is_pure = is_pure && class_at(at) == label;
            }
        // The group to the left of the first cut is everything so far.
        if (below.all - group.all < side_ - kSideRounding) is_pure = is_pure_of(below, label);
        if (!is_pure) return false;
        WeightSum end = below;
        std::int32_t at = right;
        for (; at < start_of_rank(rank_at(right) + 1); ++at)
            if (is_in_node(at)) {
                if (class_at(at) != label) return false;
                pass(at, end);
            }
        if (!leaves_enough_above(end.all)) return false;
        return leaves_enough_above(end.all + weight_at(next(at)));
    }
    // The same for the cut after a bin that holds a single value. The weight of the next case is at most that of its
    // bin; if it matters which it is, only a full scan can tell.
    bool is_value_skipped(const WeightSum& before, const WeightSum& below, std::size_t right) {
        const bool is_first = before.all < side_ - kSideRounding;
        const WeightSum group = is_first ? below : WeightSum{below.all - before.all, below.second - before.second};
        const std::size_t label = group.second > 0.0;
        if (!is_pure_of(group, label) || !is_pure_of(bins_[right], label)) return false;
        const double end = below.all + bins_[right].all;
        if (right == highest_ || !leaves_enough_above(end)) return false;
        if (!leaves_enough_above(end + bins_[bin_after(right)].all)) is_inconclusive_ = true;
        return true;
    }
    static bool is_pure_of(const WeightSum& sum, std::size_t label) {
        return label == 0 ? sum.second == 0.0 : sum.second == sum.all;
    }

    // The number of cuts. Or a lower bound on it, as in bin_scan.hpp.
    std::int64_t n_cuts() const {
        if (column_.has_value_bins) return n_borders_;
        const float range_per_gap = (value(scan_.highest_rank) - value(scan_.lowest_rank)) /
                                    (value(scan_.rank_above) - value(scan_.rank_below));
        const std::int64_t fewest = std::max<std::int64_t>(1, n_borders_);
        if (range_per_gap <= static_cast<float>(fewest)) return fewest;
        if (is_below_least_ratio(fewest)) {
            scan_.is_excluded = true;
            return fewest;
        }
        // Each rank from that of the first cut to that of the last one has a cut after it.
        std::int32_t first = -1, last = -1;
        visit_bins([&](std::size_t b, const WeightSum& below, const WeightSum& end) {
            if (first < 0 && end.all >= side_ - kSideRounding) first = first_rank_with_cut(b, below.all);
            if (last < 0 && !leaves_enough_above(end.all)) last = rank_beyond_limit(b, below.all);
        });
        return n_distinct_ranks(rows_, first, last, scratch_.present);
    }
    // The first rank in the bin up to which there is enough weight.
    std::int32_t first_rank_with_cut(std::size_t bin, double below) const {
        std::int32_t at = start_of(bin) - 1;
        do {
            at = next(at + 1);
            below += weight_at(at);
        } while (below < side_ - kSideRounding);
        return rank_at(at);
    }
    // The first rank in the bin beyond which there is too little weight.
    std::int32_t rank_beyond_limit(std::size_t bin, double below) const {
        std::int32_t at = start_of(bin) - 1;
        do {
            at = next(at + 1);
            below += weight_at(at);
        } while (leaves_enough_above(below));
        return rank_at(at);
    }
    // Would the ratio of the best cut be too small even with only `n` cuts?
    bool is_below_least_ratio(std::int64_t n) const {
        const double below = scan_.weight_below, parts[2] = {below, node_.all - below};
        const double gain = information_ - scan_.best - lg(static_cast<double>(n));
        return gain < (1.0 - kRatioRounding) * least_ratio_ * total_information(parts, 2) - 2.0 * slack_;
    }

    const Cases& cases_;
    const Column& column_;
    const WeightSum* bins_;
    const WeightSum node_;
    const RowSpan rows_;
    const double side_;
    const double least_ratio_;
    RankScratch& scratch_;
    CutScan& scan_;
    const double share_;                    // of the second class
    const double slack_;                    // exceeds the rounding error of any information
    const double information_;              // of the node
    std::size_t lowest_ = 0, highest_ = 0;  // bins with cases
    std::int64_t n_borders_ = 0;            // admissible cuts between bins
    double limit_ = kNoCut;                 // upper bound on the information left after the best cut
    double least_distance_ = -1.0;          // and lower bound on its distance, as in is_far
    std::size_t n_scanned_ = 0;             // positions scanned
    bool is_inconclusive_ = false;
};

}  // namespace clausewise::c50
