// The class that a tree predicts for a training row.
#pragma once

#include <cstdint>
#include <vector>

#include "c50/cases.hpp"
#include "c50/tree.hpp"

namespace clausewise::c50 {

// A class and how sure a classifier is of it.
struct Verdict {
    std::int32_t label;
    double confidence;
};

// Classifies training rows: missing values follow all branches, ties go to the lowest class. `unknown_column` is
// treated as missing (pass -1 for none).
class TrainingClassifier {
public:
    // The part of a node that is read on the way down; fits in a cache line.
    struct Step {
        TestKind kind;
        std::int32_t column;
        std::int32_t threshold_rank;
        float size;
        const Test* test;
        const SoftBounds* bounds;   // null if the test is crisp
        const std::int32_t* ranks;  // of the column
        const std::int32_t* children;
        const float* distribution;

        // As Test::branch_of.
        std::int32_t branch_of(std::int32_t row) const {
            const std::int32_t rank = ranks[row];
            if (kind != TestKind::threshold) return test->branch_of(rank);
            return rank < 0 ? kMissingBranch : rank > threshold_rank;
        }
    };

    // The tree must not change during the lifetime of this object.
    TrainingClassifier(const Cases& cases, const Tree& tree);
    // `from` may be the first node on the row's path that tests the unknown column.
    std::int32_t classify(std::int32_t row, std::int32_t unknown_column, std::int32_t from = 0) {
        return classify_below(row, unknown_column, from, from);
    }
    // By the subtree of one branch alone.
    std::int32_t classify_by_branch(std::int32_t row, std::int32_t branch, std::int32_t parent) {
        return classify_below(row, -1, branch, parent);
    }
    Verdict judge(std::int32_t row);
    // The leaf that a row ends at; -1 if it follows several branches, or ends at a test.
    std::int32_t leaf_of(std::int32_t row) const;
    const Step& step(std::int32_t id) const { return steps_[static_cast<std::size_t>(id)]; }

private:
    Verdict judge_by_scores(std::int32_t row);
    std::int32_t classify_below(std::int32_t row, std::int32_t unknown_column, std::int32_t from, std::int32_t parent);
    // Adds the classes of a node to the scores.
    void arrive(const Step& node, float fraction);
    void descend(std::int32_t id, std::int32_t parent, std::int32_t row, float fraction, std::int32_t unknown_column);

    const Cases& cases_;
    const Tree& tree_;
    std::vector<Step> steps_;  // per node
    std::vector<double> scores_;
    std::vector<Verdict> of_leaf_;  // per node; label -1 where it is not known yet
};

}  // namespace clausewise::c50
