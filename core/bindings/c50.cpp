// C5.0: clausewise._core.fit_c50, fit_c50_many, C50Model, FlatTree and sampled_rows.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/cancel.hpp"
#include "base/parallel.hpp"
#include "bindings/bindings.hpp"
#include "bindings/interruptible.hpp"
#include "bindings/learning_inputs.hpp"
#include "bindings/numpy_arrays.hpp"
#include "bindings/tables.hpp"
#include "c50/fit.hpp"
#include "c50/flat_tree.hpp"
#include "c50/sampling.hpp"
#include "induction/matrix.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace clausewise::bindings {
namespace {

using Codes = ClassCodes;
using Weights = NumpyColumn<float>;
using Doubles = NumpyColumn<double>;

void check_options(const c50::Options& options) {
    if (!(options.confidence >= 0.0f && options.confidence <= 1.0f))
        throw std::invalid_argument("cf must be in [0, 1]");
    if (options.n_trials < 1) throw std::invalid_argument("trials must be at least 1");
    if (!(options.min_cases > 0.0) || !std::isfinite(options.min_cases))
        throw std::invalid_argument("min_cases must be positive");
}

c50::Model fit_one(const induction::Matrix& matrix, const Codes& codes, std::size_t n_classes,
                   const std::optional<Weights>& weights, const std::optional<Weights>& costs,
                   const c50::Options& options, std::size_t n_threads,
                   const std::optional<std::vector<bool>>& is_ordered, const ProgressCallback& progress) {
    check_options(options);
    c50::TrainingData data{checked_classes(matrix, codes, n_classes), n_classes, {}, {}, {}};
    if (weights) data.weights = copied(*weights);
    if (costs) data.costs = copied(*costs);
    if (is_ordered) data.is_ordered = *is_ordered;
    if (!data.weights.empty() && data.weights.size() != data.classes.size())
        throw std::invalid_argument("weights must have one entry per row");
    if (!data.is_ordered.empty() && data.is_ordered.size() != matrix.n_columns())
        throw std::invalid_argument("is_ordered must have one entry per column");
    CancelToken cancel;
    std::atomic<std::size_t> n_done{0};
    c50::Model model;
    run_interruptible(cancel, n_done, options.n_trials, progress,
                      [&] { model = c50::fit(matrix, std::move(data), options, n_threads, cancel, &n_done); });
    return model;
}

// One fit per row of `targets`.
std::vector<std::shared_ptr<c50::Model>> fit_many(const induction::Matrix& matrix, const BinaryTargets& targets,
                                                  const std::optional<Doubles>& positive_weights, c50::Options options,
                                                  std::size_t n_threads, const ProgressCallback& progress,
                                                  const std::optional<Doubles>& weights) {
    check_options(options);
    options.summary = false;
    check_targets(matrix, targets);
    const std::size_t n_targets = targets.shape(0);
    if (positive_weights && positive_weights->shape(0) != n_targets)
        throw std::invalid_argument("positive_weights must have one entry per target");
    if (weights) check_has_rows(matrix, weights->shape(0), "weights");
    std::vector<std::shared_ptr<c50::Model>> models(n_targets);
    CancelToken cancel;
    std::atomic<std::size_t> n_done{0};
    run_interruptible(cancel, n_done, n_targets, progress, [&] {
        // With more threads than targets, the spare ones share the large nodes of each fit.
        const std::size_t n_per_fit = std::max<std::size_t>(1, n_threads / std::max<std::size_t>(1, n_targets));
        parallel_for(n_targets, n_threads, [&](std::size_t t, std::size_t) {
            std::vector<std::uint16_t> classes = classes_of_target(targets, t);
            std::vector<float> of_rows = weights_of_target<float>(
                classes, positive_weights ? (*positive_weights)(t) : 1.0, weights ? weights->data() : nullptr);
            models[t] = std::make_shared<c50::Model>(
                c50::fit(matrix, {std::move(classes), 2, std::move(of_rows), {}, {}}, options, n_per_fit, cancel));
            ++n_done;
        });
    });
    return models;
}

nb::dict stage_seconds(const c50::Model& model) {
    nb::dict seconds;
    seconds["winnow"] = model.seconds.winnow;
    seconds["grow"] = model.seconds.grow;
    seconds["prune"] = model.seconds.prune;
    seconds["form rules"] = model.seconds.form_rules;
    seconds["select rules"] = model.seconds.select_rules;
    return seconds;
}

const c50::Classifier& trial_of(const c50::Model& model, std::size_t number) {
    if (number >= model.trials.size()) throw std::out_of_range("the model has fewer trials");
    return model.trials[number];
}

// Rules as flat arrays: conditions of rule r are start[r] … start[r+1], values of condition c value_start[c] ….
nb::dict rule_arrays(const c50::Model& model, std::size_t trial) {
    std::vector<std::int32_t> label, vote, start{0}, column, kind, rank, value_start{0}, values;
    std::vector<float> cover, correct, lift, threshold;
    for (const c50::FormedRule& rule : trial_of(model, trial).rules) {
        label.push_back(rule.label);
        vote.push_back(rule.vote);
        cover.push_back(rule.cover);
        correct.push_back(rule.correct);
        lift.push_back(rule.lift);
        for (const c50::Condition& condition : rule.conditions) {
            column.push_back(condition.column);
            kind.push_back(static_cast<std::int32_t>(condition.kind));
            rank.push_back(condition.threshold_rank);
            threshold.push_back(condition.threshold);
            values.insert(values.end(), condition.values.begin(), condition.values.end());
            value_start.push_back(static_cast<std::int32_t>(values.size()));
        }
        start.push_back(static_cast<std::int32_t>(column.size()));
    }
    nb::dict result;
    result["label"] = moved(std::move(label));
    result["vote"] = moved(std::move(vote));
    result["cover"] = moved(std::move(cover));
    result["correct"] = moved(std::move(correct));
    result["lift"] = moved(std::move(lift));
    result["start"] = moved(std::move(start));
    result["column"] = moved(std::move(column));
    result["kind"] = moved(std::move(kind));
    result["rank"] = moved(std::move(rank));
    result["threshold"] = moved(std::move(threshold));
    result["value_start"] = moved(std::move(value_start));
    result["values"] = moved(std::move(values));
    return result;
}

// The tree as flat arrays in pre-order. Children of node i are child[child_start[i]] …; branch_of_value of a discrete
// test are value_branch[value_start[i]] …; distribution is nodes × classes; low, middle and high are the bounds of a
// fuzzy threshold, or NaN.
nb::dict tree_arrays(const c50::Model& model, std::size_t trial) {
    const c50::Tree& tree = trial_of(model, trial).tree;
    std::vector<std::int32_t> kind, label, column, rank, child_start{0}, child, value_start{0}, value_branch;
    std::vector<float> threshold, size, distribution, low, middle, high;
    std::vector<std::vector<std::int32_t>> children;
    // No recursion: a tree may be thousands of tests deep.
    struct Pending {
        std::int32_t id, parent;
    };
    std::vector<Pending> pending{{0, -1}};
    while (!pending.empty()) {
        const auto [id, parent] = pending.back();
        pending.pop_back();
        const c50::Node& node = tree[id];
        const auto place = static_cast<std::int32_t>(kind.size());
        if (parent >= 0) children[static_cast<std::size_t>(parent)].push_back(place);
        kind.push_back(static_cast<std::int32_t>(node.test.kind));
        label.push_back(node.label);
        column.push_back(node.test.column);
        rank.push_back(node.test.threshold_rank);
        threshold.push_back(node.test.threshold);
        const c50::SoftBounds& bounds = node.test.bounds;
        low.push_back(bounds.is_set ? bounds.low : std::numeric_limits<float>::quiet_NaN());
        middle.push_back(bounds.is_set ? bounds.middle : std::numeric_limits<float>::quiet_NaN());
        high.push_back(bounds.is_set ? bounds.high : std::numeric_limits<float>::quiet_NaN());
        size.push_back(node.size);
        distribution.insert(distribution.end(), node.distribution.begin(), node.distribution.end());
        value_branch.insert(value_branch.end(), node.test.branch_of_value.begin(), node.test.branch_of_value.end());
        value_start.push_back(static_cast<std::int32_t>(value_branch.size()));
        children.emplace_back();
        for (auto branch = node.children.rbegin(); branch != node.children.rend(); ++branch)
            pending.push_back({*branch, place});
    }
    for (const auto& list : children) {
        child.insert(child.end(), list.begin(), list.end());
        child_start.push_back(static_cast<std::int32_t>(child.size()));
    }
    nb::dict result;
    result["kind"] = moved(std::move(kind));
    result["label"] = moved(std::move(label));
    result["column"] = moved(std::move(column));
    result["rank"] = moved(std::move(rank));
    result["threshold"] = moved(std::move(threshold));
    result["low"] = moved(std::move(low));
    result["middle"] = moved(std::move(middle));
    result["high"] = moved(std::move(high));
    result["size"] = moved(std::move(size));
    result["distribution"] = moved(std::move(distribution));
    result["child_start"] = moved(std::move(child_start));
    result["child"] = moved(std::move(child));
    result["value_start"] = moved(std::move(value_start));
    result["value_branch"] = moved(std::move(value_branch));
    return result;
}

// None if boosting went on to the last trial.
nb::object stop_name(const c50::Model& model) {
    switch (model.stop) {
        case c50::Stop::accurate:
            return nb::str("accurate");
        case c50::Stop::inaccurate:
            return nb::str("inaccurate");
        case c50::Stop::none:
            break;
    }
    return nb::none();
}

template <class Real, class Array>
nb::tuple classify(const c50::FlatTree& tree, const Array& table, std::size_t n_threads) {
    const TableView<Real> view = view_of<Real>(table);
    for (const std::int32_t column : tree.column)
        if (column >= static_cast<std::int32_t>(view.n_columns))
            throw std::invalid_argument("the table has too few columns");
    std::vector<double> scores(view.n_rows * tree.n_classes), leaf_sizes(view.n_rows);
    {
        nb::gil_scoped_release release;
        tree.classify(view, scores.data(), leaf_sizes.data(), n_threads);
    }
    return nb::make_tuple(moved(std::move(scores)), moved(std::move(leaf_sizes)));
}

}  // namespace

void bind_c50(nb::module_& module) {
    nb::class_<c50::Options>(module, "C50Options", "Settings of one C5.0 fit.")
        .def(
            "__init__",
            [](c50::Options* self, bool rules, double min_cases, double cf, bool winnow, bool global_pruning,
               bool subset, std::size_t trials, bool early_stopping, bool fuzzy_threshold, bool always_in_leaf_order) {
                new (self)
                    c50::Options{rules,  min_cases, static_cast<float>(cf), winnow,          global_pruning,
                                 subset, trials,    early_stopping,         fuzzy_threshold, always_in_leaf_order};
            },
            nb::kw_only(), "rules"_a = true, "min_cases"_a = 2.0, "cf"_a = 0.25, "winnow"_a = false,
            "global_pruning"_a = true, "subset"_a = true, "trials"_a = 1, "early_stopping"_a = true,
            "fuzzy_threshold"_a = false, "always_in_leaf_order"_a = false);

    nb::class_<c50::Model>(module, "C50Model", "One or more fitted C5.0 trees, and their rules if they were requested.")
        .def_prop_ro("n_classes", [](const c50::Model& m) { return m.n_classes; })
        .def_prop_ro("n_trials", [](const c50::Model& m) { return m.trials.size(); })
        .def_prop_ro("stop", &stop_name, nb::sig("def stop(self) -> str | None"),
                     "Why boosting stopped early: \"accurate\", \"inaccurate\" or None.")
        .def_prop_ro(
            "is_abandoned", [](const c50::Model& m) { return m.is_abandoned; },
            "Did boosting leave too few trials, so that only the first was kept?")
        .def_prop_ro(
            "n_errors", [](const c50::Model& m) { return m.n_errors; },
            "Training rows that all trials together classify wrongly.")
        .def(
            "default_label", [](const c50::Model& m, std::size_t trial) { return trial_of(m, trial).default_label; },
            "trial"_a = 0)
        .def(
            "n_leaves", [](const c50::Model& m, std::size_t trial) { return count_leaves(trial_of(m, trial).tree); },
            "trial"_a = 0, "Return the number of leaves that are not empty.")
        .def(
            "n_trial_errors", [](const c50::Model& m, std::size_t trial) { return trial_of(m, trial).n_errors; },
            "trial"_a = 0, "Return the number of training rows that a trial classifies wrongly.")
        .def(
            "mean_confidence",
            [](const c50::Model& m, std::size_t trial) { return trial_of(m, trial).mean_confidence; }, "trial"_a = 0,
            "Return the mean confidence with which a trial votes on the training rows.")
        .def_prop_ro(
            "in_use", [](const c50::Model& m) { return m.in_use; }, "Per column: did winnowing keep it?")
        .def_prop_ro(
            "usage", [](const c50::Model& m) { return m.usage; },
            "Per column: the weight of the training rows whose path or rules test it.")
        .def_prop_ro("seconds", &stage_seconds, "Wall-clock seconds of each stage of the fit.")
        .def("rules", &rule_arrays, "trial"_a = 0, "Return the rules of a trial as flat arrays.")
        .def("tree", &tree_arrays, "trial"_a = 0, "Return the tree of a trial as flat arrays.");

    nb::class_<c50::FlatTree>(module, "FlatTree", "A finished C5.0 tree, for classifying rows.")
        .def(
            "__init__",
            [](c50::FlatTree* self, std::size_t n_classes, const Codes& kind, const Codes& column,
               const Doubles& threshold, const Weights& distribution, const Codes& child_start, const Codes& child,
               const Codes& value_start, const Codes& value_branch, const Weights& cut, const Weights& low,
               const Weights& high) {
                new (self) c50::FlatTree;
                self->n_classes = n_classes;
                self->kind = copied(kind);
                self->column = copied(column);
                self->threshold = copied(threshold);
                self->distribution = copied(distribution);
                self->child_start = copied(child_start);
                self->child = copied(child);
                self->value_start = copied(value_start);
                self->value_branch = copied(value_branch);
                self->cut = copied(cut);
                self->low = copied(low);
                self->high = copied(high);
                self->check();
                for (std::size_t node = 0; node < self->kind.size(); ++node) {
                    float size = 0.0f;
                    for (std::size_t c = 0; c < n_classes; ++c) size += self->distribution[node * n_classes + c];
                    self->size.push_back(size);
                }
            },
            "n_classes"_a, "kind"_a, "column"_a, "threshold"_a, "distribution"_a, "child_start"_a, "child"_a,
            "value_start"_a, "value_branch"_a, "cut"_a, "low"_a, "high"_a)
        .def("classify", &classify<float, Table32>, "table"_a, "n_threads"_a = 1)
        .def("classify", &classify<double, Table64>, "table"_a, "n_threads"_a = 1,
             "Return class scores (rows × classes, flat) and the mean size of the leaves that each row reaches.");

    module.def("fit_c50", &fit_one, "matrix"_a, "classes"_a, "n_classes"_a, "weights"_a.none(), "costs"_a.none(),
               "options"_a, "n_threads"_a = 1, "is_ordered"_a.none() = nb::none(), "progress"_a.none() = nb::none(),
               "Fit one C5.0 model; classes are codes in declared order, costs are [predicted × actual].");
    module.def("fit_c50_many", &fit_many, "matrix"_a, "targets"_a, "positive_weights"_a.none(), "options"_a,
               "n_threads"_a = 1, "progress"_a.none() = nb::none(), "weights"_a.none() = nb::none(),
               "Fit one two-class model per row of targets; class 0 is true.");
    module.def("sampled_rows", &c50::sampled_rows, "n_rows"_a, "fraction"_a, "seed"_a,
               "Return the rows that C5.0 samples for training.");
}

}  // namespace clausewise::bindings
