// Local pruning: subtrees that do not lower the estimated errors become leaves, or are replaced by one of their
// branches.
#pragma once

#include <cstddef>
#include <cstdint>

#include "c50/cases.hpp"
#include "c50/grow/grower.hpp"
#include "c50/prune/pessimistic_errors.hpp"
#include "c50/tree.hpp"

namespace clausewise::c50 {

// Bottom-up pruning by pessimistic error estimates, with subtree raising.
class LocalPruner {
public:
    LocalPruner(Cases& cases, Grower& grower, const PessimisticErrors& extra_errors)
        : cases_(cases), grower_(grower), extra_errors_(extra_errors) {}

    // The tree was just grown from these rows, which must still be in the order that growing left.
    void prune(Tree& tree, RowSpan rows) { estimate(tree, 0, rows, {true, true, cases_.adds_in_any_order()}, 0); }
    // The tree was grown from some of these rows. A raised branch is not grown again.
    void prune_without_rebuilding(Tree& tree, RowSpan rows) { estimate(tree, 0, rows, {true, false, false}, 0); }

private:
    class BranchSum;

    struct Pass {
        bool updates;      // prune the subtree and refresh its counts
        bool rebuilds;     // a raised branch may be grown again
        bool is_as_grown;  // counts of nodes and order of rows are as growing left them, which divided rows in place
    };
    // Estimated errors of the subtree on the rows.
    float estimate(Tree& tree, std::int32_t id, RowSpan rows, Pass pass, std::size_t depth);
    float estimate_branches(Tree& tree, std::int32_t id, RowSpan rows, float size, Pass pass, std::size_t depth);
    // The same for a branch of a node, if all rows of the node went there.
    float estimate_raised(Tree& tree, std::int32_t id, std::int32_t raised, RowSpan rows, std::size_t depth);
    // The same for a subtree, for its own rows and `others` together. Its own rows are not visited again: its nodes
    // already count them. Unit weights only.
    float estimate_with(const Tree& tree, std::int32_t id, RowSpan others);
    float estimate_leaf(float size, float errors, std::int32_t label) const;
    // Where the rows of branch 1 of a threshold begin.
    std::int32_t* border_of(const Tree& tree, std::int32_t id, RowSpan rows) const;

    Cases& cases_;
    Grower& grower_;
    const PessimisticErrors& extra_errors_;
};

}  // namespace clausewise::c50
