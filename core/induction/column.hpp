// One column of the table, as ranks.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace clausewise::induction {

inline constexpr std::int32_t kMissing = -1;

// The smallest and the greatest value of a bin.
struct BinValues {
    float lowest, highest;
};

struct Column {
    bool is_discrete = false;
    bool has_missing = false;
    std::int32_t common_rank = -1;  // rank of a value that many rows share, such as the 0 of a ReLU; -1 if none
    bool is_mostly_unique = false;  // continuous, and few values besides the common one are repeated
    std::vector<std::int32_t> repeated_ranks;  // if mostly unique: the ranks of those few
    std::int32_t n_values = 0;                 // distinct known values, or the declared values of a discrete column
    std::vector<std::int32_t> ranks;           // per row: rank of the value, code of the category, or kMissing
    std::vector<float> values;                 // continuous: the distinct values, ascending
    std::vector<std::int32_t> starts;  // continuous: starts[r] = known rows with a rank below r; one more at the end
    // Continuous columns: neighbouring ranks share a bin. Missing values have the one after the last bin.
    const std::uint8_t* bins = nullptr;     // per row; owned by the matrix, contiguous for all columns
    const BinValues* bin_values = nullptr;  // per bin; owned by the matrix
    std::vector<std::int32_t> bin_starts;   // the first rank of each bin; one more at the end
    bool has_value_bins = false;            // every value has a bin of its own
    std::vector<std::int32_t> order;        // the rows with a known value sorted by rank, unless has_value_bins
    std::int32_t common_bin = -1;           // the bin of the common value
    std::int32_t n_repeated = 0;            // rows that repeat a value, not counting the common one

    std::size_t n_bins() const { return bin_starts.empty() ? 0 : bin_starts.size() - 1; }
    bool is_usable() const { return is_discrete || n_values > 1; }
    // Greatest rank whose value is at most `threshold`; 0 if there is none (C5.0 then takes the smallest value).
    std::int32_t rank_at_most(float threshold) const;
};

// Working memory for preparing columns, kept from column to column.
struct ColumnScratch {
    struct Cell {
        std::uint32_t key;
        std::uint32_t row;
    };
    std::vector<Cell> cells, spare;
};

// Both throw std::invalid_argument on infinite values and bad codes; `index` is the column's number in the message.
// `bins` has room for one byte per row.
void prepare_continuous(Column& column, const std::vector<float>& numbers, std::size_t index, std::uint8_t* bins,
                        ColumnScratch& scratch);
void prepare_discrete(Column& column, const std::vector<float>& numbers, std::size_t index, std::int32_t n_values);

}  // namespace clausewise::induction
