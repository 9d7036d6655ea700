// Lookup tables of up to 512 rules: for every bin of every tested feature, the rules that it does not make fail.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/bits.hpp"
#include "coverage/premises.hpp"

namespace clausewise::coverage {

// The tests that one chunk of rules makes on one feature. Offsets point into the arrays of the chunk.
//
// A number x lies in bin b when exactly b thresholds are smaller than x, i.e. in (t[b-1], t[b]]; so there are
// n_thresholds + 1 bins, and one more for missing values. A category code is its own bin; after them come one bin for
// all codes outside [0, n_categories), and one for missing values.
struct FeatureTests {
    std::int32_t column;
    std::int32_t n_categories;  // kNotCategorical for a number
    std::size_t thresholds;
    std::size_t n_thresholds;
    std::size_t masks;
    // bucket(x) = (x - origin) * scale is non-decreasing in x even with rounding. Therefore thresholds in lower buckets
    // than x's are smaller than x, those in higher buckets are larger, and only the few (at most kMaxCompared) in the
    // same bucket must be compared. n_buckets = 0 means that there is no such table, and the search is binary.
    double origin;
    double scale;
    std::int32_t n_buckets;
    std::size_t buckets;  // bucket_starts[buckets + g] = number of thresholds in buckets below g
    std::size_t n_compared;

    bool is_categorical() const { return n_categories != kNotCategorical; }
    std::size_t unknown_bin() const { return static_cast<std::size_t>(n_categories); }
    std::size_t missing_bin() const { return is_categorical() ? unknown_bin() + 1 : n_thresholds + 1; }
    // This order of the arguments turns NaN into 0, so that the conversion is always defined.
    std::int32_t bucket(double x) const {
        const double position = std::max(0.0, (x - origin) * scale);
        return static_cast<std::int32_t>(std::min(static_cast<double>(n_buckets - 1), position));
    }
};

struct Chunk {
    std::size_t first_rule = 0;
    std::size_t n_rules = 0;
    std::size_t n_words = 0;  // 1, 2, 4 or 8: the inner loop is compiled once for each
    std::vector<FeatureTests> tests;
    std::vector<double> thresholds;
    std::vector<std::uint16_t> bucket_starts;  // a chunk has at most 1024 thresholds per feature
    std::vector<std::uint64_t> masks;
    std::vector<std::uint64_t> all_rules;
};

inline constexpr std::size_t kMaxWords = 8;
inline constexpr std::size_t kMaxChunkRules = kMaxWords * kWordBits;
// Up to this many branch-free comparisons per value are faster than a binary search.
inline constexpr std::size_t kMaxCompared = 4;

// The number of words in a mask over `n_rules` rules: 1, 2, 4 or 8.
std::size_t chunk_words(std::size_t n_rules);

// The tables of rules [first_rule, first_rule + n_rules).
Chunk build_chunk(const Premises& premises, std::size_t first_rule, std::size_t n_rules);

}  // namespace clausewise::coverage
