// Conjunctions as boxes: an interval (low, high] per dimension. Their intersections, and which of them are subsumed.
//
// A numeric feature is one dimension. A category is a dimension of its own: `high` is +inf where the value is accepted
// and -inf where it is not, so that intersection and inclusion are the same comparisons as for intervals. The
// categories of one feature form a group, and a box that accepts none of them is empty.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace clausewise::boxes {

// Boxes as two matrices, one row per box.
struct BoxesView {
    const double* low;
    const double* high;
    std::size_t n_boxes, n_dimensions;

    const double* lows(std::size_t box) const { return low + box * n_dimensions; }
    const double* highs(std::size_t box) const { return high + box * n_dimensions; }
};

struct Intersections {
    std::vector<double> low, high;
    std::vector<std::int64_t> left;  // per box, the left box that it is part of
};

// Per dimension: its group of categories, or -1 for a numeric feature.
using CategoryGroups = std::vector<std::int32_t>;

// The intersections of all pairs of a left and a right box that are not empty, in order.
Intersections intersect(const BoxesView& left, const BoxesView& right, const CategoryGroups& groups);

// Which boxes are part of another one; of equal boxes all but the first are.
class SubsumptionTest {
public:
    explicit SubsumptionTest(const BoxesView& boxes);

    bool is_subsumed(std::size_t box) const;

private:
    std::uint64_t bounded_sides(std::size_t box) const;
    bool contains(std::size_t outer, std::size_t inner) const;

    BoxesView boxes_;
    // One bit per side of a dimension that is bounded, modulo 64; boxes with the same bits are listed together.
    std::vector<std::uint64_t> sides_;
    std::unordered_map<std::uint64_t, std::vector<std::size_t>> with_sides_;
};

}  // namespace clausewise::boxes
