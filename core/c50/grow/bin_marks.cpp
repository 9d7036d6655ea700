#include "c50/grow/bin_marks.hpp"

#include <algorithm>

#include "base/bits.hpp"

namespace clausewise::c50 {
namespace {

// By value, unlike std::max, so that loops with it are vectorised.
float greater(float x, float y) { return x > y ? x : y; }

}  // namespace

void BinMarks::set_constants(double weight, double share, double ratio, double least_bits, double rounding) {
    weight_ = static_cast<float>(weight);
    per_weight_ = static_cast<float>(1.0 / weight);
    share_ = static_cast<float>(share);
    slack_ = static_cast<float>(0.01 + 2e-7 * weight + rounding);
    const double per_bit = share * (1.0 - share) * induction::kLn2 * (1.0 - 1e-4);
    scale_ = static_cast<float>(4.0 * ratio * per_bit);
    penalty_scale_ = static_cast<float>(per_bit);
    least_bits_ = static_cast<float>(least_bits);
}

void BinMarks::read_values(const BinnedColumn& column) {
    for (std::size_t b = n_bins_; b <= n_in_fours(); ++b) bin_[b] = bin_[n_bins_ - 1];
    for (std::size_t b = 0; b <= n_in_fours(); ++b) {
        const BinValues values = column.bin_values[bin_[b]];
        lowest_[b] = values.lowest;
        highest_[b] = values.highest;
    }
    least_range_ = lowest_[n_bins_ - 1] - highest_[0];
}

CLAUSEWISE_CLONES bool BinMarks::mark_bins(float first, float last) {
    const auto is_cut = [&](float k) { return (k >= first ? 1.0f : 0.0f) * (k <= last ? 1.0f : 0.0f); };
    const std::size_t n_read = n_in_fours();
    std::int32_t is_any = 0;
    for (std::size_t b = 0; b < n_read; ++b) {
        const float n_second = second_below_[b + 1] - second_below_[b], end = below_[b + 1];
        const float k1 = end - n_second, k2 = below_[b] + n_second;
        const float within = least_penalty(highest_[b] - lowest_[b]);
        const float after = least_penalty(highest_[b + 1] - lowest_[b]);
        const float most = greater(greater(is_cut(k1) * excess(k1, second_below_[b], within),
                                           is_cut(k2) * excess(k2, second_below_[b + 1], within)),
                                   is_cut(end) * excess(end, second_below_[b + 1], after));
        const std::int32_t here = most > 0.0f;
        is_marked_[b] = here;
        is_any |= here;
    }
    return is_any != 0;
}

}  // namespace clausewise::c50
