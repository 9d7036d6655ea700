#include "ratio_bound.hpp"

#include <cmath>
#include <limits>

namespace clausewise {

void RatioBound::start(const CountInformation& information, std::int32_t n_cases, std::int32_t n_second,
                       CutRange range) {
    range_ = range;
    is_active_ = false;
    const double n = n_cases;
    share_ = n_second / n;
    distance_.clear();
    const double scale = share_ * (1.0 - share_) * 0.69314718055994530942 / n;
    for (std::int32_t k = range.first; k <= range.last; ++k) {
        const double split_information = information[n_cases] - information[k] - information[n_cases - k];
        distance_.push_back(
            static_cast<float>(std::sqrt(scale * split_information * static_cast<double>(k) * (n - k))));
    }
}

void RatioBound::require(double ratio) {
    if (!(ratio > 0.0)) return;
    is_active_ = true;
    // The gains, ratios and limits that are compared are rounded to single precision.
    const double scale = std::sqrt(ratio) * (1.0 - 1e-5);
    limits_.resize(distance_.size());
    for (std::size_t i = 0; i < distance_.size(); ++i) {
        const double expected = static_cast<double>(range_.first + static_cast<std::int32_t>(i)) * share_;
        const double distance = scale * static_cast<double>(distance_[i]);
        const auto lowest = static_cast<std::int32_t>(std::floor(expected - distance)) + 1;
        const auto highest = static_cast<std::int32_t>(expected + distance);
        limits_[i] = highest >= lowest ? Limits{lowest, static_cast<std::uint32_t>(highest - lowest)}
                                       : Limits{std::numeric_limits<std::int32_t>::max(), 0};
    }
}

bool RatioBound::excludes(const std::uint16_t* rows, const std::uint16_t* classes) const {
    if (!is_active_) return false;
    std::int32_t n_second = 0, k = 0;
    for (; k + 1 < range_.first; ++k) n_second += classes[rows[k]];
    const Limits* limits = limits_.data();
    bool matters = false;
    for (; k < range_.last; ++k, ++limits) {
        n_second += classes[rows[k]];
        matters |= static_cast<std::uint32_t>(n_second - limits->lowest) > limits->width;
    }
    return !matters;
}

}  // namespace clausewise
