// How many conditions of a rule each row fails, for the blocks of 64 rows that can hold rows failing at most one
// condition.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "c50/bit_sets.hpp"
#include "c50/rules/leaf_order.hpp"

namespace clausewise::c50 {

// One condition of a rule, by block: the rows that fail it (for every included block; one more word at the end is 0),
// and one bit per block that is set if all of its rows fail it.
struct FailedBy {
    const std::uint64_t* rows;
    const Words* whole_blocks;
};

class NearRows {
public:
    // Rows that fail exactly one condition. In blocks where all rows fail the same condition they are counted, per
    // condition, with those of the rule's class; in other blocks they are listed.
    struct Found {
        std::vector<PairCount> counts;
        SparseWords listed;
    };

    // Removes all blocks. Conditions are numbered below `n_conditions`; `of_class` are the rows of the rule's class, by
    // block.
    void reset(std::size_t n_conditions, const LeafOrder& order, const Words& of_class);
    // Includes the blocks that are marked by one bit each, and counts how many of the given conditions their rows fail.
    // A block may fail at most one condition as a whole.
    void include_blocks(const SparseWords& marked, const std::vector<std::size_t>& numbers,
                        const std::vector<FailedBy>& conditions);
    // Drops a condition for all included blocks. Finds the rows that failed it and exactly one other.
    void drop(std::size_t number, const std::uint64_t* rows);
    // The rows found by `include_blocks` and `drop` since the last call. Valid until they are called again.
    const Found& found();

    // Counts the rows that fail no condition, and those of them that are of the class.
    PairCount count_zeros() const;
    // The rows that fail no condition, by block in ascending order.
    std::vector<std::pair<std::uint32_t, std::uint64_t>> zeros() const;

private:
    // Consecutive entries of `blocks_` whose rows all fail the same condition, or (kNoCondition) no condition as a
    // whole.
    struct Run {
        std::size_t condition, first, last;
    };
    void end_run(std::size_t condition, std::size_t first);
    void note_ones(const Run& run);
    template <class Visit>
    void for_each_zeros(Visit&& visit) const;

    const LeafOrder* order_ = nullptr;
    const Words* of_class_ = nullptr;
    // Blocks are processed eight at a time. The last entries of a group may be padding: LeafOrder::n_blocks().
    std::vector<std::uint32_t> blocks_;
    Words of_class_here_;  // per included block
    std::vector<Run> runs_;
    std::size_t n_planes_ = 0;
    Words planes_;  // per group of blocks, and per plane p: bit p of the counters of its rows
    Words ones_;    // per included block: the rows found last
    Found found_;
    bool is_found_new_ = true;
};

}  // namespace clausewise::c50
