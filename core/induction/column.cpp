#include "induction/column.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <string>

namespace clausewise::induction {
namespace {

// Columns with at most this many values have one bin per value.
constexpr std::size_t kMaxValueBins = 128;
// Fewer rows per bin give tighter bounds on the cuts in it; more bins take longer to scan.
constexpr std::size_t kRowsPerBin = 48;
constexpr std::size_t kMaxIntendedBins = 120;

// Maps floats to unsigned integers in the same order.
std::uint32_t ordered_bits(float value) {
    std::uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

float from_ordered_bits(std::uint32_t bits) {
    bits = bits & 0x80000000u ? bits & 0x7fffffffu : ~bits;
    float value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

using Cell = ColumnScratch::Cell;

// Least-significant-digit radix sort on the key, 11 bits a pass; passes in which all keys agree are skipped.
void sort_cells(std::vector<Cell>& cells, std::vector<Cell>& spare) {
    constexpr std::uint32_t kBits = 11, kMask = (1u << kBits) - 1;
    std::array<std::array<std::uint32_t, kMask + 1>, 3> counts{};
    for (const Cell& cell : cells)
        for (std::uint32_t pass = 0; pass < 3; ++pass) ++counts[pass][(cell.key >> (pass * kBits)) & kMask];
    spare.resize(cells.size());
    for (std::uint32_t pass = 0; pass < 3; ++pass) {
        auto& count = counts[pass];
        if (std::any_of(count.begin(), count.end(), [&](std::uint32_t n) { return n == cells.size(); })) continue;
        std::uint32_t total = 0;
        for (auto& n : count) {
            const std::uint32_t here = n;
            n = total;
            total += here;
        }
        for (const Cell& cell : cells) spare[count[(cell.key >> (pass * kBits)) & kMask]++] = cell;
        cells.swap(spare);
    }
}

void find_repeated_values(Column& column) {
    const auto count = [&](std::size_t r) { return column.starts[r + 1] - column.starts[r]; };
    const auto n_values = static_cast<std::size_t>(column.n_values);
    const std::int32_t n_known = column.starts.back();
    std::size_t most_common = 0;
    for (std::size_t r = 1; r < n_values; ++r)
        if (count(r) > count(most_common)) most_common = r;
    std::int32_t n_others = n_known;
    if (n_values > 0 && count(most_common) > n_known / 64) {
        column.common_rank = static_cast<std::int32_t>(most_common);
        n_others -= count(most_common) - 1;
    }
    column.n_repeated = n_others - column.n_values;
    column.is_mostly_unique = column.n_repeated <= n_known / 16;
    if (!column.is_mostly_unique) return;
    for (std::size_t r = 0; r < n_values; ++r)
        if (count(r) > 1 && static_cast<std::int32_t>(r) != column.common_rank)
            column.repeated_ranks.push_back(static_cast<std::int32_t>(r));
}

// A value that fills a bin gets one of its own, so there may be twice as many bins as intended, which still fit in a
// byte, and so does one more for missing values.
void assign_bins(Column& column, std::uint8_t* bins) {
    const auto n_values = static_cast<std::size_t>(column.n_values);
    const auto n_rows = column.ranks.size();
    column.has_value_bins = n_values <= kMaxValueBins;
    const std::size_t n_wanted = std::clamp<std::size_t>(n_rows / kRowsPerBin, 1, kMaxIntendedBins);
    const auto n_full = static_cast<std::int32_t>((n_rows + n_wanted - 1) / n_wanted);
    std::vector<std::uint8_t> bin_of_rank(n_values);
    std::int32_t n_in_bin = 0;
    for (std::size_t r = 0; r < n_values; ++r) {
        const std::int32_t n_here = column.starts[r + 1] - column.starts[r];
        if (r == 0 || column.has_value_bins || n_in_bin >= n_full || n_here >= n_full) {
            column.bin_starts.push_back(static_cast<std::int32_t>(r));
            n_in_bin = 0;
        }
        n_in_bin += n_here;
        bin_of_rank[r] = static_cast<std::uint8_t>(column.bin_starts.size() - 1);
    }
    column.bin_starts.push_back(column.n_values);
    if (column.common_rank >= 0) column.common_bin = bin_of_rank[static_cast<std::size_t>(column.common_rank)];
    const auto missing_bin = static_cast<std::uint8_t>(column.n_bins());
    for (std::size_t row = 0; row < n_rows; ++row) {
        const std::int32_t rank = column.ranks[row];
        bins[row] = rank == kMissing ? missing_bin : bin_of_rank[static_cast<std::size_t>(rank)];
    }
    column.bins = bins;
}

}  // namespace

void prepare_continuous(Column& column, const std::vector<float>& numbers, std::size_t index, std::uint8_t* bins,
                        ColumnScratch& scratch) {
    auto& cells = scratch.cells;
    cells.resize(numbers.size());
    std::size_t n_known = 0;
    column.ranks.assign(numbers.size(), kMissing);
    for (std::size_t row = 0; row < numbers.size(); ++row) {
        float value = numbers[row];
        if (std::isnan(value)) continue;
        if (std::isinf(value))
            throw std::invalid_argument("column " + std::to_string(index) + " has an infinite value in row " +
                                        std::to_string(row) + " (or one that exceeds single precision)");
        if (value == 0.0f) value = 0.0f;  // −0 and +0 are one value
        cells[n_known++] = {ordered_bits(value), static_cast<std::uint32_t>(row)};
    }
    cells.resize(n_known);
    column.has_missing = cells.size() < numbers.size();
    sort_cells(cells, scratch.spare);
    for (std::size_t i = 0; i < cells.size(); ++i) {
        if (i == 0 || cells[i].key != cells[i - 1].key) {
            column.values.push_back(from_ordered_bits(cells[i].key));
            column.starts.push_back(static_cast<std::int32_t>(i));
        }
        column.ranks[cells[i].row] = static_cast<std::int32_t>(column.values.size()) - 1;
    }
    column.starts.push_back(static_cast<std::int32_t>(cells.size()));
    column.values.shrink_to_fit();
    column.starts.shrink_to_fit();
    column.n_values = static_cast<std::int32_t>(column.values.size());
    find_repeated_values(column);
    if (numbers.empty()) return;
    assign_bins(column, bins);
    if (column.has_value_bins) return;
    column.order.reserve(cells.size());
    for (const Cell& cell : cells) column.order.push_back(static_cast<std::int32_t>(cell.row));
}

void prepare_discrete(Column& column, const std::vector<float>& numbers, std::size_t index, std::int32_t n_values) {
    column.is_discrete = true;
    column.n_values = n_values;
    column.ranks.assign(numbers.size(), kMissing);
    for (std::size_t row = 0; row < numbers.size(); ++row) {
        const float code = numbers[row];
        if (std::isnan(code)) {
            column.has_missing = true;
            continue;
        }
        if (!(code >= 0.0f && code < static_cast<float>(n_values)) || code != std::floor(code))
            throw std::invalid_argument("column " + std::to_string(index) + " is categorical, but the value in row " +
                                        std::to_string(row) + " is not a code from 0 to " +
                                        std::to_string(n_values - 1));
        column.ranks[row] = static_cast<std::int32_t>(code);
    }
}

std::int32_t Column::rank_at_most(float threshold) const {
    const auto above = std::upper_bound(values.begin(), values.end(), threshold);
    return std::max<std::int32_t>(0, static_cast<std::int32_t>(above - values.begin()) - 1);
}

}  // namespace clausewise::induction
