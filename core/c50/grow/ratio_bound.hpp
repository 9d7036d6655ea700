// Excludes columns that cannot be chosen at a node, by their histograms. Unit weights, two classes.
//
// If columns are judged by their gain ratio alone, a column matters only if one of its cuts has a ratio close to the
// best so far. A cut leaves k cases below, s of them of the second class. Its gain is convex in (k, s) and the
// information of the division is concave, so the surplus, gain − ratio · information, is convex: over all possible cuts
// in a bin it is greatest at a corner of the region that they can lie in.
//
// Most columns are excluded by a simpler bound on the surplus at the corners. Let T be the number of cases of the node,
// p the fraction of the second class, and q = k·(T−k)/T. The divergence of two distributions is at most their
// chi-squared distance, so
//     gain(k, s) ≤ (s − k·p)² / (q·p·(1−p)·ln 2),
// and the information of the division is T·H(k/T) ≥ 4q·(1 + 0.278·(1 − 4q/T)). In the remaining bins, the surplus
// itself is compared with the least penalty of a threshold in the bin, and finally the surplus of each cut with its own
// penalty.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "c50/grow/bin_marks.hpp"
#include "c50/grow/bin_span.hpp"
#include "c50/grow/node_histograms.hpp"
#include "c50/information.hpp"
#include "induction/matrix.hpp"

namespace clausewise::c50 {

class RatioBound : private BinMarks {
public:
    explicit RatioBound(const CountInformation& information) : information_(information) {}

    // Starts a node of `n_cases` cases, `n_second` of them of the second class. `classes` and `is_in_node` have one
    // entry per row of the matrix.
    void start(std::int32_t n_cases, std::int32_t n_second, CutRange range, const std::uint16_t* classes,
               const std::uint8_t* is_in_node);
    // From now on a column matters only if its gain ratio exceeds `ratio` (at first, zero).
    void require(double ratio);
    // Do all cuts of this column stay below the required ratio?
    template <class Count>
    bool excludes(const Column& column, const BinnedColumn& binned, const Count* counts) {
        if (range_.first > range_.last) return true;
        read(binned, counts);
        return !mark_bins() || !exceeds(column);
    }

    // The greatest distance between the distributions of the two classes over the bins: a large one promises a high
    // ratio.
    template <class Count>
    float promise(const BinnedColumn& binned, const Count* counts) const {
        const auto share = static_cast<float>(share_);
        Count so_far = 0;
        float greatest = 0.0f;
        for (std::size_t b = 0; b < binned.n_bins; ++b) {
            so_far += counts[b];
            const float distance = static_cast<float>(second_of(so_far)) - share * static_cast<float>(all_of(so_far));
            greatest = std::max(greatest, std::abs(distance));
        }
        return greatest;
    }

private:
    double information(std::int32_t cases, std::int32_t second) const {
        return information_[cases] - information_[cases - second] - information_[second];
    }
    // By how many bits the gain of a cut exceeds the requirement.
    double surplus(std::int32_t k, std::int32_t s) const;
    template <class Count>
    void read(const BinnedColumn& column, const Count* counts);
    BinSpan span_of(std::size_t bin) const;
    std::size_t bin_of(std::int32_t k) const;
    // Marks the bins that the simpler bound does not exclude. Are there any?
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
    const std::uint8_t* is_in_node_ = nullptr;
    double share_ = 0.0;                        // of the second class
    std::size_t first_bin_ = 0, last_bin_ = 0;  // that hold the ends of the range of cuts
    std::vector<std::int32_t> kept_;            // rows of the current bin
};

}  // namespace clausewise::c50
