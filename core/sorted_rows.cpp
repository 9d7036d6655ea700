#include "sorted_rows.hpp"

#include <algorithm>

#include "pool.hpp"

namespace clausewise {
namespace {

// All of these write every row and advance only where it belongs: no branch to mispredict. One place past the end of
// what they keep may be written.

// Keeps the rows whose mark is `mark`, at the front.
void keep_in_front(const std::uint16_t* from, std::size_t n, const std::uint8_t* marks, std::uint8_t mark,
                   std::uint16_t* to) {
    for (std::size_t i = 0; i < n; ++i) {
        const std::uint16_t row = from[i];
        *to = row;
        to += marks[row] == mark;
    }
}

// Moves the marked rows to the back, from the last one on.
void keep_at_back(std::uint16_t* list, std::size_t n, const std::uint8_t* marks) {
    std::uint16_t* to = list + n - 1;
    for (std::size_t i = n; i-- > 0;) {
        const std::uint16_t row = list[i];
        *to = row;
        to -= marks[row];
    }
}

void divide_list(std::uint16_t* list, std::size_t n, const std::uint8_t* marks, std::uint16_t* spare) {
    std::uint16_t *kept = list, *moved = spare;
    for (std::size_t i = 0; i < n; ++i) {
        const std::uint16_t row = list[i];
        const std::uint8_t goes_right = marks[row];
        *kept = row;
        *moved = row;
        kept += 1 - goes_right;
        moved += goes_right;
    }
    std::copy(spare, moved, kept);
}

// Cells of a node from which threads pay.
constexpr std::size_t kCellsForThreads = std::size_t{1} << 20;

}  // namespace

SortedRows::SortedRows(const Matrix& matrix, const std::vector<std::size_t>& columns, std::size_t n_threads,
                       const Control& control)
    : matrix_(matrix),
      n_threads_(n_threads),
      control_(control),
      list_of_column_(matrix.n_columns(), -1),
      spare_(n_threads) {
    for (const std::size_t a : columns) {
        if (matrix.column(a).order.empty()) continue;
        list_of_column_[a] = static_cast<std::int32_t>(columns_.size());
        columns_.push_back(a);
    }
    if (!columns_.empty()) is_marked_.assign(matrix.n_rows(), 0);
}

template <class Change>
void SortedRows::change_lists(std::size_t n_rows, Change&& change) {
    const bool is_large = n_rows * columns_.size() >= kCellsForThreads;
    parallel_for(columns_.size(), is_large ? n_threads_ : 1,
                 [&](std::size_t i, std::size_t worker) { change(i, rows_.data() + i * stride_, spare_[worker]); });
}

void SortedRows::take(Span rows) {
    if (rows.size() >= stride_) {
        stride_ = rows.size() + 1;
        rows_.resize(stride_ * columns_.size());
    }
    const std::size_t n_all = matrix_.n_rows();
    for (const std::int32_t row : rows) is_marked_[static_cast<std::size_t>(row)] = 1;
    change_lists(n_all, [&](std::size_t i, std::uint16_t* list, std::vector<std::uint16_t>&) {
        const auto& order = matrix_.column(columns_[i]).order;
        if (rows.size() == n_all) std::copy(order.begin(), order.end(), list);
        else keep_in_front(order.data(), n_all, is_marked_.data(), 1, list);
    });
    for (const std::int32_t row : rows) is_marked_[static_cast<std::size_t>(row)] = 0;
}

void SortedRows::divide(std::size_t place, Span left, Span right, bool wants_left, bool wants_right) {
    const std::size_t n = left.size() + right.size();
    for (const std::int32_t row : right) is_marked_[static_cast<std::size_t>(row)] = 1;
    change_lists(n, [&](std::size_t, std::uint16_t* lists, std::vector<std::uint16_t>& spare) {
        std::uint16_t* list = lists + place;
        if (!wants_right) return keep_in_front(list, n, is_marked_.data(), 0, list);
        if (!wants_left) return keep_at_back(list, n, is_marked_.data());
        if (spare.size() <= n) spare.resize(n + 1);
        divide_list(list, n, is_marked_.data(), spare.data());
    });
    for (const std::int32_t row : right) is_marked_[static_cast<std::size_t>(row)] = 0;
}

}  // namespace clausewise
