#include "c50/fit.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "c50/boosting.hpp"
#include "c50/prune/pessimistic_errors.hpp"
#include "c50/prune/winnower.hpp"

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

// Drops the array if all weights are 1: every stage is much quicker without one.
void drop_unit_weights(Cases& cases) {
    if (std::all_of(cases.weights.begin(), cases.weights.end(), [](float weight) { return weight == 1.0f; }))
        cases.weights.clear();
}

}  // namespace

Model fit(const Matrix& matrix, TrainingData data, const Options& options, std::size_t n_threads,
          const CancelToken& cancel, std::atomic<std::size_t>* n_done) {
    const std::size_t n_columns = matrix.n_columns(), n_classes = data.n_classes;
    Cases cases{matrix, std::move(data.classes), n_classes, {}, {}, {}, options.min_cases, cancel};
    cases.is_ordered.assign(n_columns, false);
    // With up to two levels, their order does not matter.
    for (std::size_t a = 0; a < data.is_ordered.size(); ++a)
        cases.is_ordered[a] = data.is_ordered[a] && matrix.column(a).is_discrete && matrix.column(a).n_values >= 3;
    if (!data.costs.empty()) cases.costs = Costs(std::move(data.costs), n_classes);
    if (cases.costs.is_active() && n_classes == 2) {
        cases.class_scale = scale_of_costs(cases, data.weights);
        const float least_scale = std::min(cases.class_scale[0], cases.class_scale[1]);
        cases.min_cases = static_cast<float>(cases.min_cases) * least_scale;
    }
    set_weights(cases, data.weights);
    cases.keeps_many_values = all_have_many_values(cases);

    Model model;
    model.n_classes = n_classes;
    model.in_use.assign(n_columns, true);
    if (cases.weights.empty() && cases.has_missing(model.in_use)) cases.weights.assign(cases.n_rows(), 1.0f);
    const PessimisticErrors extra_errors(options.confidence);
    const auto start = std::chrono::steady_clock::now();
    if (options.winnow) {
        cases.look_at_weights(model.in_use);
        model.in_use =
            winnow(cases, matrix.information(), extra_errors, options.use_subsets, !options.rules, n_threads);
    }
    const std::chrono::duration<double> winnowing = std::chrono::steady_clock::now() - start;
    if (!cases.has_missing(model.in_use)) drop_unit_weights(cases);
    TrialBuilder builder(cases, options, extra_errors, model.in_use, n_threads);
    build_trials(cases, options, builder, model, n_done);
    model.seconds = builder.seconds();
    model.seconds.winnow = winnowing.count();
    return model;
}

}  // namespace clausewise::c50
