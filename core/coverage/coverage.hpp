// Which rules hold on which rows.
//
// The idea is QuickScorer's (Lucchese et al., SIGIR 2015), carried over from trees to rules: the thresholds that
// the rules use on one feature cut its axis into bins, and inside a bin every test on that feature has the same
// outcome. So each bin gets a bit mask over the rules (bit set = the feature does not make the rule fail), a row
// looks up one mask per feature, and the AND of those masks are the rules that fire. A test shared by many rules
// is evaluated once, and a rule costs an eighth of a byte per feature instead of a pass over the rows.
//
// Masks for all rules and all bins would grow with the square of the number of rules, so rules are taken in
// chunks of at most 512: a chunk has masks only for the bins that its own rules tell apart.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/bits.hpp"
#include "base/parallel.hpp"
#include "base/table_view.hpp"

namespace clausewise::coverage {

inline constexpr std::int32_t kNotCategorical = -1;

// The premises of a rule set in columns: terms of rule r are [starts[r], starts[r + 1]), sorted by feature, at
// most one per feature. A term is the interval (low, high], or, if value_set >= 0, the set of category codes
// [set_starts[value_set], set_starts[value_set + 1]) of set_codes.
struct Premises {
    std::vector<std::int64_t> starts;
    std::vector<std::int32_t> feature;
    std::vector<double> low;
    std::vector<double> high;
    std::vector<std::int32_t> value_set;
    std::vector<std::int64_t> set_starts;
    std::vector<std::int32_t> set_codes;
    std::vector<std::int32_t> n_categories;  // per feature of the table; kNotCategorical for a number

    std::size_t n_rules() const { return starts.size() - 1; }

    // One term on one value. NaN fails every term. low = -inf means "no lower bound", which -inf satisfies.
    bool holds(std::size_t term, double x) const {
        if (value_set[term] < 0)
            return x <= high[term] && (x > low[term] || low[term] == -std::numeric_limits<double>::infinity());
        const auto set = static_cast<std::size_t>(value_set[term]);
        const auto begin = set_codes.begin() + set_starts[set];
        const auto end = set_codes.begin() + set_starts[set + 1];
        return std::any_of(begin, end, [x](std::int32_t code) { return static_cast<double>(code) == x; });
    }

    // The Python side builds these arrays; a mistake there must not become a stray memory access here.
    void check() const {
        const std::size_t n_terms = feature.size();
        const auto fail = [](const char* what) { throw std::invalid_argument(std::string("premises: ") + what); };
        if (starts.empty() || starts.front() != 0 || starts.back() != static_cast<std::int64_t>(n_terms))
            fail("starts do not span the terms");
        if (low.size() != n_terms || high.size() != n_terms || value_set.size() != n_terms)
            fail("columns differ in length");
        if (set_starts.empty() || set_starts.front() != 0 ||
            set_starts.back() != static_cast<std::int64_t>(set_codes.size()) ||
            !std::is_sorted(set_starts.begin(), set_starts.end()))
            fail("set_starts do not span the codes");
        if (!std::is_sorted(starts.begin(), starts.end())) fail("starts are not ascending");
        for (std::size_t rule = 0; rule < n_rules(); ++rule) {
            const auto first = static_cast<std::size_t>(starts[rule]);
            const auto last = static_cast<std::size_t>(starts[rule + 1]);
            for (std::size_t term = first; term < last; ++term) {
                if (feature[term] < 0 || static_cast<std::size_t>(feature[term]) >= n_categories.size())
                    fail("unknown feature");
                if (term > first && feature[term] <= feature[term - 1]) fail("terms are not sorted by feature");
                if (std::isnan(low[term]) || std::isnan(high[term])) fail("a threshold is NaN");
                check_value_set(term, fail);
            }
        }
    }

private:
    template <class Fail>
    void check_value_set(std::size_t term, const Fail& fail) const {
        const std::int32_t n_codes = n_categories[static_cast<std::size_t>(feature[term])];
        if ((value_set[term] >= 0) != (n_codes != kNotCategorical))
            fail("value sets belong to categorical features, intervals to all others");
        if (value_set[term] < 0) return;
        const auto set = static_cast<std::size_t>(value_set[term]);
        if (set + 1 >= set_starts.size()) fail("unknown value set");
        for (std::int64_t i = set_starts[set]; i < set_starts[set + 1]; ++i) {
            const std::int32_t code = set_codes[static_cast<std::size_t>(i)];
            if (code < 0 || code >= n_codes) fail("unknown category code");
        }
    }
};

// The tests that one chunk of rules makes on one feature. Offsets point into the arrays of the chunk.
//
// A number x lies in bin b when exactly b thresholds are smaller than x, i.e. in (t[b-1], t[b]]; so there are
// n_thresholds + 1 bins, and one more for missing. A category code is its own bin; codes outside
// [0, n_categories) share the bin of missing, as neither is in any set.
struct FeatureTests {
    std::int32_t column;
    std::int32_t n_categories;  // kNotCategorical for a number
    std::size_t thresholds;
    std::size_t n_thresholds;
    std::size_t masks;
    // bucket(x) = (x - origin) * scale never decreases with x, whatever the rounding. Therefore thresholds in
    // lower buckets than x's are smaller than x, those in higher buckets are larger, and only the few (at most
    // kMaxCompared) in the same bucket must be compared. n_buckets = 0: no such table, plain binary search.
    double origin;
    double scale;
    std::int32_t n_buckets;
    std::size_t buckets;  // bucket_starts[buckets + g] = number of thresholds in buckets below g
    std::size_t n_compared;

    bool is_categorical() const { return n_categories != kNotCategorical; }
    std::size_t missing_bin() const {
        return is_categorical() ? static_cast<std::size_t>(n_categories) : n_thresholds + 1;
    }
    // The order of the arguments sends NaN to 0, so that the conversion is always defined.
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
// Comparisons per value that are still faster, done without a branch, than a binary search.
inline constexpr std::size_t kMaxCompared = 4;

namespace detail {

struct TermOfRule {
    std::int32_t feature;
    std::uint32_t rule;  // within the chunk
    std::size_t term;
};

inline std::size_t chunk_words(std::size_t n_rules) {
    std::size_t n_words = 1;
    while (n_words * kWordBits < n_rules) n_words *= 2;
    return n_words;
}

// Numbers of thresholds before each bucket, for a table of this many buckets; empty if the span allows none.
inline std::vector<std::uint16_t> bucket_table(FeatureTests& tests, const double* sorted, std::int32_t n_buckets) {
    const double span = sorted[tests.n_thresholds - 1] - sorted[0];
    tests.origin = sorted[0];
    tests.scale = static_cast<double>(n_buckets) / span;
    tests.n_buckets = n_buckets;
    if (!std::isfinite(span) || !std::isfinite(tests.scale) || tests.scale <= 0.0) return {};
    std::vector<std::uint16_t> starts;
    std::size_t below = 0;
    for (std::int32_t g = 0; g <= n_buckets; ++g) {
        while (below < tests.n_thresholds && tests.bucket(sorted[below]) < g) ++below;
        starts.push_back(static_cast<std::uint16_t>(below));
    }
    return starts;
}

// How many comparisons a value may need in such a table: 1, 2 or kMaxCompared; 0 if more.
inline std::size_t comparisons_needed(const std::vector<std::uint16_t>& starts) {
    int most = 0;
    for (std::size_t g = 0; g + 1 < starts.size(); ++g) most = std::max(most, starts[g + 1] - starts[g]);
    if (most <= 2) return most <= 1 ? 1 : 2;
    return most <= static_cast<int>(kMaxCompared) ? kMaxCompared : 0;
}

// The table with the fewest comparisons, and of those the smallest; thresholds that lie in heaps get none.
inline void add_buckets(Chunk& chunk, FeatureTests& tests) {
    if (tests.n_thresholds == 0) return;
    const double* sorted = chunk.thresholds.data() + tests.thresholds;
    const auto fewest = static_cast<std::int32_t>(2 * tests.n_thresholds + 2);
    FeatureTests tried = tests;
    std::vector<std::uint16_t> best;
    for (std::int32_t n_buckets = fewest; n_buckets <= 16 * fewest && tests.n_compared != 1; n_buckets *= 2) {
        std::vector<std::uint16_t> starts = bucket_table(tried, sorted, n_buckets);
        tried.n_compared = starts.empty() ? 0 : comparisons_needed(starts);
        if (tried.n_compared == 0 || (tests.n_compared != 0 && tried.n_compared >= tests.n_compared)) continue;
        tests = tried;
        best = std::move(starts);
    }
    tests.buckets = chunk.bucket_starts.size();
    chunk.bucket_starts.insert(chunk.bucket_starts.end(), best.begin(), best.end());
}

inline void allow(std::uint64_t* mask, std::uint32_t rule) {
    mask[rule / kWordBits] |= std::uint64_t{1} << (rule % kWordBits);
}

template <class Iterator>
void add_numeric_tests(Chunk& chunk, const Premises& premises, Iterator begin, Iterator end) {
    FeatureTests tests{};
    tests.column = begin->feature;
    tests.n_categories = kNotCategorical;
    tests.thresholds = chunk.thresholds.size();
    const auto first = static_cast<std::ptrdiff_t>(tests.thresholds);
    for (auto it = begin; it != end; ++it)
        for (const double bound : {premises.low[it->term], premises.high[it->term]})
            if (std::isfinite(bound)) chunk.thresholds.push_back(bound);
    std::sort(chunk.thresholds.begin() + first, chunk.thresholds.end());
    chunk.thresholds.erase(std::unique(chunk.thresholds.begin() + first, chunk.thresholds.end()),
                           chunk.thresholds.end());
    tests.n_thresholds = chunk.thresholds.size() - tests.thresholds;
    add_buckets(chunk, tests);
    // A value may be compared with the kMaxCompared thresholds after its bucket's first, wherever that is.
    chunk.thresholds.insert(chunk.thresholds.end(), kMaxCompared, std::numeric_limits<double>::infinity());

    tests.masks = chunk.masks.size();
    chunk.masks.resize(tests.masks + (tests.n_thresholds + 2) * chunk.n_words);
    const auto rank = [&](double bound) {
        const auto sorted = chunk.thresholds.begin() + first;
        const auto sorted_end = sorted + static_cast<std::ptrdiff_t>(tests.n_thresholds);
        return static_cast<std::size_t>(std::lower_bound(sorted, sorted_end, bound) - sorted);
    };
    for (auto it = begin; it != end; ++it) {
        const double low = premises.low[it->term];
        const double high = premises.high[it->term];
        const std::size_t from = std::isfinite(low) ? rank(low) + 1 : 0;
        const std::size_t to = std::isfinite(high) ? rank(high) : tests.n_thresholds;
        for (std::size_t bin = from; bin <= to; ++bin) allow(&chunk.masks[tests.masks + bin * chunk.n_words], it->rule);
    }
    chunk.tests.push_back(tests);
}

template <class Iterator>
void add_categorical_tests(Chunk& chunk, const Premises& premises, Iterator begin, Iterator end) {
    FeatureTests tests{};
    tests.column = begin->feature;
    tests.n_categories = premises.n_categories[static_cast<std::size_t>(tests.column)];
    tests.masks = chunk.masks.size();
    chunk.masks.resize(tests.masks + (static_cast<std::size_t>(tests.n_categories) + 1) * chunk.n_words);
    for (auto it = begin; it != end; ++it) {
        const auto set = static_cast<std::size_t>(premises.value_set[it->term]);
        for (std::int64_t i = premises.set_starts[set]; i < premises.set_starts[set + 1]; ++i) {
            const auto code = static_cast<std::size_t>(premises.set_codes[static_cast<std::size_t>(i)]);
            allow(&chunk.masks[tests.masks + code * chunk.n_words], it->rule);
        }
    }
    chunk.tests.push_back(tests);
}

}  // namespace detail

inline Chunk build_chunk(const Premises& premises, std::size_t first_rule, std::size_t n_rules) {
    Chunk chunk;
    chunk.first_rule = first_rule;
    chunk.n_rules = n_rules;
    chunk.n_words = detail::chunk_words(n_rules);
    chunk.all_rules.resize(chunk.n_words);
    for (std::uint32_t rule = 0; rule < n_rules; ++rule) detail::allow(chunk.all_rules.data(), rule);

    std::vector<detail::TermOfRule> terms;
    for (std::size_t rule = 0; rule < n_rules; ++rule) {
        const auto begin = static_cast<std::size_t>(premises.starts[first_rule + rule]);
        const auto end = static_cast<std::size_t>(premises.starts[first_rule + rule + 1]);
        for (std::size_t term = begin; term < end; ++term)
            terms.push_back({premises.feature[term], static_cast<std::uint32_t>(rule), term});
    }
    std::stable_sort(terms.begin(), terms.end(), [](const auto& a, const auto& b) { return a.feature < b.feature; });
    std::vector<std::uint64_t> untested(chunk.n_words);
    for (auto begin = terms.begin(); begin != terms.end();) {
        const auto end =
            std::find_if(begin, terms.end(), [&](const auto& term) { return term.feature != begin->feature; });
        if (premises.n_categories[static_cast<std::size_t>(begin->feature)] != kNotCategorical)
            detail::add_categorical_tests(chunk, premises, begin, end);
        else detail::add_numeric_tests(chunk, premises, begin, end);
        // Rules that do not test the feature pass in every bin, in that of missing too.
        untested = chunk.all_rules;
        for (auto it = begin; it != end; ++it)
            untested[it->rule / kWordBits] &= ~(std::uint64_t{1} << (it->rule % kWordBits));
        for (std::size_t i = chunk.tests.back().masks; i < chunk.masks.size(); ++i)
            chunk.masks[i] |= untested[(i - chunk.tests.back().masks) % chunk.n_words];
        begin = end;
    }
    return chunk;
}

// A rule set made ready for evaluation. Chunks are grouped so that the tables of one group stay below
// group_bytes; one group (nearly always) is built once and kept, several are built when their turn comes.
class RuleIndex {
public:
    RuleIndex(Premises premises, std::size_t group_bytes) : premises_(std::move(premises)) {
        premises_.check();
        divide_into_groups(group_bytes);
        if (groups_.size() == 1) kept_ = build_group(0, 1);
    }

    const Premises& premises() const { return premises_; }
    std::size_t n_groups() const { return groups_.size(); }

    // Calls use(chunks) with the tables of a group.
    template <class Use>
    void with_group(std::size_t group, std::size_t n_threads, Use&& use) const {
        if (groups_.size() == 1) use(kept_);
        else use(build_group(group, n_threads));
    }

private:
    struct Group {
        std::size_t first_chunk;
        std::size_t last_chunk;
    };

    std::vector<Chunk> build_group(std::size_t group, std::size_t n_threads) const {
        const Group range = groups_[group];
        std::vector<Chunk> chunks(range.last_chunk - range.first_chunk);
        parallel_for(chunks.size(), n_threads, [&](std::size_t i, std::size_t) {
            const std::size_t first_rule = (range.first_chunk + i) * kMaxChunkRules;
            chunks[i] = build_chunk(premises_, first_rule, std::min(kMaxChunkRules, premises_.n_rules() - first_rule));
        });
        return chunks;
    }

    void divide_into_groups(std::size_t group_bytes) {
        const std::size_t n_chunks = (premises_.n_rules() + kMaxChunkRules - 1) / kMaxChunkRules;
        std::size_t bytes = 0;
        groups_.push_back({0, 0});  // stays empty when there is no rule
        for (std::size_t chunk = 0; chunk < n_chunks; ++chunk) {
            const std::size_t more = table_bytes(chunk);
            if (bytes > 0 && bytes + more > group_bytes) {
                groups_.push_back({chunk, chunk});
                bytes = 0;
            }
            groups_.back().last_chunk = chunk + 1;
            bytes += more;
        }
    }

    // An upper bound on the size of a chunk's tables: every term brings two thresholds of its own.
    std::size_t table_bytes(std::size_t chunk) const {
        const std::size_t first_rule = chunk * kMaxChunkRules;
        const std::size_t n_rules = std::min(kMaxChunkRules, premises_.n_rules() - first_rule);
        const auto begin = static_cast<std::size_t>(premises_.starts[first_rule]);
        const auto end = static_cast<std::size_t>(premises_.starts[first_rule + n_rules]);
        std::vector<std::int32_t> tested(premises_.feature.begin() + static_cast<std::ptrdiff_t>(begin),
                                         premises_.feature.begin() + static_cast<std::ptrdiff_t>(end));
        std::sort(tested.begin(), tested.end());
        tested.erase(std::unique(tested.begin(), tested.end()), tested.end());
        std::size_t n_bins = 2 * (end - begin);
        for (const std::int32_t feature : tested)
            n_bins +=
                2 + static_cast<std::size_t>(std::max(0, premises_.n_categories[static_cast<std::size_t>(feature)]));
        constexpr std::size_t kSearchBytes = sizeof(double) + 32 * sizeof(std::uint16_t);
        return n_bins * (detail::chunk_words(n_rules) * sizeof(std::uint64_t) + kSearchBytes);
    }

    Premises premises_;
    std::vector<Group> groups_;
    std::vector<Chunk> kept_;
};

// Rows are taken in blocks whose bits stay in the first-level cache, blocks in tasks large enough for a thread.
inline constexpr std::size_t kBlockRows = 256;
inline constexpr std::size_t kTaskRows = 8 * kBlockRows;

// Features whose bins are found before their masks are ANDed, so that a row's bits stay in registers meanwhile.
inline constexpr std::size_t kBatchFeatures = 16;

// What one thread needs to evaluate a block: bits[i * n_words + w] are the rules that fire on the block's row i,
// near[...] those with exactly one failing term.
struct BlockScratch {
    std::vector<double> values = std::vector<double>(kBlockRows);
    std::vector<std::int32_t> buckets = std::vector<std::int32_t>(kBlockRows);
    // A bin is kept as the offset of its mask, in words.
    std::vector<std::uint32_t> mask_offsets = std::vector<std::uint32_t>(kBlockRows * kBatchFeatures);
    std::vector<std::uint64_t> bits = std::vector<std::uint64_t>(kBlockRows * kMaxWords);
    std::vector<std::uint64_t> near = std::vector<std::uint64_t>(kBlockRows * kMaxWords);
};

namespace detail {

template <class SetBin>
void find_categorical_bins(const FeatureTests& tests, const double* values, std::size_t n, const SetBin& set_bin) {
    const double n_categories = tests.n_categories;
    for (std::size_t i = 0; i < n; ++i) {
        const bool known = values[i] >= 0.0 && values[i] < n_categories && std::floor(values[i]) == values[i];
        set_bin(i, known ? static_cast<std::size_t>(values[i]) : tests.missing_bin());
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

// Thresholds past the bucket's own are larger than the value, so comparing a fixed number of them is exact, and
// there is no branch to guess wrong.
template <std::size_t Compared, class SetBin>
void find_bins_by_bucket(const Chunk& chunk, const FeatureTests& tests, const double* values, std::size_t n,
                         std::int32_t* buckets, const SetBin& set_bin) {
    const double* sorted = chunk.thresholds.data() + tests.thresholds;
    const std::uint16_t* starts = chunk.bucket_starts.data() + tests.buckets;
    const std::size_t missing = tests.missing_bin();
    // A copy that no store through `buckets` can change, so that the compiler may use vectors.
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

// For each row of the block, where the mask of its bin begins.
template <class Real>
void find_masks(const Chunk& chunk, const FeatureTests& tests, const TableView<Real>& rows, std::size_t first_row,
                std::size_t n, BlockScratch& scratch, std::uint32_t* offsets) {
    double* values = scratch.values.data();
    // float converts to double exactly, so one comparison in double serves both.
    const Real* x = rows.address(first_row, static_cast<std::size_t>(tests.column));
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

template <std::size_t Words, bool WithNear, class Real>
void evaluate_block(const Chunk& chunk, const TableView<Real>& rows, std::size_t first_row, std::size_t n,
                    BlockScratch& scratch) {
    std::uint64_t* bits = scratch.bits.data();
    std::uint64_t* near = scratch.near.data();
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t w = 0; w < Words; ++w) bits[i * Words + w] = chunk.all_rules[w];
    if (WithNear) std::fill_n(near, n * Words, std::uint64_t{0});

    for (std::size_t first = 0; first < chunk.tests.size(); first += kBatchFeatures) {
        const std::size_t n_tests = std::min(kBatchFeatures, chunk.tests.size() - first);
        const std::uint64_t* masks[kBatchFeatures] = {};
        for (std::size_t t = 0; t < n_tests; ++t) {
            const FeatureTests& tests = chunk.tests[first + t];
            masks[t] = chunk.masks.data() + tests.masks;
            find_masks(chunk, tests, rows, first_row, n, scratch, &scratch.mask_offsets[t * kBlockRows]);
        }
        for (std::size_t i = 0; i < n; ++i) {
            std::uint64_t fired[Words];
            std::uint64_t missed[Words];
            for (std::size_t w = 0; w < Words; ++w) fired[w] = bits[i * Words + w];
            for (std::size_t w = 0; w < Words; ++w) missed[w] = near[i * Words + w];
            for (std::size_t t = 0; t < n_tests; ++t) {
                const std::uint64_t* mask = masks[t] + scratch.mask_offsets[t * kBlockRows + i];
                for (std::size_t w = 0; w < Words; ++w) {
                    // A counter that stops at two, in bits: 0 failures -> fired, 1 -> missed, more -> neither.
                    if (WithNear) missed[w] = (missed[w] & mask[w]) | (fired[w] & ~mask[w]);
                    fired[w] &= mask[w];
                }
            }
            for (std::size_t w = 0; w < Words; ++w) bits[i * Words + w] = fired[w];
            if (WithNear)
                for (std::size_t w = 0; w < Words; ++w) near[i * Words + w] = missed[w];
        }
    }
}

template <bool WithNear, class Real>
void evaluate_block(const Chunk& chunk, const TableView<Real>& rows, std::size_t first_row, std::size_t n,
                    BlockScratch& scratch) {
    switch (chunk.n_words) {
        case 1:
            return evaluate_block<1, WithNear>(chunk, rows, first_row, n, scratch);
        case 2:
            return evaluate_block<2, WithNear>(chunk, rows, first_row, n, scratch);
        case 4:
            return evaluate_block<4, WithNear>(chunk, rows, first_row, n, scratch);
        default:
            return evaluate_block<8, WithNear>(chunk, rows, first_row, n, scratch);
    }
}

// Calls visit(first_row, n, chunk, scratch) for every block of rows and every chunk of rules, and
// finish(first_row, n) when a block has seen all chunks. For one block, chunks come in the order of the rules and
// never at the same time, so that a visitor may sum doubles and still get the same result with any number of
// threads. Rows are walked in tiles, so that a visitor needs room for one tile only.
template <bool WithNear, class Real, class Visit, class Finish>
void for_each_block(const RuleIndex& index, const TableView<Real>& rows, std::size_t tile_rows, std::size_t n_threads,
                    Visit&& visit, Finish&& finish) {
    const std::size_t most_tasks = (std::min(tile_rows, rows.n_rows) + kTaskRows - 1) / kTaskRows;
    std::vector<BlockScratch> scratch(std::max<std::size_t>(std::min(n_threads, most_tasks), 1));
    for (std::size_t tile = 0; tile < rows.n_rows; tile += tile_rows) {
        const std::size_t tile_end = std::min(rows.n_rows, tile + tile_rows);
        const std::size_t n_tasks = (tile_end - tile + kTaskRows - 1) / kTaskRows;
        for (std::size_t group = 0; group < index.n_groups(); ++group) {
            index.with_group(group, n_threads, [&](const std::vector<Chunk>& chunks) {
                parallel_for(n_tasks, n_threads, [&](std::size_t task, std::size_t worker) {
                    const std::size_t begin = tile + task * kTaskRows;
                    const std::size_t end = std::min(tile_end, begin + kTaskRows);
                    for (std::size_t first = begin; first < end; first += kBlockRows) {
                        const std::size_t n = std::min(kBlockRows, end - first);
                        for (const Chunk& chunk : chunks) {
                            evaluate_block<WithNear>(chunk, rows, first, n, scratch[worker]);
                            visit(first, n, chunk, scratch[worker]);
                        }
                        if (group + 1 == index.n_groups()) finish(first, n);
                    }
                });
            });
        }
    }
}

// out: n_rules rows of words_for(n_rows) words; bit i of rule r's row says whether r fires on row i.
template <class Real>
void write_fires(const RuleIndex& index, const TableView<Real>& rows, std::size_t n_threads, std::uint64_t* out) {
    const std::size_t row_words = words_for(rows.n_rows);
    const auto visit = [&](std::size_t first, std::size_t n, const Chunk& chunk, const BlockScratch& scratch) {
        // Blocks start at multiples of 64 rows, so no two threads write to the same word.
        for (std::size_t row = 0; row < n; row += kWordBits) {
            for (std::size_t w = 0; w < words_for(chunk.n_rules); ++w) {
                std::uint64_t square[kWordBits] = {};
                const std::size_t n_square = std::min(kWordBits, n - row);
                for (std::size_t i = 0; i < n_square; ++i) square[i] = scratch.bits[(row + i) * chunk.n_words + w];
                transpose_64x64(square);
                const std::size_t n_rules = std::min(kWordBits, chunk.n_rules - w * kWordBits);
                for (std::size_t j = 0; j < n_rules; ++j) {
                    const std::size_t rule = chunk.first_rule + w * kWordBits + j;
                    out[rule * row_words + (first + row) / kWordBits] = square[j];
                }
            }
        }
    };
    for_each_block<false>(index, rows, rows.n_rows, n_threads, visit, [](std::size_t, std::size_t) {});
}

}  // namespace clausewise::coverage
