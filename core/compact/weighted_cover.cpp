#include "compact/weighted_cover.hpp"

#include "base/bits.hpp"

namespace clausewise::compact {
namespace {

// Adds v v' to the triangle of `sums` on and above the diagonal.
CLAUSEWISE_CLONES
void add_products(const double* v, std::size_t n, double* sums) {
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = i; j < n; ++j) sums[i * n + j] += v[i] * v[j];
}

}  // namespace

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

std::vector<double> column_sums(const FiredBits& fired, const double* values, std::size_t n_columns,
                                const CancelToken& cancel) {
    const std::size_t n_words = words_for(fired.n_rows);
    std::vector<double> sums(fired.n_rules * n_columns);
    for (std::size_t rule = 0; rule < fired.n_rules; ++rule) {
        cancel.check();
        double* const own = sums.data() + rule * n_columns;
        for_each_bit(fired.words + rule * n_words, n_words, [&](std::size_t row) {
            for (std::size_t c = 0; c < n_columns; ++c) own[c] += values[row * n_columns + c];
        });
    }
    return sums;
}

std::vector<double> product_sums(const FiredBits& fired, const double* values, std::size_t n_columns,
                                 const CancelToken& cancel) {
    const std::size_t n_words = words_for(fired.n_rows);
    std::vector<double> sums(fired.n_rules * n_columns * n_columns);
    for (std::size_t rule = 0; rule < fired.n_rules; ++rule) {
        cancel.check();
        double* const own = sums.data() + rule * n_columns * n_columns;
        for_each_bit(fired.words + rule * n_words, n_words,
                     [&](std::size_t row) { add_products(values + row * n_columns, n_columns, own); });
        for (std::size_t i = 0; i < n_columns; ++i)
            for (std::size_t j = 0; j < i; ++j) own[i * n_columns + j] = own[j * n_columns + i];
    }
    return sums;
}

std::vector<double> weighted_sums(const FiredBits& fired, const double* weight, const CancelToken& cancel) {
    const std::size_t n_words = words_for(fired.n_rows);
    std::vector<double> sums(fired.n_rows);
    for (std::size_t rule = 0; rule < fired.n_rules; ++rule) {
        cancel.check();
        for_each_bit(fired.words + rule * n_words, n_words, [&](std::size_t row) { sums[row] += weight[rule]; });
    }
    return sums;
}

}  // namespace clausewise::compact
