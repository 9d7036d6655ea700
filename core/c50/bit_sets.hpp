// Operations on sets of rows and ranks, 64 to a word.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/bits.hpp"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace clausewise::c50 {

// One bit for each of 64 ranks: is it above the threshold?
inline std::uint64_t ranks_above(const std::int32_t* ranks, std::int32_t threshold_rank) {
    std::uint64_t word = 0;
#if defined(__SSE2__)
    const __m128i limit = _mm_set1_epi32(threshold_rank);
    for (int part = 0; part < 4; ++part) {
        const auto* from = reinterpret_cast<const __m128i*>(ranks + 16 * part);
        const __m128i a = _mm_cmpgt_epi32(_mm_loadu_si128(from), limit);
        const __m128i b = _mm_cmpgt_epi32(_mm_loadu_si128(from + 1), limit);
        const __m128i c = _mm_cmpgt_epi32(_mm_loadu_si128(from + 2), limit);
        const __m128i d = _mm_cmpgt_epi32(_mm_loadu_si128(from + 3), limit);
        const __m128i bytes = _mm_packs_epi16(_mm_packs_epi32(a, b), _mm_packs_epi32(c, d));
        word |= static_cast<std::uint64_t>(static_cast<std::uint32_t>(_mm_movemask_epi8(bytes))) << (16 * part);
    }
#else
    for (int i = 0; i < 64; ++i) word |= static_cast<std::uint64_t>(ranks[i] > threshold_rank) << i;
#endif
    return word;
}

// One bit per row: is its rank above the threshold? Missing values (negative ranks) are not.
Words rows_above(const std::vector<std::int32_t>& ranks, std::int32_t threshold_rank);
// One bit per row: is its rank negative?
Words rows_missing(const std::vector<std::int32_t>& ranks);

// Writes, for each word, the number of bits set in the words before it.
void count_marks(const Words& words, std::vector<std::int32_t>& before);

// The number of members of one set, and of that set and another.
struct PairCount {
    std::int64_t first = 0;
    std::int64_t both = 0;
};

// The non-empty words of a set, and their indices.
struct SparseWords {
    std::vector<std::uint32_t> places;
    Words words;

    void clear() {
        places.clear();
        words.clear();
    }
    void add(std::size_t place, std::uint64_t word) {
        places.push_back(static_cast<std::uint32_t>(place));
        words.push_back(word);
    }
};
// Counts the members of `set` that are in `a`, and in both `a` and `b`.
PairCount count_within(const SparseWords& set, const std::uint64_t* a, const std::uint64_t* b);

}  // namespace clausewise::c50
