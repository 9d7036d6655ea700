#include "c50/fit.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <numeric>
#include <utility>

#include "c50/grow/grower.hpp"
#include "c50/information.hpp"
#include "c50/prune/global_pruner.hpp"
#include "c50/prune/local_pruner.hpp"
#include "c50/prune/pessimistic_errors.hpp"
#include "c50/prune/tree_passes.hpp"
#include "c50/prune/winnower.hpp"
#include "c50/rules/error_costs.hpp"
#include "c50/rules/rule_former.hpp"
#include "c50/rules/rule_selector.hpp"
#include "c50/usage.hpp"

namespace clausewise::c50 {
namespace {

// The mean of the positive weights; 1 if there are none.
double mean_weight(const std::vector<float>& weights) {
    double sum = 0.0;
    std::size_t n_positive = 0;
    for (const float weight : weights)
        if (weight > 0.0f) {
            sum += weight;
            ++n_positive;
        }
    return n_positive == 0 ? 1.0 : sum / static_cast<double>(n_positive);
}

// Per class, what two-class costs multiply the weights with. `weights` are those given, not relative to their mean.
std::vector<float> scale_of_costs(const Cases& cases, const std::vector<float>& weights) {
    std::array<double, 2> totals{};
    for (std::size_t row = 0; row < cases.n_rows(); ++row)
        totals[cases.classes[row]] += !weights.empty() && weights[row] > 0.0f ? weights[row] : 1.0f;
    const float missing_first = cases.costs(1, 0), missing_second = cases.costs(0, 1);
    const float scale =
        static_cast<float>((totals[0] * missing_first + totals[1] * missing_second) / (totals[0] + totals[1]));
    return {missing_first / scale, missing_second / scale};
}

// Sets the weights relative to the mean of the positive ones (all others become 1), times the scale of the class.
void set_weights(Cases& cases, const std::vector<float>& weights) {
    if (weights.empty() && cases.class_scale.empty()) return;
    const double mean = mean_weight(weights);
    cases.weights.assign(cases.n_rows(), 1.0f);
    for (std::size_t row = 0; row < cases.n_rows(); ++row) {
        const double relative = !weights.empty() && weights[row] > 0.0f ? weights[row] / mean : 1.0;
        const double scale = cases.class_scale.empty() ? 1.0 : cases.class_scale[cases.classes[row]];
        cases.weights[row] = static_cast<float>(scale * relative);  // rounded once
    }
}

// Are all columns discrete with very many values?
bool all_have_many_values(const Cases& cases) {
    for (std::size_t a = 0; a < cases.matrix.n_columns(); ++a)
        if (!cases.has_many_values(a, cases.n_rows())) return false;
    return true;
}

bool has_missing(const Matrix& matrix, const std::vector<bool>& in_use) {
    for (std::size_t a = 0; a < in_use.size(); ++a)
        if (in_use[a] && matrix.column(a).has_missing) return true;
    return false;
}

// Drops the array if all weights are 1: every stage is much quicker without one.
void drop_unit_weights(Cases& cases) {
    if (std::all_of(cases.weights.begin(), cases.weights.end(), [](float weight) { return weight == 1.0f; }))
        cases.weights.clear();
}

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

Tree pruned_tree(Cases& cases, const Options& options, const PessimisticErrors& extra_errors,
                 const std::vector<bool>& in_use, std::size_t n_threads, StageSeconds& seconds) {
    StopWatch watch;
    std::vector<std::int32_t> rows(cases.n_rows());
    std::iota(rows.begin(), rows.end(), 0);
    const RowSpan all{rows.data(), rows.data() + rows.size()};
    Grower grower(cases, GrowthSettings::of_classifier(cases.n_rows(), cases.n_classes), cases.matrix.information(),
                  in_use, options.use_subsets, n_threads);
    Tree tree = grower.grow(all);
    seconds.grow = watch.lap();
    LocalPruner(cases, grower, extra_errors).prune(tree, all);
    if (cases.costs.is_active()) {
        relabel_by_costs(cases, tree);
    } else {
        relabel_with_training_errors(tree);
        if (options.global_pruning) prune_globally(cases, tree);
    }
    tidy_discrete_tests(tree, cases.matrix.n_columns(), !options.rules);
    snap_thresholds(cases.matrix, tree);
    seconds.prune = watch.lap();
    return tree;
}

}  // namespace

Model fit(const Matrix& matrix, std::vector<std::uint16_t> classes, std::size_t n_classes,
          const std::vector<float>& weights, const std::vector<float>& costs, const Options& options,
          std::size_t n_threads, const CancelToken& cancel) {
    Cases cases{matrix, std::move(classes), n_classes, {}, {}, {}, options.min_cases, cancel};
    cases.is_ordered.assign(matrix.n_columns(), false);
    if (!costs.empty()) cases.costs = Costs(costs, n_classes);
    if (cases.costs.is_active() && n_classes == 2) {
        cases.class_scale = scale_of_costs(cases, weights);
        const float least_scale = std::min(cases.class_scale[0], cases.class_scale[1]);
        cases.min_cases = static_cast<float>(cases.min_cases) * least_scale;
    }
    set_weights(cases, weights);
    cases.keeps_many_values = all_have_many_values(cases);

    Model model;
    model.n_classes = n_classes;
    model.in_use.assign(matrix.n_columns(), true);
    if (cases.weights.empty() && has_missing(matrix, model.in_use)) cases.weights.assign(cases.n_rows(), 1.0f);
    const PessimisticErrors extra_errors(options.confidence);
    StopWatch watch;
    if (options.winnow)
        model.in_use =
            winnow(cases, matrix.information(), extra_errors, options.use_subsets, !options.rules, n_threads);
    model.seconds.winnow = watch.lap();
    if (!has_missing(matrix, model.in_use)) drop_unit_weights(cases);
    model.tree = pruned_tree(cases, options, extra_errors, model.in_use, n_threads, model.seconds);
    model.default_label = model.tree[0].label;
    if (!options.rules) {
        if (options.usage) model.usage = tree_usage(model.tree, matrix.n_columns());
        return model;
    }

    watch.lap();
    if (cases.class_scale.empty()) drop_unit_weights(cases);
    std::vector<double> class_totals(n_classes, 0.0);
    for (std::size_t row = 0; row < cases.n_rows(); ++row)
        class_totals[cases.classes[row]] += cases.weight(static_cast<std::int32_t>(row));
    const std::vector<float> error_costs = relative_error_costs(cases, class_totals);
    LogFactorial log_factorial;
    const auto n_in_use = static_cast<std::size_t>(std::count(model.in_use.begin(), model.in_use.end(), true));
    RuleFormer former(cases, class_totals, n_in_use, options.use_subsets, log_factorial, error_costs);
    FormedRules candidates = former.form(model.tree, options.always_in_leaf_order);
    model.seconds.form_rules = watch.lap();
    SelectedRules chosen =
        select_rules(cases, class_totals, std::move(candidates), model.tree[0].errors, log_factorial, error_costs);
    model.seconds.select_rules = watch.lap();
    model.default_label = chosen.default_label;
    if (options.usage) model.usage = rule_usage(cases, chosen.rules);
    model.rules = std::move(chosen.rules);
    for (FormedRule& rule : model.rules) rule.covered = RowSet{};
    return model;
}

}  // namespace clausewise::c50
