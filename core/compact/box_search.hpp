// Search for the boxes (premises) on which a new weighted rule would lower the loss most.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/cancel.hpp"
#include "compact/byte_matrix.hpp"
#include "compact/gradient_histogram.hpp"

namespace clausewise::compact {

struct SearchOptions {
    double penalty;  // ridge penalty: penalty / 2 · weight²
    std::int32_t max_terms;
    std::int32_t beam_width;  // boxes that are extended per step and sign
    std::int32_t n_refined;   // boxes of the beam that are refined per sign
    std::int32_t n_columns;   // of a wider table, only this many of the most informative columns are searched
    std::int32_t max_moves;   // terms replaced, added or dropped while refining a box
    CutLimits cuts;
};

struct ScoredBox {
    Box box;
    int sign = 0;  // of the weight
    double gain = 0.0;
    std::int32_t cost = 0;    // of reading; see ByteMatrix::reading_cost
    std::int32_t start = -1;  // the start that it was refined from; −1 if found by the beam
};

// Finds boxes by a beam search, and by local search from the results and from each of `starts`, for weights of the
// given signs (+1, −1). Returns each box once, that with the greatest gain less price · cost first.
std::vector<ScoredBox> search_boxes(const ByteMatrix& matrix, const Derivatives& derivatives,
                                    const std::vector<Box>& starts, const std::vector<int>& signs,
                                    const SearchOptions& options, std::size_t n_threads, const CancelToken& cancel);

}  // namespace clausewise::compact
