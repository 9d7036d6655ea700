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
    Tally& operator-=(const Tally& other) {
        gradient -= other.gradient;
        curvature -= other.curvature;
        n_rows -= other.n_rows;
        unused -= other.unused;
        return *this;
    }
    Tally operator-(const Tally& other) const { return Tally(*this) -= other; }
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

// Adds these rows to the histogram, or subtracts them.
void add_rows(const ByteMatrix& matrix, const std::vector<Tally>& derivatives, const std::vector<std::uint32_t>& rows,
              GradientHistogram& histogram);
void subtract_rows(const ByteMatrix& matrix, const std::vector<Tally>& derivatives,
                   const std::vector<std::uint32_t>& rows, GradientHistogram& histogram);

// A term of one column.
struct Cut {
    double gain = 0.0;
    BinSet accepts{};
    std::int32_t cost = 0;  // what a reader reads; see ByteMatrix::reading_cost
};

struct CutLimits {
    std::int32_t min_rows;
    // Something more to read (a bound, a category, a term) must raise the gain by this factor, and by this amount for
    // each unit of reading cost.
    double min_growth;
    double price;

    // What the gain must exceed for it to be worth reading `more` units than something with `gain`.
    double needed(double gain, std::int32_t more) const { return std::max(gain * min_growth, gain + price * more); }
};

// The term of a column with the greatest gain less price · cost, for this sign; gain 0 if there is none. `bins` holds
// a tally for every bin, that of missing values included.
Cut best_cut(const ByteMatrix& matrix, std::size_t column, const Tally* bins, const Derivatives& derivatives, int sign,
             const CutLimits& limits);

}  // namespace clausewise::compact
