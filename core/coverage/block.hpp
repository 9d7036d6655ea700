// Sizes of the blocks that rows are evaluated in, and the working memory for one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "coverage/chunk.hpp"

namespace clausewise::coverage {

// Rows are taken in blocks whose bits stay in the first-level cache, blocks in tasks large enough for a thread.
inline constexpr std::size_t kBlockRows = 256;
inline constexpr std::size_t kTaskRows = 8 * kBlockRows;

// Features whose bins are found before their masks are ANDed, so that a row's bits stay in registers meanwhile.
inline constexpr std::size_t kBatchFeatures = 16;

// What one thread needs to evaluate a block: bits[i * n_words + w] are the rules that fire on the block's row i,
// near[...] those with exactly one failing term.
struct BlockScratch {
    std::vector<double> values = std::vector<double>(kBlockRows);
    std::vector<std::int32_t> buckets = std::vector<std::int32_t>(kBlockRows);
    // A bin is kept as the offset of its mask, in words.
    std::vector<std::uint32_t> mask_offsets = std::vector<std::uint32_t>(kBlockRows * kBatchFeatures);
    std::vector<std::uint64_t> bits = std::vector<std::uint64_t>(kBlockRows * kMaxWords);
    std::vector<std::uint64_t> near = std::vector<std::uint64_t>(kBlockRows * kMaxWords);
};

}  // namespace clausewise::coverage
