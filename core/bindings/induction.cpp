// The prepared matrix: clausewise._core.Matrix and prepare_matrix.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/shared_ptr.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/cancel.hpp"
#include "bindings/bindings.hpp"
#include "bindings/interruptible.hpp"
#include "bindings/numpy_arrays.hpp"
#include "bindings/tables.hpp"
#include "induction/gaps.hpp"
#include "induction/matrix.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace clausewise::bindings {
namespace {

using Codes = NumpyColumn<std::int32_t>;

template <class Real, class Array>
nb::tuple gaps(const induction::Matrix& matrix, const Array& table, const Codes& columns, const Codes& ranks) {
    if (table.shape(0) != matrix.n_rows() || table.shape(1) != matrix.n_columns())
        throw std::invalid_argument("the shape of the table differs from that of the prepared matrix");
    if (columns.shape(0) != ranks.shape(0)) throw std::invalid_argument("columns and ranks must have the same length");
    for (std::size_t i = 0; i < columns.shape(0); ++i) {
        if (columns(i) < 0 || static_cast<std::size_t>(columns(i)) >= matrix.n_columns())
            throw std::invalid_argument("a column is out of range");
        const induction::Column& column = matrix.column(static_cast<std::size_t>(columns(i)));
        if (column.is_discrete || ranks(i) < 0 || ranks(i) >= column.n_values)
            throw std::invalid_argument("a rank is out of range");
    }
    const std::vector<induction::Gap> found =
        induction::gaps_above(matrix, view_of<Real>(table), copied(columns), copied(ranks));
    std::vector<double> left, right;
    for (const induction::Gap& gap : found) {
        left.push_back(gap.left);
        right.push_back(gap.right);
    }
    return nb::make_tuple(moved(std::move(left)), moved(std::move(right)));
}

std::vector<std::int32_t> ranks_of(const induction::Matrix& matrix, std::size_t column) {
    if (column >= matrix.n_columns()) throw nb::index_error("the column is out of range");
    return matrix.column(column).ranks;
}

template <class Real, class Array>
std::shared_ptr<induction::Matrix> prepare(const Array& table, const Codes& n_categories, std::size_t n_threads) {
    const TableView<Real> view = view_of<Real>(table);
    const std::vector<std::int32_t> categories = copied(n_categories);
    std::shared_ptr<induction::Matrix> matrix;
    CancelToken cancel;
    const std::atomic<std::size_t> n_done{0};
    run_interruptible(cancel, n_done, 1, std::nullopt,
                      [&] { matrix = std::make_shared<induction::Matrix>(view, categories, n_threads, cancel); });
    return matrix;
}

}  // namespace

void bind_induction(nb::module_& module) {
    nb::class_<induction::Matrix>(
        module, "Matrix", "A table prepared once for many fits: ranks of single-precision values, shared read-only.")
        .def_prop_ro("n_rows", &induction::Matrix::n_rows)
        .def_prop_ro("n_columns", &induction::Matrix::n_columns)
        .def_prop_ro("memory", &induction::Matrix::memory, "Memory used, in bytes.")
        .def(
            "ranks", [](const induction::Matrix& m, std::size_t column) { return moved(ranks_of(m, column)); },
            "column"_a,
            "Return the rank of each row's value in the column, or the code of its category; -1 if missing.")
        .def("gaps", &gaps<float, Table32>, "table"_a, "columns"_a, "ranks"_a)
        .def("gaps", &gaps<double, Table64>, "table"_a, "columns"_a, "ranks"_a,
             "Return, per (column, rank), the greatest original number of this rank and the smallest of the next.");
    module.def("prepare_matrix", &prepare<float, Table32>, "table"_a, "n_categories"_a, "n_threads"_a = 1);
    module.def("prepare_matrix", &prepare<double, Table64>, "table"_a, "n_categories"_a, "n_threads"_a = 1,
               "Prepare a table; n_categories is 0 for a continuous column, otherwise the number of its categories.");
}

}  // namespace clausewise::bindings
