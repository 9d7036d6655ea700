// Columns that cannot be chosen at a node, told from their histograms: unit weights and two classes.
//
// Where a column is judged by its gain ratio alone, it matters only if one of its cuts has a ratio close to the best so
// far. A cut leaves k cases below, s of them of the second class. Its gain is convex in (k, s) and the information of
// the division concave, so what the gain is above ratio · information, its surplus, is convex: over all the cuts that
// there may be in a bin it is greatest at a corner of the region that they can lie in.
//
// Most columns are told by a simpler bound on the surplus at the corners. Let T be the cases of the node, p the share
// of the second class, and q = k·(T−k)/T. The divergence of two distributions is at most their chi-squared distance, so
//     gain(k, s) ≤ (s − k·p)² / (q·p·(1−p)·ln 2),
// and the information of the division is T·H(k/T) ≥ 4q·(1 + 0.278·(1 − 4q/T)). For the bins that this leaves, the
// surplus itself is compared with the least penalty that a threshold in the bin can cost, and at last that of each cut
// in them with its own.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "c50/grow/node_histograms.hpp"
#include "c50/information.hpp"
#include "induction/matrix.hpp"

namespace clausewise::c50 {

// With unit weights: a cut may leave between `first` and `last` cases below.
struct CutRange {
    std::int32_t first, last;
};

// The cases below a bin and, with those in it, up to its end; the same of the second class.
struct BinSpan {
    std::int32_t below, end;
    std::int32_t second_below, second_end;

    // Visits (k, s) at the corners of the region in which cuts with first ≤ k ≤ last can lie.
    template <class Visit>
    void visit_corners(CutRange cuts, Visit&& visit) const {
        const std::int32_t n_second = second_end - second_below;
        const auto visit_ends = [&](std::int32_t k) {
            const std::int32_t least = std::max(second_below, second_end - (end - k));
            const std::int32_t most = std::min(second_end, second_below + (k - below));
            visit(k, least);
            if (most != least) visit(k, most);
        };
        const std::int32_t from = std::max(cuts.first, below), to = std::min(cuts.last, end);
        if (from > to) return;
        visit_ends(from);
        if (to > from) visit_ends(to);
        const std::int32_t other_class_first = end - n_second, second_class_first = below + n_second;
        if (from < other_class_first && other_class_first < to) visit(other_class_first, second_below);
        if (from < second_class_first && second_class_first < to) visit(second_class_first, second_end);
    }
};

class RatioBound {
public:
    explicit RatioBound(const CountInformation& information) : information_(information) {}

    // For a node of `n_cases`, `n_second` of them of the second class. Per row of the matrix: its class, and whether it
    // is one of these cases.
    void start(std::int32_t n_cases, std::int32_t n_second, CutRange range, const std::uint16_t* classes,
               const std::uint8_t* is_here);
    // From now on a column needs a gain ratio above `ratio` to matter; before, one above zero.
    void require(double ratio);
    // Do all cuts of this column stay below?
    template <class Count>
    bool excludes(const Column& column, const BinnedColumn& binned, const Count* counts) {
        if (range_.first > range_.last) return true;
        read(binned, counts);
        return !mark_bins() || !exceeds(column);
    }

    // The greatest distance between the classes' distributions over the bins: where it is great, so is some ratio.
    template <class Count>
    float promise(const BinnedColumn& binned, const Count* counts) const {
        Count so_far = 0;
        float greatest = 0.0f;
        for (std::size_t b = 0; b < binned.n_bins; ++b) {
            so_far += counts[b];
            const float distance = static_cast<float>(second_of(so_far)) - share_ * static_cast<float>(all_of(so_far));
            greatest = std::max(greatest, std::abs(distance));
        }
        return greatest;
    }

private:
    double information(std::int32_t cases, std::int32_t second) const {
        return information_[cases] - information_[cases - second] - information_[second];
    }
    // By how much the gain of a cut exceeds what is required, in bits.
    double surplus(std::int32_t k, std::int32_t s) const;
    // Above zero if the simpler bound on the surplus is above `penalty`.
    float excess(float k, float s, float penalty) const;
    template <class Count>
    void read(const BinnedColumn& column, const Count* counts);
    BinSpan place(std::size_t bin) const;
    std::size_t bin_of(std::int32_t k) const;
    std::size_t n_in_fours() const { return (n_bins_ + 3) & ~std::size_t{3}; }
    // Marks the bins in which the simpler bound lets a cut matter. Are there any?
    bool mark_bins();
    bool exceeds(const Column& column);
    // Does a cut in the bin, or the one after it, matter?
    bool exceeds_in(const Column& column, std::size_t bin);
    bool is_reached(double surplus, double gap) const;

    const CountInformation& information_;
    std::int32_t n_cases_ = 0, n_second_ = 0;
    CutRange range_{1, 0};
    double ratio_ = 0.0;
    double whole_ = 0.0;  // information of the node
    const std::uint16_t* classes_ = nullptr;
    const std::uint8_t* is_here_ = nullptr;
    // Of the simpler bound, in single precision: it only has to be safe, and four fit in a register.
    float share_ = 0.0f, per_case_ = 0.0f, scale_ = 0.0f, penalty_scale_ = 0.0f;
    float slack_ = 0.0f;  // more than the rounding of s − k·p
    // The column at hand, without its empty bins.
    static constexpr std::size_t kMostBins = 260;
    std::size_t n_bins_ = 0, first_bin_ = 0, last_bin_ = 0;      // the range of cuts begins and ends in the latter two
    std::array<float, kMostBins + 1> below_{}, second_below_{};  // the cases before a bin; of the second class
    std::array<float, kMostBins + 1> lowest_{}, highest_{};      // the values that a bin is for
    std::array<std::uint8_t, kMostBins + 1> bin_{};              // its number in the column
    std::array<std::int32_t, kMostBins> is_marked_{};
    std::vector<std::int32_t> kept_;                // rows of the bin at hand
    float least_cuts_ = 1.0f, least_range_ = 0.0f;  // at the node; the penalty is lg of one, or of the other per gap
};

}  // namespace clausewise::c50
