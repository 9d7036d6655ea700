// A table of numbers in any memory layout, as NumPy hands it over.
#pragma once

#include <cstddef>

namespace clausewise {

// A strided view of the caller's numbers; strides count elements.
template <class Real>
struct TableView {
    const Real* data;
    std::size_t n_rows;
    std::size_t n_columns;
    std::ptrdiff_t row_stride;
    std::ptrdiff_t column_stride;

    std::ptrdiff_t offset(std::size_t row, std::size_t column) const {
        return static_cast<std::ptrdiff_t>(row) * row_stride + static_cast<std::ptrdiff_t>(column) * column_stride;
    }
    Real at(std::size_t row, std::size_t column) const { return data[offset(row, column)]; }
};

}  // namespace clausewise
