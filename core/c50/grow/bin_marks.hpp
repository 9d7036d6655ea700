// The bins of a column at a node, and which of them the simpler bound of ratio_bound.hpp cannot exclude.
//
// Single precision suffices for a safe bound, and four or eight values fit in a register.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "c50/grow/node_histograms.hpp"
#include "c50/information.hpp"

namespace clausewise::c50 {

class BinMarks {
protected:
    static constexpr std::size_t kMaxBins = 260;

    // Sets the constants for a node of this weight, `share` of which is of the second class, if a cut matters only from
    // this gain ratio on. `least_bits` are bits of its gain, times the weight, that it needs beyond that and its
    // penalty; `rounding` is what sums in double precision are off by at most.
    void set_constants(double weight, double share, double ratio, double least_bits, double rounding);
    // The loops go in steps of four; entries after the last bin hold no cuts.
    std::size_t n_in_fours() const { return (n_bins_ + 3) & ~std::size_t{3}; }
    // Reads the values of the bins in `bin_`, after repeating the last of them up to the next four.
    void read_values(const BinnedColumn& column);
    // Marks the bins with cuts that may matter: with these sums below, from `first` to `last`. Are there any? Of the
    // bins in which that range begins and ends, only cuts after them or at their corners are judged.
    bool mark_bins(float first, float last);
    // Above zero if the bound on the surplus is above the penalty, in bits.
    float excess(float k, float s, float penalty) const {
        const float q = k * (weight_ - k) * per_weight_;
        const float distance = std::abs(s - k * share_) + slack_;
        return distance * distance -
               q * (scale_ * q * (1.278f - 1.112f * q * per_weight_) + penalty_scale_ * (penalty + least_bits_));
    }
    // At most the penalty of a threshold in a gap of at most this size.
    float least_penalty(float greatest_gap) const {
        const float per_gap = least_range_ / greatest_gap, choices = per_gap < least_cuts_ ? per_gap : least_cuts_;
        return low_lg(choices > 1.0f ? choices : 1.0f);
    }

    // The current column, without its empty bins.
    std::size_t n_bins_ = 0;
    std::array<float, kMaxBins + 1> below_{}, second_below_{};  // what is before a bin; of the second class
    std::array<float, kMaxBins + 1> lowest_{}, highest_{};      // the values of a bin
    std::array<std::uint8_t, kMaxBins + 1> bin_{};              // its number in the column
    std::array<std::int32_t, kMaxBins> is_marked_{};
    float least_cuts_ = 1.0f, least_range_ = 0.0f;  // at the node; the penalty is lg(cuts) or lg(range / gap)

private:
    float weight_ = 0.0f, per_weight_ = 0.0f, share_ = 0.0f, scale_ = 0.0f, penalty_scale_ = 0.0f, least_bits_ = 0.0f;
    float slack_ = 0.0f;  // exceeds the rounding error of s − k·p
};

}  // namespace clausewise::c50
