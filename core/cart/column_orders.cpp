#include "cart/column_orders.hpp"

#include <algorithm>
#include <numeric>

namespace clausewise::cart {
namespace {

// Columns with at most this many (value, class) pairs are counted at every node; for others the rows are kept sorted.
constexpr std::size_t kMaxCounts = 512;
constexpr std::size_t kMaxCountedValues = 16;  // for any number of classes

// The rows sorted by rank, stably, missing values last.
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
    const std::size_t most_counted = std::max(kMaxCountedValues, kMaxCounts / n_classes);
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

}  // namespace clausewise::cart
