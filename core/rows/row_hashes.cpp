#include "rows/row_hashes.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

namespace clausewise::rows {
namespace {

// The hash of a row takes one column after the other. So many rows at a time do not wait for each other.
constexpr std::size_t kRowsAtOnce = 16;

std::uint64_t mixed(std::uint64_t hash) {
    hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9u;
    hash = (hash ^ (hash >> 27)) * 0x94d049bb133111ebu;
    return hash ^ (hash >> 31);
}

std::uint64_t bits_of(float value) {
    value = std::isnan(value) ? std::numeric_limits<float>::quiet_NaN() : value + 0.0f;  // −0 + 0 is 0
    std::uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}

}  // namespace

template <class Real>
std::vector<std::uint64_t> hashes(const TableView<Real>& table, const std::vector<std::uint64_t>& keys) {
    std::vector<std::uint64_t> found(table.n_rows, 0);
    for (std::size_t start = 0; start < table.n_rows; start += kRowsAtOnce) {
        const std::size_t n = std::min(kRowsAtOnce, table.n_rows - start);
        std::array<std::uint64_t, kRowsAtOnce> current{};
        for (std::size_t column = 0; column < table.n_columns; ++column)
            for (std::size_t i = 0; i < n; ++i)
                current[i] =
                    mixed(current[i] ^ (bits_of(static_cast<float>(table.at(start + i, column))) + keys[column]));
        std::copy_n(current.begin(), n, found.begin() + static_cast<std::ptrdiff_t>(start));
    }
    return found;
}

template std::vector<std::uint64_t> hashes(const TableView<float>&, const std::vector<std::uint64_t>&);
template std::vector<std::uint64_t> hashes(const TableView<double>&, const std::vector<std::uint64_t>&);

}  // namespace clausewise::rows
