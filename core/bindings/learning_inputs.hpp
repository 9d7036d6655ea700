// Checked class codes, targets and weights for the inducers.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "bindings/numpy_arrays.hpp"
#include "induction/matrix.hpp"

namespace clausewise::bindings {

using ClassCodes = NumpyColumn<std::int32_t>;
using BinaryTargets = nb::ndarray<const std::uint8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

inline void check_has_rows(const induction::Matrix& matrix, std::size_t n_given, const char* what) {
    if (n_given != matrix.n_rows())
        throw std::invalid_argument("the matrix has " + std::to_string(matrix.n_rows()) + " rows, but got " + what +
                                    " for " + std::to_string(n_given));
    if (matrix.n_rows() == 0) throw std::invalid_argument("there are no rows to learn from");
}

inline std::vector<std::uint16_t> checked_classes(const induction::Matrix& matrix, const ClassCodes& codes,
                                                  std::size_t n_classes) {
    if (n_classes < 1 || n_classes > 65535) throw std::invalid_argument("n_classes must be between 1 and 65,535");
    check_has_rows(matrix, codes.shape(0), "classes");
    std::vector<std::uint16_t> classes(codes.shape(0));
    for (std::size_t i = 0; i < classes.size(); ++i) {
        if (codes(i) < 0 || static_cast<std::size_t>(codes(i)) >= n_classes)
            throw std::invalid_argument("a class code is out of range");
        classes[i] = static_cast<std::uint16_t>(codes(i));
    }
    return classes;
}

inline void check_targets(const induction::Matrix& matrix, const BinaryTargets& targets) {
    check_has_rows(matrix, targets.shape(1), "targets");
}

// Class 0 is "true": the reference declares it first, so it wins ties.
inline std::vector<std::uint16_t> classes_of_target(const BinaryTargets& targets, std::size_t number) {
    const std::size_t n_rows = targets.shape(1);
    const std::uint8_t* const target = targets.data() + number * n_rows;
    std::vector<std::uint16_t> classes(n_rows);
    for (std::size_t i = 0; i < n_rows; ++i) classes[i] = target[i] == 0;
    return classes;
}

// The weight of each row: its own, or 1 if `own` is null, times `positive_weight` for class 0. Empty if all are 1.
template <class Real>
std::vector<Real> weights_of_target(const std::vector<std::uint16_t>& classes, double positive_weight,
                                    const double* own = nullptr) {
    std::vector<Real> weights;
    if (positive_weight == 1.0 && own == nullptr) return weights;
    weights.reserve(classes.size());
    for (std::size_t row = 0; row < classes.size(); ++row) {
        const double factor = classes[row] == 0 ? positive_weight : 1.0;
        weights.push_back(static_cast<Real>(own == nullptr ? factor : factor * own[row]));
    }
    return weights;
}

}  // namespace clausewise::bindings
