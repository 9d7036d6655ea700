// Tables of numbers as NumPy hands them over: single or double precision, any strides, never copied.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "base/table_view.hpp"

namespace clausewise::bindings {

namespace nb = nanobind;

using Table32 = nb::ndarray<const float, nb::ndim<2>, nb::device::cpu>;
using Table64 = nb::ndarray<const double, nb::ndim<2>, nb::device::cpu>;

template <class Real, class Array>
TableView<Real> view_of(const Array& array) {
    return {array.data(), array.shape(0), array.shape(1), array.stride(0), array.stride(1)};
}

}  // namespace clausewise::bindings
