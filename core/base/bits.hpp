// Bit tricks that C++17 has no portable name for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#ifdef _MSC_VER
#include <intrin.h>
#endif

// Put before a function that loops over words: the loader picks a clone compiled for wider vectors where the processor
// has them. Not with sanitizers: their functions, which the choice would call, are not in place when the loader picks.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && defined(__linux__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define CLAUSEWISE_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define CLAUSEWISE_CLONES
#endif

namespace clausewise {

inline constexpr std::size_t kWordBits = 64;

constexpr std::size_t words_for(std::size_t n_bits) { return (n_bits + kWordBits - 1) / kWordBits; }

// A set of rows or ranks, one bit each.
using Words = std::vector<std::uint64_t>;

// Bits [0, n_bits) of the last word of a set of n_bits.
inline std::uint64_t last_word_mask(std::size_t n_bits) {
    return n_bits % 64 == 0 ? ~std::uint64_t{0} : (std::uint64_t{1} << (n_bits % 64)) - 1;
}

// Index of the lowest set bit; `word` must not be 0.
inline int lowest_bit(std::uint64_t word) {
#ifdef _MSC_VER
    unsigned long index = 0;
    _BitScanForward64(&index, word);
    return static_cast<int>(index);
#else
    return __builtin_ctzll(word);
#endif
}

// Index of the highest set bit; `word` must not be 0.
inline int highest_bit(std::uint64_t word) {
#ifdef _MSC_VER
    unsigned long index = 0;
    _BitScanReverse64(&index, word);
    return static_cast<int>(index);
#else
    return 63 - __builtin_clzll(word);
#endif
}

// Without a population-count instruction the compiler would call a library routine with a table; this sums pairs of
// bits in parallel instead.
inline int count_bits(std::uint64_t word) {
#if defined(__POPCNT__) || defined(__aarch64__)
    return __builtin_popcountll(word);
#else
    word -= (word >> 1) & 0x5555555555555555u;
    word = (word & 0x3333333333333333u) + ((word >> 2) & 0x3333333333333333u);
    word = (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0fu;
    return static_cast<int>((word * 0x0101010101010101u) >> 56);
#endif
}

// Calls visit(index) for every set bit, lowest first.
template <class Visit>
void for_each_bit(const std::uint64_t* words, std::size_t n_words, Visit&& visit) {
    for (std::size_t w = 0; w < n_words; ++w)
        for (std::uint64_t word = words[w]; word != 0; word &= word - 1)
            visit(w * kWordBits + static_cast<std::size_t>(lowest_bit(word)));
}

// Bit j of word i becomes bit i of word j (Warren, Hacker's Delight, 7-3: swap ever smaller off-diagonal squares).
inline void transpose_64x64(std::uint64_t square[64]) {
    std::uint64_t mask = 0x00000000ffffffffu;
    for (unsigned width = 32; width != 0; width >>= 1, mask ^= mask << width) {
        for (unsigned row = 0; row < 64; row = ((row | width) + 1) & ~width) {
            const std::uint64_t swapped = ((square[row] >> width) ^ square[row | width]) & mask;
            square[row] ^= swapped << width;
            square[row | width] ^= swapped;
        }
    }
}

}  // namespace clausewise
