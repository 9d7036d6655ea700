// Columns that cannot be chosen at a node, told without evaluating them: unit weights and two classes.
//
// Where a column is judged by its gain ratio alone, it matters only if one of its cuts has a ratio close to the best so
// far. Let T be the cases of the node, p the share of the second class, and a cut leave k cases below, `a` of them of
// the second class. The divergence of two distributions is at most their chi-squared distance, so the gain is
//     gain(k, a) ≤ (a − k·p)² / (k·(T−k)·p·(1−p)·ln 2),
// and a cut matters only if `a` is at least sqrt(ratio · information(k) · k·(T−k)·p·(1−p)·ln 2) away from k·p. One pass
// over the classes in the order of the column compares `a` with a table of these limits. For the cuts that it leaves, a
// second one computes the gain itself, less the penalty that the threshold costs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "information.hpp"
#include "matrix.hpp"

namespace clausewise {

// With unit weights: a cut may leave between `first` and `last` cases below.
struct CutRange {
    std::int32_t first, last;
};

class RatioBound {
public:
    explicit RatioBound(const CountInformation& information) : information_(information) {}

    // For a node of `n_cases`, `n_second` of them of the second class.
    void start(std::int32_t n_cases, std::int32_t n_second, CutRange range);
    // From now on a column needs a gain ratio above `ratio` to matter.
    void require(double ratio);
    // Do all cuts of this column, given its rows in order, stay below?
    bool excludes(const Column& column, const std::uint16_t* rows, const std::uint16_t* classes);

private:
    struct Limits {
        std::int32_t lowest;
        std::uint32_t width;  // `a` in [lowest, lowest + width] does not matter
    };

    bool matters(const Limits& limits, std::int32_t n_second) const {
        return static_cast<std::uint32_t>(n_second - limits.lowest) > limits.width;
    }
    double information(std::int32_t cases, std::int32_t second) const {
        return information_[cases] - information_[cases - second] - information_[second];
    }
    // By how much the gain of a cut exceeds what is required, in bits.
    double surplus(std::int32_t below, std::int32_t second_below) const;
    // Moves the limits from the bound to where the gain itself is what is required.
    void refine();
    // By the limits, and as if equal values could be cut too.
    bool may_exceed(const std::uint16_t* rows, const std::uint16_t* classes) const;
    bool exceeds(const Column& column, const std::uint16_t* rows, const std::uint16_t* classes);

    const CountInformation& information_;
    std::int32_t n_cases_ = 0, n_second_ = 0;
    CutRange range_{1, 0};
    bool is_active_ = false;
    double ratio_ = 0.0;
    double whole_ = 0.0;             // information of the node
    std::size_t n_let_through_ = 0;  // columns, since the limits were set
    std::vector<float> distance_;    // per cut, for a ratio of 1
    std::vector<Limits> limits_;     // per cut
    struct Cut {
        std::int32_t below, second_below;
    };
    std::vector<Cut> cuts_;  // of the column at hand, beyond the limits
};

}  // namespace clausewise
