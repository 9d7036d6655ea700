// The rows of a tree while it grows: those of a node lie side by side, in the order of every column.
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
    // Without orders, which a tree that is not divided does not need.
    NodeRows(const Matrix& matrix, const std::vector<std::int32_t>* rows);
    void take_orders(const ColumnOrders& orders);

    RowRange all() const { return {0, rows_.size()}; }
    const std::int32_t* in(RowRange range) const { return rows_.data() + range.begin; }
    // The same rows in the order of a column with many values; null for others.
    const std::int32_t* in_order_of(std::size_t column, RowRange range) const {
        return orders_[column].empty() ? nullptr : orders_[column].data() + range.begin;
    }
    // Whether the row was missing a value that was asked for.
    bool was_missing(std::int32_t row) const { return !was_missing_.empty() && was_missing_[index(row)]; }

    // Puts the rows of a node that go left before the others; where the others begin. The orders stay as they were.
    std::size_t divide(RowRange range, const Test& test);
    // Does the same to the orders, by the test of the last division.
    void divide_orders(RowRange range);

private:
    static std::size_t index(std::int32_t row) { return static_cast<std::size_t>(row); }
    std::size_t partition(std::int32_t* first, std::size_t n);

    const Matrix& matrix_;
    std::vector<std::int32_t> rows_;
    std::vector<std::vector<std::int32_t>> orders_;
    std::vector<std::uint8_t> is_used_;  // empty: all rows are
    std::vector<std::uint8_t> goes_left_, was_missing_;
    std::vector<std::int32_t> aside_;
};

}  // namespace clausewise::cart
