// One-dimensional NumPy arrays in and out of the bindings.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace clausewise::bindings {

namespace nb = nanobind;

template <class T>
using NumpyColumn = nb::ndarray<nb::numpy, const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using NumpyResult = nb::ndarray<nb::numpy, T, nb::ndim<1>>;

template <class T>
std::vector<T> copied(const NumpyColumn<T>& column) {
    return {column.data(), column.data() + column.shape(0)};
}

// Hands a vector to NumPy without copying it.
template <class T>
NumpyResult<T> moved(std::vector<T>&& values) {
    auto owner = std::make_unique<std::vector<T>>(std::move(values));
    T* const data = owner->data();
    const std::size_t size = owner->size();
    nb::capsule capsule(owner.get(), [](void* memory) noexcept {
        const std::unique_ptr<std::vector<T>> freed(static_cast<std::vector<T>*>(memory));
    });
    static_cast<void>(owner.release());
    return NumpyResult<T>(data, {size}, capsule);
}

}  // namespace clausewise::bindings
