// Search for counterfactuals: clausewise._core.ChangeSearch.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/tuple.h>

#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings/bindings.hpp"
#include "bindings/interruptible.hpp"
#include "bindings/numpy_arrays.hpp"
#include "counterfactuals/problem.hpp"
#include "counterfactuals/search.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace clausewise::bindings {
namespace {

template <class T>
using RowArray = nb::ndarray<nb::numpy, const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// Trying fewer pairs of values takes only milliseconds.
constexpr std::size_t kFewPairs = std::size_t{1} << 20;

struct ChangeSearch {
    counterfactuals::Axes axes;
    counterfactuals::Votes votes;
};

void check_rows(const ChangeSearch& search, const RowArray<double>& values, const RowArray<std::int32_t>& bins,
                const NumpyColumn<std::int32_t>& decided) {
    const std::size_t n_rows = values.shape(0), n_axes = search.axes.n_axes();
    if (values.shape(1) != n_axes || bins.shape(0) != n_rows || bins.shape(1) != n_axes || decided.shape(0) != n_rows)
        throw std::invalid_argument("values and bins must have one column per axis, and all one entry per row");
    for (std::size_t i = 0; i < n_rows * n_axes; ++i)
        if (bins.data()[i] < 0 || bins.data()[i] >= search.axes.n_bins(i % n_axes))
            throw std::invalid_argument("a row has an unknown bin");
}

}  // namespace

void bind_counterfactuals(nb::module_& module) {
    nb::class_<ChangeSearch>(module, "ChangeSearch", "Changes of rows that change what a rule set decides.")
        .def(
            "__init__",
            [](ChangeSearch* self, const NumpyColumn<std::int64_t>& bin_starts,
               const NumpyColumn<std::uint64_t>& accepts, const NumpyColumn<std::int64_t>& value_starts,
               const NumpyColumn<double>& values, const NumpyColumn<std::int32_t>& bin_of_value,
               const NumpyColumn<std::int8_t>& direction, const NumpyColumn<double>& units,
               const NumpyColumn<std::int32_t>& class_of_rule, const NumpyColumn<double>& vote_of_rule,
               const NumpyColumn<std::uint64_t>& has_priority, const NumpyColumn<double>& start,
               const NumpyColumn<double>& divisors, const NumpyColumn<double>& priority_divisors,
               std::int32_t default_class) {
                ChangeSearch search{{copied(bin_starts), copied(accepts), copied(value_starts), copied(values),
                                     copied(bin_of_value), copied(direction), copied(units)},
                                    {copied(class_of_rule), copied(vote_of_rule), copied(has_priority), copied(start),
                                     copied(divisors), copied(priority_divisors), default_class}};
                search.votes.check();
                search.axes.check(search.votes.n_rules());
                new (self) ChangeSearch(std::move(search));
            },
            "bin_starts"_a, "accepts"_a, "value_starts"_a, "values"_a, "bin_of_value"_a, "direction"_a, "units"_a,
            "class_of_rule"_a, "vote_of_rule"_a, "has_priority"_a, "start"_a, "divisors"_a, "priority_divisors"_a,
            "default_class"_a)
        .def(
            "search",
            [](const ChangeSearch& search, const RowArray<double>& values, const RowArray<std::int32_t>& bins,
               const NumpyColumn<std::int32_t>& decided, std::int32_t wanted, bool two_features, bool within_bins,
               std::size_t n_changes, bool is_spread, std::size_t n_threads) {
                check_rows(search, values, bins, decided);
                const counterfactuals::Rows rows{values.data(), bins.data(), decided.data(), values.shape(0)};
                const counterfactuals::Wish wish{wanted, two_features, within_bins, n_changes, is_spread};
                std::vector<std::vector<counterfactuals::Change>> found;
                const std::size_t n_values = search.axes.values.size();
                run_interruptible(rows.n_rows * n_values * n_values < kFewPairs, [&](const CancelToken& cancel) {
                    found = counterfactuals::search_changes(search.axes, search.votes, rows, wish, n_threads, cancel);
                });
                std::vector<std::int64_t> starts{0};
                std::vector<std::int32_t> first, second;
                for (const auto& changes : found) {
                    for (const counterfactuals::Change& change : changes) {
                        first.push_back(change.values[0]);
                        second.push_back(change.values[1]);
                    }
                    starts.push_back(static_cast<std::int64_t>(first.size()));
                }
                return std::make_tuple(moved(std::move(starts)), moved(std::move(first)), moved(std::move(second)));
            },
            "values"_a.noconvert(), "bins"_a.noconvert(), "decided"_a, "wanted"_a, "two_features"_a, "within_bins"_a,
            "n_changes"_a, "is_spread"_a, "n_threads"_a,
            "Return (starts, first values, second values or -1) of the changes of each row, cheapest first.");
}

}  // namespace clausewise::bindings
