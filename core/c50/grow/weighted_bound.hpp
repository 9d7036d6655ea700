// Excludes columns that cannot be chosen at a node of weighted cases, by their histograms. Two classes.
//
// The weighted counterpart of ratio_bound.hpp, whose notation this follows. The surplus of a cut over the required
// ratio is greatest at a corner of the region that the cuts in a bin can lie in; in bins where a corner reaches the
// ratio, every cut is looked at. Sums of weights are only known up to rounding, for which the bounds allow; which cut
// is the best is left to the scan of the column.
//
// With N the weight of the node, u of it with a missing value, the gain times N is that among the known cases, and the
// information of the division times N is that among the known cases plus that of dividing the node into both.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "c50/cases.hpp"
#include "c50/grow/bin_marks.hpp"
#include "c50/grow/node_histograms.hpp"

namespace clausewise::c50 {

class WeightedBound : private BinMarks {
public:
    explicit WeightedBound(const Cases& cases) : cases_(cases) {}

    // Starts a node of this weight. `is_in_node` has one entry per row of the matrix.
    void start(const WeightSum& node, const std::uint8_t* is_in_node);
    // From now on a column matters only if its gain ratio exceeds `ratio`.
    void require(double ratio);
    // Do all cuts of this column stay below the required ratio?
    bool excludes(const Column& column, const BinnedColumn& binned, const WeightSum* bins);
    // The greatest distance between the distributions of the two classes: a large one promises a high ratio.
    double promise(const BinnedColumn& binned, const WeightSum* bins) const;

private:
    bool is_admissible(const WeightSum& below) const {
        return below.all >= least_side_ && below.all <= total_ - least_side_;
    }
    // Could a cut that leaves these cases below reach the required ratio? Its values are at most `gap` apart.
    bool reaches(const WeightSum& below, double gap) const;
    // The same without logarithms, and less precisely; `low_penalty` is at most the penalty of a threshold.
    bool may_reach(const WeightSum& below, double low_penalty) const;
    // Does a cut in the bin reach it? `below` is the sum before the bin.
    bool reaches_in(const Column& column, std::size_t bin, WeightSum below);
    // The penalty of a threshold is the logarithm of the number of cuts, or of gaps of this size; what it is at least.
    double least_choices(double gap) const;
    static double low_penalty(double choices);
    // Turns to a column: to its known cases, and to what their bins say.
    void turn_to(const WeightSum& known);
    void set_marks();
    void read(const BinnedColumn& binned, const WeightSum* bins);

    const Cases& cases_;
    const std::uint8_t* is_in_node_ = nullptr;
    WeightSum node_;
    bool is_at_node_ = false;  // are all cases of the node known in the current column?
    double ratio_ = 0.0;
    // Of the known cases: weight, least weight on each side of a cut, share of the second class, information.
    double total_ = 0.0, per_total_ = 0.0, least_side_ = 0.0, share_ = 0.0, scale_ = 0.0, whole_ = 0.0;
    double unknown_information_ = 0.0;              // of dividing the node into known and unknown cases
    double slack_ = 0.0, information_slack_ = 0.0;  // what sums of weights, and information, are off by at most
    std::array<WeightSum, kMaxBins + 1> sums_{};    // before a bin that is not empty
    std::vector<std::int32_t> kept_;                // positions in the current bin
};

}  // namespace clausewise::c50
