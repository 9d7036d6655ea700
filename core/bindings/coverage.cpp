// Evaluation of rule sets: clausewise._core.RuleIndex and counts over its bit matrices.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/tuple.h>

#include <memory>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings/bindings.hpp"
#include "bindings/numpy_arrays.hpp"
#include "coverage/explain.hpp"
#include "coverage/fires.hpp"
#include "coverage/rule_index.hpp"
#include "coverage/voting.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace clausewise::bindings {
namespace {

template <class Real>
using RowsArray = nb::ndarray<nb::numpy, const Real, nb::ndim<2>, nb::device::cpu>;  // any strides, never copied
template <class T>
using Target = nb::ndarray<nb::numpy, T, nb::c_contig, nb::device::cpu>;
template <class Real>
TableView<Real> rows_of(const RowsArray<Real>& X, const coverage::RuleIndex& index) {
    if (X.shape(1) != index.premises().n_categories.size())
        throw std::invalid_argument("X must have one column per feature");
    return {X.data(), X.shape(0), X.shape(1), X.stride(0), X.stride(1)};
}

template <class T>
void require_size(const Target<T>& out, std::size_t size) {
    if (out.size() != size) throw std::invalid_argument("the output has the wrong size");
}

coverage::Ballot ballot_of(const coverage::RuleIndex& index, const NumpyColumn<std::int32_t>& class_of_rule,
                           const NumpyColumn<double>& vote_of_rule, const NumpyColumn<double>& divisor_of_class,
                           const NumpyColumn<double>& base_of_class) {
    coverage::Ballot ballot{copied(class_of_rule), copied(vote_of_rule), copied(divisor_of_class),
                            copied(base_of_class)};
    const std::size_t n_rules = index.premises().n_rules();
    if (ballot.class_of_rule.size() != n_rules || ballot.vote_of_rule.size() != n_rules)
        throw std::invalid_argument("class_of_rule and vote_of_rule must have one entry per rule");
    if (ballot.n_classes() == 0) throw std::invalid_argument("there must be at least one class");
    if (ballot.base_of_class.size() != ballot.n_classes())
        throw std::invalid_argument("base_of_class must have one entry per class");
    for (const std::int32_t c : ballot.class_of_rule)
        if (c < 0 || static_cast<std::size_t>(c) >= ballot.n_classes())
            throw std::invalid_argument("unknown class index");
    return ballot;
}

template <class Real>
void bind_evaluation(nb::class_<coverage::RuleIndex>& rule_index) {
    rule_index.def(
        "fires",
        [](const coverage::RuleIndex& index, const RowsArray<Real>& X, const Target<std::uint64_t>& out,
           std::size_t n_threads) {
            const TableView<Real> rows = rows_of(X, index);
            require_size(out, index.premises().n_rules() * words_for(rows.n_rows));
            const nb::gil_scoped_release unlocked;
            coverage::write_fires(index, rows, n_threads, out.data());
        },
        "X"_a.noconvert(), "out"_a.noconvert(), "n_threads"_a,
        "Write one bit per row of X for each rule (row of out).");
    rule_index.def(
        "scores",
        [](const coverage::RuleIndex& index, const RowsArray<Real>& X, const NumpyColumn<std::int32_t>& class_of_rule,
           const NumpyColumn<double>& vote_of_rule, const NumpyColumn<double>& divisor_of_class,
           const NumpyColumn<double>& base_of_class, const Target<double>& out, std::size_t n_threads) {
            const TableView<Real> rows = rows_of(X, index);
            const coverage::Ballot ballot =
                ballot_of(index, class_of_rule, vote_of_rule, divisor_of_class, base_of_class);
            require_size(out, rows.n_rows * ballot.n_classes());
            const nb::gil_scoped_release unlocked;
            coverage::write_scores(index, rows, ballot, n_threads, out.data());
        },
        "X"_a.noconvert(), "class_of_rule"_a, "vote_of_rule"_a, "divisor_of_class"_a, "base_of_class"_a,
        "out"_a.noconvert(), "n_threads"_a, "Write the class totals per row to out.");
    rule_index.def(
        "decide",
        [](const coverage::RuleIndex& index, const RowsArray<Real>& X, const NumpyColumn<std::int32_t>& class_of_rule,
           const NumpyColumn<double>& vote_of_rule, const NumpyColumn<double>& divisor_of_class,
           const NumpyColumn<double>& base_of_class, std::int32_t default_class, const Target<std::int32_t>& out,
           std::size_t n_threads) {
            const TableView<Real> rows = rows_of(X, index);
            const coverage::Ballot ballot =
                ballot_of(index, class_of_rule, vote_of_rule, divisor_of_class, base_of_class);
            if (default_class < 0 || static_cast<std::size_t>(default_class) >= ballot.n_classes())
                throw std::invalid_argument("unknown default class");
            require_size(out, rows.n_rows);
            const nb::gil_scoped_release unlocked;
            coverage::write_decisions(index, rows, ballot, default_class, n_threads, out.data());
        },
        "X"_a.noconvert(), "class_of_rule"_a, "vote_of_rule"_a, "divisor_of_class"_a, "base_of_class"_a,
        "default_class"_a, "out"_a.noconvert(), "n_threads"_a, "Write the index of the winning class per row to out.");
    rule_index.def(
        "uncovered",
        [](const coverage::RuleIndex& index, const RowsArray<Real>& X, const Target<std::uint8_t>& out,
           std::size_t n_threads) {
            const TableView<Real> rows = rows_of(X, index);
            require_size(out, rows.n_rows);
            const nb::gil_scoped_release unlocked;
            coverage::write_uncovered(index, rows, n_threads, out.data());
        },
        "X"_a.noconvert(), "out"_a.noconvert(), "n_threads"_a,
        "Set out, filled with 1 by the caller, to 0 on every row where a rule fires.");
}

}  // namespace

void bind_coverage(nb::module_& module) {
    nb::class_<coverage::RuleIndex> rule_index(module, "RuleIndex", "A rule set prepared for evaluation.");
    rule_index.def(
        "__init__",
        [](coverage::RuleIndex* self, const NumpyColumn<std::int64_t>& starts, const NumpyColumn<std::int32_t>& feature,
           const NumpyColumn<double>& low, const NumpyColumn<double>& high, const NumpyColumn<std::int32_t>& value_set,
           const NumpyColumn<std::uint8_t>& missing, const NumpyColumn<std::int64_t>& set_starts,
           const NumpyColumn<std::int32_t>& set_codes, const NumpyColumn<std::int32_t>& n_categories,
           std::size_t group_bytes) {
            new (self)
                coverage::RuleIndex({copied(starts), copied(feature), copied(low), copied(high), copied(value_set),
                                     copied(missing), copied(set_starts), copied(set_codes), copied(n_categories)},
                                    group_bytes);
        },
        "starts"_a, "feature"_a, "low"_a, "high"_a, "value_set"_a, "missing"_a, "set_starts"_a, "set_codes"_a,
        "n_categories"_a, "group_bytes"_a);
    bind_evaluation<float>(rule_index);
    bind_evaluation<double>(rule_index);
    rule_index.def(
        "explain_row",
        [](const coverage::RuleIndex& index, const NumpyColumn<double>& row) {
            if (row.shape(0) != index.premises().n_categories.size())
                throw std::invalid_argument("the row must have one value per feature");
            coverage::RowExplanation found = coverage::explain_row(index.premises(), row.data());
            return std::make_tuple(moved(std::move(found.fired)), moved(std::move(found.near)),
                                   moved(std::move(found.failing_terms)));
        },
        "row"_a, "Return the rules that fire, the near misses, and the term that fails in each of these.");

    using Words = nb::ndarray<nb::numpy, const std::uint64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
    module.def(
        "count_bits_per_rule",
        [](const Words& words) {
            std::vector<std::int64_t> counts(words.shape(0));
            for (std::size_t rule = 0; rule < counts.size(); ++rule)
                for (std::size_t w = 0; w < words.shape(1); ++w)
                    counts[rule] += count_bits(words.data()[rule * words.shape(1) + w]);
            return moved(std::move(counts));
        },
        "words"_a, "Count the set bits in each row of the bit matrix.");
    module.def(
        "sum_bits_per_rule",
        [](const Words& words, const NumpyColumn<double>& weights) {
            if (words_for(weights.shape(0)) != words.shape(1))
                throw std::invalid_argument("the bit matrix must have one column per weight");
            std::vector<double> sums(words.shape(0));
            for (std::size_t rule = 0; rule < sums.size(); ++rule)
                for_each_bit(words.data() + rule * words.shape(1), words.shape(1), [&](std::size_t row) {
                    if (row < weights.shape(0)) sums[rule] += weights.data()[row];
                });
            return moved(std::move(sums));
        },
        "words"_a, "weights"_a, "Add the weights of the set bits in each row of the bit matrix, in order.");
    module.def(
        "count_bits_per_row",
        [](const Words& words, std::size_t n_rows) {
            if (words_for(n_rows) != words.shape(1))
                throw std::invalid_argument("the bit matrix must have n_rows columns");
            std::vector<std::int64_t> counts(words.shape(1) * kWordBits);
            for (std::size_t rule = 0; rule < words.shape(0); ++rule)
                for_each_bit(words.data() + rule * words.shape(1), words.shape(1),
                             [&](std::size_t row) { ++counts[row]; });
            counts.resize(n_rows);
            return moved(std::move(counts));
        },
        "words"_a, "n_rows"_a, "Count the set bits in each column of the bit matrix.");
}

}  // namespace clausewise::bindings
