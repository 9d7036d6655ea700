// Logarithms, entropies and error bounds in exactly the precision that C5.0's behaviour is defined in.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace clausewise {

// The quotient, not std::log2: the two differ in the last bit, and strict comparisons between cuts notice.
inline double lg(double x) { return x <= 0.0 ? 0.0 : std::log(x) / 0.69314718055994530942; }

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

// n·lg(n) for integer counts, so that a scan over unit-weight rows takes no logarithm.
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

// How many errors more than the `errors` seen among `n` cases are to be expected, at the confidence level CF.
class PessimisticErrors {
public:
    explicit PessimisticErrors(float cf);
    float operator()(float n, float errors) const;

private:
    float without_errors(float n) const { return static_cast<float>(n * (1.0 - std::exp(log_cf_ / n))); }
    float with_errors(float n, float errors) const;

    float k_;
    double log_cf_;
};

}  // namespace clausewise
