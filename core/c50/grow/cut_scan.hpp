// The best cut of a continuous column, while its cuts are scanned.
#pragma once

#include <cstdint>

namespace clausewise::c50 {

inline constexpr double kNoCut = 1e38;

// Keeps the best of the cuts offered, and what its gain depends on.
struct CutScan {
    double n_all = 0.0;      // weight of the node's cases, as a double sum
    double n_unknown = 0.0;  // weight of those with a missing value
    double n_known = 0.0;
    double base = 0.0;
    double best = kNoCut;                              // information left after the best cut, times the weight
    double weight_below = 0.0;                         // weight of the cases below the best cut
    bool is_excluded = false;                          // the gain ratio is too small to matter
    std::int64_t n_cuts = 0;                           // in the admissible range, evaluated or not
    std::int32_t rank_below = -1, rank_above = -1;     // of the values next to the best cut
    std::int32_t lowest_rank = -1, highest_rank = -1;  // of the known values

    void offer(double information, double below, std::int32_t left, std::int32_t right) {
        if (information >= best) return;
        best = information;
        weight_below = below;
        rank_below = left;
        rank_above = right;
    }
};

}  // namespace clausewise::c50
