#include "compact/nearest_rows.hpp"

#include <algorithm>
#include <limits>

#include "base/parallel.hpp"

namespace clausewise::compact {
namespace {

// Sums in this many lanes, which the compiler keeps in vector registers; their order is fixed.
constexpr std::size_t kLanes = 8;
// After this many columns, the sum so far is compared with the worst neighbour.
constexpr std::size_t kColumnsPerLook = 32;

// The squared distance, or some number of at least `limit` if it is not smaller than that.
float squared_distance(const float* a, const float* b, std::size_t n_columns, float limit) {
    float sum = 0.0F;
    for (std::size_t begin = 0; begin < n_columns; begin += kColumnsPerLook) {
        const std::size_t end = std::min(begin + kColumnsPerLook, n_columns);
        float lanes[kLanes] = {};
        std::size_t c = begin;
        for (; c + kLanes <= end; c += kLanes)
            for (std::size_t lane = 0; lane < kLanes; ++lane) {
                const float difference = a[c + lane] - b[c + lane];
                lanes[lane] += difference * difference;
            }
        for (; c < end; ++c) {
            const float difference = a[c] - b[c];
            lanes[0] += difference * difference;
        }
        for (const float lane : lanes) sum += lane;
        if (sum >= limit) return sum;
    }
    return sum;
}

struct Neighbour {
    float distance;
    std::int32_t row;
};

}  // namespace

std::vector<std::int32_t> nearest_rows(const PointsView& points, const std::vector<std::int32_t>& queries,
                                       const std::vector<std::int32_t>& candidates, std::size_t n_nearest,
                                       std::size_t n_threads, const CancelToken& cancel) {
    std::vector<std::int32_t> found(queries.size() * n_nearest);
    parallel_for(queries.size(), n_threads, [&](std::size_t q, std::size_t) {
        cancel.check();
        const std::int32_t query = queries[q];
        const float* const own = points.row(static_cast<std::size_t>(query));
        constexpr float kFar = std::numeric_limits<float>::infinity();
        std::vector<Neighbour> nearest(n_nearest, {kFar, -1});  // sorted by distance
        for (const std::int32_t row : candidates) {
            if (row == query) continue;
            const float limit = nearest.back().distance;
            const float distance =
                squared_distance(own, points.row(static_cast<std::size_t>(row)), points.n_columns, limit);
            const bool is_free = nearest.back().row < 0;
            if (distance >= limit && !is_free) continue;
            std::size_t place = n_nearest - 1;
            for (; place > 0 && (nearest[place - 1].row < 0 || nearest[place - 1].distance > distance); --place)
                nearest[place] = nearest[place - 1];
            nearest[place] = {distance, row};
        }
        for (std::size_t k = 0; k < n_nearest; ++k) found[q * n_nearest + k] = nearest[k].row;
    });
    return found;
}

}  // namespace clausewise::compact
