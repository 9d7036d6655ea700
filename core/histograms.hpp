// How the cases of a tree's nodes are spread over the bins of every column: unit weights, two classes.
//
// A division counts the smaller branch alone; the larger one is the rest, and takes the place of the node above. So at
// most one histogram per halving of the rows is held at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cases.hpp"
#include "matrix.hpp"

namespace clausewise {

// The cases of a bin and those of them of the second class, side by side: both are counted by one addition. There are
// fewer than 2^16 rows, so neither overflows.
using BinCount = std::uint32_t;
inline std::int32_t all_of(BinCount count) { return static_cast<std::int32_t>(count & 0xffffu); }
inline std::int32_t second_of(BinCount count) { return static_cast<std::int32_t>(count >> 16); }

// What a histogram is about.
struct BinnedColumn {
    const std::uint8_t* bins;     // per row
    const BinValues* bin_values;  // per bin
    std::size_t n_bins;
    std::size_t start;        // in a histogram
    std::int32_t common_bin;  // as in Column
    std::int32_t n_repeated;
};

class Histograms {
public:
    static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

    // Of the given columns, those that have bins.
    Histograms(const Cases& cases, const std::vector<std::size_t>& columns, std::size_t n_threads);

    bool is_empty() const { return columns_.empty(); }
    bool has(std::size_t column) const { return binned_of_column_[column] >= 0; }
    const BinnedColumn& binned(std::size_t column) const {
        return columns_[static_cast<std::size_t>(binned_of_column_[column])];
    }
    std::size_t n_held() const { return n_held_; }
    // Forgets all but the first `n_held`.
    void release(std::size_t n_held) { n_held_ = n_held; }
    // Counts these rows; returns the number of the new histogram.
    std::size_t count(Span rows);
    // Takes some of the rows of a histogram out of it, and returns the number of a new one with them if that is wanted.
    std::size_t divide(std::size_t number, Span smaller, bool wants_smaller);
    const BinCount* of(std::size_t number, std::size_t column) const {
        return held_[number].data() + binned(column).start;
    }

private:
    std::size_t next();
    void read_classes(Span rows);
    void count_column(const BinnedColumn& column, Span rows, BinCount* counts) const;
    template <class Work>
    void for_each_column(std::size_t n_rows, Work&& work);

    const Cases& cases_;
    std::size_t n_threads_;
    std::vector<BinnedColumn> columns_;           // side by side: growing goes through them again and again
    std::vector<std::int32_t> binned_of_column_;  // -1: the column has no bins
    std::size_t size_ = 0;                        // of a histogram
    std::size_t n_held_ = 0;
    std::vector<std::vector<BinCount>> held_;
    std::vector<BinCount> unit_;  // per row at hand: what it adds to its bin
};

}  // namespace clausewise
