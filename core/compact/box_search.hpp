// Search for the boxes (premises) on which a new weighted rule would lower the loss most.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/cancel.hpp"
#include "compact/byte_matrix.hpp"
#include "compact/gradient_histograms.hpp"

namespace clausewise::compact {

struct SearchOptions {
    double penalty;  // of a squared weight, twice
    std::int32_t max_terms;
    std::int32_t beam_width;  // boxes that are made longer, per sign
    std::int32_t n_refined;   // boxes of the beam that are refined, per sign
    std::int32_t n_columns;   // of a wide table, those that tell most alone are searched
    std::int32_t max_moves;   // terms that are replaced, added or dropped while a box is refined
    CutRules cuts;
};

struct PricedBox {
    Box box;
    int sign = 0;  // of the weight
    double gain = 0.0;
    std::int32_t start = -1;  // the start that it was refined from; −1: found by the beam
};

// Boxes found by a beam search from scratch and from each of `starts` by local search, for weights of the signs in
// `signs` (+1, −1). Best first, each box once.
std::vector<PricedBox> search_boxes(const ByteMatrix& matrix, const Derivatives& derivatives,
                                    const std::vector<Box>& starts, const std::vector<int>& signs,
                                    const SearchOptions& options, std::size_t n_threads, const CancelToken& cancel);

}  // namespace clausewise::compact
