// How many conditions of a rule each row fails, for some blocks of 64 rows: those that hold covered rows, or rows that
// fail one condition.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "c50/bit_sets.hpp"
#include "c50/rules/leaf_order.hpp"

namespace clausewise::c50 {

// One condition of a rule, by block: the rows that fail it (for every block that is taken in; one word more, and 0),
// and one bit per block if all of its rows do.
struct FailedBy {
    const std::uint64_t* rows;
    const Words* whole_blocks;
};

class NearRows {
public:
    // Rows that fail exactly one condition: either counted, for each number of a condition, together with those of the
    // rule's class; or, of blocks where several conditions come into question, listed.
    struct Found {
        std::vector<PairCount> counts;
        SparseWords listed;
    };

    // Forgets all blocks. Conditions have numbers below `n_conditions`; `of_class` are rows by block.
    void reset(std::size_t n_conditions, const LeafOrder& order, const Words& of_class);
    // Takes in the blocks that are marked by one bit each, and counts for these how many of the given conditions a row
    // fails. As a whole each may fail one condition, not more.
    void take_in(const SparseWords& marked, const std::vector<std::size_t>& numbers,
                 const std::vector<FailedBy>& conditions);
    // Drops a condition for all blocks taken in. Finds the rows that failed it, and exactly one other.
    void drop(std::size_t number, const std::uint64_t* rows);
    // What was found by `take_in` and `drop` since this was asked last. Valid until they are called again.
    const Found& found();

    // How many rows fail nothing, and how many of these are of the class.
    PairCount count_zeros() const;
    // The rows that fail nothing, by block in ascending order.
    std::vector<std::pair<std::uint32_t, std::uint64_t>> zeros() const;

private:
    // Neighbours in the list of blocks whose rows all fail the same condition, or, without one, not all fail any.
    struct Run {
        std::size_t condition, first, last;
    };
    void end_run(std::size_t condition, std::size_t first);
    void note_ones(const Run& run);
    template <class Visit>
    void for_each_zeros(Visit&& visit) const;

    const LeafOrder* order_ = nullptr;
    const Words* of_class_ = nullptr;
    // Blocks are treated eight at a time. The last of those taken in together may be none: LeafOrder::n_blocks().
    std::vector<std::uint32_t> blocks_;
    Words of_class_here_;  // per block taken in
    std::vector<Run> runs_;
    std::size_t n_planes_ = 0;
    Words planes_;  // per group of blocks, and per plane p: bit p of the counters of its rows
    Words ones_;    // per block taken in: the rows found last
    Found found_;
    bool is_found_new_ = true;
};

}  // namespace clausewise::c50
