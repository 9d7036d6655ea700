// The gap between neighbouring values, in which a threshold can be moved without changing a training row.
#pragma once

#include <cstdint>
#include <vector>

#include "base/table_view.hpp"
#include "induction/matrix.hpp"

namespace clausewise::induction {

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
