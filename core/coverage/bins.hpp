// The bin of each value of a feature, and with it the mask of the rules that the value does not make fail.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "base/table_view.hpp"
#include "coverage/block.hpp"
#include "coverage/chunk.hpp"

namespace clausewise::coverage {
namespace detail {

template <class SetBin>
void find_categorical_bins(const FeatureTests& tests, const double* values, std::size_t n, const SetBin& set_bin) {
    const double n_categories = tests.n_categories;
    for (std::size_t i = 0; i < n; ++i) {
        const bool known = values[i] >= 0.0 && values[i] < n_categories && std::floor(values[i]) == values[i];
        const std::size_t otherwise = std::isnan(values[i]) ? tests.missing_bin() : tests.unknown_bin();
        set_bin(i, known ? static_cast<std::size_t>(values[i]) : otherwise);
    }
}

template <class SetBin>
void find_bins_by_search(const Chunk& chunk, const FeatureTests& tests, const double* values, std::size_t n,
                         const SetBin& set_bin) {
    const double* sorted = chunk.thresholds.data() + tests.thresholds;
    for (std::size_t i = 0; i < n; ++i) {
        const auto bin = std::lower_bound(sorted, sorted + tests.n_thresholds, values[i]) - sorted;
        set_bin(i, std::isnan(values[i]) ? tests.missing_bin() : static_cast<std::size_t>(bin));
    }
}

// Thresholds after those of the bucket are larger than the value, so comparing with a fixed number of them is exact and
// needs no branch.
template <std::size_t Compared, class SetBin>
void find_bins_by_bucket(const Chunk& chunk, const FeatureTests& tests, const double* values, std::size_t n,
                         std::int32_t* buckets, const SetBin& set_bin) {
    const double* sorted = chunk.thresholds.data() + tests.thresholds;
    const std::uint16_t* starts = chunk.bucket_starts.data() + tests.buckets;
    const std::size_t missing = tests.missing_bin();
    // A copy that no store through `buckets` can alias, so that the compiler can vectorise the loop.
    const FeatureTests fixed = tests;
    for (std::size_t i = 0; i < n; ++i) buckets[i] = fixed.bucket(values[i]);
    for (std::size_t i = 0; i < n; ++i) {
        const std::size_t start = starts[buckets[i]];
        std::size_t bin = start;
        for (std::size_t k = 0; k < Compared; ++k) bin += sorted[start + k] < values[i] ? 1u : 0u;
        set_bin(i, std::isnan(values[i]) ? missing : bin);
    }
}

}  // namespace detail

// Writes, for each row of the block, the offset of the mask of its bin.
template <class Real>
void find_masks(const Chunk& chunk, const FeatureTests& tests, const TableView<Real>& rows, std::size_t first_row,
                std::size_t n, BlockScratch& scratch, std::uint32_t* offsets) {
    double* values = scratch.values.data();
    // float converts to double exactly, so one comparison in double serves both.
    const Real* x = rows.data + rows.offset(first_row, static_cast<std::size_t>(tests.column));
    for (std::size_t i = 0; i < n; ++i)
        values[i] = static_cast<double>(x[static_cast<std::ptrdiff_t>(i) * rows.row_stride]);

    const std::size_t n_words = chunk.n_words;
    const auto set_bin = [offsets, n_words](std::size_t i, std::size_t bin) {
        offsets[i] = static_cast<std::uint32_t>(bin * n_words);
    };
    std::int32_t* buckets = scratch.buckets.data();
    if (tests.is_categorical()) detail::find_categorical_bins(tests, values, n, set_bin);
    else if (tests.n_buckets == 0) detail::find_bins_by_search(chunk, tests, values, n, set_bin);
    else if (tests.n_compared <= 1) detail::find_bins_by_bucket<1>(chunk, tests, values, n, buckets, set_bin);
    else if (tests.n_compared <= 2) detail::find_bins_by_bucket<2>(chunk, tests, values, n, buckets, set_bin);
    else detail::find_bins_by_bucket<kMaxCompared>(chunk, tests, values, n, buckets, set_bin);
}

}  // namespace clausewise::coverage
