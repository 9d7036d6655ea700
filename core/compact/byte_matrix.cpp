#include "compact/byte_matrix.hpp"

#include <algorithm>
#include <stdexcept>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace clausewise::compact {
namespace {

// A cell that is listed costs about three times as much as one in a block.
constexpr double kCommonFraction = 0.75;

// Are the bins of the set one range? Writes its ends.
bool as_range(const BinSet& bins, int& first, int& last) {
    first = -1;
    std::size_t n_set = 0;
    for (int w = 0; w < 4; ++w) {
        const std::uint64_t word = bins[static_cast<std::size_t>(w)];
        if (word == 0) continue;
        if (first < 0) first = 64 * w + lowest_bit(word);
        last = 64 * w + highest_bit(word);
        n_set += static_cast<std::size_t>(count_bits(word));
    }
    return first >= 0 && n_set == static_cast<std::size_t>(last - first + 1);
}

// One bit for each of 64 bytes: does it lie between first and last?
inline std::uint64_t bytes_between(const std::uint8_t* bytes, int first, int last) {
    std::uint64_t word = 0;
#if defined(__SSE2__)
    const __m128i low = _mm_set1_epi8(static_cast<char>(first));
    const __m128i high = _mm_set1_epi8(static_cast<char>(last));
    for (int part = 0; part < 4; ++part) {
        const __m128i value = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes + 16 * part));
        // SSE2 has no unsigned comparison of bytes; a value is inside if max(value, low) and min(value, high) leave it
        // unchanged.
        const __m128i inside = _mm_and_si128(_mm_cmpeq_epi8(_mm_max_epu8(value, low), value),
                                             _mm_cmpeq_epi8(_mm_min_epu8(value, high), value));
        word |= static_cast<std::uint64_t>(static_cast<std::uint32_t>(_mm_movemask_epi8(inside))) << (16 * part);
    }
#else
    for (int i = 0; i < 64; ++i) word |= static_cast<std::uint64_t>(bytes[i] >= first && bytes[i] <= last) << i;
#endif
    return word;
}

}  // namespace

BinSet bins_between(std::size_t first, std::size_t last) {
    BinSet bins{};
    for (std::size_t w = first / 64; w <= last / 64; ++w) {
        const std::size_t begin = w == first / 64 ? first % 64 : 0;
        const std::size_t end = w == last / 64 ? last % 64 : 63;
        bins[w] = (~std::uint64_t{0} >> (63 - (end - begin))) << begin;
    }
    return bins;
}

ByteMatrix::ByteMatrix(const std::uint8_t* bins, std::size_t n_rows, std::vector<Meaning> meaning)
    : n_rows_(n_rows),
      padded_rows_(words_for(n_rows) * kWordBits),
      meaning_(std::move(meaning)),
      first_bin_{0},
      by_column_(n_columns() * padded_rows_, 0xff) {
    for (std::size_t c = 0; c < n_columns(); ++c) {
        const std::int32_t n_bins = meaning_[c].n_bins;
        if (n_bins < 0 || n_bins > kMaxBins) throw std::invalid_argument("a column may have at most 254 bins");
        const std::uint8_t* const from = bins + c * n_rows;
        if (n_rows > 0 && *std::max_element(from, from + n_rows) > n_bins)
            throw std::invalid_argument("a bin index exceeds the number of bins");
        std::copy(from, from + n_rows, &by_column_[c * padded_rows_]);
        first_bin_.push_back(first_bin_.back() + static_cast<std::uint32_t>(n_bins + 1));
    }
    arrange_by_row();
}

ByteMatrix::ByteMatrix(const ByteMatrix& from, const std::vector<std::int32_t>& columns)
    : n_rows_(from.n_rows_), padded_rows_(from.padded_rows_), first_bin_{0} {
    by_column_.reserve(columns.size() * padded_rows_);
    for (const std::int32_t c : columns) {
        const auto column = static_cast<std::size_t>(c);
        meaning_.push_back(from.meaning_[column]);
        first_bin_.push_back(first_bin_.back() + static_cast<std::uint32_t>(meaning_.back().n_bins + 1));
        by_column_.insert(by_column_.end(), from.column(column), from.column(column) + padded_rows_);
    }
    arrange_by_row();
}

void ByteMatrix::arrange_by_row() {
    std::vector<std::size_t> mostly_common;
    std::vector<std::uint8_t> common;
    for (std::size_t c = 0; c < n_columns(); ++c) {
        std::array<std::size_t, 256> counts{};
        for (std::size_t row = 0; row < n_rows_; ++row) ++counts[column(c)[row]];
        const auto most = std::max_element(counts.begin(), counts.end());
        if (static_cast<double>(*most) > kCommonFraction * static_cast<double>(n_rows_)) {
            mostly_common.push_back(c);
            common.push_back(static_cast<std::uint8_t>(most - counts.begin()));
            continue;
        }
        if (blocks_.empty() || blocks_.back().columns.size() == kBlockColumns) blocks_.emplace_back();
        blocks_.back().columns.push_back(c);
    }
    for (Block& block : blocks_) {
        const std::size_t width = block.columns.size();
        block.bins.resize(n_rows_ * width);
        for (std::size_t c = 0; c < width; ++c) {
            const std::uint8_t* const from = column(block.columns[c]);
            for (std::size_t row = 0; row < n_rows_; ++row) block.bins[row * width + c] = from[row];
        }
    }
    if (!mostly_common.empty()) list_exceptions(mostly_common, common);
}

void ByteMatrix::list_exceptions(const std::vector<std::size_t>& columns, const std::vector<std::uint8_t>& common) {
    const auto visit = [&](auto&& use) {
        for (std::size_t i = 0; i < columns.size(); ++i) {
            const std::uint8_t* const bins = column(columns[i]);
            for (std::size_t row = 0; row < n_rows_; ++row)
                if (bins[row] != common[i]) use(row, first_bin(columns[i]) + bins[row], exceptions_.common_bins[i]);
        }
    };
    for (std::size_t i = 0; i < columns.size(); ++i)
        exceptions_.common_bins.push_back(first_bin(columns[i]) + common[i]);
    auto& starts = exceptions_.starts;
    starts.assign(n_rows_ + 1, 0);
    visit([&](std::size_t row, std::uint32_t, std::uint32_t) { ++starts[row + 1]; });
    for (std::size_t row = 0; row < n_rows_; ++row) starts[row + 1] += starts[row];
    exceptions_.bins.resize(starts.back());
    exceptions_.common_of.resize(starts.back());
    std::vector<std::size_t> next(starts.begin(), starts.end() - 1);
    visit([&](std::size_t row, std::uint32_t bin, std::uint32_t common_bin) {
        exceptions_.bins[next[row]] = bin;
        exceptions_.common_of[next[row]++] = common_bin;
    });
}

std::int32_t ByteMatrix::reading_cost(const BoxTerm& term) const {
    const Meaning& meaning = meaning_[static_cast<std::size_t>(term.column)];
    const auto end = static_cast<std::size_t>(meaning.n_bins);
    std::int32_t cost = 1;
    if (contains(term.accepts, end) || end == 0) return cost;  // is missing
    if (meaning.is_nominal) {
        std::int32_t n_named = 0;
        for (const std::uint64_t word : term.accepts) n_named += static_cast<std::int32_t>(count_bits(word));
        cost = std::min(n_named, meaning.n_values - n_named);
    } else {
        cost = !contains(term.accepts, 0) + !contains(term.accepts, end - 1);
    }
    return std::max(cost, 1);
}

std::int32_t ByteMatrix::reading_cost(const Box& box) const {
    std::int32_t cost = 0;
    for (const BoxTerm& term : box) cost += reading_cost(term);
    return cost;
}

void ByteMatrix::find_accepted(const BoxTerm& term, Words& rows) const {
    const std::size_t n_words = words_for(n_rows_);
    rows.resize(n_words);
    const std::uint8_t* const bins = column(static_cast<std::size_t>(term.column));
    int first = 0, last = 0;
    if (as_range(term.accepts, first, last)) {
        for (std::size_t w = 0; w < n_words; ++w) rows[w] = bytes_between(bins + 64 * w, first, last);
    } else {
        for (std::size_t w = 0; w < n_words; ++w) {
            std::uint64_t word = 0;
            for (std::size_t i = 0; i < 64; ++i)
                word |= static_cast<std::uint64_t>(contains(term.accepts, bins[64 * w + i])) << i;
            rows[w] = word;
        }
    }
    if (n_words > 0) rows.back() &= last_word_mask(n_rows_);
}

Words ByteMatrix::covered(const Box& box) const {
    Words all(words_for(n_rows_), ~std::uint64_t{0});
    if (!all.empty()) all.back() = last_word_mask(n_rows_);
    Words accepted;
    for (const BoxTerm& term : box) {
        find_accepted(term, accepted);
        for (std::size_t w = 0; w < all.size(); ++w) all[w] &= accepted[w];
    }
    return all;
}

void list_rows(const Words& set, std::vector<std::uint32_t>& rows) {
    for_each_bit(set.data(), set.size(), [&](std::size_t row) { rows.push_back(static_cast<std::uint32_t>(row)); });
}

}  // namespace clausewise::compact
