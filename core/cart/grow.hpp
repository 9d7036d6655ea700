// CART: binary trees that lower the impurity of the classes (Breiman et al., 1984).
#pragma once

#include "base/cancel.hpp"
#include "cart/column_orders.hpp"
#include "cart/target.hpp"
#include "cart/tree.hpp"
#include "induction/matrix.hpp"

namespace clausewise::cart {

// Grows and, if asked for, prunes a tree. Ties go to the first column, and within it to the first value.
Tree grow(const Matrix& matrix, const ColumnOrders& orders, const Target& target, const Options& options,
          const CancelToken& cancel);

}  // namespace clausewise::cart
