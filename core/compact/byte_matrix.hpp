// A table as one byte per cell: the bin that the value falls into. Missing values have a bin of their own, after the
// last one.
//
// Kept twice: column by column, to test one column over all rows (16 at a time), and row by row, to sum some rows over
// all columns. Row by row, columns are in blocks (a row of a block is one cache line), except for those in which most
// rows have the same bin: of these, only the other cells are listed.
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

    // What the bins of a column mean.
    struct Meaning {
        std::int32_t n_bins;
        bool is_nominal;        // the bins have no order; each is a category
        std::int32_t n_values;  // number of categories, those without a bin included
        bool tests_missing;     // a term may ask whether the value is missing
    };

    // `bins`: column by column.
    ByteMatrix(const std::uint8_t* bins, std::size_t n_rows, std::vector<Meaning> meaning);

    // Some columns of another matrix.
    ByteMatrix(const ByteMatrix& from, const std::vector<std::int32_t>& columns);

    std::size_t n_rows() const { return n_rows_; }
    std::size_t n_columns() const { return meaning_.size(); }
    std::int32_t n_bins(std::size_t column) const { return meaning_[column].n_bins; }
    bool is_nominal(std::size_t column) const { return meaning_[column].is_nominal; }
    std::int32_t n_values(std::size_t column) const { return meaning_[column].n_values; }
    bool tests_missing(std::size_t column) const { return meaning_[column].tests_missing; }
    const std::uint8_t* column(std::size_t column) const { return &by_column_[column * padded_rows_]; }

    // Some columns, row by row.
    struct Block {
        std::vector<std::size_t> columns;
        std::vector<std::uint8_t> bins;
    };
    const std::vector<Block>& blocks() const { return blocks_; }
    // The cells of the other columns that do not have the common bin of their column. Bins count from first_bin.
    struct Exceptions {
        std::vector<std::uint32_t> common_bins;  // one per column
        std::vector<std::size_t> starts;         // per row, where its cells begin in `bins`; empty without such columns
        std::vector<std::uint32_t> bins;
        std::vector<std::uint32_t> common_of;  // the common bin of the same column
    };
    const Exceptions& exceptions() const { return exceptions_; }
    // Where the bins of a column begin in an array with one entry per bin of every column, including those of missing
    // values.
    std::uint32_t first_bin(std::size_t column) const { return first_bin_[column]; }
    std::size_t n_all_bins() const { return first_bin_.back(); }

    // One bit per row: does it satisfy the term?
    void find_accepted(const BoxTerm& term, Words& rows) const;
    Words covered(const Box& box) const;

    // What a reader reads: one per bound, one per category that is named or, if these are fewer, excluded; at least one
    // per term.
    std::int32_t reading_cost(const BoxTerm& term) const;
    std::int32_t reading_cost(const Box& box) const;

private:
    void arrange_by_row();
    void list_exceptions(const std::vector<std::size_t>& columns, const std::vector<std::uint8_t>& common);

    std::size_t n_rows_;
    std::size_t padded_rows_;  // to whole words, so that 64 rows are tested at once
    std::vector<Meaning> meaning_;
    std::vector<std::uint32_t> first_bin_;
    std::vector<std::uint8_t> by_column_;
    std::vector<Block> blocks_;
    Exceptions exceptions_;
};

// Appends the rows of a set to `rows`.
void list_rows(const Words& set, std::vector<std::uint32_t>& rows);

}  // namespace clausewise::compact
