// The ridge-penalised logistic loss of rule weights, and its derivatives.
#pragma once

#include <cstddef>
#include <vector>

#include "compact/row_groups.hpp"

namespace clausewise::compact {

// The objective and its derivatives at some weights. Exponentials take most of the time, so the objective itself, which
// needs logarithms as well, is computed only on request.
class LogisticObjective {
public:
    LogisticObjective(const RowGroups& groups, std::size_t n_rules, double penalty)
        : groups_(groups),
          n_(n_rules + 1),
          penalty_(penalty),
          margin_(groups.size()),
          power_(groups.size()),
          probability_(groups.size()),
          slope_(groups.size()) {}

    void move_to(const std::vector<double>& weights);

    double objective(const std::vector<double>& weights) const;

    void gradient(const std::vector<double>& weights, std::vector<double>& gradient) const;

    // Lower triangle.
    void second_derivatives(std::vector<double>& gram) const;

    const std::vector<double>& margin() const { return margin_; }

private:
    double curvature(std::size_t g) const { return groups_.weight[g] * probability_[g] * (1.0 - probability_[g]); }

    const RowGroups& groups_;
    std::size_t n_;
    double penalty_;
    std::vector<double> margin_;
    std::vector<double> power_;  // exp(−|margin|)
    std::vector<double> probability_;
    std::vector<double> slope_;  // derivative of the loss with respect to the margin
};

}  // namespace clausewise::compact
