#include "cart/node_rows.hpp"

#include <algorithm>
#include <numeric>

namespace clausewise::cart {

NodeRows::NodeRows(const Matrix& matrix, const std::vector<std::int32_t>* rows)
    : matrix_(matrix), orders_(matrix.n_columns()) {
    if (rows == nullptr) {
        rows_.resize(matrix.n_rows());
        std::iota(rows_.begin(), rows_.end(), 0);
        return;
    }
    is_used_.resize(matrix.n_rows());
    for (const std::int32_t row : *rows) is_used_[index(row)] = 1;
    rows_ = *rows;
    std::sort(rows_.begin(), rows_.end());
}

void NodeRows::take_orders(const ColumnOrders& orders) {
    bool has_missing = false;
    for (std::size_t c = 0; c < matrix_.n_columns(); ++c) {
        has_missing = has_missing || matrix_.column(c).has_missing;
        if (orders.of(c) == nullptr) continue;
        if (is_used_.empty()) {
            orders_[c] = *orders.of(c);
        } else {
            orders_[c].reserve(rows_.size());
            for (const std::int32_t row : *orders.of(c))
                if (is_used_[index(row)]) orders_[c].push_back(row);
        }
    }
    goes_left_.resize(matrix_.n_rows());
    if (has_missing) was_missing_.resize(matrix_.n_rows());
    right_rows_.resize(rows_.size());
}

std::size_t NodeRows::divide(RowRange range, const Test& test) {
    const std::vector<std::int32_t>& ranks = matrix_.column(static_cast<std::size_t>(test.column)).ranks;
    for (std::size_t i = range.begin; i < range.end; ++i) {
        const std::size_t row = index(rows_[i]);
        goes_left_[row] = test.goes_left(ranks[row]);
        if (!was_missing_.empty() && ranks[row] == kMissing) was_missing_[row] = 1;
    }
    return range.begin + partition(rows_.data() + range.begin, range.size());
}

void NodeRows::divide_orders(RowRange range) {
    for (std::vector<std::int32_t>& order : orders_)
        if (!order.empty()) partition(order.data() + range.begin, range.size());
}

// Stable and branch-free; returns how many rows go left.
std::size_t NodeRows::partition(std::int32_t* first, std::size_t n) {
    std::size_t n_left = 0, n_right = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const std::int32_t row = first[i];
        const std::size_t is_left = goes_left_[index(row)];
        first[n_left] = row;
        right_rows_[n_right] = row;
        n_left += is_left;
        n_right += 1 - is_left;
    }
    std::copy_n(right_rows_.data(), n_right, first + n_left);
    return n_left;
}

}  // namespace clausewise::cart
