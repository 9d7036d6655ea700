// Sets of rows and ranks as 64-bit words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cases.hpp"

namespace clausewise {

using Words = std::vector<std::uint64_t>;

inline std::size_t words_for(std::size_t n_bits) { return (n_bits + 63) / 64; }
inline unsigned lowest_bit(std::uint64_t word) { return static_cast<unsigned>(__builtin_ctzll(word)); }
inline std::int32_t count_bits(std::uint64_t word) { return __builtin_popcountll(word); }

// One bit for every rank that occurs among the rows.
inline void mark_ranks(const Column& column, Span rows, Words& marks) {
    marks.assign(words_for(static_cast<std::size_t>(column.n_values)), 0);
    const std::int32_t* ranks = column.ranks.data();
    for (const std::int32_t row : rows) {
        const auto rank = static_cast<std::size_t>(ranks[row]);
        marks[rank >> 6] |= std::uint64_t{1} << (rank & 63);
    }
}

}  // namespace clausewise
