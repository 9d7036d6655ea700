// Votes of the rules that fire on a row, and the class that wins.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/bits.hpp"
#include "base/table_view.hpp"
#include "coverage/evaluation.hpp"
#include "coverage/rule_index.hpp"

namespace clausewise::coverage {

// The votes of a rule set. Totals start at the base votes, each rule that fires adds its vote to its class, and finally
// every class total is divided by its divisor.
//
// Sums are doubles for all schemes: counts and per-mille votes are integers, which doubles add exactly (below 2^53),
// and fitted weights are added in the order of the rules. A share is one division of two such integers, correctly
// rounded, so equal shares compare equal here, in NumPy and in SQL.
struct Ballot {
    std::vector<std::int32_t> class_of_rule;
    std::vector<double> vote_of_rule;
    std::vector<double> divisor_of_class;
    std::vector<double> base_of_class;
    bool divides =
        std::any_of(divisor_of_class.begin(), divisor_of_class.end(), [](double divisor) { return divisor != 1.0; });

    std::size_t n_classes() const { return divisor_of_class.size(); }

    void start(double* totals) const { std::copy(base_of_class.begin(), base_of_class.end(), totals); }

    void add(const Chunk& chunk, const std::uint64_t* bits, double* totals) const {
        for_each_bit(bits, chunk.n_words, [&](std::size_t bit) {
            const std::size_t rule = chunk.first_rule + bit;
            totals[class_of_rule[rule]] += vote_of_rule[rule];
        });
    }
    void divide(double* totals) const {
        if (!divides) return;
        for (std::size_t c = 0; c < n_classes(); ++c) totals[c] /= divisor_of_class[c];
    }
};

// out: n_rows x n_classes, row-major.
template <class Real>
void write_scores(const RuleIndex& index, const TableView<Real>& rows, const Ballot& ballot, std::size_t n_threads,
                  double* out) {
    const std::size_t n_classes = ballot.n_classes();
    for (std::size_t row = 0; row < rows.n_rows; ++row) ballot.start(out + row * n_classes);
    const auto visit = [&](std::size_t first, std::size_t n, const Chunk& chunk, const BlockScratch& scratch) {
        for (std::size_t i = 0; i < n; ++i)
            ballot.add(chunk, &scratch.bits[i * chunk.n_words], out + (first + i) * n_classes);
    };
    const auto finish = [&](std::size_t first, std::size_t n) {
        for (std::size_t i = 0; i < n; ++i) ballot.divide(out + (first + i) * n_classes);
    };
    for_each_block<false>(index, rows, rows.n_rows, n_threads, visit, finish);
}

// The class with the largest total; on ties the default class, then the lowest index. If no rule fires and all base
// votes are equal, all totals tie, so the default class wins.
inline std::int32_t decide(const double* totals, std::size_t n_classes, std::int32_t default_class) {
    std::int32_t best = default_class;
    for (std::size_t c = 0; c < n_classes; ++c)
        if (totals[c] > totals[best]) best = static_cast<std::int32_t>(c);
    return best;
}

// out: one class index per row. Totals exist for one tile of rows at a time, so memory does not grow with the
// number of rows times classes.
template <class Real>
void write_decisions(const RuleIndex& index, const TableView<Real>& rows, const Ballot& ballot,
                     std::int32_t default_class, std::size_t n_threads, std::int32_t* out) {
    const std::size_t n_classes = ballot.n_classes();
    constexpr std::size_t kTileTotals = std::size_t{1} << 20;  // 8 MB
    const std::size_t n_tasks = std::max<std::size_t>(kTileTotals / n_classes / kTaskRows, 2 * n_threads);
    const std::size_t tile_rows = n_tasks * kTaskRows;
    std::vector<double> totals(std::min(tile_rows, rows.n_rows) * n_classes);
    for (std::size_t i = 0; i < totals.size(); i += n_classes) ballot.start(&totals[i]);
    const auto at = [&](std::size_t row) { return &totals[(row % tile_rows) * n_classes]; };
    const auto visit = [&](std::size_t first, std::size_t n, const Chunk& chunk, const BlockScratch& scratch) {
        for (std::size_t i = 0; i < n; ++i) ballot.add(chunk, &scratch.bits[i * chunk.n_words], at(first + i));
    };
    const auto finish = [&](std::size_t first, std::size_t n) {
        for (std::size_t i = 0; i < n; ++i) {
            double* row_totals = at(first + i);
            ballot.divide(row_totals);
            out[first + i] = decide(row_totals, n_classes, default_class);
            ballot.start(row_totals);  // ready for the next tile
        }
    };
    for_each_block<false>(index, rows, tile_rows, n_threads, visit, finish);
}

// out: one byte per row, filled with 1 by the caller; set to 0 on every row where a rule fires.
template <class Real>
void write_uncovered(const RuleIndex& index, const TableView<Real>& rows, std::size_t n_threads, std::uint8_t* out) {
    const auto visit = [&](std::size_t first, std::size_t n, const Chunk& chunk, const BlockScratch& scratch) {
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t w = 0; w < chunk.n_words; ++w)
                if (scratch.bits[i * chunk.n_words + w] != 0) out[first + i] = 0;
    };
    for_each_block<false>(index, rows, rows.n_rows, n_threads, visit, [](std::size_t, std::size_t) {});
}

}  // namespace clausewise::coverage
