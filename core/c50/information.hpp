// Entropies and code lengths, in exactly the precision that C5.0's behaviour is defined in.
#pragma once

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
