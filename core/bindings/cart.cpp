// CART: clausewise._core.grow_cart, grow_cart_many, CartTree and cart_paths.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/cancel.hpp"
#include "base/parallel.hpp"
#include "bindings/bindings.hpp"
#include "bindings/interruptible.hpp"
#include "bindings/learning_inputs.hpp"
#include "bindings/numpy_arrays.hpp"
#include "cart/grow.hpp"
#include "induction/matrix.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace clausewise::bindings {
namespace {

// Each growing tree holds a copy of the rows sorted by every column; fewer threads are used if the copies would need
// more memory than this.
constexpr std::size_t kBytesForOrders = std::size_t{1} << 30;

using Doubles = NumpyColumn<double>;
using Rows = NumpyColumn<std::int32_t>;

void check_options(const cart::Options& options) {
    if (options.min_split < 2) throw std::invalid_argument("min_split must be 2 or more");
    if (options.min_leaf < 1) throw std::invalid_argument("min_leaf must be 1 or more");
    if (options.max_leaves == 1) throw std::invalid_argument("max_leaves must be 2 or more, or 0 for no limit");
}

void check_weights(const std::vector<double>& weights, std::size_t n_expected, const char* what) {
    if (weights.size() != n_expected)
        throw std::invalid_argument(std::string("the weights must have one entry per ") + what);
    for (const double weight : weights)
        if (!(weight > 0.0 && std::isfinite(weight)))
            throw std::invalid_argument("weights must be positive and finite");
}

void check_row(std::int32_t row, const induction::Matrix& matrix) {
    if (row < 0 || static_cast<std::size_t>(row) >= matrix.n_rows())
        throw std::invalid_argument("a row is out of range");
}

// The rows to learn from; throws if one occurs twice.
std::vector<std::int32_t> checked_rows(const Rows& given, const induction::Matrix& matrix) {
    std::vector<std::int32_t> rows = copied(given);
    std::vector<bool> is_taken(matrix.n_rows(), false);
    for (const std::int32_t row : rows) {
        check_row(row, matrix);
        if (is_taken[static_cast<std::size_t>(row)]) throw std::invalid_argument("a row occurs twice");
        is_taken[static_cast<std::size_t>(row)] = true;
    }
    if (rows.empty()) throw std::invalid_argument("there are no rows to learn from");
    return rows;
}

cart::Tree grow_one(const induction::Matrix& matrix, const ClassCodes& codes, std::size_t n_classes,
                    const std::optional<Doubles>& weights, const std::optional<Rows>& rows,
                    const cart::Options& options) {
    check_options(options);
    const std::vector<std::uint16_t> classes = checked_classes(matrix, codes, n_classes);
    const std::vector<double> of_rows = weights ? copied(*weights) : std::vector<double>{};
    if (weights) check_weights(of_rows, matrix.n_rows(), "row");
    const std::vector<std::int32_t> used = rows ? checked_rows(*rows, matrix) : std::vector<std::int32_t>{};
    cart::Tree tree;
    constexpr std::size_t kFewCells = 2'000;
    run_interruptible(matrix.n_rows() * matrix.n_columns() < kFewCells, [&](const CancelToken& cancel) {
        const cart::ColumnOrders orders(matrix, n_classes);
        tree = cart::grow(matrix, orders, {classes, n_classes, of_rows, rows ? &used : nullptr}, options, cancel);
    });
    return tree;
}

std::vector<std::shared_ptr<cart::Tree>> grow_many(const induction::Matrix& matrix, const BinaryTargets& targets,
                                                   const std::optional<Doubles>& positive_weights,
                                                   const cart::Options& options, std::size_t n_threads,
                                                   const ProgressCallback& progress) {
    check_options(options);
    check_targets(matrix, targets);
    const std::size_t n_targets = targets.shape(0);
    if (positive_weights) check_weights(copied(*positive_weights), n_targets, "target");
    std::vector<std::shared_ptr<cart::Tree>> trees(n_targets);
    CancelToken cancel;
    std::atomic<std::size_t> n_done{0};
    run_interruptible(cancel, n_done, n_targets, progress, [&] {
        const cart::ColumnOrders orders(matrix, 2);
        const std::size_t bytes = std::max<std::size_t>(1, matrix.n_rows() * orders.n_ordered() * sizeof(std::int32_t));
        const std::size_t most_threads = std::max<std::size_t>(1, kBytesForOrders / bytes);
        parallel_for(n_targets, std::min(n_threads, most_threads), [&](std::size_t t, std::size_t) {
            const std::vector<std::uint16_t> classes = classes_of_target(targets, t);
            const std::vector<double> weights =
                weights_of_target<double>(classes, positive_weights ? (*positive_weights)(t) : 1.0);
            trees[t] = std::make_shared<cart::Tree>(
                cart::grow(matrix, orders, {classes, 2, weights, nullptr}, options, cancel));
            ++n_done;
        });
    });
    return trees;
}

std::vector<std::int32_t> labels(const cart::Tree& tree, const induction::Matrix& matrix, const Rows& rows,
                                 double alpha) {
    for (const cart::Node& node : tree.nodes)
        if (node.test.column >= static_cast<std::int32_t>(matrix.n_columns()))
            throw std::invalid_argument("the matrix has too few columns");
    std::vector<std::int32_t> found;
    for (std::size_t i = 0; i < rows.shape(0); ++i) {
        check_row(rows(i), matrix);
        found.push_back(tree.label_of(matrix, static_cast<std::size_t>(rows(i)), alpha));
    }
    return found;
}

std::vector<double> collapses_at(const cart::Tree& tree) {
    std::vector<double> found;
    for (const cart::Node& node : tree.nodes)
        if (std::isfinite(node.collapses_at)) found.push_back(node.collapses_at);
    return found;
}

// The leaves of trees as rules, left before right: conditions of rule r are start[r] … start[r+1]. Leaves that only
// rows with missing values reach are left out: no condition holds for a missing value.
class Paths {
public:
    void add(const cart::Tree& tree, std::int32_t number, double alpha, std::optional<std::int32_t> only_label) {
        // No recursion: a tree may be thousands of tests deep. `path_` holds the conditions above the node.
        struct Pending {
            std::int32_t id;
            std::size_t depth;
            std::int32_t parent;
            bool is_right;
        };
        std::vector<Pending> pending{{0, 0, -1, false}};
        while (!pending.empty()) {
            const auto [id, depth, parent, is_right] = pending.back();
            pending.pop_back();
            if (parent >= 0) {
                path_.resize(depth - 1);
                path_.push_back({tree[parent].test, is_right});
            }
            const cart::Node& node = tree[id];
            if (!node.ends_at(alpha)) {
                pending.push_back({node.right, depth + 1, id, true});
                pending.push_back({node.left, depth + 1, id, false});
            } else if (!only_label || *only_label == node.label) {
                add_leaf(node, number);
            }
        }
        path_.clear();
    }

    nb::dict arrays() {
        nb::dict result;
        result["tree"] = moved(std::move(tree_));
        result["label"] = moved(std::move(label_));
        result["cover"] = moved(std::move(cover_));
        result["correct"] = moved(std::move(correct_));
        result["start"] = moved(std::move(start_));
        result["column"] = moved(std::move(column_));
        result["tests_missing"] = moved(std::move(tests_missing_));
        result["rank"] = moved(std::move(rank_));
        result["is_right"] = moved(std::move(is_right_));
        return result;
    }

private:
    struct Step {
        cart::Test test;
        bool is_right;
    };

    void add_leaf(const cart::Node& leaf, std::int32_t number) {
        for (const Step& step : path_)
            if (step.test.kind == cart::Test::Kind::missing && step.is_right) return;
        if (column_.size() + path_.size() > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()))
            throw std::length_error("the leaves of the trees have more than 2^31 conditions in total");
        for (const Step& step : path_) {
            column_.push_back(step.test.column);
            tests_missing_.push_back(step.test.kind == cart::Test::Kind::missing);
            rank_.push_back(step.test.rank);
            is_right_.push_back(step.is_right);
        }
        start_.push_back(static_cast<std::int32_t>(column_.size()));
        tree_.push_back(number);
        label_.push_back(leaf.label);
        cover_.push_back(leaf.cover);
        correct_.push_back(leaf.correct);
    }

    std::vector<Step> path_;
    std::vector<std::int32_t> tree_, label_, start_{0}, column_, rank_;
    std::vector<std::uint8_t> is_right_, tests_missing_;
    std::vector<double> cover_, correct_;
};

nb::dict paths(const std::vector<std::shared_ptr<cart::Tree>>& trees, const Doubles& alphas,
               std::optional<std::int32_t> only_label) {
    if (alphas.shape(0) != trees.size()) throw std::invalid_argument("alphas must have one entry per tree");
    Paths found;
    for (std::size_t t = 0; t < trees.size(); ++t) {
        if (!trees[t]) throw std::invalid_argument("trees must not contain None");
        found.add(*trees[t], static_cast<std::int32_t>(t), alphas(t), only_label);
    }
    return found.arrays();
}

}  // namespace

void bind_cart(nb::module_& module) {
    nb::class_<cart::Options>(module, "CartOptions", "Settings of one CART tree.")
        .def(
            "__init__",
            [](cart::Options* self, bool entropy, std::size_t min_split, std::size_t min_leaf, std::size_t max_leaves,
               bool prunes) {
                new (self) cart::Options{entropy ? cart::Impurity::entropy : cart::Impurity::gini, min_split, min_leaf,
                                         max_leaves, prunes};
            },
            nb::kw_only(), "entropy"_a = false, "min_split"_a = 2, "min_leaf"_a = 1, "max_leaves"_a = 0,
            "prunes"_a = true);
    nb::class_<cart::Tree>(module, "CartTree",
                           "A grown CART tree, with the pruning strength (alpha) at which each node becomes a leaf.")
        .def(
            "labels",
            [](const cart::Tree& tree, const induction::Matrix& matrix, const Rows& rows, double alpha) {
                return moved(labels(tree, matrix, rows, alpha));
            },
            "matrix"_a, "rows"_a, "alpha"_a,
            "Return the class predicted for each of these rows of the matrix by the tree pruned at alpha.")
        .def_prop_ro(
            "label", [](const cart::Tree& tree) { return tree[0].label; },
            "The class predicted by the root: the most frequent one.")
        .def(
            "alphas", [](const cart::Tree& tree) { return moved(collapses_at(tree)); },
            "Return the values of alpha at which nodes become leaves.");
    module.def("grow_cart", &grow_one, "matrix"_a, "codes"_a, "n_classes"_a, "weights"_a.none(), "rows"_a.none(),
               "options"_a, "Grow a tree that predicts the classes of the rows of the matrix, or of the given rows.");
    module.def("grow_cart_many", &grow_many, "matrix"_a, "targets"_a, "positive_weights"_a.none(), "options"_a,
               "n_threads"_a = 1, "progress"_a.none() = nb::none(),
               "Grow one tree per row of targets; class 0 is true.");
    module.def("cart_paths", &paths, "trees"_a, "alphas"_a, "only_label"_a.none() = nb::none(),
               "Return the conditions on the paths to the leaves of trees pruned at these alphas, as flat arrays.");
}

}  // namespace clausewise::bindings
