// The sample of rows that C5.0 draws.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace clausewise::c50 {

// The rows that are sampled for training, in ascending order.
std::vector<std::int64_t> sampled_rows(std::size_t n_rows, double fraction, std::int64_t seed);

}  // namespace clausewise::c50
