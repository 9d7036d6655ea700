// Pruning: subtrees that do not pay become leaves or are raised; thresholds become training values.
#pragma once

#include <cstddef>
#include <cstdint>

#include "c50/cases.hpp"
#include "c50/grower.hpp"
#include "c50/information.hpp"
#include "c50/pessimistic_errors.hpp"
#include "c50/tree.hpp"

namespace clausewise::c50 {

// Bottom-up pruning by pessimistic error estimates, with subtree raising.
class LocalPruner {
public:
    LocalPruner(Cases& cases, Grower& grower, const PessimisticErrors& extra_errors)
        : cases_(cases), grower_(grower), extra_errors_(extra_errors) {}

    // The tree was just grown from these rows, which are in the order that growing left them in.
    void prune(Tree& tree, RowSpan rows) { estimate(tree, 0, rows, {true, true, cases_.has_unit_weights()}, 0); }

private:
    class BranchSum;

    struct Pass {
        bool updates;      // the subtree is pruned and its figures renewed
        bool rebuilds;     // a raised branch may be grown afresh
        bool is_as_grown;  // unit weights: figures of nodes and order of rows are what growing left
    };
    // Estimated errors of the subtree on the rows.
    float estimate(Tree& tree, std::int32_t id, RowSpan rows, Pass pass, std::size_t depth);
    float estimate_branches(Tree& tree, std::int32_t id, RowSpan rows, float size, Pass pass, std::size_t depth);
    // Those of a branch of a node, if all rows of the node came to it.
    float estimate_raised(Tree& tree, std::int32_t id, std::int32_t raised, RowSpan rows, std::size_t depth);
    // Unit weights: those of a subtree for other rows and its own, which need not be looked at again, because its nodes
    // were counted with them.
    float estimate_with(const Tree& tree, std::int32_t id, RowSpan others);
    float estimate_leaf(float size, float errors, std::int32_t label) const;
    // Between the branches of a threshold, whose rows lie side by side.
    static std::int32_t* border_of(const Tree& tree, std::int32_t id, RowSpan rows) {
        return rows.first + static_cast<std::ptrdiff_t>(tree[tree[id].children[0]].size);
    }

    Cases& cases_;
    Grower& grower_;
    const PessimisticErrors& extra_errors_;
};

// Sets errors and leaf counts from the training cases; the first step of global pruning.
void relabel_with_training_errors(Tree& tree, std::int32_t id = 0);
// With costs, instead: true class counts, and the class of least expected cost.
void relabel_by_costs(const Cases& cases, Tree& tree);
// Cuts the weakest subtrees as long as the errors stay within one standard error.
void prune_globally(const Cases& cases, Tree& tree);
// Merges branches of discrete tests that lead to the same (App. A of the behaviour's description).
void tidy_discrete_tests(Tree& tree, bool use_subsets, bool for_rules);
// Every threshold becomes the greatest training value not above it.
void snap_thresholds(const Matrix& matrix, Tree& tree);

// Class of one training row by the tree: missing values follow all branches, ties go to the lowest class.
// `unknown_column` is treated as missing (pass -1 for none).
class TrainingClassifier {
public:
    // What is read of a node on the way down, in less than a cache line.
    struct Step {
        TestKind kind;
        std::int32_t column;
        std::int32_t threshold_rank;
        float size;
        const Test* test;
        const std::int32_t* ranks;  // of the column
        const std::int32_t* children;
        const float* distribution;

        // -1 if the value is missing.
        std::int32_t branch_of(std::int32_t row) const {
            const std::int32_t rank = ranks[row];
            if (kind != TestKind::threshold) return test->branch_of(rank);
            return rank < 0 ? -1 : rank > threshold_rank;
        }
    };

    // The tree must stay as it is.
    TrainingClassifier(const Cases& cases, const Tree& tree);
    // `from` may be the first node on the row's way that tests the unknown column.
    std::int32_t classify(std::int32_t row, std::int32_t unknown_column, std::int32_t from = 0);
    const Step& step(std::int32_t id) const { return steps_[static_cast<std::size_t>(id)]; }

private:
    void descend(std::int32_t id, std::int32_t parent, std::int32_t row, float fraction, std::int32_t unknown_column);

    const Cases& cases_;
    const Tree& tree_;
    std::vector<Step> steps_;  // per node
    std::vector<double> scores_;
};

std::vector<bool> tested_columns(const Tree& tree, std::size_t n_columns);

}  // namespace clausewise::c50
