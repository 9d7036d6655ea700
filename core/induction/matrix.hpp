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
#include "induction/column.hpp"
#include "induction/count_information.hpp"

namespace clausewise::induction {

class Matrix {
public:
    // `n_categories[a]` is 0 for a continuous column and the number of declared values for a discrete one, whose
    // cells must hold the codes 0 … n-1 or NaN. Throws std::invalid_argument on infinite values and bad codes.
    template <class Real>
    Matrix(const TableView<Real>& table, const std::vector<std::int32_t>& n_categories, std::size_t n_threads,
           const CancelToken& cancel);
    // Not copyable: columns hold pointers into the matrix.
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

}  // namespace clausewise::induction
