#include "c50/prune/pessimistic_errors.hpp"

#include <algorithm>
#include <array>

namespace clausewise::c50 {

PessimisticErrors::PessimisticErrors(float cf) {
    constexpr std::array<float, 9> kLevels{0.0f, 0.001f, 0.005f, 0.01f, 0.05f, 0.10f, 0.20f, 0.40f, 1.00f};
    constexpr std::array<float, 9> kDeviations{4.0f, 3.09f, 2.58f, 2.33f, 1.65f, 1.28f, 0.84f, 0.25f, 0.00f};
    std::size_t upper = 1;
    while (upper + 1 < kLevels.size() && kLevels[upper] < cf) ++upper;
    const float z = kDeviations[upper - 1] + (kDeviations[upper] - kDeviations[upper - 1]) * (cf - kLevels[upper - 1]) /
                                                 (kLevels[upper] - kLevels[upper - 1]);
    k_ = z * z;
    log_cf_ = std::log(static_cast<double>(std::max(cf, 1e-6f)));
}

float PessimisticErrors::operator()(float n, float errors) const {
    if (errors < 1e-6) return without_errors(n);
    if (n > 1.0f && errors < 0.9999) {
        const float none = without_errors(n);
        return none + errors * (with_errors(n, 1.0f) - none);
    }
    return with_errors(n, errors);
}

float PessimisticErrors::with_errors(float n, float errors) const {
    if (errors + 0.5 >= n) return static_cast<float>(0.67 * (n - errors));
    const double e = errors + 0.5;
    const float half = k_ / 2.0f, quarter = k_ / 4.0f, denominator = n + k_;
    const float rate = static_cast<float>((e + half + std::sqrt(k_ * (e * (1.0 - e / n) + quarter))) / denominator);
    const float expected = n * rate;
    return expected - errors;
}

}  // namespace clausewise::c50
