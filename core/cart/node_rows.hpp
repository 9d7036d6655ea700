// The rows of a growing tree: those of a node are contiguous, in row order and in the order of every sorted column.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cart/column_orders.hpp"
#include "cart/tree.hpp"
#include "induction/matrix.hpp"

namespace clausewise::cart {

struct RowRange {
    std::size_t begin, end;
    std::size_t size() const { return end - begin; }
};

class NodeRows {
public:
    // The orders come later: a tree that stays a single leaf does not need them.
    NodeRows(const Matrix& matrix, const std::vector<std::int32_t>* rows);
    void take_orders(const ColumnOrders& orders);

    RowRange all() const { return {0, rows_.size()}; }
    const std::int32_t* in(RowRange range) const { return rows_.data() + range.begin; }
    // The same rows sorted by a column with many values; null for other columns.
    const std::int32_t* in_order_of(std::size_t column, RowRange range) const {
        return orders_[column].empty() ? nullptr : orders_[column].data() + range.begin;
    }
    // Was the row's value missing in any test so far?
    bool was_missing(std::int32_t row) const { return !was_missing_.empty() && was_missing_[index(row)]; }

    // Moves the rows that go left to the front of the range, and returns where the others begin. Leaves the sorted
    // orders unchanged.
    std::size_t divide(RowRange range, const Test& test);
    // Does the same to the sorted orders, for the test of the last call of `divide`.
    void divide_orders(RowRange range);

private:
    static std::size_t index(std::int32_t row) { return static_cast<std::size_t>(row); }
    std::size_t partition(std::int32_t* first, std::size_t n);

    const Matrix& matrix_;
    std::vector<std::int32_t> rows_;
    std::vector<std::vector<std::int32_t>> orders_;
    std::vector<std::uint8_t> is_used_;  // empty if all rows are
    std::vector<std::uint8_t> goes_left_, was_missing_;
    std::vector<std::int32_t> right_rows_;
};

}  // namespace clausewise::cart
