#include "c50/grow/ratio_bound.hpp"

#include <algorithm>

namespace clausewise::c50 {

namespace {

// Gains, ratios and limits are rounded to single precision before they are compared.
constexpr double kRounding = 1e-5;

}  // namespace

void RatioBound::start(std::int32_t n_cases, std::int32_t n_second, CutRange range, const std::uint16_t* classes,
                       const std::uint8_t* is_in_node) {
    n_cases_ = n_cases;
    n_second_ = n_second;
    range_ = range;
    classes_ = classes;
    is_in_node_ = is_in_node;
    whole_ = information(n_cases, n_second);
    require(0.0);
}

void RatioBound::require(double ratio) {
    ratio_ = ratio * (1.0 - kRounding);
    share_ = n_second_ / static_cast<double>(n_cases_);
    set_constants(n_cases_, share_, ratio_, 0.0, 0.0);
}

double RatioBound::surplus(std::int32_t k, std::int32_t s) const {
    const std::int32_t above = n_cases_ - k;
    const double gain = whole_ - information(k, s) - information(above, n_second_ - s);
    const double split_information = information_[n_cases_] - information_[k] - information_[above];
    return gain * (1.0 + kRounding) - ratio_ * split_information;
}

BinSpan RatioBound::span_of(std::size_t bin) const {
    return {static_cast<std::int32_t>(below_[bin]), static_cast<std::int32_t>(below_[bin + 1]),
            static_cast<std::int32_t>(second_below_[bin]), static_cast<std::int32_t>(second_below_[bin + 1])};
}

// The bin of the case after the first k, which must exist.
std::size_t RatioBound::bin_of(std::int32_t k) const {
    // Not a binary search, whose branches would be mispredicted.
    const auto limit = static_cast<float>(k);
    std::int32_t n_from = -1;
    for (std::size_t b = 0; b < n_bins_; ++b) n_from += below_[b] <= limit;
    return static_cast<std::size_t>(n_from);
}

template <class Count>
void RatioBound::read(const BinnedColumn& column, const Count* counts) {
    std::array<Count, kMaxBins + 1> up_to;
    std::size_t n = 0;
    Count so_far = 0;
    // Every bin is written and only those with cases advance, so there is no branch to mispredict.
    for (std::size_t b = 0; b < column.n_bins; ++b) {
        so_far += counts[b];
        up_to[n] = so_far;
        bin_[n] = static_cast<std::uint8_t>(b);
        n += counts[b] != 0;
    }
    n_bins_ = n;
    const std::size_t n_read = n_in_fours();
    for (std::size_t b = n; b <= n_read; ++b) up_to[b] = so_far;
    for (std::size_t b = 0; b < n_read; ++b) {
        below_[b + 1] = static_cast<float>(all_of(up_to[b]));
        second_below_[b + 1] = static_cast<float>(second_of(up_to[b]));
    }
    read_values(column);
    first_bin_ = bin_of(range_.first);
    last_bin_ = bin_of(range_.last);
    // There is a cut between any two bins, and between any two cases with different values.
    const auto n_borders = static_cast<std::int32_t>(last_bin_ - first_bin_);
    std::int32_t n_same = column.n_repeated;
    if (column.common_bin >= 0) n_same += std::max(0, all_of(counts[column.common_bin]) - 1);
    least_cuts_ = static_cast<float>(std::max({1, n_borders, range_.last - range_.first + 1 - n_same}));
}

template void RatioBound::read(const BinnedColumn&, const NarrowCount*);
template void RatioBound::read(const BinnedColumn&, const WideCount*);

bool RatioBound::mark_bins() {
    bool is_any = BinMarks::mark_bins(static_cast<float>(range_.first), static_cast<float>(range_.last));
    // The bins in which the range of cuts begins and ends have more corners there.
    const auto mark_boundary_bin = [&](std::size_t b, std::int32_t k) {
        if (is_marked_[b]) return;
        const float within = least_penalty(highest_[b] - lowest_[b]);
        span_of(b).visit_ends(k, [&](std::int32_t, std::int32_t s) {
            is_marked_[b] |= excess(static_cast<float>(k), static_cast<float>(s), within) > 0.0f;
        });
        is_any = is_any || is_marked_[b];
    };
    mark_boundary_bin(first_bin_, range_.first);
    mark_boundary_bin(last_bin_, range_.last);
    return is_any;
}

// `gap` may be an upper bound on the gap of the cut.
bool RatioBound::is_reached(double surplus, double gap) const {
    if (surplus < 0.0) return false;
    const double range_per_gap = std::max(1.0, static_cast<double>(least_range_) / gap);
    return surplus >= lg(std::min<double>(least_cuts_, range_per_gap)) * (1.0 - kRounding) - kRounding;
}

bool RatioBound::exceeds(const Column& column) {
    const auto may_exceed_in = [&](std::size_t b) {
        const BinSpan here = span_of(b);
        const double gap_within = highest_[b] - lowest_[b], gap_after = highest_[b + 1] - lowest_[b];
        double greatest = -1.0;
        const CutRange within{std::max(range_.first, here.below + 1), std::min(range_.last, here.end - 1)};
        if (gap_within > 0.0)
            here.visit_corners(within,
                               [&](std::int32_t k, std::int32_t s) { greatest = std::max(greatest, surplus(k, s)); });
        return is_reached(greatest, gap_within) || (here.end >= range_.first && here.end <= range_.last &&
                                                    is_reached(surplus(here.end, here.second_end), gap_after));
    };
    for (std::size_t b = 0; b < n_bins_; ++b)
        if (is_marked_[b] && may_exceed_in(b) && (column.has_value_bins || exceeds_in(column, b))) return true;
    return false;
}

bool RatioBound::exceeds_in(const Column& column, std::size_t bin) {
    const auto start_of = [&](std::size_t b) {
        return static_cast<std::size_t>(column.starts[static_cast<std::size_t>(column.bin_starts[b])]);
    };
    const std::int32_t* order = column.order.data();
    // Every row of the bin is written and only those of the node advance, so there is no branch to mispredict.
    const std::size_t start = start_of(bin_[bin]), end = start_of(bin_[bin] + std::size_t{1});
    kept_.resize(end - start + 1);
    std::size_t n = 0;
    for (std::size_t i = start; i < end; ++i) {
        kept_[n] = order[i];
        n += is_in_node_[order[i]];
    }
    // The first case of the next bin is above the last cut; there is none after the last bin.
    if (bin + 1 < n_bins_) {
        std::size_t i = start_of(bin_[bin + 1]);
        while (!is_in_node_[order[i]]) ++i;
        kept_[n++] = order[i];
    }
    const auto value_of = [&](std::size_t i) {
        return column.values[static_cast<std::size_t>(column.ranks[static_cast<std::size_t>(kept_[i])])];
    };
    const BinSpan here = span_of(bin);
    std::int32_t k = here.below, s = here.second_below;
    for (std::size_t i = 0; i + 1 < n; ++i) {
        ++k;
        s += classes_[kept_[i]];
        if (k < range_.first || k > range_.last) continue;
        const double above = surplus(k, s);
        if (above < 0.0) continue;  // most cuts; their values need not be read
        const float gap = value_of(i + 1) - value_of(i);
        if (gap > 0.0f && is_reached(above, gap)) return true;
    }
    return false;
}

}  // namespace clausewise::c50
