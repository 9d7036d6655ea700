#include "compact/gradient_histogram.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace clausewise::compact {
namespace {

// Sums stay below 2^30, so that differences of sums fit as well. 64 bits would double the size of a histogram, which
// has to stay in the cache.
constexpr double kMaxSum = 1 << 30;
// With more rows, a row would have less than three units on average, and rounding would blur its derivatives.
constexpr std::size_t kMaxRows = std::size_t{1} << 28;

double scale_for(const double* values, std::size_t n) {
    double total = 0.0;
    for (std::size_t i = 0; i < n; ++i) total += std::abs(values[i]);
    // Rounding adds at most a unit per row.
    return total > 0 ? (kMaxSum - static_cast<double>(n)) / total : 1.0;
}

// From so many rows on, a row has fewer than about 1,000 units. Equal derivatives of many rows, as there are before the
// first rule, would then all be rounded the same way, which adds up; they are rounded up or down at random instead.
constexpr std::size_t kManyRows = std::size_t{1} << 20;

// A fraction below 1 that is random, but the same for the same row (SplitMix64).
double fraction_for(std::size_t row) {
    std::uint64_t bits = (static_cast<std::uint64_t>(row) + 1) * 0x9e3779b97f4a7c15u;
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9u;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
    return static_cast<double>((bits ^ (bits >> 31)) >> 11) * 0x1p-53;
}

// gains[b] of the sums from[b]; see Derivatives::gain. Plain arrays, so that the compiler can vectorise the loop.
CLAUSEWISE_CLONES
void write_gains(const double* gradient, const double* curvature, const double* n_rows, std::size_t n, double penalty,
                 double min_rows, double* gains) {
    for (std::size_t b = 0; b < n; ++b) {
        const double gain = gradient[b] * gradient[b] / (curvature[b] + penalty);
        gains[b] = (gradient[b] > 0) & (n_rows[b] >= min_rows) ? gain : 0.0;
    }
}

// Sums per bin in separate arrays; gradients are multiplied by the sign, so that greater is better.
struct Sums {
    double gradient[ByteMatrix::kMaxBins];
    double curvature[ByteMatrix::kMaxBins];
    double n_rows[ByteMatrix::kMaxBins];
};

struct Best {
    double gain = 0.0;
    std::int32_t place = -1;
};

class IntervalSearch {
public:
    IntervalSearch(const Tally* bins, std::int32_t n_bins, const Derivatives& derivatives, int sign,
                   const CutLimits& limits)
        : n_bins_(n_bins), penalty_(derivatives.penalty()), min_rows_(limits.min_rows) {
        Tally total;
        for (std::int32_t b = 0; b < n_bins; ++b) {
            total += bins[b];
            sums_.gradient[b] = sign * static_cast<double>(total.gradient);
            sums_.curvature[b] = total.curvature;
            sums_.n_rows[b] = total.n_rows;
        }
    }

    // x ≤ bin `place`, for all bins but the last.
    Best below() {
        write_gains(sums_.gradient, sums_.curvature, sums_.n_rows, count(n_bins_ - 1), penalty_, min_rows_, gains_);
        return best_of(0, n_bins_ - 1);
    }
    // Bin `place` < x ≤ bin `high`, for places from 0.
    Best above(std::int32_t high) {
        for (std::int32_t b = 0; b < high; ++b) {
            part_.gradient[b] = sums_.gradient[high] - sums_.gradient[b];
            part_.curvature[b] = sums_.curvature[high] - sums_.curvature[b];
            part_.n_rows[b] = sums_.n_rows[high] - sums_.n_rows[b];
        }
        write_gains(part_.gradient, part_.curvature, part_.n_rows, count(high), penalty_, min_rows_, gains_);
        return best_of(0, high);
    }
    // Bin `low` < x ≤ bin `place`, for all places but the last bin.
    Best below_from(std::int32_t low) {
        for (std::int32_t b = low + 1; b + 1 < n_bins_; ++b) {
            part_.gradient[b] = sums_.gradient[b] - sums_.gradient[low];
            part_.curvature[b] = sums_.curvature[b] - sums_.curvature[low];
            part_.n_rows[b] = sums_.n_rows[b] - sums_.n_rows[low];
        }
        const std::int32_t first = low + 1;
        write_gains(part_.gradient + first, part_.curvature + first, part_.n_rows + first, count(n_bins_ - 1 - first),
                    penalty_, min_rows_, gains_ + first);
        return best_of(first, n_bins_ - 1);
    }

private:
    static std::size_t count(std::int32_t n) { return static_cast<std::size_t>(std::max(n, 0)); }

    Best best_of(std::int32_t begin, std::int32_t end) const {
        Best best;
        for (std::int32_t b = begin; b < end; ++b)
            if (gains_[b] > best.gain) best = {gains_[b], b};
        return best;
    }

    std::int32_t n_bins_;
    double penalty_;
    double min_rows_;
    Sums sums_;
    Sums part_;
    double gains_[ByteMatrix::kMaxBins];
};

// The best bound on one side and then, if it is worth reading, the best second bound.
Cut best_interval(const Tally* bins, std::int32_t n_bins, const Derivatives& derivatives, int sign,
                  const CutLimits& limits) {
    if (n_bins < 2) return {};
    IntervalSearch search(bins, n_bins, derivatives, sign, limits);
    const std::int32_t last = n_bins - 1;
    const Best below = search.below(), above = search.above(last);
    if (below.gain <= 0 && above.gain <= 0) return {};
    const bool is_below = below.gain >= above.gain;
    std::int32_t low = is_below ? -1 : above.place, high = is_below ? below.place : last;
    double gain = std::max(below.gain, above.gain);
    double needed = limits.needed(gain * derivatives.scale(), 1) / derivatives.scale();
    if (below.place > 0) {
        const Best inside = search.above(below.place);
        if (inside.gain > needed) needed = gain = inside.gain, low = inside.place, high = below.place;
    }
    if (above.place >= 0) {
        const Best inside = search.below_from(above.place);
        if (inside.gain > needed) gain = inside.gain, low = above.place, high = inside.place;
    }
    return {gain * derivatives.scale(), bins_between(static_cast<std::size_t>(low + 1), static_cast<std::size_t>(high)),
            (low >= 0) + (high < last)};
}

// Value sets are read as the categories that they name or, if these are fewer, exclude. Of a given number of named
// categories, the best are those with the greatest gradients or, if the set is large, with the greatest weights that
// a rule on each alone would get; likewise for excluded ones.
class ValueSetSearch {
public:
    ValueSetSearch(const Tally* bins, std::int32_t n_bins, std::int32_t n_values, const Derivatives& derivatives,
                   int sign, const CutLimits& limits)
        : bins_(bins), n_bins_(n_bins), n_values_(n_values), derivatives_(derivatives), sign_(sign), limits_(limits) {}

    Cut best() {
        std::vector<std::int32_t> order;
        for (std::int32_t b = 0; b < n_bins_; ++b)
            if (bins_[b].n_rows > 0) order.push_back(b);
        sort(order, [&](std::int32_t b) { return gradient(b); });
        name(order);
        exclude(order);
        sort(order, [&](std::int32_t b) { return gradient(b) / (1.0 + bins_[b].curvature); });
        name(order);
        exclude(order);
        return best_;
    }

private:
    double gradient(std::int32_t b) const { return sign_ * static_cast<double>(bins_[b].gradient); }

    template <class Key>
    static void sort(std::vector<std::int32_t>& order, Key key) {
        std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) { return key(a) > key(b); });
    }

    void consider(const Tally& sum, const BinSet& accepts, std::int32_t cost) {
        if (sum.n_rows < limits_.min_rows) return;
        const double gain = derivatives_.gain(sum, sign_);
        if (gain - limits_.price * cost > best_.gain - limits_.price * best_.cost) best_ = {gain, accepts, cost};
    }

    void name(const std::vector<std::int32_t>& order) {
        Tally sum;
        BinSet accepts{};
        std::int32_t n_named = 0;
        for (const std::int32_t b : order) {
            if (gradient(b) <= 0) break;
            sum += bins_[b];
            accepts[static_cast<std::size_t>(b) / 64] |= std::uint64_t{1} << (b % 64);
            consider(sum, accepts, ++n_named);
        }
    }

    // Bins without rows here stay accepted.
    void exclude(const std::vector<std::int32_t>& order) {
        Tally sum;
        for (const std::int32_t b : order) sum += bins_[b];
        BinSet accepts = bins_between(0, static_cast<std::size_t>(n_bins_ - 1));
        std::int32_t n_excluded = n_values_ - n_bins_;
        for (auto b = order.rbegin(); b != order.rend() && gradient(*b) < 0; ++b) {
            sum = sum - bins_[*b];
            accepts[static_cast<std::size_t>(*b) / 64] &= ~(std::uint64_t{1} << (*b % 64));
            consider(sum, accepts, ++n_excluded);
        }
    }

    const Tally* bins_;
    std::int32_t n_bins_;
    std::int32_t n_values_;
    const Derivatives& derivatives_;
    int sign_;
    const CutLimits& limits_;
    Cut best_;
};

// Adds change(derivatives) of these rows to their bins.
template <class Change>
void change_by_rows(const ByteMatrix& matrix, const std::vector<Tally>& derivatives,
                    const std::vector<std::uint32_t>& rows, GradientHistogram& histogram, Change&& change) {
    for (const ByteMatrix::Block& block : matrix.blocks()) {
        const std::size_t width = block.columns.size();
        Tally* first_of[ByteMatrix::kBlockColumns];
        for (std::size_t c = 0; c < width; ++c) first_of[c] = &histogram[matrix.first_bin(block.columns[c])];
        for (const std::uint32_t row : rows) {
            const std::uint8_t* const bins = block.bins.data() + row * width;
            const Tally own = change(derivatives[row]);
            for (std::size_t c = 0; c < width; ++c) first_of[c][bins[c]] += own;
        }
    }
    const ByteMatrix::Exceptions& exceptions = matrix.exceptions();
    if (exceptions.common_bins.empty()) return;
    // As if all rows had the common bin, except for those that do not.
    Tally total;
    for (const std::uint32_t row : rows) {
        const Tally own = change(derivatives[row]);
        total += own;
        for (std::size_t i = exceptions.starts[row]; i < exceptions.starts[row + 1]; ++i) {
            histogram[exceptions.bins[i]] += own;
            histogram[exceptions.common_of[i]] -= own;
        }
    }
    for (const std::uint32_t bin : exceptions.common_bins) histogram[bin] += total;
}

}  // namespace

Derivatives::Derivatives(const double* gradient, const double* curvature, std::size_t n_rows, double penalty)
    : rows_(n_rows <= kMaxRows ? n_rows : throw std::length_error("at most 268,435,456 rows can be searched")) {
    const double gradient_scale = scale_for(gradient, n_rows), curvature_scale = scale_for(curvature, n_rows);
    for (std::size_t row = 0; row < n_rows; ++row) {
        const double first = gradient[row] * gradient_scale, second = curvature[row] * curvature_scale;
        const auto rounded = [&](double value) {
            return static_cast<std::int32_t>(n_rows < kManyRows ? std::lround(value)
                                                                : std::lround(std::floor(value + fraction_for(row))));
        };
        rows_[row] = {rounded(first), rounded(second), 1, 0};
    }
    scale_ = curvature_scale / (gradient_scale * gradient_scale);
    penalty_ = penalty * curvature_scale;
}

void add_rows(const ByteMatrix& matrix, const std::vector<Tally>& derivatives, const std::vector<std::uint32_t>& rows,
              GradientHistogram& histogram) {
    change_by_rows(matrix, derivatives, rows, histogram, [](const Tally& own) { return own; });
}

void subtract_rows(const ByteMatrix& matrix, const std::vector<Tally>& derivatives,
                   const std::vector<std::uint32_t>& rows, GradientHistogram& histogram) {
    change_by_rows(matrix, derivatives, rows, histogram, [](const Tally& own) { return Tally{} - own; });
}

Cut best_cut(const ByteMatrix& matrix, std::size_t column, const Tally* bins, const Derivatives& derivatives, int sign,
             const CutLimits& limits) {
    const std::int32_t n_bins = matrix.n_bins(column);
    Cut best = matrix.is_nominal(column)
                   ? ValueSetSearch(bins, n_bins, matrix.n_values(column), derivatives, sign, limits).best()
                   : best_interval(bins, n_bins, derivatives, sign, limits);
    const Tally& missing = bins[n_bins];
    if (!matrix.tests_missing(column) || missing.n_rows == 0) return best;
    Tally known;
    for (std::int32_t b = 0; b < n_bins; ++b) known += bins[b];
    const auto consider = [&](const Tally& sum, std::size_t first, std::size_t last) {
        if (sum.n_rows < limits.min_rows || first > last) return;
        const double gain = derivatives.gain(sum, sign);
        if (gain - limits.price > best.gain - limits.price * best.cost) best = {gain, bins_between(first, last), 1};
    };
    const auto end = static_cast<std::size_t>(n_bins);
    consider(missing, end, end);
    if (n_bins > 0) consider(known, 0, end - 1);
    return best;
}

}  // namespace clausewise::compact
