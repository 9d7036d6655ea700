// Votes of the rules that fire on a row, and the class that wins.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/bits.hpp"
#include "base/table_view.hpp"
#include "coverage/ballot.hpp"
#include "coverage/direct.hpp"
#include "coverage/evaluation.hpp"
#include "coverage/rule_index.hpp"

namespace clausewise::coverage {

namespace detail {

inline void start(const Ballot& ballot, double* totals) {
    std::copy(ballot.base_of_class.begin(), ballot.base_of_class.end(), totals);
}

inline void add(const Ballot& ballot, const Chunk& chunk, const std::uint64_t* bits, double* totals) {
    for_each_bit(bits, chunk.n_words, [&](std::size_t bit) {
        const std::size_t rule = chunk.first_rule + bit;
        totals[ballot.class_of_rule[rule]] += ballot.vote_of_rule[rule];
    });
}

inline void divide(const Ballot& ballot, double* totals) {
    if (!ballot.divides) return;
    for (std::size_t c = 0; c < ballot.n_classes(); ++c) totals[c] /= ballot.divisor_of_class[c];
}

}  // namespace detail

// out: n_rows x n_classes, row-major.
template <class Real>
void write_scores(const RuleIndex& index, const TableView<Real>& rows, const Ballot& ballot, std::size_t n_threads,
                  double* out) {
    const std::size_t n_classes = ballot.n_classes();
    if (const DirectRules* direct = index.direct()) {
        const auto write = [&](std::size_t first, std::size_t n, const DirectScratch& scratch) {
            for (std::size_t i = 0; i < n; ++i)
                for (std::size_t c = 0; c < n_classes; ++c)
                    out[(first + i) * n_classes + c] = scratch.totals[c * kDirectRows + i];
        };
        return for_each_direct_block(*direct, rows, ballot, n_threads, write);
    }
    for (std::size_t row = 0; row < rows.n_rows; ++row) detail::start(ballot, out + row * n_classes);
    const auto visit = [&](std::size_t first, std::size_t n, const Chunk& chunk, const BlockScratch& scratch) {
        for (std::size_t i = 0; i < n; ++i)
            detail::add(ballot, chunk, &scratch.bits[i * chunk.n_words], out + (first + i) * n_classes);
    };
    const auto finish = [&](std::size_t first, std::size_t n) {
        for (std::size_t i = 0; i < n; ++i) detail::divide(ballot, out + (first + i) * n_classes);
    };
    for_each_block(index, rows, rows.n_rows, n_threads, visit, finish);
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
    if (const DirectRules* direct = index.direct()) {
        const auto write = [&](std::size_t first, std::size_t n, DirectScratch& scratch) {
            decide_block(scratch.totals.data(), n_classes, default_class, scratch.decisions.data());
            std::copy_n(scratch.decisions.begin(), n, out + first);
        };
        return for_each_direct_block(*direct, rows, ballot, n_threads, write);
    }
    constexpr std::size_t kTileTotals = std::size_t{1} << 20;  // 8 MB
    const std::size_t n_tasks = std::max<std::size_t>(kTileTotals / n_classes / kTaskRows, 2 * n_threads);
    const std::size_t tile_rows = n_tasks * kTaskRows;
    std::vector<double> totals(std::min(tile_rows, rows.n_rows) * n_classes);
    for (std::size_t i = 0; i < totals.size(); i += n_classes) detail::start(ballot, &totals[i]);
    const auto at = [&](std::size_t row) { return &totals[(row % tile_rows) * n_classes]; };
    const auto visit = [&](std::size_t first, std::size_t n, const Chunk& chunk, const BlockScratch& scratch) {
        for (std::size_t i = 0; i < n; ++i) detail::add(ballot, chunk, &scratch.bits[i * chunk.n_words], at(first + i));
    };
    const auto finish = [&](std::size_t first, std::size_t n) {
        for (std::size_t i = 0; i < n; ++i) {
            double* row_totals = at(first + i);
            detail::divide(ballot, row_totals);
            out[first + i] = decide(row_totals, n_classes, default_class);
            detail::start(ballot, row_totals);  // ready for the next tile
        }
    };
    for_each_block(index, rows, tile_rows, n_threads, visit, finish);
}

// out: one byte per row, filled with 1 by the caller; set to 0 on every row where a rule fires.
template <class Real>
void write_uncovered(const RuleIndex& index, const TableView<Real>& rows, std::size_t n_threads, std::uint8_t* out) {
    const auto visit = [&](std::size_t first, std::size_t n, const Chunk& chunk, const BlockScratch& scratch) {
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t w = 0; w < chunk.n_words; ++w)
                if (scratch.bits[i * chunk.n_words + w] != 0) out[first + i] = 0;
    };
    for_each_block(index, rows, rows.n_rows, n_threads, visit, [](std::size_t, std::size_t) {});
}

}  // namespace clausewise::coverage
