#include "c50/grow/node_histograms.hpp"

#include <algorithm>
#include <array>
#include <type_traits>

#include "base/parallel.hpp"

namespace clausewise::c50 {
namespace {

// Threads pay off for nodes of at least this many cells (rows × columns).
constexpr std::size_t kCellsForThreads = std::size_t{1} << 20;
// Counting in two tables pays off from this many rows on: a second addition to the same bin would have to wait for the
// first.
constexpr std::size_t kRowsForTwoTables = 256;
constexpr std::size_t kMaxBins = 256;
constexpr std::size_t kRowsForWideCounts = std::size_t{1} << kHalfBits<NarrowCount>;

// What a row adds to its bin.
template <class Count>
Count unit_of(const Cases& cases, std::int32_t row) {
    if constexpr (std::is_same_v<Count, WeightSum>) {
        return weight_sum(cases, row);
    } else {
        return Count{1} + (static_cast<Count>(cases.class_of(row)) << kHalfBits<Count>);
    }
}

}  // namespace

NodeHistograms::NodeHistograms(const Cases& cases, const std::vector<std::size_t>& columns, std::size_t n_threads)
    : cases_(cases),
      n_threads_(n_threads),
      binned_of_column_(cases.matrix.n_columns(), -1),
      counts_rows_(cases.has_unit_weights() || !cases.class_weights.empty()),
      is_wide_(cases.n_rows() >= kRowsForWideCounts) {
    if (cases.n_classes != 2) return;
    for (const std::size_t a : columns) {
        const Column& column = cases.matrix.column(a);
        if (!column.bins) continue;
        const std::size_t n_counted = column.n_bins() + column.has_missing;
        binned_of_column_[a] = static_cast<std::int32_t>(columns_.size());
        columns_.push_back(
            {column.bins, column.bin_values, column.n_bins(), n_counted, size_, column.common_bin, column.n_repeated});
        size_ += n_counted;
    }
}

template <class Count>
void NodeHistograms::Store<Count>::make_room(std::size_t number, std::size_t size) {
    if (number == held.size()) held.emplace_back(size);
}

template <class Count>
void NodeHistograms::Store<Count>::read_classes(const Cases& cases, RowSpan rows) {
    unit.resize(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) unit[i] = unit_of<Count>(cases, rows.first[i]);
}

template <class Count>
void NodeHistograms::Store<Count>::count_column(const BinnedColumn& column, RowSpan rows, Count* counts) const {
    const std::uint8_t* bins = column.bins;
    const std::size_t n = rows.size();
    if (n < kRowsForTwoTables) {
        for (std::size_t i = 0; i < n; ++i) counts[bins[rows.first[i]]] += unit[i];
        return;
    }
    std::array<Count, kMaxBins> second;
    std::fill_n(second.begin(), column.n_counted, Count{});
    for (std::size_t i = 0; i + 1 < n; i += 2) {
        counts[bins[rows.first[i]]] += unit[i];
        second[bins[rows.first[i + 1]]] += unit[i + 1];
    }
    if (n % 2 != 0) counts[bins[rows.first[n - 1]]] += unit[n - 1];
    for (std::size_t b = 0; b < column.n_counted; ++b) counts[b] += second[b];
}

template <class Work>
void NodeHistograms::for_each_column(std::size_t n_rows, Work&& work) {
    const bool is_large = n_rows * columns_.size() >= kCellsForThreads;
    parallel_for(columns_.size(), is_large ? n_threads_ : 1, [&](std::size_t i, std::size_t) {
        if (is_large) cases_.cancel.check();
        work(columns_[i]);
    });
}

template <class Count>
void NodeHistograms::count(Store<Count>& store, std::size_t number, RowSpan rows) {
    store.make_room(number, size_);
    store.read_classes(cases_, rows);
    Count* counts = store.held[number].data();
    for_each_column(rows.size(), [&](const BinnedColumn& column) {
        std::fill_n(counts + column.start, column.n_counted, Count{});
        store.count_column(column, rows, counts + column.start);
    });
}

std::size_t NodeHistograms::count(RowSpan rows) {
    const std::size_t number = n_held_++;
    with_store([&](auto& store) { count(store, number, rows); });
    return number;
}

template <class Count>
void NodeHistograms::divide(Store<Count>& store, std::size_t number, RowSpan smaller, std::size_t new_number) {
    if (new_number != kNone) store.make_room(new_number, size_);
    store.read_classes(cases_, smaller);
    Count* from = store.held[number].data();
    Count* to = new_number == kNone ? nullptr : store.held[new_number].data();
    for_each_column(smaller.size(), [&](const BinnedColumn& column) {
        std::array<Count, kMaxBins> spare;
        Count* counts = to ? to + column.start : spare.data();
        std::fill_n(counts, column.n_counted, Count{});
        store.count_column(column, smaller, counts);
        for (std::size_t b = 0; b < column.n_counted; ++b) from[column.start + b] -= counts[b];
    });
}

const WeightSum* NodeHistograms::weights(std::size_t number, std::size_t column, std::vector<WeightSum>& room) const {
    const BinnedColumn& here = binned(column);
    if (!counts_rows_) return weighted_.held[number].data() + here.start;
    room.resize(here.n_counted);
    const double first = cases_.class_weights[0], second = cases_.class_weights[1];
    with_counts(number, column, [&](const auto* counts) {
        for (std::size_t b = 0; b < here.n_counted; ++b) {
            const std::int32_t n_second = second_of(counts[b]);
            const double of_second = second * n_second;  // exact, as are all sums of weights
            room[b] = {first * (all_of(counts[b]) - n_second) + of_second, of_second};
        }
    });
    return room.data();
}

void NodeHistograms::add(std::size_t number, RowSpan rows) {
    weighted_.read_classes(cases_, rows);
    WeightSum* sums = weighted_.held[number].data();
    for_each_column(rows.size(),
                    [&](const BinnedColumn& column) { weighted_.count_column(column, rows, sums + column.start); });
}

void NodeHistograms::remove(std::size_t number, RowSpan rows) { divide(weighted_, number, rows, kNone); }

std::size_t NodeHistograms::divide(std::size_t number, RowSpan smaller, bool wants_smaller) {
    const std::size_t new_number = wants_smaller ? n_held_++ : kNone;
    with_store([&](auto& store) { divide(store, number, smaller, new_number); });
    return new_number;
}

}  // namespace clausewise::c50
