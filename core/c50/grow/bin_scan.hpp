// Finds the best cut of a column by means of a histogram. Unit weights, two classes.
//
// The information left after a cut is concave in the class counts below it. So its minimum in a bin is at a corner of
// the region that the cuts can lie in (see ratio_bound.hpp), and only bins where that is less than at the best border
// between bins have to be scanned. If the skipping rule excludes that border, it lies among cases of one class, and by
// concavity there is a better cut at an end of these cases.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/bits.hpp"
#include "c50/cases.hpp"
#include "c50/grow/cut_scan.hpp"
#include "c50/grow/node_column.hpp"
#include "c50/grow/node_histograms.hpp"
#include "c50/grow/node_ranks.hpp"
#include "c50/grow/ratio_bound.hpp"
#include "c50/information.hpp"
#include "induction/matrix.hpp"

namespace clausewise::c50 {

// The cases of a node; per row of the matrix, whether it is one of them, and its class.
struct BinnedCases {
    RowSpan rows;
    const ClassCounts& counts;
    const std::uint8_t* is_in_node;
    const std::uint16_t* classes;
};

template <class Count>
class BinScan : private NodeColumn {
public:
    // A column whose gain ratio is below `least_ratio` may be excluded before all of its cuts are counted.
    BinScan(const Column& column, const Count* counts, const BinnedCases& cases, CutRange range, double least_ratio,
            const CountInformation& information, RankScratch& scratch, CutScan& scan)
        : NodeColumn(column, cases.is_in_node, cases.classes),
          column_(column),
          counts_(counts),
          rows_(cases.rows),
          scratch_(scratch),
          scan_(scan),
          information_(information),
          range_(range),
          least_ratio_(least_ratio),
          total_(static_cast<std::int32_t>(cases.rows.size())),
          total_second_(static_cast<std::int32_t>(cases.counts.per_class[1])) {}

    // Returns false if the search would take too long, or if a full scan might have stopped before the best cut found.
    bool find() {
        std::size_t lowest = 0, highest = column_.n_bins() - 1;
        while (counts_[lowest] == 0) ++lowest;
        while (counts_[highest] == 0) --highest;
        scan_.lowest_rank = rank_at(next(start_of(lowest)));
        scan_.highest_rank = rank_at(previous(start_of(highest + 1)));
        if (scan_.lowest_rank == scan_.highest_rank || range_.first > range_.last) return true;

        const auto visit_bins = [&](auto&& visit) {
            BinSpan span{0, 0, 0, 0};
            for (std::size_t b = lowest; b <= highest; ++b) {
                if (counts_[b] == 0) continue;
                span.end += all_of(counts_[b]);
                span.second_end += second_of(counts_[b]);
                if (span.below > range_.last) return;
                if (span.end >= range_.first) visit(b, span);
                span.below = span.end;
                span.second_below = span.second_end;
            }
        };
        visit_bins([&](std::size_t, const BinSpan& span) {
            if (is_cut(span.end) && is_far(span.end, span.second_end))
                tighten_limit(left_after(span.end, span.second_end));
        });
        visit_bins([&](std::size_t b, const BinSpan& span) {
            if (is_inconclusive_) return;
            if (may_hold_best(b, span)) scan_bin(b, span);
            if (b < highest && is_cut(span.end) && is_far(span.end, span.second_end) &&
                left_after(span.end, span.second_end) < limit_)
                consider(span.end, span.second_end, previous(start_of(b + 1)), next(start_of(b + 1)));
        });
        if (scan_.best < kNoCut) scan_.n_cuts = n_cuts();
        return !is_inconclusive_;
    }

private:
    static constexpr double kRounding = 1e-6;       // exceeds the rounding error of any information
    static constexpr double kRatioRounding = 1e-5;  // gains and ratios are rounded to single precision
    static constexpr std::int32_t kMaxScannedPerCase = 3;

    bool is_cut(std::int32_t below) const { return below >= range_.first && below <= range_.last; }
    double information(std::int32_t cases, std::int32_t second) const {
        return information_[cases] - (information_[cases - second] + information_[second]);
    }
    double left_after(std::int32_t below, std::int32_t second) const {
        return information(below, second) + information(total_ - below, total_second_ - second);
    }

    void tighten_limit(double left) {
        if (left + kRounding >= limit_) return;
        limit_ = left + kRounding;
        least_distance_ = induction::kLn2 * total_second_ * (total_ - total_second_) / static_cast<double>(total_) *
                          (information(total_, total_second_) - limit_ - kRounding);
    }
    // A cut that is not far leaves more information than the limit, by the chi-squared bound of ratio_bound.hpp: with T
    // cases, S of the second class,  gain(k, s) · T ≤ (s·T − k·S)² / (k·(T−k)) · T / (S·(T−S)·ln 2).
    bool is_far(std::int32_t below, std::int32_t second) const {
        const auto distance = static_cast<double>(std::int64_t{second} * total_ - std::int64_t{below} * total_second_);
        return distance * distance >= least_distance_ * static_cast<double>(std::int64_t{below} * (total_ - below));
    }
    bool may_hold_best(std::size_t bin, const BinSpan& span) const {
        if (column_.bin_starts[bin + 1] - column_.bin_starts[bin] == 1) return false;
        const std::int32_t n_second = span.second_end - span.second_below;
        if (span.below >= range_.first && span.end <= range_.last && !is_far(span.below, span.second_below) &&
            !is_far(span.end, span.second_end) && !is_far(span.end - n_second, span.second_below) &&
            !is_far(span.below + n_second, span.second_end))
            return false;
        const CutRange within{std::max(range_.first, span.below + 1), std::min(range_.last, span.end - 1)};
        double least = kNoCut;
        span.visit_corners(within, [&](std::int32_t k, std::int32_t s) { least = std::min(least, left_after(k, s)); });
        return least < kNoCut && least - kRounding < limit_;
    }
    void scan_bin(std::size_t bin, const BinSpan& span) {
        // If most of the column would be scanned for few cases, sorting them is quicker.
        n_scanned_ += start_of(bin + 1) - start_of(bin);
        if (n_scanned_ > kMaxScannedPerCase * total_) {
            is_inconclusive_ = true;
            return;
        }
        auto& kept = scratch_.kept;
        const std::size_t n = list_bin(bin, kept);
        std::int32_t below = span.below, second = span.second_below;
        for (std::size_t i = 0; i + 1 < n; ++i) {
            ++below;
            second += class_at(kept[i]);
            if (is_cut(below) && is_far(below, second) && rank_at(kept[i]) != rank_at(kept[i + 1]))
                consider(below, second, kept[i], kept[i + 1]);
        }
    }
    // Considers the cut between two positions.
    void consider(std::int32_t below, std::int32_t second, std::int32_t left, std::int32_t right) {
        const double low = information(below, second);
        const double both = low + information(total_ - below, total_second_ - second);
        if (both >= scan_.best || both >= limit_ || is_skipped(below, second, left, right)) return;
        if (low >= scan_.best - kRounding) is_inconclusive_ = true;
        scan_.offer(both, below, rank_at(left), rank_at(right));
        tighten_limit(both);
    }
    // Does the skipping rule exclude the cut: are both neighbouring groups of equal value of one and the same class?
    bool is_skipped(std::int32_t below, std::int32_t second, std::int32_t left, std::int32_t right) const {
        const std::uint16_t label = class_at(left);
        if (class_at(right) != label || below == range_.last) return false;
        bool is_pure = true;
        std::int32_t group_start = below, group_end = below;
        for (std::int32_t at = start_of_rank(rank_at(left)); at <= left; ++at)
            if (is_in_node(at)) {
                --group_start;
                is_pure = is_pure && class_at(at) == label;
            }
        // The group to the left of the first cut is everything so far.
        if (group_start < range_.first) is_pure = second == 0 || second == below;
        if (!is_pure) return false;
        for (std::int32_t at = right; at < start_of_rank(rank_at(right) + 1); ++at)
            if (is_in_node(at)) {
                ++group_end;
                if (class_at(at) != label) return false;
            }
        return group_end < range_.last;
    }

    // The rank of the case at a position among the node's cases, from 0 on, and the number of cases below that rank.
    struct RankAt {
        std::int32_t rank, n_below;
    };
    RankAt rank_at_position(std::int32_t position) const {
        std::size_t b = 0;
        std::int32_t left = position;
        for (; left >= all_of(counts_[b]); ++b) left -= all_of(counts_[b]);
        std::int32_t at = next(start_of(b));
        for (; left > 0; --left) at = next(at + 1);
        const std::int32_t rank = rank_at(at);
        return {rank, position - n_in_node(start_of_rank(rank), at)};
    }
    // The number of cuts. Or a lower bound on it, if that is at least the range of values per gap at the best cut (the
    // penalty then does not depend on it), or if it suffices to exclude the column.
    std::int64_t n_cuts() {
        std::int64_t n = range_.last - range_.first + 1;
        bool is_common_alone = true;  // in its bin, whose count is then that of the common value
        if (column_.common_bin >= 0) {
            const auto bin = static_cast<std::size_t>(column_.common_bin);
            std::int32_t start = 0;
            for (std::size_t b = 0; b < bin; ++b) start += all_of(counts_[b]);
            const std::int32_t end = start + all_of(counts_[bin]);
            n -= std::max(0, std::min(end - 1, range_.last) - std::max(start + 1, range_.first) + 1);
            is_common_alone = column_.bin_starts[bin + 1] - column_.bin_starts[bin] == 1;
        }
        if (is_common_alone && column_.n_repeated == 0) return n;
        const float range_per_gap = (value(scan_.highest_rank) - value(scan_.lowest_rank)) /
                                    (value(scan_.rank_above) - value(scan_.rank_below));
        const std::int64_t fewest =
            std::max(is_common_alone ? n - column_.n_repeated : std::int64_t{1}, fewest_cuts_in_bins());
        if (range_per_gap <= static_cast<float>(fewest)) return fewest;
        if (is_below_least_ratio(fewest)) {
            scan_.is_excluded = true;
            return fewest;
        }
        return n_ranks_with_cuts(is_common_alone);
    }
    // A bin without repeated values has as many cuts as cases; otherwise at most as many fewer as rows of the matrix
    // repeat a value of the bin.
    std::int64_t fewest_cuts_in_bins() const {
        std::int64_t fewest = 0;
        std::int32_t below = 0;
        for (std::size_t b = 0; b < column_.n_bins() && below < range_.last; ++b) {
            const std::int32_t n_here = all_of(counts_[b]);
            const std::int32_t n_repeated =
                start_of(b + 1) - start_of(b) - (column_.bin_starts[b + 1] - column_.bin_starts[b]);
            if (n_here > 0 && below + 1 >= range_.first && below + n_here <= range_.last)
                fewest += std::max(1, n_here - n_repeated);
            below += n_here;
        }
        return fewest;
    }
    // Would the ratio of the best cut be too small even with only `n` cuts?
    bool is_below_least_ratio(std::int64_t n) const {
        const auto below = static_cast<std::int32_t>(scan_.weight_below);
        const double gain = information(total_, total_second_) - scan_.best - lg(static_cast<double>(n));
        const double split_information = information_[total_] - (information_[below] + information_[total_ - below]);
        return gain < (1.0 - kRatioRounding) * least_ratio_ * split_information - kRounding;
    }
    // The ranks that occur from the first cut on: each but the last has a cut after it.
    std::int64_t n_ranks_with_cuts(bool is_common_alone) const {
        const RankAt first = rank_at_position(range_.first - 1), end = rank_at_position(range_.last);
        const bool is_quick = is_common_alone && column_.is_mostly_unique && 2 * column_.n_repeated <= total_;
        return is_quick ? end.n_below - first.n_below - n_repetitions(first.rank, end.rank)
                        : n_distinct_ranks(rows_, first.rank, end.rank, scratch_.present);
    }
    // The cases of the node that repeat a value, of those with ranks from `first` to before `end`.
    std::int64_t n_repetitions(std::int32_t first, std::int32_t end) const {
        std::int64_t n = 0;
        const auto& repeated = column_.repeated_ranks;
        for (auto r = std::lower_bound(repeated.begin(), repeated.end(), first); r != repeated.end() && *r < end; ++r) {
            n += std::max(0, n_in_node(start_of_rank(*r), start_of_rank(*r + 1)) - 1);
        }
        if (column_.common_rank >= first && column_.common_rank < end)
            n += std::max(0, all_of(counts_[static_cast<std::size_t>(column_.common_bin)]) - 1);
        return n;
    }

    const Column& column_;
    const Count* counts_;
    const RowSpan rows_;
    RankScratch& scratch_;
    CutScan& scan_;
    const CountInformation& information_;
    const CutRange range_;
    const double least_ratio_;
    const std::int32_t total_, total_second_;
    double limit_ = kNoCut;         // upper bound on the information left after the best cut
    double least_distance_ = -1.0;  // and lower bound on its distance, as in is_far
    std::int32_t n_scanned_ = 0;    // positions scanned
    bool is_inconclusive_ = false;
};

}  // namespace clausewise::c50
