#include "c50/grow/weighted_bound.hpp"

#include <algorithm>
#include <cmath>

#include "c50/grow/bin_span.hpp"
#include "c50/grow/node_column.hpp"
#include "c50/information.hpp"

namespace clausewise::c50 {
namespace {

// Entropy times size of `all` cases, `second` of which are of the second class.
double two_class_information(double all, double second) { return quick_information(all - second, second); }

}  // namespace

void WeightedBound::start(const WeightSum& node, const std::uint8_t* is_in_node) {
    node_ = node;
    is_in_node_ = is_in_node;
    // Histograms of small nodes are differences of those of large ones, down from all rows.
    slack_ = 1e-9 * node.all + 1e-12 * static_cast<double>(cases_.n_rows());
    // A case changes the information by lg(total / count) at most. In the scan, counts have single precision.
    information_slack_ = 64.0 * slack_ + 1e-6 * (1.0 + node.all);
    turn_to(node);
    unknown_information_ = 0.0;
    is_at_node_ = true;
    require(0.0);
}

void WeightedBound::turn_to(const WeightSum& known) {
    total_ = known.all;
    per_total_ = 1.0 / known.all;
    share_ = known.second / known.all;
    least_side_ = cases_.smallest_side(known.all) - slack_ - 1e-4;
    scale_ = share_ * (1.0 - share_) * induction::kLn2;
    whole_ = two_class_information(known.all, known.second);
}

void WeightedBound::require(double ratio) {
    // Gains and ratios are rounded to single precision.
    ratio_ = (1.0 - 1e-5) * ratio;
    set_marks();
}

void WeightedBound::set_marks() {
    set_constants(total_, share_, ratio_, ratio_ * unknown_information_ - information_slack_, slack_);
}

double WeightedBound::least_choices(double gap) const {
    return std::max(1.0, std::min<double>(least_cuts_, least_range_ / gap));
}

double WeightedBound::low_penalty(double choices) {
    return (1.0 - 1e-4) * std::max(0.0f, low_lg(static_cast<float>(choices)));
}

// The gain is at most distance² / (q · scale).
bool WeightedBound::may_reach(const WeightSum& below, double low_penalty) const {
    const double q = below.all * (total_ - below.all) * per_total_;
    const double distance = std::abs(below.second - below.all * share_) + slack_;
    const double least_information = 4.0 * q * (1.278 - 1.112 * q * per_total_) + unknown_information_;
    return distance * distance > scale_ * q * (ratio_ * least_information + low_penalty - information_slack_);
}

bool WeightedBound::reaches(const WeightSum& below, double gap) const {
    const double choices = least_choices(gap);
    if (!may_reach(below, low_penalty(choices))) return false;
    const double gain = whole_ - two_class_information(below.all, below.second) -
                        two_class_information(total_ - below.all, share_ * total_ - below.second);
    const double surplus =
        gain + information_slack_ - ratio_ * (two_class_information(total_, below.all) + unknown_information_);
    return surplus > 0.0 && surplus > (1.0 - 1e-4) * lg(choices);
}

void WeightedBound::read(const BinnedColumn& binned, const WeightSum* bins) {
    if (binned.n_counted > binned.n_bins) {
        const WeightSum& unknown = bins[binned.n_bins];
        WeightSum known = node_;
        known -= unknown;
        turn_to(known);
        unknown_information_ = std::max(0.0, two_class_information(node_.all, unknown.all) - 64.0 * slack_);
        is_at_node_ = false;
        set_marks();
    } else if (!is_at_node_) {
        turn_to(node_);
        unknown_information_ = 0.0;
        is_at_node_ = true;
        set_marks();
    }
    // Every bin is written and only those with cases advance, so there is no branch to mispredict. Bins that may be
    // empty up to rounding are treated as if they were not, but not counted on.
    WeightSum so_far;
    std::size_t n = 0;
    float n_borders = -1.0f;  // no cut follows the last bin
    for (std::size_t b = 0; b < binned.n_bins; ++b) {
        sums_[n] = so_far;
        so_far += bins[b];
        bin_[n] = static_cast<std::uint8_t>(b);
        n += bins[b].all != 0.0 || bins[b].second != 0.0;
        n_borders += bins[b].all > slack_ && is_admissible(so_far) ? 1.0f : 0.0f;
    }
    n_bins_ = n;
    if (n == 0) return;
    for (std::size_t b = n; b <= n_in_fours(); ++b) sums_[b] = so_far;
    for (std::size_t b = 0; b <= n_in_fours(); ++b) {
        below_[b] = static_cast<float>(sums_[b].all);
        second_below_[b] = static_cast<float>(sums_[b].second);
    }
    read_values(binned);
    std::size_t lowest = 0, highest = n - 1;
    while (lowest < highest && !(bins[bin_[lowest]].all > slack_)) ++lowest;
    while (lowest < highest && !(bins[bin_[highest]].all > slack_)) --highest;
    const double range = static_cast<double>(lowest_[highest]) - static_cast<double>(highest_[lowest]);
    least_range_ = static_cast<float>((1.0 - 1e-5) * std::max(range, 0.0));
    least_cuts_ = n_borders;
}

bool WeightedBound::excludes(const Column& column, const BinnedColumn& binned, const WeightSum* bins) {
    read(binned, bins);
    if (n_bins_ == 0) return true;
    const auto margin = static_cast<float>(1e-6 * total_);
    const auto first = static_cast<float>(least_side_), last = static_cast<float>(total_ - least_side_);
    const bool is_any = mark_bins(first - margin, last + margin);
    for (std::size_t b = 0; b < n_bins_; ++b) {
        const WeightSum &below = sums_[b], &end = sums_[b + 1];
        // The bins in which the range of cuts begins and ends have other corners, too.
        const bool is_boundary = (below.all < least_side_) != (end.all < least_side_) ||
                                 (below.all <= total_ - least_side_) != (end.all <= total_ - least_side_);
        if (!(is_any && is_marked_[b]) && !is_boundary) continue;
        const double lowest = lowest_[b], highest = highest_[b];
        if (b + 1 < n_bins_ && is_admissible(end) && reaches(end, highest_[b + 1] - lowest)) return false;
        const std::size_t bin = bin_[b];
        // All cases of the second class first, or last.
        const double second = end.second - below.second;
        const bool has_cuts = column.bin_starts[bin + 1] - column.bin_starts[bin] > 1;
        if (!has_cuts) continue;
        bool may_reach_in = reaches({below.all + second, end.second}, highest - lowest) ||
                            reaches({end.all - second, below.second}, highest - lowest);
        if (is_boundary)
            SpanOfBin<double>{below.all, end.all, below.second, end.second}.visit_corners(
                {least_side_, total_ - least_side_},
                [&](double k, double s) { may_reach_in = may_reach_in || reaches({k, s}, highest - lowest); });
        if (may_reach_in && reaches_in(column, bin, below)) return false;
    }
    return true;
}

bool WeightedBound::reaches_in(const Column& column, std::size_t bin, WeightSum below) {
    const NodeColumn cases(column, is_in_node_, cases_.classes.data());
    const std::size_t n = cases.list_bin(bin, kept_);
    // Most cuts do not reach the ratio even with the penalty of the widest gap in the bin.
    const BinValues& values = column.bin_values[bin];
    const double penalty =
        low_penalty(least_choices(static_cast<double>(values.highest) - static_cast<double>(values.lowest)));
    for (std::size_t i = 0; i + 1 < n; ++i) {
        below += weight_sum(cases_, cases.row_at(kept_[i]));
        if (!is_admissible(below) || !may_reach(below, penalty)) continue;
        const std::int32_t left = cases.rank_at(kept_[i]), right = cases.rank_at(kept_[i + 1]);
        if (left == right) continue;
        const double gap = static_cast<double>(cases.value(right)) - static_cast<double>(cases.value(left));
        if (reaches(below, gap)) return true;
    }
    return false;
}

double WeightedBound::promise(const BinnedColumn& binned, const WeightSum* bins) const {
    WeightSum so_far;
    double greatest = 0.0;
    for (std::size_t b = 0; b < binned.n_bins; ++b) {
        so_far += bins[b];
        greatest = std::max(greatest, std::abs(so_far.second - share_ * so_far.all));
    }
    return greatest;
}

}  // namespace clausewise::c50
