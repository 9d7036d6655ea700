// Hashes of rows by their contents.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/table_view.hpp"

namespace clausewise::rows {

// One hash per row. Each value enters by its bits in single precision, the same for 0 and −0 and for every NaN, plus
// the key of its column; then all bits are mixed by the finaliser of splitmix64.
template <class Real>
std::vector<std::uint64_t> hashes(const TableView<Real>& table, const std::vector<std::uint64_t>& keys);

}  // namespace clausewise::rows
