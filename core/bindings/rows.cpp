// Hashes of rows: clausewise._core.row_hashes.
#include "rows/row_hashes.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include "bindings/bindings.hpp"
#include "bindings/numpy_arrays.hpp"
#include "bindings/tables.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace clausewise::bindings {
namespace {

template <class Real, class Array>
auto row_hashes(const Array& table, const NumpyColumn<std::uint64_t>& keys) {
    const TableView<Real> view = view_of<Real>(table);
    const std::vector<std::uint64_t> of_columns = copied(keys);
    if (of_columns.size() != view.n_columns) throw std::invalid_argument("keys must have one entry per column");
    std::vector<std::uint64_t> found;
    {
        nb::gil_scoped_release release;
        found = rows::hashes(view, of_columns);
    }
    return moved(std::move(found));
}

}  // namespace

void bind_rows(nb::module_& module) {
    module.def("row_hashes", &row_hashes<float, Table32>, "table"_a, "keys"_a);
    module.def("row_hashes", &row_hashes<double, Table64>, "table"_a, "keys"_a,
               "Return a hash of each row's values in single precision, with a key for each column.");
}

}  // namespace clausewise::bindings
