#include "c50/sampling.hpp"

#include <array>
#include <cmath>

namespace clausewise::c50 {

std::vector<std::int64_t> sampled_rows(std::size_t n_rows, double fraction, std::int64_t seed) {
    // Knuth's subtractive generator.
    std::array<double, 55> state{};
    double p = 1.0, q = 0.314159285;
    for (std::size_t t = 1; t <= 55; ++t) {
        state[21 * t % 55] = p;
        const double next = q - p;
        q = p;
        p = next < 0.0 ? next + 1.0 : next;
    }
    const auto subtract = [&](std::size_t target, std::size_t other) {
        state[target] -= state[other];
        if (state[target] < 0.0) state[target] += 1.0;
    };
    for (int pass = 0; pass < 6; ++pass)
        for (std::size_t j = 0; j < 55; ++j) subtract(j, (j + 30) % 55);
    std::size_t first = 0, second = 31;
    const auto draw = [&] {
        first = (first + 1) % 55;
        second = (second + 1) % 55;
        subtract(first, second);
        return state[first];
    };
    for (std::int64_t i = 0; i < seed + 1000; ++i) draw();

    auto wanted = static_cast<std::int64_t>(std::floor(static_cast<double>(n_rows) * fraction + 0.5));
    std::vector<std::int64_t> taken;
    for (std::size_t row = 0; row < n_rows; ++row) {
        const auto left = static_cast<double>(n_rows - row);
        if (draw() < static_cast<float>(static_cast<double>(wanted) / left)) {
            taken.push_back(static_cast<std::int64_t>(row));
            --wanted;
        }
    }
    return taken;
}

}  // namespace clausewise::c50
