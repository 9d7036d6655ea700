#include "c50/bit_sets.hpp"

namespace clausewise::c50 {
namespace {

CLAUSEWISE_CLONES
PairCount count_sparse(const std::uint32_t* places, const std::uint64_t* words, std::size_t n, const std::uint64_t* a,
                       const std::uint64_t* b) {
    PairCount count;
    for (std::size_t i = 0; i < n; ++i) {
        const std::uint64_t word = words[i] & a[places[i]];
        count.first += count_bits(word);
        count.both += count_bits(word & b[places[i]]);
    }
    return count;
}

CLAUSEWISE_CLONES
void running_counts(const std::uint64_t* words, std::int32_t* before, std::size_t n_words) {
    std::int32_t total = 0;
    for (std::size_t w = 0; w < n_words; ++w) {
        before[w] = total;
        total += count_bits(words[w]);
    }
}

}  // namespace

void count_marks(const Words& words, std::vector<std::int32_t>& before) {
    before.resize(words.size());
    running_counts(words.data(), before.data(), words.size());
}

Words rows_above(const std::vector<std::int32_t>& ranks, std::int32_t threshold_rank) {
    Words words(words_for(ranks.size()), 0);
    const std::size_t n_whole = ranks.size() / 64;
    for (std::size_t w = 0; w < n_whole; ++w) words[w] = ranks_above(ranks.data() + 64 * w, threshold_rank);
    for (std::size_t row = n_whole * 64; row < ranks.size(); ++row)
        words[row / 64] |= static_cast<std::uint64_t>(ranks[row] > threshold_rank) << (row % 64);
    return words;
}

Words rows_missing(const std::vector<std::int32_t>& ranks) {
    Words words = rows_above(ranks, -1);
    for (auto& word : words) word = ~word;
    if (!words.empty()) words.back() &= last_word_mask(ranks.size());
    return words;
}

PairCount count_within(const SparseWords& set, const std::uint64_t* a, const std::uint64_t* b) {
    return count_sparse(set.places.data(), set.words.data(), set.words.size(), a, b);
}

}  // namespace clausewise::c50
