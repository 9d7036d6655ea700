// The cheapest changes of one or two features of a row after which the rules decide otherwise.
//
// All values of one feature, and all pairs of values of two features, are tried, except those that cost more than the
// changes found so far, and those whose votes cannot flip the decision. The search is exact: the rules that fire follow
// from the bins, and are decided as in prediction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/cancel.hpp"
#include "counterfactuals/problem.hpp"

namespace clausewise::counterfactuals {

inline constexpr std::int32_t kNone = -1;

// One or two values that replace those of a row; with one, axes[1] and values[1] are kNone.
struct Change {
    double cost;           // sum of the changes, each in units of its axis
    std::int32_t axes[2];  // ascending
    std::int32_t values[2];
};

// By cost. Of equally cheap changes, those of one feature come first, then those of lower features and lower values.
bool operator<(const Change& one, const Change& other);

struct Rows {
    const double* values;         // n_rows x n_axes; NaN and infinite values do not change
    const std::int32_t* bins;     // n_rows x n_axes
    const std::int32_t* decided;  // what the rules decide on each row
    std::size_t n_rows;
};

struct Wish {
    std::int32_t wanted;    // a class, or kNone for any other than the present one
    bool two_features;      // change up to two features, not one
    bool within_bins;       // try values that change no term as well: they matter to a network, not to the rules
    std::size_t n_changes;  // at most this many per row: the cheapest ...
    bool is_spread;         // ... or a systematic sample of all of them
};

// The changes of each row, ascending.
std::vector<std::vector<Change>> search_changes(const Axes& axes, const Votes& votes, const Rows& rows,
                                                const Wish& wish, std::size_t n_threads, const CancelToken& cancel);

}  // namespace clausewise::counterfactuals
