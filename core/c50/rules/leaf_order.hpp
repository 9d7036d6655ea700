// The rows in the order of a tree's leaves, in blocks of 64, so that rows of neighbouring leaves are neighbours.
//
// A condition of a path then mostly holds or fails for a whole block, which the extremes of the block's ranks show
// without reading its rows. In the few other blocks, rows are compared on demand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "c50/bit_sets.hpp"
#include "c50/cases.hpp"
#include "c50/tree.hpp"

namespace clausewise::c50 {

class LeafOrder {
public:
    LeafOrder(const Cases& cases, const Tree& tree);

    std::size_t n_blocks() const { return words_for(classes_.size()); }
    const std::vector<std::int32_t>& rows() const { return rows_; }
    // By position in this order, not by row:
    const std::vector<std::uint16_t>& classes() const { return classes_; }
    const std::vector<std::int32_t>& ranks(std::size_t column) const { return columns_[column].ranks; }

    // One bit per block: do all of its rows fail this branch? A missing value fails every branch.
    Words blocks_failing(const Test& test, std::size_t branch) const;
    // One bit per row of the block; none past the last row.
    std::uint64_t rows_failing(const Test& test, std::size_t branch, std::size_t block) const;
    // The bits of a block that are not rows: those past the last row, and all bits past the last block.
    std::uint64_t padding(std::size_t block) const {
        if (block + 1 == n_blocks()) return last_padding_;
        return block < n_blocks() ? 0 : ~std::uint64_t{0};
    }
    bool has_missing(std::size_t column) const { return columns_[column].has_missing; }

private:
    struct Arranged {
        bool has_missing = false;
        std::vector<std::int32_t> ranks;            // by position, padded to whole blocks
        std::vector<std::int32_t> lowest, highest;  // continuous: of the known ranks of a block
        Words values;                               // discrete: the codes of a block, modulo 64
    };
    void arrange(const Column& column, Arranged& arranged) const;

    std::vector<std::int32_t> rows_;
    std::vector<std::uint16_t> classes_;
    std::uint64_t last_padding_;
    std::vector<Arranged> columns_;  // empty where the tree has no test
};

// The rows that fail one branch of a test, by block.
class BlockFailures {
public:
    void reset(const LeafOrder& order, const Test& test, std::size_t branch);
    const Words& whole_blocks() const { return whole_blocks_; }
    // Per block, the rows that fail; valid for the given blocks (a bit each) and all requested before. Has one more
    // word at the end, which is 0.
    const std::uint64_t* rows(const LeafOrder& order, const SparseWords& blocks);
    const std::uint64_t* known_rows() const { return rows_.data(); }

private:
    const Test* test_ = nullptr;
    std::size_t branch_ = 0;
    Words whole_blocks_;
    Words rows_, is_known_;  // the words of the requested blocks, and one bit per block: was it requested?
};

}  // namespace clausewise::c50
