// Per row: the rules that fire, and the near misses (rules with exactly one failing term) with that term.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "base/bits.hpp"
#include "base/table_view.hpp"
#include "coverage/evaluation.hpp"
#include "coverage/rule_index.hpp"

namespace clausewise::coverage {

// Compressed sparse rows: the entries of row i are [starts[i], starts[i + 1]), in the order of the rules.
struct RuleLists {
    std::vector<std::int64_t> starts;
    std::vector<std::int32_t> rules;
    std::vector<std::int64_t> failing_terms;  // empty for rules that fire
};

struct RowExplanations {
    RuleLists fired;
    RuleLists near;
};

namespace detail {

struct Hit {
    std::size_t row;
    std::int32_t rule;
    std::int64_t failing_term;
};

// The hits sorted by row; the rules of a row keep their order.
RuleLists sorted_by_row(const std::vector<std::vector<Hit>>& hits_of_task, std::size_t n_rows, bool with_terms);

template <class Real>
std::int64_t failing_term(const Premises& premises, const TableView<Real>& rows, std::size_t rule, std::size_t row) {
    const auto begin = static_cast<std::size_t>(premises.starts[rule]);
    const auto end = static_cast<std::size_t>(premises.starts[rule + 1]);
    for (std::size_t term = begin; term < end; ++term)
        if (!premises.holds(term, static_cast<double>(rows.at(row, static_cast<std::size_t>(premises.feature[term])))))
            return static_cast<std::int64_t>(term);
    throw std::logic_error("a near miss without a failing term");
}

}  // namespace detail

template <class Real>
RowExplanations explain_rows(const RuleIndex& index, const TableView<Real>& rows, std::size_t n_threads) {
    const std::size_t n_tasks = (rows.n_rows + kTaskRows - 1) / kTaskRows;
    std::vector<std::vector<detail::Hit>> fired(n_tasks);
    std::vector<std::vector<detail::Hit>> near(n_tasks);
    const auto visit = [&](std::size_t first, std::size_t n, const Chunk& chunk, const BlockScratch& scratch) {
        const std::size_t task = first / kTaskRows;
        for (std::size_t i = 0; i < n; ++i) {
            const std::size_t row = first + i;
            for_each_bit(&scratch.bits[i * chunk.n_words], chunk.n_words, [&](std::size_t bit) {
                fired[task].push_back({row, static_cast<std::int32_t>(chunk.first_rule + bit), -1});
            });
            for_each_bit(&scratch.near[i * chunk.n_words], chunk.n_words, [&](std::size_t bit) {
                const std::size_t rule = chunk.first_rule + bit;
                near[task].push_back(
                    {row, static_cast<std::int32_t>(rule), detail::failing_term(index.premises(), rows, rule, row)});
            });
        }
    };
    for_each_block<true>(index, rows, rows.n_rows, n_threads, visit, [](std::size_t, std::size_t) {});
    return {detail::sorted_by_row(fired, rows.n_rows, false), detail::sorted_by_row(near, rows.n_rows, true)};
}

}  // namespace clausewise::coverage
