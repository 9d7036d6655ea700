// The nearest rows of a table, by exact comparison with all candidates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/cancel.hpp"

namespace clausewise::compact {

// Points in single precision: neighbours only have to be near, and half the memory is read.
struct PointsView {
    const float* data;
    std::size_t n_rows;
    std::size_t n_columns;

    const float* row(std::size_t r) const { return data + r * n_columns; }
};

// For each of `queries` (rows of `points`), the `n_nearest` nearest rows among `candidates`, the nearest first. A row
// is not its own neighbour. Among equal distances, the candidate that is listed first comes first. There must be more
// than `n_nearest` candidates.
std::vector<std::int32_t> nearest_rows(const PointsView& points, const std::vector<std::int32_t>& queries,
                                       const std::vector<std::int32_t>& candidates, std::size_t n_nearest,
                                       std::size_t n_threads, const CancelToken& cancel);

}  // namespace clausewise::compact
