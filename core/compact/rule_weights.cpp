#include "compact/rule_weights.hpp"

#include <algorithm>
#include <cmath>

#include "compact/logistic_objective.hpp"
#include "compact/row_groups.hpp"

namespace clausewise::compact {
namespace {

// Where all rows are certain, a step is up to 1e9 times the number of rows.
constexpr int kMaxHalvings = 60;
// A step that passes the minimum so far that the objective rises at its end by this fraction of the slope at its
// beginning may have raised it.
constexpr double kMaxRise = 0.05;

// Solves matrix · x = right by a Cholesky decomposition. Overwrites the lower triangle of `matrix` with L, and `right`
// with x.
void solve_positive(std::vector<double>& matrix, std::size_t n, std::vector<double>& right) {
    for (std::size_t j = 0; j < n; ++j) {
        double* const row_j = &matrix[j * n];
        for (std::size_t k = 0; k < j; ++k) row_j[j] -= row_j[k] * row_j[k];
        // Rounding may leave a tiny negative number where rules are copies of each other and the penalty is small.
        row_j[j] = std::sqrt(std::max(row_j[j], 1e-12));
        for (std::size_t i = j + 1; i < n; ++i) {
            double* const row_i = &matrix[i * n];
            double value = row_i[j];
            for (std::size_t k = 0; k < j; ++k) value -= row_i[k] * row_j[k];
            row_i[j] = value / row_j[j];
        }
    }
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t k = 0; k < i; ++k) right[i] -= matrix[i * n + k] * right[k];
        right[i] /= matrix[i * n + i];
    }
    for (std::size_t i = n; i-- > 0;) {
        for (std::size_t k = i + 1; k < n; ++k) right[i] -= matrix[k * n + i] * right[k];
        right[i] /= matrix[i * n + i];
    }
}

double product(const std::vector<double>& a, const std::vector<double>& b) {
    double sum = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum;
}

// Whether the objective is lower at weights `tried`, where `loss` is and stays, than at weights `before`.
bool is_lower(LogisticObjective& loss, const std::vector<double>& tried, const std::vector<double>& before) {
    const double objective = loss.objective(tried);
    loss.move_to(before);
    const bool is_lower = objective < loss.objective(before);
    loss.move_to(tried);
    return is_lower;
}

}  // namespace

FittedWeights fit_weights(const FiredBits& fired, const double* target, const double* row_weight, const double* offset,
                          double penalty, const std::vector<double>& start, std::size_t max_steps, double tolerance,
                          const CancelToken& cancel) {
    const RowGroups groups =
        offset ? one_group_per_row(fired, target, row_weight, offset) : group_rows(fired, target, row_weight);
    const std::size_t n = fired.n_rules + 1;
    LogisticObjective loss(groups, fired.n_rules, penalty);
    FittedWeights fit;
    fit.weights = start;
    loss.move_to(fit.weights);
    std::vector<double> gradient, gradient_after, step, factor, tried(n);
    loss.gradient(fit.weights, gradient);
    for (std::size_t n_steps = 0;; ++n_steps) {
        cancel.check();
        if (n_steps == max_steps && n_steps > 0) break;
        loss.second_derivatives(fit.gram);
        if (n_steps == max_steps) break;
        step = gradient;
        factor = fit.gram;
        solve_positive(factor, n, step);
        const double slope = product(gradient, step);
        if (slope <= 2 * tolerance) break;
        // The objective is convex. If it rises at the end of the step nearly as steeply as it fell at its beginning,
        // the step is too long. Otherwise it mostly fell; that it did is only checked where it rises at all steeply,
        // as after a step from where all rows are certain of one class to where they are certain of the other.
        int halvings = 0;
        for (double length = 1.0; halvings < kMaxHalvings; ++halvings, length /= 2) {
            for (std::size_t i = 0; i < n; ++i) tried[i] = fit.weights[i] - length * step[i];
            loss.move_to(tried);
            loss.gradient(tried, gradient_after);
            const double fall = product(gradient_after, step);
            if (fall > -kMaxRise * slope || (fall > -0.9 * slope && is_lower(loss, tried, fit.weights))) break;
        }
        if (halvings == kMaxHalvings) {
            loss.move_to(fit.weights);
            break;
        }
        fit.weights = tried;
        gradient.swap(gradient_after);
    }
    fit.objective = loss.objective(fit.weights);
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = i + 1; j < n; ++j) fit.gram[i * n + j] = fit.gram[j * n + i];
    fit.margin.resize(fired.n_rows);
    for (std::size_t row = 0; row < fired.n_rows; ++row) fit.margin[row] = loss.margin()[groups.group_of_row[row]];
    return fit;
}

}  // namespace clausewise::compact
