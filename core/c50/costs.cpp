#include "c50/costs.hpp"

#include <stdexcept>
#include <utility>

namespace clausewise::c50 {

Costs::Costs(std::vector<float> by_predicted_then_actual, std::size_t n_classes) : n_classes_(n_classes) {
    if (by_predicted_then_actual.size() != n_classes * n_classes)
        throw std::invalid_argument("costs must be a classes × classes matrix");
    bool any = false;
    for (std::size_t p = 0; p < n_classes; ++p)
        for (std::size_t r = 0; r < n_classes; ++r) {
            float& cost = by_predicted_then_actual[p * n_classes + r];
            if (p == r) cost = 0.0f;
            else if (!(cost > 1.0f)) cost = 1.0f;
            else any = true;
        }
    if (any) costs_ = std::move(by_predicted_then_actual);
}

}  // namespace clausewise::c50
