// Misclassification costs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace clausewise::c50 {

// A cost matrix as C5.0 reads it: entries above 1 count, everything else is 1.
class Costs {
public:
    Costs() = default;
    Costs(std::vector<float> by_predicted_then_actual, std::size_t n_classes);

    bool is_active() const { return !costs_.empty(); }
    float operator()(std::size_t predicted, std::size_t actual) const {
        return costs_[predicted * n_classes_ + actual];
    }
    // The class of least expected cost, the first on ties.
    template <class Real>
    std::int32_t cheapest(const Real* weight_per_class) const {
        std::int32_t best = 0;
        double best_cost = 1e38;
        for (std::size_t c = 0; c < n_classes_; ++c) {
            const double cost = expected(c, weight_per_class);
            if (cost < best_cost) {
                best_cost = cost;
                best = static_cast<std::int32_t>(c);
            }
        }
        return best;
    }
    // Products and sums are double, whatever the precision of the weights.
    template <class Real>
    double expected(std::size_t predicted, const Real* weight_per_class) const {
        double cost = 0.0;
        for (std::size_t d = 0; d < n_classes_; ++d)
            if (d != predicted) cost += static_cast<double>(weight_per_class[d]) * (*this)(predicted, d);
        return cost;
    }

private:
    std::size_t n_classes_ = 0;
    std::vector<float> costs_;
};

}  // namespace clausewise::c50
