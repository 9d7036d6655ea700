// How many sets each row belongs to, in bit-sliced counters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/bits.hpp"
#include "c50/bit_sets.hpp"

namespace clausewise::c50 {

// Counts, for each row, how many of the added sets it belongs to. Plane p holds bit p of the 64 counters of a word.
class BitCounters {
public:
    explicit BitCounters(std::size_t n_rows)
        : n_words_(words_for(n_rows)), last_mask_(last_word_mask(n_rows)), carry_(n_words_) {}

    void add(const Words& set);
    void remove(const Words& set);
    // Rows whose counter is 0.
    Words zeros() const;
    // Counts the rows whose counter is 0, and those of them in `marked`. Writes the rows whose counter is 1 to `ones`.
    PairCount count_zeros(const Words& marked, SparseWords& ones) const;
    // Rows whose counter is 0 or 1, without empty words.
    SparseWords at_most_one() const;
    // Rows whose counter is 1; all of them, or those of `within`.
    void find_ones(SparseWords& ones) const;
    void find_ones(const Words& within, SparseWords& ones);

private:
    // Finds the rows whose counter is 1; returns those whose counter is not 0.
    Words find_low(SparseWords& ones) const;

    std::size_t n_words_;
    std::uint64_t last_mask_;
    std::vector<Words> planes_;
    Words carry_;
};

}  // namespace clausewise::c50
