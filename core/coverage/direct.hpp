// Evaluation of few rules: every test is compared with the values of a block of rows at a time.
//
// Finding the bin of a value takes as long as some ten comparisons in vectors, so this is faster than the tables of a
// chunk while there are few tests per feature. A comparison sets or clears all bits of a lane; lanes are as wide as the
// values, so nothing is packed or unpacked between comparing, combining and adding votes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/parallel.hpp"
#include "base/table_view.hpp"
#include "coverage/ballot.hpp"
#include "coverage/premises.hpp"

namespace clausewise::coverage {

// The values of a block stay in the first-level cache for up to some 30 features.
inline constexpr std::size_t kDirectRows = 64;
inline constexpr std::size_t kDirectTaskRows = 32 * kDirectRows;

// A test of one feature, which is known by its place among the tested ones.
struct DirectTest {
    enum class Kind { above, at_most, between, known, missing, in_set };
    Kind kind;
    std::size_t tested;
    double low;
    double high;
    // The codes of a set are [first_code, last_code) of `codes`.
    std::size_t first_code;
    std::size_t last_code;
};

struct DirectRules {
    std::vector<std::size_t> columns;  // of the table, in ascending order: those that are tested
    std::vector<std::size_t> starts;   // the tests of rule r are [starts[r], starts[r + 1])
    std::vector<DirectTest> tests;
    std::vector<double> codes;

    std::size_t n_rules() const { return starts.size() - 1; }
};

// The rules for direct evaluation; null if they test a feature so often that tables are faster.
std::unique_ptr<const DirectRules> direct_rules(const Premises& premises);

// Adds the votes of the rules that fire to totals[c * kDirectRows + i], for rows i whose values of the tested column t
// are values[t][i].
void add_votes(const DirectRules& rules, const double* const* values, const Ballot& ballot, double* totals);
// The totals of a block before any rule has fired, and after the last one.
void start_totals(const Ballot& ballot, double* totals);
void divide_totals(const Ballot& ballot, double* totals);
// The class with the largest total for each row of a block; ties as in `decide`.
void decide_block(const double* totals, std::size_t n_classes, std::int32_t default_class, std::int32_t* decisions);

// Working memory of one thread.
struct DirectScratch {
    DirectScratch(std::size_t n_columns, std::size_t n_classes)
        : copies(n_columns * kDirectRows), values(n_columns), totals(n_classes * kDirectRows), decisions(kDirectRows) {}

    std::vector<double> copies;
    std::vector<const double*> values;
    std::vector<double> totals;
    std::vector<std::int32_t> decisions;
};

namespace detail {

inline const double* in_place(const double* column) { return column; }
inline const double* in_place(const float*) { return nullptr; }

// Points `values` to the tested columns of a block. float converts to double exactly, so that doubles serve both.
template <class Real>
void gather(const DirectRules& rules, const TableView<Real>& rows, std::size_t first_row, std::size_t n,
            DirectScratch& scratch) {
    const std::size_t n_tested = rules.columns.size();
    for (std::size_t t = 0; t < n_tested; ++t) {
        const double* column = in_place(rows.data + rows.offset(first_row, rules.columns[t]));
        const bool is_usable = column != nullptr && rows.row_stride == 1 && n == kDirectRows;
        scratch.values[t] = is_usable ? column : &scratch.copies[t * kDirectRows];
    }
    if (n_tested == 0 || scratch.values[0] != scratch.copies.data()) return;
    if (rows.row_stride == 1) {
        for (std::size_t t = 0; t < n_tested; ++t) {
            const Real* column = rows.data + rows.offset(first_row, rules.columns[t]);
            std::copy(column, column + n, &scratch.copies[t * kDirectRows]);
        }
        return;
    }
    // Row by row, so that memory is read in its order.
    const std::size_t* columns = rules.columns.data();
    double* copies = scratch.copies.data();
    for (std::size_t i = 0; i < n; ++i) {
        const Real* row = rows.data + rows.offset(first_row + i, 0);
        for (std::size_t t = 0; t < n_tested; ++t)
            copies[t * kDirectRows + i] =
                static_cast<double>(row[static_cast<std::ptrdiff_t>(columns[t]) * rows.column_stride]);
    }
}

}  // namespace detail

// Calls finish(first_row, n, scratch) for every block of rows with the totals of its rows. The rules add their votes in
// order, so that totals do not depend on the number of threads, nor on how the rules are evaluated.
template <class Real, class Finish>
void for_each_direct_block(const DirectRules& rules, const TableView<Real>& rows, const Ballot& ballot,
                           std::size_t n_threads, Finish&& finish) {
    const std::size_t n_tasks = (rows.n_rows + kDirectTaskRows - 1) / kDirectTaskRows;
    std::vector<DirectScratch> scratch(std::max<std::size_t>(std::min(n_threads, n_tasks), 1),
                                       DirectScratch(rules.columns.size(), ballot.n_classes()));
    parallel_for(n_tasks, n_threads, [&](std::size_t task, std::size_t worker) {
        DirectScratch& mine = scratch[worker];
        const std::size_t end = std::min(rows.n_rows, (task + 1) * kDirectTaskRows);
        for (std::size_t first = task * kDirectTaskRows; first < end; first += kDirectRows) {
            const std::size_t n = std::min(kDirectRows, end - first);
            detail::gather(rules, rows, first, n, mine);
            start_totals(ballot, mine.totals.data());
            add_votes(rules, mine.values.data(), ballot, mine.totals.data());
            divide_totals(ballot, mine.totals.data());
            finish(first, n, mine);
        }
    });
}

}  // namespace clausewise::coverage
