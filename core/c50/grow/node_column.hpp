// The cases of a node along a column: positions in the order of its values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/bits.hpp"
#include "c50/cases.hpp"
#include "induction/matrix.hpp"

namespace clausewise::c50 {

// Positions count from 0 in column.order, which holds all rows of the matrix; only those of the node are its cases.
class NodeColumn {
public:
    // `is_in_node` and `classes` have one entry per row of the matrix.
    NodeColumn(const Column& column, const std::uint8_t* is_in_node, const std::uint16_t* classes)
        : column_(column), is_in_node_(is_in_node), classes_(classes) {}

    std::int32_t start_of(std::size_t bin) const { return start_of_rank(column_.bin_starts[bin]); }
    std::int32_t start_of_rank(std::int32_t rank) const { return column_.starts[static_cast<std::size_t>(rank)]; }
    std::int32_t row_at(std::int32_t at) const { return column_.order[static_cast<std::size_t>(at)]; }
    std::int32_t rank_at(std::int32_t at) const { return column_.ranks[static_cast<std::size_t>(row_at(at))]; }
    std::uint16_t class_at(std::int32_t at) const { return classes_[row_at(at)]; }
    bool is_in_node(std::int32_t at) const { return is_in_node_[row_at(at)] != 0; }
    // The next position of a case of the node, this one included; there must be one.
    std::int32_t next(std::int32_t at) const {
        while (!is_in_node(at)) ++at;
        return at;
    }
    // The position of a case of the node before this one; there must be one.
    std::int32_t previous(std::int32_t at) const {
        while (!is_in_node(--at)) {
        }
        return at;
    }
    std::int32_t n_in_node(std::int32_t from, std::int32_t to) const {
        std::int32_t n = 0;
        for (std::int32_t at = from; at < to; ++at) n += is_in_node_[row_at(at)];
        return n;
    }
    // Lists the positions of the node's cases in a bin; returns their number. Every position is written and only those
    // of the node advance, so there is no branch to mispredict.
    std::size_t list_bin(std::size_t bin, std::vector<std::int32_t>& positions) const {
        const std::int32_t start = start_of(bin), end = start_of(bin + 1);
        positions.resize(static_cast<std::size_t>(end - start) + 1);
        std::size_t n = 0;
        for (std::int32_t at = start; at < end; ++at) {
            positions[n] = at;
            n += is_in_node_[row_at(at)];
        }
        return n;
    }
    float value(std::int32_t rank) const { return column_.values[static_cast<std::size_t>(rank)]; }
    // The number of distinct ranks from `first` to before `end` among these rows. `present` is working memory.
    std::int64_t n_distinct_ranks(RowSpan rows, std::int32_t first, std::int32_t end, Words& present) const {
        present.assign(words_for(static_cast<std::size_t>(column_.n_values)), 0);
        for (const std::int32_t row : rows) {
            const auto r = static_cast<std::size_t>(column_.ranks[static_cast<std::size_t>(row)]);
            present[r >> 6] |= std::uint64_t{1} << (r & 63);
        }
        const auto from = static_cast<std::size_t>(first), to = static_cast<std::size_t>(end);
        present[from >> 6] &= ~std::uint64_t{0} << (from & 63);
        present[to >> 6] &= (std::uint64_t{1} << (to & 63)) - 1;
        std::int64_t n = 0;
        for (std::size_t w = from >> 6; w <= to >> 6; ++w) n += count_bits(present[w]);
        return n;
    }

private:
    const Column& column_;
    const std::uint8_t* is_in_node_;
    const std::uint16_t* classes_;
};

}  // namespace clausewise::c50
