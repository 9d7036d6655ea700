// The rows sorted by column, once for all trees.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "induction/matrix.hpp"

namespace clausewise::cart {

using induction::Column;
using induction::kMissing;
using induction::Matrix;

// The rows of a matrix sorted by each column that has many values, missing values last. Shared by all trees.
class ColumnOrders {
public:
    ColumnOrders(const Matrix& matrix, std::size_t n_classes);
    // Not copyable: it holds pointers into itself.
    ColumnOrders(const ColumnOrders&) = delete;
    ColumnOrders& operator=(const ColumnOrders&) = delete;

    // Null for a column with few values, where counting is quicker.
    const std::vector<std::int32_t>* of(std::size_t column) const { return orders_[column]; }
    std::size_t n_ordered() const;  // columns

private:
    std::vector<const std::vector<std::int32_t>*> orders_;  // into the matrix if it has them, otherwise into own_
    std::vector<std::vector<std::int32_t>> own_;
};

}  // namespace clausewise::cart
