// Entropies and code lengths, in exactly the precision that C5.0's behaviour is defined in.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "induction/count_information.hpp"

namespace clausewise::c50 {

using induction::CountInformation;
using induction::lg;

// Entropy times size, in bits. Class counts enter in single precision, products and sums are double.
inline double total_information(const double* counts, std::size_t n_classes) {
    double total = 0.0, parts = 0.0;
    for (std::size_t c = 0; c < n_classes; ++c) {
        const double count = static_cast<float>(counts[c]);
        total += count;
        parts += count * lg(count);
    }
    return total * lg(total) - parts;
}

// lg(x) up to 1e-8, for x above zero: from the nearest of 256 numbers between powers of two, to second order.
class QuickLg {
public:
    QuickLg() {
        for (std::size_t i = 0; i < kNear; ++i) {
            const double near = 1.0 + (static_cast<double>(i) + 0.5) / kNear;
            per_near_[i] = 1.0 / near;
            lg_[i] = lg(near);
        }
    }
    double operator()(double x) const {
        std::uint64_t bits;
        std::memcpy(&bits, &x, sizeof bits);
        const std::uint64_t digits = bits & ((std::uint64_t{1} << 52) - 1);
        const auto i = static_cast<std::size_t>(digits >> 44);
        const std::uint64_t scaled = digits | std::uint64_t{1023} << 52;
        double from_one_to_two;
        std::memcpy(&from_one_to_two, &scaled, sizeof scaled);
        const double d = from_one_to_two * per_near_[i] - 1.0;
        return static_cast<double>(static_cast<std::int64_t>(bits >> 52) - 1023) + lg_[i] +
               d * (1.0 - 0.5 * d) * (1.0 / induction::kLn2);
    }

private:
    static constexpr std::size_t kNear = 256;
    std::array<double, kNear> per_near_{}, lg_{};
};

inline const QuickLg quick_lg;

// The entropy times size of two classes of these weights, up to 1e-7 times their sum.
inline double quick_information(double first, double second) {
    const auto times_lg = [](double x) { return x > 0.0 ? x * quick_lg(x) : 0.0; };
    return times_lg(first + second) - times_lg(first) - times_lg(second);
}

// A lower bound on lg(x), at most 0.09 less: linear between powers of two.
inline float low_lg(float x) {
    std::int32_t bits;
    std::memcpy(&bits, &x, sizeof bits);
    return static_cast<float>(bits) * 0x1p-23f - 127.001f;
}

// lg(j!), as the running sum of lg(2), lg(3), …
class LogFactorial {
public:
    double operator()(std::size_t j) {
        while (table_.size() <= j) table_.push_back(table_.back() + lg(static_cast<double>(table_.size())));
        return table_[j];
    }

private:
    std::vector<double> table_{0.0, 0.0};
};

}  // namespace clausewise::c50
