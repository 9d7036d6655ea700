// Search for small weighted rule sets: clausewise._core.ByteMatrix, fit_weights, weighted_cover,
// weighted_overlap, column_sums, product_sums and nearest_rows.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include "base/parallel.hpp"
#include "bindings/bindings.hpp"
#include "bindings/interruptible.hpp"
#include "bindings/numpy_arrays.hpp"
#include "compact/box_search.hpp"
#include "compact/byte_matrix.hpp"
#include "compact/nearest_rows.hpp"
#include "compact/rule_weights.hpp"
#include "compact/weighted_cover.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace clausewise::bindings {
namespace {

using Bytes = nb::ndarray<nb::numpy, const std::uint8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using BitRows = nb::ndarray<nb::numpy, const std::uint64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Doubles = NumpyColumn<double>;
using Table = nb::ndarray<nb::numpy, const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Points = nb::ndarray<nb::numpy, const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// Work on fewer table cells, or on fewer rule-by-row bits, takes only milliseconds.
constexpr std::size_t kFewCells = std::size_t{1} << 20;
constexpr std::size_t kFewBits = std::size_t{1} << 25;

// Boxes as NumPy arrays: terms of box b are starts[b]:starts[b + 1] of columns and (four words each) of accepts.
std::vector<compact::Box> boxes_of(const NumpyColumn<std::int32_t>& starts, const NumpyColumn<std::int32_t>& columns,
                                   const NumpyColumn<std::uint64_t>& accepts, const compact::ByteMatrix& matrix) {
    if (starts.shape(0) == 0 || accepts.shape(0) != 4 * columns.shape(0))
        throw std::invalid_argument("boxes need at least one start, and four words of bins per term");
    std::vector<compact::Box> boxes(starts.shape(0) - 1);
    for (std::size_t b = 0; b < boxes.size(); ++b) {
        const std::int32_t begin = starts.data()[b], end = starts.data()[b + 1];
        if (begin < 0 || end < begin || static_cast<std::size_t>(end) > columns.shape(0))
            throw std::invalid_argument("the starts of boxes must be ascending and within the columns");
        for (std::int32_t t = begin; t < end; ++t) {
            const std::int32_t column = columns.data()[t];
            if (column < 0 || static_cast<std::size_t>(column) >= matrix.n_columns())
                throw std::invalid_argument("a box tests an unknown column");
            const std::uint64_t* const words = accepts.data() + 4 * t;
            boxes[b].push_back({column, {words[0], words[1], words[2], words[3]}});
        }
    }
    return boxes;
}

compact::FiredBits bits_of(const BitRows& words, std::size_t n_rows) {
    if (words.shape(1) != words_for(n_rows)) throw std::invalid_argument("the bit matrix must have one bit per row");
    return {words.data(), words.shape(0), n_rows};
}

void require_rows(const Doubles& column, std::size_t n_rows) {
    if (column.shape(0) != n_rows) throw std::invalid_argument("the array must have one entry per row");
}

std::vector<std::int32_t> row_numbers(const NumpyColumn<std::int32_t>& rows, std::size_t n_rows) {
    for (std::size_t i = 0; i < rows.shape(0); ++i)
        if (rows.data()[i] < 0 || static_cast<std::size_t>(rows.data()[i]) >= n_rows)
            throw std::invalid_argument("there is no row with this number");
    return copied(rows);
}

}  // namespace

void bind_compact(nb::module_& module) {
    nb::class_<compact::ByteMatrix>(module, "ByteMatrix", "A table as one byte per cell, for the search of boxes.")
        .def(
            "__init__",
            [](compact::ByteMatrix* self, const Bytes& bins, const NumpyColumn<std::int32_t>& n_bins,
               const NumpyColumn<std::int32_t>& n_values, const NumpyColumn<std::uint8_t>& tests_missing) {
                const std::size_t n_columns = bins.shape(0);
                if (n_bins.shape(0) != n_columns || n_values.shape(0) != n_columns ||
                    tests_missing.shape(0) != n_columns)
                    throw std::invalid_argument("n_bins, n_values and tests_missing must have one entry per column");
                std::vector<compact::ByteMatrix::Meaning> meaning;
                for (std::size_t c = 0; c < n_columns; ++c) {
                    const std::int32_t n = n_values.data()[c];
                    meaning.push_back({n_bins.data()[c], n >= 0, n, tests_missing.data()[c] != 0});
                }
                new (self) compact::ByteMatrix(bins.data(), bins.shape(1), std::move(meaning));
            },
            "bins"_a, "n_bins"_a, "n_values"_a, "tests_missing"_a)
        .def_prop_ro("n_rows", &compact::ByteMatrix::n_rows)
        .def(
            "search",
            [](const compact::ByteMatrix& matrix, const Doubles& gradient, const Doubles& curvature,
               const NumpyColumn<std::int32_t>& starts, const NumpyColumn<std::int32_t>& columns,
               const NumpyColumn<std::uint64_t>& accepts, const std::vector<int>& signs, double penalty,
               std::int32_t max_terms, std::int32_t min_rows, std::int32_t beam_width, std::int32_t n_refined,
               std::int32_t n_columns, std::int32_t max_moves, double min_growth, double price, std::size_t n_threads) {
                require_rows(gradient, matrix.n_rows());
                require_rows(curvature, matrix.n_rows());
                const std::vector<compact::Box> initial = boxes_of(starts, columns, accepts, matrix);
                const compact::SearchOptions options{
                    penalty, max_terms, beam_width, n_refined, n_columns, max_moves, {min_rows, min_growth, price}};
                std::vector<compact::ScoredBox> found;
                run_interruptible(matrix.n_rows() * matrix.n_columns() < kFewCells, [&](const CancelToken& cancel) {
                    const compact::Derivatives derivatives(gradient.data(), curvature.data(), matrix.n_rows(), penalty);
                    found = compact::search_boxes(matrix, derivatives, initial, signs, options, n_threads, cancel);
                });
                std::vector<std::int32_t> out_starts{0}, out_columns, out_signs, out_origins;
                std::vector<std::uint64_t> out_accepts;
                std::vector<double> gains;
                for (const compact::ScoredBox& scored : found) {
                    for (const compact::BoxTerm& term : scored.box) {
                        out_columns.push_back(term.column);
                        out_accepts.insert(out_accepts.end(), term.accepts.begin(), term.accepts.end());
                    }
                    out_starts.push_back(static_cast<std::int32_t>(out_columns.size()));
                    out_signs.push_back(scored.sign);
                    out_origins.push_back(scored.start);
                    gains.push_back(scored.gain);
                }
                return std::make_tuple(moved(std::move(out_starts)), moved(std::move(out_columns)),
                                       moved(std::move(out_accepts)), moved(std::move(out_signs)),
                                       moved(std::move(out_origins)), moved(std::move(gains)));
            },
            "gradient"_a, "curvature"_a, "starts"_a, "columns"_a, "accepts"_a, "signs"_a, "penalty"_a, "max_terms"_a,
            "min_rows"_a, "beam_width"_a, "n_refined"_a, "n_columns"_a, "max_moves"_a, "min_growth"_a, "price"_a,
            "n_threads"_a,
            "Return (starts, columns, accepts, signs, origins, gains) of the boxes on which a rule would help most.")
        .def(
            "covered",
            [](const compact::ByteMatrix& matrix, const NumpyColumn<std::int32_t>& starts,
               const NumpyColumn<std::int32_t>& columns, const NumpyColumn<std::uint64_t>& accepts) {
                const std::vector<compact::Box> boxes = boxes_of(starts, columns, accepts, matrix);
                std::vector<std::uint64_t> words;
                {
                    const nb::gil_scoped_release unlocked;
                    for (const compact::Box& box : boxes) {
                        const Words own = matrix.covered(box);
                        words.insert(words.end(), own.begin(), own.end());
                    }
                }
                return moved(std::move(words));
            },
            "starts"_a, "columns"_a, "accepts"_a, "Return one bit per row for every box, concatenated.")
        .def(
            "reading_cost",
            [](const compact::ByteMatrix& matrix, const NumpyColumn<std::int32_t>& starts,
               const NumpyColumn<std::int32_t>& columns, const NumpyColumn<std::uint64_t>& accepts) {
                std::vector<std::int32_t> costs;
                for (const compact::Box& box : boxes_of(starts, columns, accepts, matrix))
                    costs.push_back(matrix.reading_cost(box));
                return moved(std::move(costs));
            },
            "starts"_a, "columns"_a, "accepts"_a, "Return what a reader reads in the terms of every box.");
    module.def(
        "fit_weights",
        [](const BitRows& words, const Doubles& target, const Doubles& row_weight, const Doubles& offset,
           double penalty, const Doubles& start, std::size_t max_steps, double tolerance) {
            const std::size_t n_rows = target.shape(0);
            const compact::FiredBits fired = bits_of(words, n_rows);
            require_rows(row_weight, n_rows);
            if (offset.shape(0) != 0) require_rows(offset, n_rows);
            if (start.shape(0) != fired.n_rules + 1 || fired.n_rules >= 65535)
                throw std::invalid_argument(
                    "start must have one weight per rule and an intercept, for fewer than 65,535 rules");
            compact::FittedWeights fit;
            run_interruptible(n_rows * (fired.n_rules + 1) < kFewCells, [&](const CancelToken& cancel) {
                fit = compact::fit_weights(fired, target.data(), row_weight.data(),
                                           offset.shape(0) ? offset.data() : nullptr, penalty, copied(start), max_steps,
                                           tolerance, cancel);
            });
            return std::make_tuple(moved(std::move(fit.weights)), moved(std::move(fit.margin)),
                                   moved(std::move(fit.gram)), fit.objective);
        },
        "words"_a, "target"_a, "row_weight"_a, "offset"_a, "penalty"_a, "start"_a, "max_steps"_a, "tolerance"_a,
        "Fit ridge-penalised logistic weights; return (weights, margin per row, second derivatives, objective).");
    module.def(
        "weighted_cover",
        [](const BitRows& words, const Doubles& row_weight) {
            const compact::FiredBits fired = bits_of(words, row_weight.shape(0));
            std::vector<double> sums;
            run_interruptible(fired.n_rules * fired.n_rows < kFewBits, [&](const CancelToken& cancel) {
                sums = compact::weighted_cover(fired, row_weight.data(), cancel);
            });
            return moved(std::move(sums));
        },
        "words"_a, "row_weight"_a, "Return the sum of the weights of the rows on which each rule fires.");
    module.def(
        "weighted_overlap",
        [](const BitRows& a, const BitRows& b, const Doubles& row_weight) {
            const compact::FiredBits first = bits_of(a, row_weight.shape(0)), second = bits_of(b, row_weight.shape(0));
            std::vector<double> sums;
            run_interruptible(first.n_rules * second.n_rules * first.n_rows < kFewBits, [&](const CancelToken& cancel) {
                sums = compact::weighted_overlap(first, second, row_weight.data(), cancel);
            });
            return moved(std::move(sums));
        },
        "a"_a, "b"_a, "row_weight"_a,
        "Return the sum of the weights of the rows on which both rules fire, for every pair.");
    module.def(
        "column_sums",
        [](const BitRows& words, const Table& values) {
            const compact::FiredBits fired = bits_of(words, values.shape(0));
            const std::size_t n_columns = values.shape(1);
            std::vector<double> sums;
            run_interruptible(fired.n_rules * fired.n_rows * n_columns < kFewBits, [&](const CancelToken& cancel) {
                sums = compact::column_sums(fired, values.data(), n_columns, cancel);
            });
            return moved(std::move(sums));
        },
        "words"_a, "values"_a, "Return the sum of each column over the rows on which each rule fires, concatenated.");
    module.def(
        "product_sums",
        [](const BitRows& words, const Table& values) {
            const compact::FiredBits fired = bits_of(words, values.shape(0));
            const std::size_t n_columns = values.shape(1);
            std::vector<double> sums;
            const bool is_short = fired.n_rules * fired.n_rows * n_columns * n_columns < kFewBits;
            run_interruptible(is_short, [&](const CancelToken& cancel) {
                sums = compact::product_sums(fired, values.data(), n_columns, cancel);
            });
            return moved(std::move(sums));
        },
        "words"_a, "values"_a,
        "Return the sums of products of two columns over the rows on which each rule fires, concatenated.");
    module.def(
        "weighted_sums",
        [](const BitRows& words, const Doubles& weight, std::size_t n_rows) {
            const compact::FiredBits fired = bits_of(words, n_rows);
            if (weight.shape(0) != fired.n_rules) throw std::invalid_argument("weight must have one entry per rule");
            std::vector<double> sums;
            run_interruptible(fired.n_rules * fired.n_rows < kFewBits, [&](const CancelToken& cancel) {
                sums = compact::weighted_sums(fired, weight.data(), cancel);
            });
            return moved(std::move(sums));
        },
        "words"_a, "weight"_a, "n_rows"_a, "Return the sum of the weights of the rules that fire on each row.");
    module.def(
        "nearest_rows",
        [](const Points& points, const NumpyColumn<std::int32_t>& queries, const NumpyColumn<std::int32_t>& candidates,
           std::size_t n_nearest, std::size_t n_threads) {
            const compact::PointsView view{points.data(), points.shape(0), points.shape(1)};
            const std::vector<std::int32_t> asked = row_numbers(queries, view.n_rows);
            const std::vector<std::int32_t> offered = row_numbers(candidates, view.n_rows);
            if (n_nearest == 0 || offered.size() <= n_nearest)
                throw std::invalid_argument("there must be more candidates than neighbours, of which there is one");
            std::vector<std::int32_t> found;
            const bool is_short = asked.size() * offered.size() * view.n_columns < kFewBits;
            run_interruptible(is_short, [&](const CancelToken& cancel) {
                found = compact::nearest_rows(view, asked, offered, n_nearest, n_threads, cancel);
            });
            return moved(std::move(found));
        },
        "points"_a, "queries"_a, "candidates"_a, "n_nearest"_a, "n_threads"_a,
        "Return the nearest candidates of each queried row but itself, the nearest first, concatenated.");
}

}  // namespace clausewise::bindings
