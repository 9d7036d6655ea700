// The bit matrix of rules over rows.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/bits.hpp"
#include "base/table_view.hpp"
#include "coverage/evaluation.hpp"
#include "coverage/rule_index.hpp"

namespace clausewise::coverage {

// out: n_rules rows of words_for(n_rows) words; bit i of row r is set if rule r fires on row i.
template <class Real>
void write_fires(const RuleIndex& index, const TableView<Real>& rows, std::size_t n_threads, std::uint64_t* out) {
    const std::size_t row_words = words_for(rows.n_rows);
    const auto visit = [&](std::size_t first, std::size_t n, const Chunk& chunk, const BlockScratch& scratch) {
        // Blocks start at multiples of 64 rows, so no two threads write to the same word.
        for (std::size_t row = 0; row < n; row += kWordBits) {
            for (std::size_t w = 0; w < words_for(chunk.n_rules); ++w) {
                std::uint64_t square[kWordBits] = {};
                const std::size_t n_square = std::min(kWordBits, n - row);
                for (std::size_t i = 0; i < n_square; ++i) square[i] = scratch.bits[(row + i) * chunk.n_words + w];
                transpose_64x64(square);
                const std::size_t n_rules = std::min(kWordBits, chunk.n_rules - w * kWordBits);
                for (std::size_t j = 0; j < n_rules; ++j) {
                    const std::size_t rule = chunk.first_rule + w * kWordBits + j;
                    out[rule * row_words + (first + row) / kWordBits] = square[j];
                }
            }
        }
    };
    for_each_block(index, rows, rows.n_rows, n_threads, visit, [](std::size_t, std::size_t) {});
}

}  // namespace clausewise::coverage
