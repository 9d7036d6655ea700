// Sums of the first and second derivatives of a loss over rows, per bin of every column, and the best term of a column.
//
// Derivatives are whole numbers (scaled so that no sum overflows): sums are exact, do not depend on the order, and the
// sum over one of two disjoint sets of rows is that over both less the other.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "compact/byte_matrix.hpp"

namespace clausewise::compact {

// Four lanes of 32 bits: one vector addition per row and column.
struct alignas(16) Tally {
    std::int32_t gradient = 0;
    std::int32_t curvature = 0;
    std::int32_t n_rows = 0;
    std::int32_t unused = 0;

    Tally& operator+=(const Tally& other) {
        gradient += other.gradient;
        curvature += other.curvature;
        n_rows += other.n_rows;
        unused += other.unused;
        return *this;
    }
    Tally operator-(const Tally& other) const {
        return {gradient - other.gradient, curvature - other.curvature, n_rows - other.n_rows, 0};
    }
};

// One tally for every bin of every column; see ByteMatrix::first_bin.
using GradientHistogram = std::vector<Tally>;

// The derivatives of all rows in whole numbers, and the gain that a sum of them stands for.
class Derivatives {
public:
    Derivatives(const double* gradient, const double* curvature, std::size_t n_rows, double penalty);

    const std::vector<Tally>& rows() const { return rows_; }
    // G² / (H + penalty) if the gradient has this sign, otherwise 0: the decrease of the loss, to second order, when a
    // rule that covers these rows gets its best weight.
    double gain(const Tally& sum, int sign) const {
        const double gradient = sign * static_cast<double>(sum.gradient);
        return gradient <= 0 ? 0.0 : scale_ * gradient * gradient / (sum.curvature + penalty_);
    }
    // The factor from gains in whole numbers to real ones, and the penalty in whole numbers.
    double scale() const { return scale_; }
    double penalty() const { return penalty_; }

private:
    std::vector<Tally> rows_;
    double scale_ = 1.0;
    double penalty_;
};

// Adds these rows to the histogram.
void add_rows(const ByteMatrix& matrix, const std::vector<Tally>& derivatives, const std::vector<std::uint32_t>& rows,
              GradientHistogram& histogram);

struct Cut {
    double gain = 0.0;
    BinSet accepts{};
    Tally sum;
};

struct CutLimits {
    std::int32_t min_rows;
    // A further term (or second bound) must raise the gain by this factor and by this amount.
    double min_growth;
    double min_increase;

    double needed(double gain) const { return std::max(gain * min_growth, gain + min_increase); }
};

// The best interval or value set of one column for this sign; gain 0 if there is none.
Cut best_cut(const Tally* bins, std::int32_t n_bins, bool is_nominal, const Derivatives& derivatives, int sign,
             const CutLimits& limits);

}  // namespace clausewise::compact
