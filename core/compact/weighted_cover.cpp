#include "compact/weighted_cover.hpp"

#include "base/bits.hpp"

namespace clausewise::compact {

std::vector<double> weighted_cover(const FiredBits& fired, const double* row_weight, const CancelToken& cancel) {
    const std::size_t n_words = words_for(fired.n_rows);
    std::vector<double> sums(fired.n_rules);
    for (std::size_t rule = 0; rule < fired.n_rules; ++rule) {
        cancel.check();
        for_each_bit(fired.words + rule * n_words, n_words, [&](std::size_t row) { sums[rule] += row_weight[row]; });
    }
    return sums;
}

std::vector<double> weighted_overlap(const FiredBits& a, const FiredBits& b, const double* row_weight,
                                     const CancelToken& cancel) {
    const std::size_t n_words = words_for(a.n_rows);
    std::vector<double> sums(a.n_rules * b.n_rules);
    for (std::size_t i = 0; i < a.n_rules; ++i)
        for (std::size_t j = 0; j < b.n_rules; ++j) {
            cancel.check();
            const std::uint64_t* const first = a.words + i * n_words;
            const std::uint64_t* const second = b.words + j * n_words;
            double sum = 0.0;
            for (std::size_t w = 0; w < n_words; ++w)
                for (std::uint64_t word = first[w] & second[w]; word != 0; word &= word - 1)
                    sum += row_weight[w * 64 + static_cast<std::size_t>(lowest_bit(word))];
            sums[i * b.n_rules + j] = sum;
        }
    return sums;
}

}  // namespace clausewise::compact
