#include "induction/matrix.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>

#include "base/parallel.hpp"

namespace clausewise::induction {
namespace {

// Columns are copied out of a row-major table in strips of one cache line, so that each line is read once.
constexpr std::size_t kStrip = 8;
// C5.0 stores counts in single precision, which is exact up to here.
constexpr std::size_t kMaxRows = std::size_t{1} << 24;

struct StripScratch {
    ColumnScratch column;
    std::array<std::vector<float>, kStrip> strip;
};

}  // namespace

template <class Real>
Matrix::Matrix(const TableView<Real>& table, const std::vector<std::int32_t>& n_categories, std::size_t n_threads,
               const CancelToken& cancel)
    : n_rows_(table.n_rows), columns_(table.n_columns), information_(std::min(table.n_rows, kMaxRows)) {
    if (n_categories.size() != table.n_columns)
        throw std::invalid_argument("the table has " + std::to_string(table.n_columns) +
                                    " columns, but n_categories has length " + std::to_string(n_categories.size()));
    if (table.n_rows > kMaxRows)
        throw std::invalid_argument("at most 16,777,216 rows can be learnt from; got " + std::to_string(table.n_rows) +
                                    ". Pass a sample of the rows; clausewise.extract and RuleSet.compact learn from "
                                    "more, read in parts (clausewise.partitioned).");
    bins_.resize(table.n_rows * table.n_columns);
    const std::size_t n_strips = (table.n_columns + kStrip - 1) / kStrip;
    std::vector<StripScratch> scratch(std::max<std::size_t>(1, std::min(n_threads, n_strips)));
    parallel_for(n_strips, n_threads, [&](std::size_t task, std::size_t worker) {
        auto& mine = scratch[worker];
        const std::size_t first = task * kStrip, width = std::min(kStrip, table.n_columns - first);
        for (std::size_t j = 0; j < width; ++j) mine.strip[j].resize(table.n_rows);
        for (std::size_t row = 0; row < table.n_rows; ++row)
            for (std::size_t j = 0; j < width; ++j) mine.strip[j][row] = static_cast<float>(table.at(row, first + j));
        for (std::size_t j = 0; j < width; ++j) {
            cancel.check();
            const std::size_t index = first + j;
            if (n_categories[index] > 0) prepare_discrete(columns_[index], mine.strip[j], index, n_categories[index]);
            else
                prepare_continuous(columns_[index], mine.strip[j], index, bins_.data() + index * table.n_rows,
                                   mine.column);
        }
    });
    std::size_t n_bins = 0;
    for (const Column& column : columns_) n_bins += column.n_bins();
    bin_values_.reserve(n_bins);
    for (Column& column : columns_) {
        column.bin_values = bin_values_.data() + bin_values_.size();
        for (std::size_t b = 0; b < column.n_bins(); ++b)
            bin_values_.push_back({column.values[static_cast<std::size_t>(column.bin_starts[b])],
                                   column.values[static_cast<std::size_t>(column.bin_starts[b + 1]) - 1]});
    }
}

std::size_t Matrix::memory() const {
    std::size_t bytes =
        (information_.max_count() + 1) * sizeof(double) + bins_.capacity() + bin_values_.capacity() * sizeof(BinValues);
    for (const Column& column : columns_)
        bytes += column.ranks.capacity() * sizeof(std::int32_t) + column.values.capacity() * sizeof(float) +
                 (column.starts.capacity() + column.repeated_ranks.capacity() + column.bin_starts.capacity() +
                  column.order.capacity()) *
                     sizeof(std::int32_t);
    return bytes;
}

template Matrix::Matrix(const TableView<float>&, const std::vector<std::int32_t>&, std::size_t, const CancelToken&);
template Matrix::Matrix(const TableView<double>&, const std::vector<std::int32_t>&, std::size_t, const CancelToken&);

}  // namespace clausewise::induction
