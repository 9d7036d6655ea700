// Sorting the rows of a node by a column.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/bits.hpp"

namespace clausewise::c50 {

// Sorts keys whose upper part is a rank. The lowest `class_bits` bits carry the class or the row and are not sorted by.
template <class Key>
void sort_keys(std::vector<Key>& keys, std::vector<Key>& spare, unsigned class_bits) {
    if (keys.size() < 40) {
        std::sort(keys.begin(), keys.end());
        return;
    }
    const auto [smallest, greatest] = std::minmax_element(keys.begin(), keys.end());
    const Key offset = static_cast<Key>((*smallest >> class_bits) << class_bits);
    Key range = static_cast<Key>((*greatest - offset) >> class_bits);
    if (range == 0) return;
    // As few passes as possible, with digits of equal length, for the smallest tables of counts.
    const unsigned most = keys.size() < 1500 ? 8 : 11, n_bits = static_cast<unsigned>(highest_bit(range)) + 1;
    const unsigned n_passes = (n_bits + most - 1) / most, digit = (n_bits + n_passes - 1) / n_passes;
    const Key mask = static_cast<Key>((Key{1} << digit) - 1);
    std::array<std::uint32_t, 2048> count;
    spare.resize(keys.size());
    for (unsigned shift = class_bits; range != 0; shift += digit, range = static_cast<Key>(range >> digit)) {
        std::fill_n(count.begin(), mask + 1, 0u);
        for (const Key key : keys) ++count[((key - offset) >> shift) & mask];
        std::uint32_t total = 0;
        for (std::size_t i = 0; i <= mask; ++i) {
            const std::uint32_t here = count[i];
            count[i] = total;
            total += here;
        }
        for (const Key key : keys) spare[count[((key - offset) >> shift) & mask]++] = key;
        keys.swap(spare);
    }
}

}  // namespace clausewise::c50
