#include "cart/node_rows.hpp"

#include <algorithm>
#include <numeric>

namespace clausewise::cart {
namespace {

// Up to so many counts of values and classes are made anew at every node; beyond, rows are kept in order.
constexpr std::size_t kMostCounts = 512;
constexpr std::size_t kMostCountedValues = 16;  // whatever the number of classes

// The rows by their rank, missing ones last, equal ones as they came.
std::vector<std::int32_t> order_of(const Column& column) {
    const auto n_values = static_cast<std::size_t>(column.n_values);
    const auto place_of = [&](std::int32_t rank) {
        return rank == kMissing ? n_values : static_cast<std::size_t>(rank);
    };
    std::vector<std::int32_t> starts(n_values + 2, 0);
    for (const std::int32_t rank : column.ranks) ++starts[place_of(rank) + 1];
    std::partial_sum(starts.begin(), starts.end(), starts.begin());
    std::vector<std::int32_t> order(column.ranks.size());
    for (std::size_t row = 0; row < order.size(); ++row)
        order[static_cast<std::size_t>(starts[place_of(column.ranks[row])]++)] = static_cast<std::int32_t>(row);
    return order;
}

}  // namespace

ColumnOrders::ColumnOrders(const Matrix& matrix, std::size_t n_classes)
    : orders_(matrix.n_columns(), nullptr), own_(matrix.n_columns()) {
    const std::size_t most_counted = std::max(kMostCountedValues, kMostCounts / n_classes);
    for (std::size_t c = 0; c < matrix.n_columns(); ++c) {
        const Column& column = matrix.column(c);
        if (column.is_discrete || static_cast<std::size_t>(column.n_values) <= most_counted) continue;
        if (column.order.size() != matrix.n_rows()) own_[c] = order_of(column);
        orders_[c] = own_[c].empty() ? &column.order : &own_[c];
    }
}

std::size_t ColumnOrders::n_ordered() const {
    return orders_.size() - static_cast<std::size_t>(std::count(orders_.begin(), orders_.end(), nullptr));
}

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
    aside_.resize(rows_.size());
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

// Stable, and without a branch that could be guessed wrong; how many go left.
std::size_t NodeRows::partition(std::int32_t* first, std::size_t n) {
    std::size_t n_left = 0, n_right = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const std::int32_t row = first[i];
        const std::size_t is_left = goes_left_[index(row)];
        first[n_left] = row;
        aside_[n_right] = row;
        n_left += is_left;
        n_right += 1 - is_left;
    }
    std::copy_n(aside_.data(), n_right, first + n_left);
    return n_left;
}

}  // namespace clausewise::cart
