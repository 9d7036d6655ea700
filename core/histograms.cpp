#include "histograms.hpp"

#include <algorithm>
#include <array>

#include "pool.hpp"

namespace clausewise {
namespace {

// Cells of a node from which threads pay.
constexpr std::size_t kCellsForThreads = std::size_t{1} << 20;
// Rows from which it pays to count in two tables: adding to the same bin twice in a row waits for the first addition.
constexpr std::size_t kRowsForTwoTables = 256;
constexpr std::size_t kMostBins = 256;

}  // namespace

Histograms::Histograms(const Cases& cases, const std::vector<std::size_t>& columns, std::size_t n_threads)
    : cases_(cases), n_threads_(n_threads), binned_of_column_(cases.matrix.n_columns(), -1) {
    if (!cases.has_unit_weights() || cases.n_classes != 2) return;
    for (const std::size_t a : columns) {
        const Column& column = cases.matrix.column(a);
        if (!column.bins) continue;
        binned_of_column_[a] = static_cast<std::int32_t>(columns_.size());
        columns_.push_back(
            {column.bins, column.bin_values, column.n_bins(), size_, column.common_bin, column.n_repeated});
        size_ += column.n_bins();
    }
}

std::size_t Histograms::next() {
    if (n_held_ == held_.size()) held_.emplace_back(size_);
    return n_held_++;
}

void Histograms::read_classes(Span rows) {
    unit_.resize(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i)
        unit_[i] = 1u + (static_cast<BinCount>(cases_.class_of(rows.first[i])) << 16);
}

// Adds to `counts`.
void Histograms::count_column(const BinnedColumn& column, Span rows, BinCount* counts) const {
    const std::uint8_t* bins = column.bins;
    const std::size_t n = rows.size();
    if (n < kRowsForTwoTables) {
        for (std::size_t i = 0; i < n; ++i) counts[bins[rows.first[i]]] += unit_[i];
        return;
    }
    std::array<BinCount, kMostBins> second;
    std::fill_n(second.begin(), column.n_bins, 0u);
    for (std::size_t i = 0; i + 1 < n; i += 2) {
        counts[bins[rows.first[i]]] += unit_[i];
        second[bins[rows.first[i + 1]]] += unit_[i + 1];
    }
    if (n % 2 != 0) counts[bins[rows.first[n - 1]]] += unit_[n - 1];
    for (std::size_t b = 0; b < column.n_bins; ++b) counts[b] += second[b];
}

template <class Work>
void Histograms::for_each_column(std::size_t n_rows, Work&& work) {
    const bool is_large = n_rows * columns_.size() >= kCellsForThreads;
    parallel_for(columns_.size(), is_large ? n_threads_ : 1, [&](std::size_t i, std::size_t) {
        if (is_large) cases_.control.check();
        work(columns_[i]);
    });
}

std::size_t Histograms::count(Span rows) {
    read_classes(rows);
    const std::size_t number = next();
    BinCount* counts = held_[number].data();
    for_each_column(rows.size(), [&](const BinnedColumn& column) {
        std::fill_n(counts + column.start, column.n_bins, 0u);
        count_column(column, rows, counts + column.start);
    });
    return number;
}

std::size_t Histograms::divide(std::size_t number, Span smaller, bool wants_smaller) {
    read_classes(smaller);
    const std::size_t new_number = wants_smaller ? next() : kNone;
    BinCount* from = held_[number].data();
    BinCount* to = wants_smaller ? held_[new_number].data() : nullptr;
    for_each_column(smaller.size(), [&](const BinnedColumn& column) {
        std::array<BinCount, kMostBins> spare;
        BinCount* counts = to ? to + column.start : spare.data();
        std::fill_n(counts, column.n_bins, 0u);
        count_column(column, smaller, counts);
        for (std::size_t b = 0; b < column.n_bins; ++b) from[column.start + b] -= counts[b];
    });
    return new_number;
}

}  // namespace clausewise
