// The table that inducers learn from, prepared once and shared read-only by many fits and threads.
//
// Every continuous column is kept as ranks among its distinct single-precision values: comparing values,
// counting the rows below a cut and snapping a threshold are then integer work, and no fit sorts a column again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/cancel.hpp"
#include "base/table_view.hpp"
#include "induction/count_information.hpp"

namespace clausewise::induction {

inline constexpr std::int32_t kMissing = -1;

// The least and the greatest value that a bin is for.
struct BinValues {
    float lowest, highest;
};

struct Column {
    bool is_discrete = false;
    bool has_missing = false;
    std::int32_t common_rank = -1;  // a value that many rows share, such as the 0 of a rectified unit; -1 if none
    bool is_mostly_unique = false;  // continuous, and beside the common value few are repeated
    std::vector<std::int32_t> repeated_ranks;  // if mostly unique: those few
    std::int32_t n_values = 0;                 // distinct known values, or the declared values of a discrete column
    std::vector<std::int32_t> ranks;           // per row: rank of the value, code of the category, or kMissing
    std::vector<float> values;                 // continuous: the distinct values, ascending
    std::vector<std::int32_t> starts;  // continuous: starts[r] = known rows with a rank below r; one more at the end
    // Continuous and all known: neighbouring ranks are put together in bins.
    const std::uint8_t* bins = nullptr;     // per row; kept by the matrix, like the next, side by side for all columns
    const BinValues* bin_values = nullptr;  // per bin
    std::vector<std::int32_t> bin_starts;   // the first rank of each bin; one more at the end
    bool has_value_bins = false;            // every value has a bin of its own
    std::vector<std::int32_t> order;        // the rows in the order of their rank, unless every value has a bin
    std::int32_t common_bin = -1;           // of the common value
    std::int32_t n_repeated = 0;            // rows whose value an earlier one has too, the common value left aside

    std::size_t n_bins() const { return bin_starts.empty() ? 0 : bin_starts.size() - 1; }
    bool is_usable() const { return is_discrete || n_values > 1; }
    // Greatest rank whose value is at most `threshold`; 0 if there is none (C5.0 then takes the smallest value).
    std::int32_t rank_at_most(float threshold) const;
};

class Matrix {
public:
    // `n_categories[a]` is 0 for a continuous column and the number of declared values for a discrete one, whose
    // cells must hold the codes 0 … n-1 or NaN. Throws std::invalid_argument on infinite values and bad codes.
    template <class Real>
    Matrix(const TableView<Real>& table, const std::vector<std::int32_t>& n_categories, std::size_t n_threads,
           const CancelToken& cancel);
    // Columns point into what the matrix keeps.
    Matrix(const Matrix&) = delete;
    Matrix& operator=(const Matrix&) = delete;

    std::size_t n_rows() const { return n_rows_; }
    std::size_t n_columns() const { return columns_.size(); }
    const Column& column(std::size_t index) const { return columns_[index]; }
    const CountInformation& information() const { return information_; }  // for counts up to n_rows()
    std::size_t memory() const;                                           // bytes held

private:
    std::size_t n_rows_;
    std::vector<Column> columns_;
    std::vector<std::uint8_t> bins_;     // column by column
    std::vector<BinValues> bin_values_;  // column by column
    CountInformation information_;
};

// For each (column, rank): the greatest original number that has this rank, and the smallest that has the next.
// A threshold anywhere in [left, right) separates the training rows as the rank does; `right` is +inf past the end.
struct Gap {
    double left;
    double right;
};
template <class Real>
std::vector<Gap> gaps_above(const Matrix& matrix, const TableView<Real>& table,
                            const std::vector<std::int32_t>& columns, const std::vector<std::int32_t>& ranks);

}  // namespace clausewise::induction
