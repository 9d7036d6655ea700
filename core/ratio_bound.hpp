// Columns that cannot be chosen at a node, told without evaluating them: unit weights and two classes.
//
// Where a column is judged by its gain ratio alone, it matters only if one of its cuts has a ratio close to the best so
// far. Let T be the cases of the node, p the share of the second class, and a cut leave k cases below, `a` of them of
// the second class. The divergence of two distributions is at most their chi-squared distance, so the gain is
//     gain(k, a) ≤ (a − k·p)² / (k·(T−k)·p·(1−p)·ln 2),
// and a cut matters only if `a` is at least sqrt(ratio · information(k) · k·(T−k)·p·(1−p)·ln 2) away from k·p. One pass
// over the classes in the order of the column compares `a` with a table of these limits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "information.hpp"

namespace clausewise {

// With unit weights: a cut may leave between `first` and `last` cases below.
struct CutRange {
    std::int32_t first, last;
};

class RatioBound {
public:
    // For a node of `n_cases`, `n_second` of them of the second class.
    void start(const CountInformation& information, std::int32_t n_cases, std::int32_t n_second, CutRange range);
    // From now on a column needs a gain ratio above `ratio` to matter.
    void require(double ratio);
    // Do all cuts of this column, given its rows in order, stay below? Equal values are cut too, which makes it harder.
    bool excludes(const std::uint16_t* rows, const std::uint16_t* classes) const;

private:
    struct Limits {
        std::int32_t lowest;
        std::uint32_t width;  // `a` in [lowest, lowest + width] does not matter
    };

    CutRange range_{1, 0};
    double share_ = 0.0;
    bool is_active_ = false;
    std::vector<float> distance_;  // per cut, for a ratio of 1
    std::vector<Limits> limits_;   // per cut
};

}  // namespace clausewise
