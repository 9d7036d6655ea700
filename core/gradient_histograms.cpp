#include "gradient_histograms.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace clausewise {
namespace {

// Sums stay below 2^30, so that differences of sums fit as well.
constexpr double kLargestSum = 1 << 30;

double scale_for(const double* values, std::size_t n) {
    double total = 0.0;
    for (std::size_t i = 0; i < n; ++i) total += std::abs(values[i]);
    // Rounding adds at most half a unit per row.
    return total > 0 ? (kLargestSum - static_cast<double>(n)) / total : 1.0;
}

Cut best_interval(const Tally* bins, std::int32_t n_bins, const Derivatives& derivatives, int sign,
                  const CutRules& rules) {
    Tally up_to[ByteMatrix::kMaxBins];
    Tally total;
    for (std::int32_t b = 0; b < n_bins; ++b) {
        total += bins[b];
        up_to[b] = total;
    }
    double best_below = 0.0, best_above = 0.0;
    std::int32_t below = -1, above = -1;  // x ≤ bin `below`, x > bin `above`
    for (std::int32_t b = 0; b + 1 < n_bins; ++b) {
        if (bins[b].n_rows == 0) continue;
        const Tally rest = total - up_to[b];
        if (up_to[b].n_rows >= rules.min_rows) {
            const double gain = derivatives.gain(up_to[b], sign);
            if (gain > best_below) best_below = gain, below = b;
        }
        if (rest.n_rows >= rules.min_rows) {
            const double gain = derivatives.gain(rest, sign);
            if (gain > best_above) best_above = gain, above = b;
        }
    }
    std::int32_t low = -1, high = n_bins - 1;
    double best = 0.0;
    if (best_below > 0 && best_below >= best_above) best = best_below, high = below;
    else if (best_above > 0) best = best_above, low = above;
    double best_between = rules.needed(best);
    std::int32_t between_low = -1, between_high = -1;
    const auto try_between = [&](std::int32_t from, std::int32_t to) {
        const Tally inside = up_to[to] - up_to[from];
        if (inside.n_rows < rules.min_rows) return;
        const double gain = derivatives.gain(inside, sign);
        if (gain > best_between) best_between = gain, between_low = from, between_high = to;
    };
    for (std::int32_t b = 0; b < below; ++b) try_between(b, below);
    if (above >= 0)
        for (std::int32_t b = above + 1; b + 1 < n_bins; ++b) try_between(above, b);
    if (between_low >= 0) best = best_between, low = between_low, high = between_high;
    if (best <= 0) return {};
    const Tally sum = low < 0 ? up_to[high] : up_to[high] - up_to[low];
    return {best, bins_between(static_cast<std::size_t>(low + 1), static_cast<std::size_t>(high)), sum};
}

// Categories in the order of what a weight on each alone would be; the best set is a beginning of that order.
Cut best_value_set(const Tally* bins, std::int32_t n_bins, const Derivatives& derivatives, int sign,
                   const CutRules& rules) {
    std::vector<std::int32_t> order;
    for (std::int32_t b = 0; b < n_bins; ++b)
        if (bins[b].n_rows > 0 && sign * bins[b].gradient > 0) order.push_back(b);
    const auto slope = [&](std::int32_t b) {
        return sign * static_cast<double>(bins[b].gradient) / (1.0 + bins[b].curvature);
    };
    std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) { return slope(a) > slope(b); });
    Cut best;
    Tally sum;
    BinSet accepts{};
    for (const std::int32_t b : order) {
        sum += bins[b];
        accepts[static_cast<std::size_t>(b) / 64] |= std::uint64_t{1} << (b % 64);
        if (sum.n_rows < rules.min_rows) continue;
        const double gain = derivatives.gain(sum, sign);
        if (gain > best.gain) best = {gain, accepts, sum};
    }
    return best;
}

}  // namespace

Derivatives::Derivatives(const double* gradient, const double* curvature, std::size_t n_rows, double penalty)
    : rows_(n_rows) {
    const double gradient_scale = scale_for(gradient, n_rows), curvature_scale = scale_for(curvature, n_rows);
    for (std::size_t row = 0; row < n_rows; ++row)
        rows_[row] = {static_cast<std::int32_t>(std::lround(gradient[row] * gradient_scale)),
                      static_cast<std::int32_t>(std::lround(curvature[row] * curvature_scale)), 1, 0};
    scale_ = curvature_scale / (gradient_scale * gradient_scale);
    penalty_ = penalty * curvature_scale;
}

void add_rows(const ByteMatrix& matrix, const std::vector<Tally>& derivatives, const std::vector<std::uint32_t>& rows,
              Histograms& histograms) {
    for (std::size_t b = 0; b < matrix.n_blocks(); ++b) {
        const std::size_t width = matrix.block_width(b);
        const std::uint8_t* const block = matrix.block(b);
        Tally* first_of[ByteMatrix::kBlockColumns];
        for (std::size_t c = 0; c < width; ++c) first_of[c] = &histograms[matrix.first_bin(matrix.first_column(b) + c)];
        for (const std::uint32_t row : rows) {
            const std::uint8_t* const bins = block + row * width;
            const Tally own = derivatives[row];
            for (std::size_t c = 0; c < width; ++c) first_of[c][bins[c]] += own;
        }
    }
}

Cut best_cut(const Tally* bins, std::int32_t n_bins, bool is_nominal, const Derivatives& derivatives, int sign,
             const CutRules& rules) {
    if (is_nominal) return best_value_set(bins, n_bins, derivatives, sign, rules);
    return best_interval(bins, n_bins, derivatives, sign, rules);
}

}  // namespace clausewise
