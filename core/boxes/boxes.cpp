#include "boxes/boxes.hpp"

#include <algorithm>
#include <limits>

namespace clausewise::boxes {
namespace {

bool is_empty(const double* low, const double* high, const CategoryGroups& groups, std::vector<std::uint8_t>& accepts) {
    std::fill(accepts.begin(), accepts.end(), std::uint8_t{0});
    for (std::size_t d = 0; d < groups.size(); ++d) {
        if (groups[d] < 0) {
            if (!(low[d] < high[d])) return true;
        } else if (high[d] > 0.0) {
            accepts[static_cast<std::size_t>(groups[d])] = 1;
        }
    }
    return std::any_of(accepts.begin(), accepts.end(), [](std::uint8_t one) { return one == 0; });
}

}  // namespace

Intersections intersect(const BoxesView& left, const BoxesView& right, const CategoryGroups& groups) {
    const std::size_t n = groups.size();
    const std::int32_t last = groups.empty() ? -1 : *std::max_element(groups.begin(), groups.end());
    std::vector<std::uint8_t> accepts(static_cast<std::size_t>(last + 1));
    std::vector<double> low(n), high(n);
    Intersections found;
    for (std::size_t a = 0; a < left.n_boxes; ++a)
        for (std::size_t b = 0; b < right.n_boxes; ++b) {
            for (std::size_t d = 0; d < n; ++d) {
                low[d] = std::max(left.lows(a)[d], right.lows(b)[d]);
                high[d] = std::min(left.highs(a)[d], right.highs(b)[d]);
            }
            if (is_empty(low.data(), high.data(), groups, accepts)) continue;
            found.low.insert(found.low.end(), low.begin(), low.end());
            found.high.insert(found.high.end(), high.begin(), high.end());
            found.left.push_back(static_cast<std::int64_t>(a));
        }
    return found;
}

SubsumptionTest::SubsumptionTest(const BoxesView& boxes) : boxes_(boxes), sides_(boxes.n_boxes) {
    for (std::size_t box = 0; box < boxes.n_boxes; ++box) {
        sides_[box] = bounded_sides(box);
        with_sides_[sides_[box]].push_back(box);
    }
}

bool SubsumptionTest::is_subsumed(std::size_t box) const {
    // Only a box that is bounded on no other sides can contain this one.
    for (const auto& [sides, others] : with_sides_) {
        if ((sides & ~sides_[box]) != 0) continue;
        for (const std::size_t other : others)
            if (other != box && contains(other, box) && (other < box || !contains(box, other))) return true;
    }
    return false;
}

std::uint64_t SubsumptionTest::bounded_sides(std::size_t box) const {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    std::uint64_t sides = 0;
    for (std::size_t d = 0; d < boxes_.n_dimensions; ++d) {
        if (boxes_.lows(box)[d] > -kInfinity) sides |= std::uint64_t{1} << (2 * d % 64);
        if (boxes_.highs(box)[d] < kInfinity) sides |= std::uint64_t{1} << ((2 * d + 1) % 64);
    }
    return sides;
}

bool SubsumptionTest::contains(std::size_t outer, std::size_t inner) const {
    for (std::size_t d = 0; d < boxes_.n_dimensions; ++d)
        if (boxes_.lows(outer)[d] > boxes_.lows(inner)[d] || boxes_.highs(outer)[d] < boxes_.highs(inner)[d])
            return false;
    return true;
}

}  // namespace clausewise::boxes
