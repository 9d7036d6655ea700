// Sizes of the blocks that rows are evaluated in, and the working memory for one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "coverage/chunk.hpp"

namespace clausewise::coverage {

// The bits of a block of rows stay in the first-level cache; a task of several blocks is large enough for a thread.
inline constexpr std::size_t kBlockRows = 256;
inline constexpr std::size_t kTaskRows = 8 * kBlockRows;

// The number of features whose bins are found before their masks are ANDed, so that a row's bits stay in registers.
inline constexpr std::size_t kBatchFeatures = 16;

// Working memory of one thread. bits[i * n_words + w] are the rules that fire on row i of the block.
struct BlockScratch {
    std::vector<double> values = std::vector<double>(kBlockRows);
    std::vector<std::int32_t> buckets = std::vector<std::int32_t>(kBlockRows);
    // Offset of the mask of each row's bin, in words.
    std::vector<std::uint32_t> mask_offsets = std::vector<std::uint32_t>(kBlockRows * kBatchFeatures);
    std::vector<std::uint64_t> bits = std::vector<std::uint64_t>(kBlockRows * kMaxWords);
};

}  // namespace clausewise::coverage
