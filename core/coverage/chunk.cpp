#include "coverage/chunk.hpp"

#include <cmath>
#include <limits>
#include <utility>

namespace clausewise::coverage {
namespace {

struct TermOfRule {
    std::int32_t feature;
    std::uint32_t rule;  // within the chunk
    std::size_t term;
};

// The number of thresholds before each of `n_buckets` buckets; empty if the span of the thresholds does not allow
// buckets.
std::vector<std::uint16_t> bucket_table(FeatureTests& tests, const double* sorted, std::int32_t n_buckets) {
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

// The comparisons that a value needs in such a table: 1, 2 or kMaxCompared; 0 if it needs more.
std::size_t comparisons_needed(const std::vector<std::uint16_t>& starts) {
    int most = 0;
    for (std::size_t g = 0; g + 1 < starts.size(); ++g) most = std::max(most, starts[g + 1] - starts[g]);
    if (most <= 2) return most <= 1 ? 1 : 2;
    return most <= static_cast<int>(kMaxCompared) ? kMaxCompared : 0;
}

// Chooses the table with the fewest comparisons, the smallest on ties. Thresholds that are too clustered get none.
void add_buckets(Chunk& chunk, FeatureTests& tests) {
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

void allow(std::uint64_t* mask, std::uint32_t rule) {
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
    // Padding: a value may be compared with kMaxCompared thresholds from any start on.
    chunk.thresholds.insert(chunk.thresholds.end(), kMaxCompared, std::numeric_limits<double>::infinity());

    tests.masks = chunk.masks.size();
    chunk.masks.resize(tests.masks + (tests.missing_bin() + 1) * chunk.n_words);
    const auto rank = [&](double bound) {
        const auto sorted = chunk.thresholds.begin() + first;
        const auto sorted_end = sorted + static_cast<std::ptrdiff_t>(tests.n_thresholds);
        return static_cast<std::size_t>(std::lower_bound(sorted, sorted_end, bound) - sorted);
    };
    for (auto it = begin; it != end; ++it) {
        if (premises.missing[it->term] != 0) {
            allow(&chunk.masks[tests.masks + tests.missing_bin() * chunk.n_words], it->rule);
            continue;
        }
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
    chunk.masks.resize(tests.masks + (tests.missing_bin() + 1) * chunk.n_words);
    for (auto it = begin; it != end; ++it) {
        if (premises.missing[it->term] != 0) {
            allow(&chunk.masks[tests.masks + tests.missing_bin() * chunk.n_words], it->rule);
            continue;
        }
        const auto set = static_cast<std::size_t>(premises.value_set[it->term]);
        for (std::int64_t i = premises.set_starts[set]; i < premises.set_starts[set + 1]; ++i) {
            const auto code = static_cast<std::size_t>(premises.set_codes[static_cast<std::size_t>(i)]);
            allow(&chunk.masks[tests.masks + code * chunk.n_words], it->rule);
        }
    }
    chunk.tests.push_back(tests);
}

}  // namespace

std::size_t chunk_words(std::size_t n_rules) {
    std::size_t n_words = 1;
    while (n_words * kWordBits < n_rules) n_words *= 2;
    return n_words;
}

Chunk build_chunk(const Premises& premises, std::size_t first_rule, std::size_t n_rules) {
    Chunk chunk;
    chunk.first_rule = first_rule;
    chunk.n_rules = n_rules;
    chunk.n_words = chunk_words(n_rules);
    chunk.all_rules.resize(chunk.n_words);
    for (std::uint32_t rule = 0; rule < n_rules; ++rule) allow(chunk.all_rules.data(), rule);

    std::vector<TermOfRule> terms;
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
            add_categorical_tests(chunk, premises, begin, end);
        else add_numeric_tests(chunk, premises, begin, end);
        // Rules that do not test the feature pass in every bin, including that of missing values.
        untested = chunk.all_rules;
        for (auto it = begin; it != end; ++it)
            untested[it->rule / kWordBits] &= ~(std::uint64_t{1} << (it->rule % kWordBits));
        for (std::size_t i = chunk.tests.back().masks; i < chunk.masks.size(); ++i)
            chunk.masks[i] |= untested[(i - chunk.tests.back().masks) % chunk.n_words];
        begin = end;
    }
    return chunk;
}

}  // namespace clausewise::coverage
