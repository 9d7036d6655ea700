// A table as one byte per cell: the bin that the value falls into. Missing values have a bin of their own, after the
// last one.
//
// Kept twice: column by column, to test one column over all rows (16 at a time), and in blocks of columns, row by row,
// to sum some rows over all columns (a row of a block is one cache line).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/bits.hpp"

namespace clausewise::compact {

// The bins of a column that a term accepts; bit b stands for bin b.
using BinSet = std::array<std::uint64_t, 4>;

inline bool contains(const BinSet& bins, std::size_t bin) { return (bins[bin / 64] >> (bin % 64) & 1) != 0; }
BinSet bins_between(std::size_t first, std::size_t last);  // both included

// One condition of a box.
struct BoxTerm {
    std::int32_t column;
    BinSet accepts;

    bool operator==(const BoxTerm& other) const { return column == other.column && accepts == other.accepts; }
};

// A premise in bins: at most one term per column, sorted by column.
using Box = std::vector<BoxTerm>;

class ByteMatrix {
public:
    static constexpr std::size_t kBlockColumns = 64;
    static constexpr std::int32_t kMaxBins = 254;

    // `bins`: column by column. `is_nominal`: the bins of this column have no order.
    ByteMatrix(const std::uint8_t* bins, std::size_t n_rows, std::vector<std::int32_t> n_bins,
               std::vector<std::uint8_t> is_nominal);

    // Some columns of another matrix.
    ByteMatrix(const ByteMatrix& from, const std::vector<std::int32_t>& columns);

    std::size_t n_rows() const { return n_rows_; }
    std::size_t n_columns() const { return n_bins_.size(); }
    std::int32_t n_bins(std::size_t column) const { return n_bins_[column]; }
    bool is_nominal(std::size_t column) const { return is_nominal_[column] != 0; }
    const std::uint8_t* column(std::size_t column) const { return &by_column_[column * padded_rows_]; }

    std::size_t n_blocks() const { return blocks_.size(); }
    std::size_t first_column(std::size_t block) const { return block * kBlockColumns; }
    std::size_t block_width(std::size_t block) const;
    const std::uint8_t* block(std::size_t block) const { return blocks_[block].data(); }
    // Where the bins of a column begin in an array with one entry per bin of every column, including those of missing
    // values.
    std::uint32_t first_bin(std::size_t column) const { return first_bin_[column]; }
    std::size_t n_all_bins() const { return first_bin_.back(); }

    // One bit per row: does it satisfy the term?
    void find_accepted(const BoxTerm& term, Words& rows) const;
    Words covered(const Box& box) const;

private:
    void fill_blocks();

    std::size_t n_rows_;
    std::size_t padded_rows_;  // to whole words, so that 64 rows are tested at once
    std::vector<std::int32_t> n_bins_;
    std::vector<std::uint8_t> is_nominal_;
    std::vector<std::uint32_t> first_bin_;
    std::vector<std::uint8_t> by_column_;
    std::vector<std::vector<std::uint8_t>> blocks_;
};

// Appends the rows of a set to `rows`.
void list_rows(const Words& set, std::vector<std::uint32_t>& rows);

}  // namespace clausewise::compact
