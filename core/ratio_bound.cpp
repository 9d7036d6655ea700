#include "ratio_bound.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace clausewise {

namespace {

// Gains, ratios and limits are rounded to single precision before they are compared.
constexpr double kRounding = 1e-5;
// Exact limits take as long as so many columns that the bound lets through in vain.
constexpr std::size_t kColumnsToRefine = 24;

}  // namespace

void RatioBound::start(std::int32_t n_cases, std::int32_t n_second, CutRange range) {
    n_cases_ = n_cases;
    n_second_ = n_second;
    range_ = range;
    is_active_ = false;
    whole_ = information(n_cases, n_second);
    const double n = n_cases, share = n_second / n;
    distance_.clear();
    const double scale = share * (1.0 - share) * 0.69314718055994530942 / n;
    for (std::int32_t k = range.first; k <= range.last; ++k) {
        const double split_information = information_[n_cases] - information_[k] - information_[n_cases - k];
        distance_.push_back(
            static_cast<float>(std::sqrt(scale * split_information * static_cast<double>(k) * (n - k))));
    }
}

void RatioBound::require(double ratio) {
    if (!(ratio > 0.0)) return;
    is_active_ = true;
    n_let_through_ = 0;
    ratio_ = ratio * (1.0 - kRounding);
    const double scale = std::sqrt(ratio_) * (1.0 - kRounding), share = n_second_ / static_cast<double>(n_cases_);
    limits_.resize(distance_.size());
    for (std::size_t i = 0; i < distance_.size(); ++i) {
        const double expected = static_cast<double>(range_.first + static_cast<std::int32_t>(i)) * share;
        const double distance = scale * static_cast<double>(distance_[i]);
        const auto lowest = static_cast<std::int32_t>(std::floor(expected - distance)) + 1;
        const auto highest = static_cast<std::int32_t>(expected + distance);
        limits_[i] = highest >= lowest ? Limits{lowest, static_cast<std::uint32_t>(highest - lowest)}
                                       : Limits{std::numeric_limits<std::int32_t>::max(), 0};
    }
}

bool RatioBound::may_exceed(const std::uint16_t* rows, const std::uint16_t* classes) const {
    std::int32_t n_second = 0, k = 0;
    for (; k + 1 < range_.first; ++k) n_second += classes[rows[k]];
    const Limits* limits = limits_.data();
    bool is_any = false;
    for (; k < range_.last; ++k, ++limits) {
        n_second += classes[rows[k]];
        is_any |= matters(*limits, n_second);
    }
    return is_any;
}

double RatioBound::surplus(std::int32_t below, std::int32_t second_below) const {
    const std::int32_t above = n_cases_ - below;
    const double gain = whole_ - information(below, second_below) - information(above, n_second_ - second_below);
    const double split_information = information_[n_cases_] - information_[below] - information_[above];
    return gain * (1.0 + kRounding) - ratio_ * split_information;
}

void RatioBound::refine() {
    for (std::int32_t below = range_.first; below <= range_.last; ++below) {
        Limits& limits = limits_[static_cast<std::size_t>(below - range_.first)];
        if (limits.lowest == std::numeric_limits<std::int32_t>::max()) continue;
        std::int32_t lowest = limits.lowest, highest = lowest + static_cast<std::int32_t>(limits.width);
        const std::int32_t least = std::max(0, below - (n_cases_ - n_second_)), most = std::min(below, n_second_);
        while (lowest > least && surplus(below, lowest - 1) < 0.0) --lowest;
        while (highest < most && surplus(below, highest + 1) < 0.0) ++highest;
        limits = {lowest, static_cast<std::uint32_t>(highest - lowest)};
    }
}

bool RatioBound::excludes(const Column& column, const std::uint16_t* rows, const std::uint16_t* classes) {
    if (!is_active_) return false;
    if (!may_exceed(rows, classes)) return true;
    if (++n_let_through_ == kColumnsToRefine) {
        refine();
        if (!may_exceed(rows, classes)) return true;
    }
    return !exceeds(column, rows, classes);
}

bool RatioBound::exceeds(const Column& column, const std::uint16_t* rows, const std::uint16_t* classes) {
    cuts_.resize(limits_.size() + 1);
    Cut* end = cuts_.data();
    std::int32_t n_second = 0, k = 0;
    for (; k + 1 < range_.first; ++k) n_second += classes[rows[k]];
    const Limits* limits = limits_.data();
    for (; k < range_.last; ++k, ++limits) {
        n_second += classes[rows[k]];
        *end = {k + 1, n_second};
        end += matters(*limits, n_second);
    }
    // The penalty is lg of the number of cuts, or of the range of values per gap if that is less.
    const std::int32_t* ranks = column.ranks.data();
    const auto value_at = [&](std::int32_t place) {
        return column.values[static_cast<std::size_t>(ranks[rows[place]])];
    };
    const float value_range = value_at(n_cases_ - 1) - value_at(0);
    double greatest = -1.0;
    for (const Cut* cut = cuts_.data(); cut != end; ++cut) {
        const float gap = value_at(cut->below) - value_at(cut->below - 1);
        if (gap == 0.0f) continue;
        const double here = surplus(cut->below, cut->second_below);
        if (here < 0.0) continue;
        greatest = std::max(greatest, here);
        if (here >= lg(value_range / gap)) return true;
    }
    if (greatest < 0.0) return false;
    std::int32_t n_cuts = 0;
    for (std::int32_t i = range_.first; i <= range_.last; ++i) n_cuts += ranks[rows[i]] != ranks[rows[i - 1]];
    return greatest >= lg(n_cuts);
}

}  // namespace clausewise
