// A bin of a column as the cuts within it see it.
#pragma once

#include <algorithm>
#include <cstdint>

namespace clausewise::c50 {

// A cut must leave between `first` and `last` cases below; or that weight of cases.
template <class Number>
struct RangeOfCuts {
    Number first, last;
};
using CutRange = RangeOfCuts<std::int32_t>;

// The number of cases below a bin, and up to its end; the same for the second class. Or their weights.
template <class Number>
struct SpanOfBin {
    Number below, end;
    Number second_below, second_end;

    // Visits (k, s) for the least and the greatest s that a cut with k cases below can have, if below ≤ k ≤ end.
    template <class Visit>
    void visit_ends(Number k, Visit&& visit) const {
        const Number least = std::max(second_below, second_end - (end - k));
        const Number most = std::min(second_end, second_below + (k - below));
        visit(k, least);
        if (most != least) visit(k, most);
    }
    // Visits (k, s) at the corners of the region in which cuts with first ≤ k ≤ last can lie.
    template <class Visit>
    void visit_corners(RangeOfCuts<Number> cuts, Visit&& visit) const {
        const Number n_second = second_end - second_below;
        const Number from = std::max(cuts.first, below), to = std::min(cuts.last, end);
        if (from > to) return;
        visit_ends(from, visit);
        if (to > from) visit_ends(to, visit);
        const Number other_class_first = end - n_second, second_class_first = below + n_second;
        if (from < other_class_first && other_class_first < to) visit(other_class_first, second_below);
        if (from < second_class_first && second_class_first < to) visit(second_class_first, second_end);
    }
};
using BinSpan = SpanOfBin<std::int32_t>;

}  // namespace clausewise::c50
