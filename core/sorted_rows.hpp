// The rows of a tree's nodes in the order of every column, so that growing sorts nothing.
//
// The order of a whole column comes with the matrix. A tree takes its rows out of it once; from then on each division
// of a node divides the lists of all columns and keeps their order, so that the rows of every node stand side by side
// in each list, at the same place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cases.hpp"
#include "matrix.hpp"

namespace clausewise {

class SortedRows {
public:
    // Of the given columns, those whose order the matrix knows.
    SortedRows(const Matrix& matrix, const std::vector<std::size_t>& columns, std::size_t n_threads,
               const Control& control);

    bool is_empty() const { return columns_.empty(); }
    bool has(std::size_t column) const { return list_of_column_[column] >= 0; }
    // Starts anew with these rows, at place 0.
    void take(Span rows);
    // The rows of the node at `place`, divided into `left` and `right`: afterwards these are at `place` and behind it.
    // The list of a branch that is not wanted is left in disorder.
    void divide(std::size_t place, Span left, Span right, bool wants_left, bool wants_right);
    const std::uint16_t* list(std::size_t column, std::size_t place) const {
        return rows_.data() + static_cast<std::size_t>(list_of_column_[column]) * stride_ + place;
    }

private:
    template <class Change>
    void change_lists(std::size_t n_rows, Change&& change);

    const Matrix& matrix_;
    std::size_t n_threads_;
    const Control& control_;
    std::vector<std::size_t> columns_;
    std::vector<std::int32_t> list_of_column_;       // -1: the column has none
    std::size_t stride_ = 0;                         // from list to list
    std::vector<std::uint16_t> rows_;                // list by list
    std::vector<std::uint8_t> is_marked_;            // per row of the matrix; 0 between calls
    std::vector<std::vector<std::uint16_t>> spare_;  // per thread
};

}  // namespace clausewise
