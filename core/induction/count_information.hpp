// n·lg(n) of whole numbers, tabulated once per matrix.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace clausewise::induction {

inline constexpr double kLn2 = 0.69314718055994530942;

// The quotient, not std::log2: the two differ in the last bit, and strict comparisons between cuts notice.
inline double lg(double x) { return x <= 0.0 ? 0.0 : std::log(x) / kLn2; }

// n·lg(n) for integer counts, so that a scan over rows of unit weight computes no logarithm.
class CountInformation {
public:
    explicit CountInformation(std::size_t max_count) : table_(max_count + 1) {
        for (std::size_t n = 0; n <= max_count; ++n) table_[n] = static_cast<double>(n) * lg(static_cast<double>(n));
    }
    double operator[](std::int32_t n) const { return table_[static_cast<std::size_t>(n)]; }
    std::size_t max_count() const { return table_.size() - 1; }

private:
    std::vector<double> table_;
};

}  // namespace clausewise::induction
