// The rows sorted by each column, once for all trees.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "induction/matrix.hpp"

namespace clausewise::cart {

using induction::Column;
using induction::kMissing;
using induction::Matrix;

// The rows of a matrix in the order of each column that has many values, missing ones last. Shared by trees.
class ColumnOrders {
public:
    ColumnOrders(const Matrix& matrix, std::size_t n_classes);
    // It points into itself.
    ColumnOrders(const ColumnOrders&) = delete;
    ColumnOrders& operator=(const ColumnOrders&) = delete;

    // Null for a column with so few values that counting them is quicker.
    const std::vector<std::int32_t>* of(std::size_t column) const { return orders_[column]; }
    std::size_t n_ordered() const;  // columns

private:
    std::vector<const std::vector<std::int32_t>*> orders_;  // those of the matrix, where it has them
    std::vector<std::vector<std::int32_t>> own_;
};

}  // namespace clausewise::cart
