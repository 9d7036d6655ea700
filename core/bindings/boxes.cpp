// Conjunctions as boxes: clausewise._core.intersect_boxes and unsubsumed_boxes.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <vector>

#include "bindings/bindings.hpp"
#include "bindings/numpy_arrays.hpp"
#include "boxes/boxes.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace clausewise::bindings {
namespace {

using Bounds = nb::ndarray<nb::numpy, const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

boxes::BoxesView view_of(const Bounds& low, const Bounds& high) {
    if (low.shape(0) != high.shape(0) || low.shape(1) != high.shape(1))
        throw std::invalid_argument("low and high must have the same shape");
    return {low.data(), high.data(), low.shape(0), low.shape(1)};
}

nb::tuple intersected(const Bounds& low, const Bounds& high, const Bounds& other_low, const Bounds& other_high,
                      const NumpyColumn<std::int32_t>& groups) {
    const boxes::BoxesView left = view_of(low, high), right = view_of(other_low, other_high);
    if (left.n_dimensions != right.n_dimensions || left.n_dimensions != groups.shape(0))
        throw std::invalid_argument("all boxes and groups must have the same number of dimensions");
    const boxes::CategoryGroups group_of = copied(groups);
    boxes::Intersections found;
    {
        const nb::gil_scoped_release unlocked;
        found = boxes::intersect(left, right, group_of);
    }
    return nb::make_tuple(moved(std::move(found.low)), moved(std::move(found.high)), moved(std::move(found.left)));
}

NumpyResult<std::uint8_t> unsubsumed(const Bounds& low, const Bounds& high, std::size_t begin, std::size_t end) {
    const boxes::BoxesView boxes = view_of(low, high);
    if (begin > end || end > boxes.n_boxes) throw std::invalid_argument("the range of boxes is out of bounds");
    std::vector<std::uint8_t> is_needed(end - begin);
    {
        const nb::gil_scoped_release unlocked;
        const boxes::SubsumptionTest test(boxes);
        for (std::size_t box = begin; box < end; ++box) is_needed[box - begin] = !test.is_subsumed(box);
    }
    return moved(std::move(is_needed));
}

}  // namespace

void bind_boxes(nb::module_& module) {
    module.def("intersect_boxes", &intersected, "low"_a, "high"_a, "other_low"_a, "other_high"_a, "groups"_a,
               "Return the bounds of all non-empty intersections (flat), and the left box of each.");
    module.def("unsubsumed_boxes", &unsubsumed, "low"_a, "high"_a, "begin"_a, "end"_a,
               "Return, per box of the range, 1 unless it is part of another box; of equal boxes the first gets 1.");
}

}  // namespace clausewise::bindings
