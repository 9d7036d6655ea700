#include "c50/trial.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <utility>

#include "c50/division.hpp"
#include "c50/grow/grower.hpp"
#include "c50/prune/global_pruner.hpp"
#include "c50/prune/local_pruner.hpp"
#include "c50/prune/soft_thresholds.hpp"
#include "c50/prune/tree_passes.hpp"
#include "c50/rules/error_costs.hpp"
#include "c50/rules/rule_former.hpp"
#include "c50/rules/rule_selector.hpp"
#include "c50/rules/rule_votes.hpp"

namespace clausewise::c50 {
namespace {

// Leaves per case that later trees may have, relative to the first tree.
constexpr double kMoreLeaves = 1.1;

// Measures the seconds since construction or since the last lap.
class StopWatch {
public:
    double lap() {
        const auto now = std::chrono::steady_clock::now();
        return std::chrono::duration<double>(now - std::exchange(last_, now)).count();
    }

private:
    std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

// Removes weights that are all 1 while rules are formed, which is much quicker without them.
class WithoutUnitWeights {
public:
    explicit WithoutUnitWeights(Cases& cases) : cases_(cases) {
        if (cases.class_scale.empty() && !cases.weights.empty() &&
            std::all_of(cases.weights.begin(), cases.weights.end(), [](float weight) { return weight == 1.0f; }))
            cases.weights.swap(removed_);
    }
    ~WithoutUnitWeights() {
        if (!removed_.empty()) cases_.weights.swap(removed_);
    }
    WithoutUnitWeights(const WithoutUnitWeights&) = delete;
    WithoutUnitWeights& operator=(const WithoutUnitWeights&) = delete;

private:
    Cases& cases_;
    std::vector<float> removed_;
};

template <class Count>
std::size_t sum_over_leaves(const Tree& tree, std::int32_t id, Count&& count) {
    const Node& node = tree[id];
    std::size_t n = 0;
    for (std::size_t b = 0; b < node.children.size(); ++b) {
        const Node& child = tree[node.children[b]];
        if (child.size < kMinBranchWeight) continue;
        n += child.is_leaf() ? count(node.test, b) : sum_over_leaves(tree, node.children[b], count);
    }
    return n;
}

// The leaves that limit those of later trees. In trees without subsets, a merged leaf counts once for each value.
std::size_t limiting_leaves(const Tree& tree, const Options& options) {
    if (tree[0].is_leaf() || options.rules || options.use_subsets) return count_leaves(tree);
    return sum_over_leaves(tree, 0, [](const Test& test, std::size_t branch) {
        return test.is_merged
                   ? static_cast<std::size_t>(std::count(test.branch_of_value.begin(), test.branch_of_value.end(),
                                                         static_cast<std::int32_t>(branch)))
                   : std::size_t{1};
    });
}

}  // namespace

std::size_t count_leaves(const Tree& tree) {
    if (tree[0].is_leaf()) return tree[0].size < kMinBranchWeight ? 0 : 1;
    return sum_over_leaves(tree, 0, [](const Test&, std::size_t) { return std::size_t{1}; });
}

TrialBuilder::TrialBuilder(Cases& cases, const Options& options, const PessimisticErrors& extra_errors,
                           const std::vector<bool>& in_use, std::size_t n_threads)
    : cases_(cases),
      options_(options),
      extra_errors_(extra_errors),
      in_use_(in_use),
      n_threads_(n_threads),
      n_cuts_(cases.matrix.n_columns(), 0) {}

Trial TrialBuilder::build(const std::vector<std::int32_t>& growing_rows) {
    cases_.look_at_weights(in_use_);
    Trial trial;
    trial.classifier.tree = pruned_tree(growing_rows);
    const Tree& tree = trial.classifier.tree;
    trial.classifier.default_label = tree[0].label;
    if (is_first_) {
        leaf_ratio_ = static_cast<float>(kMoreLeaves * static_cast<double>(limiting_leaves(tree, options_)) /
                                         static_cast<double>(cases_.n_rows()));
        const std::vector<bool> tested = tested_columns(tree, cases_.matrix.n_columns());
        for (std::size_t a = 0; a < tested.size(); ++a)
            if (tested[a]) n_cuts_[a] = cases_.matrix.column(a).n_values - 1;
        is_first_ = false;
    }
    if (options_.rules) form_rules(trial);
    if (options_.summary || options_.n_trials > 1) judge(trial);
    return trial;
}

Tree TrialBuilder::pruned_tree(const std::vector<std::int32_t>& growing_rows) {
    StopWatch watch;
    GrowthSettings settings = GrowthSettings::of_classifier(cases_.n_rows(), cases_.n_classes);
    settings.leaf_ratio = leaf_ratio_;
    Grower grower(cases_, settings, cases_.matrix.information(), in_use_, options_.use_subsets, n_threads_);
    std::vector<std::int32_t> rows = growing_rows;
    Tree tree = grower.grow({rows.data(), rows.data() + rows.size()});
    seconds_.grow += watch.lap();
    LocalPruner pruner(cases_, grower, extra_errors_);
    if (is_first_) {
        pruner.prune(tree, {rows.data(), rows.data() + rows.size()});
    } else {
        rows.resize(cases_.n_rows());
        std::iota(rows.begin(), rows.end(), 0);
        pruner.prune_without_rebuilding(tree, {rows.data(), rows.data() + rows.size()});
    }
    if (cases_.costs.is_active()) {
        relabel_by_costs(cases_, tree);
    } else {
        relabel_with_training_errors(tree);
        if (options_.global_pruning) prune_globally(cases_, tree);
    }
    tidy_discrete_tests(tree, cases_.matrix.n_columns(), is_first_ && !options_.rules);
    snap_thresholds(cases_.matrix, tree);
    if (options_.fuzzy_thresholds) soften_thresholds(cases_, tree);
    seconds_.prune += watch.lap();
    return tree;
}

void TrialBuilder::form_rules(Trial& trial) {
    StopWatch watch;
    const WithoutUnitWeights guard(cases_);
    const Tree& tree = trial.classifier.tree;
    std::vector<double> class_totals(cases_.n_classes, 0.0);
    for (std::size_t row = 0; row < cases_.n_rows(); ++row)
        class_totals[cases_.classes[row]] += cases_.weight(static_cast<std::int32_t>(row));
    const std::vector<float> error_costs = relative_error_costs(cases_, class_totals);
    const auto n_in_use = static_cast<std::size_t>(std::count(in_use_.begin(), in_use_.end(), true));
    RuleFormer former(cases_, class_totals, n_in_use, options_.use_subsets, n_cuts_, log_factorial_, error_costs);
    FormedRules candidates = former.form(tree, options_.always_in_leaf_order);
    seconds_.form_rules += watch.lap();
    SelectedRules chosen =
        select_rules(cases_, class_totals, std::move(candidates), tree[0].errors, log_factorial_, error_costs);
    trial.classifier.rules = std::move(chosen.rules);
    trial.classifier.default_label = chosen.default_label;
    trial.rows = std::move(chosen.rows);
    seconds_.select_rules += watch.lap();
}

void TrialBuilder::judge(Trial& trial) {
    const Classifier& classifier = trial.classifier;
    if (options_.rules) {
        trial.verdicts = rule_verdicts(cases_, classifier.rules, classifier.default_label, trial.rows);
    } else {
        TrainingClassifier by_tree(cases_, classifier.tree);
        trial.verdicts.reserve(cases_.n_rows());
        for (std::int32_t row = 0; row < static_cast<std::int32_t>(cases_.n_rows()); ++row) {
            if (row % 65536 == 0) cases_.cancel.check();
            trial.verdicts.push_back(by_tree.judge(row));
        }
    }
    double sum = 0.0;
    for (std::size_t row = 0; row < cases_.n_rows(); ++row) {
        trial.classifier.n_errors += static_cast<std::size_t>(trial.verdicts[row].label) != cases_.classes[row];
        sum += trial.verdicts[row].confidence;
    }
    trial.classifier.mean_confidence = sum / static_cast<double>(cases_.n_rows());
}

}  // namespace clausewise::c50
