#include "c50/rules/error_costs.hpp"

#include <cstddef>

namespace clausewise::c50 {

std::vector<float> relative_error_costs(const Cases& cases, const std::vector<double>& class_totals) {
    if (!cases.costs.is_active() || !cases.class_scale.empty()) return {};
    const std::size_t k = cases.n_classes;
    const auto n = static_cast<double>(cases.n_rows());
    double expected = 0.0;
    for (std::size_t p = 0; p < k; ++p)
        for (std::size_t r = 0; r < k; ++r)
            if (r != p)
                expected +=
                    class_totals[p] / n * (class_totals[r] / n) / (1.0 - class_totals[p] / n) * cases.costs(p, r);
    std::vector<float> relative(k * k);
    for (std::size_t p = 0; p < k; ++p)
        for (std::size_t r = 0; r < k; ++r)
            relative[p * k + r] = static_cast<float>(cases.costs(p, r) / (0.5 * (1.0 + expected)));
    return relative;
}

}  // namespace clausewise::c50
