// The errors of a tree on held-out cases, and how they change if one column is unknown. That concerns only the cases
// that meet a test of the column.
//
// A case with an unknown value follows all branches, and a leaf's contribution to the class scores depends on the leaf
// alone. So the cases of one leaf differ only in what they collect off the path to it. For two classes that can be
// bounded, and if the bounds determine the class, no case of the leaf has to be followed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "c50/cases.hpp"
#include "c50/prune/training_classifier.hpp"
#include "c50/tree.hpp"

namespace clausewise::c50 {

class HeldOutErrors {
public:
    // The tree must not change during the lifetime of this object.
    HeldOutErrors(const Cases& cases, const Tree& tree, RowSpan held_out);

    // The sum over the cases in order, as costs need not add up exactly.
    double total() const;
    // Is the total smaller if the column is unknown?
    bool is_less_without(std::size_t column);

private:
    // Bounds on the score of the second class less that of the first.
    struct Lead {
        double least = 0.0, most = 0.0;

        void add(Lead other) {
            least += other.least;
            most += other.most;
        }
    };
    // A node that some cases pass through.
    struct PathNode {
        std::int32_t node, parent;
        float fraction;              // of each case that arrives here
        std::int32_t first_unknown;  // the first node above that tests the unknown column; -1 if there is none
        Lead elsewhere;              // what these cases collect off their path
    };
    struct LeafCases {
        std::vector<std::int32_t> rows;
        std::int64_t n_wrong = 0;
        std::int64_t n_second = 0;  // of the second class
    };

    // Records, below a node, which cases end at which leaf. For bounded trees.
    void assign_to_leaves(std::int32_t id, RowSpan rows, std::vector<std::int32_t>& spare);
    bool is_wrong(std::int32_t row, std::int32_t label) const;
    double cost(std::int32_t row, std::int32_t label) const;
    bool is_less_by_costs(std::int32_t column);
    // Visits the leaves below a node, with this column unknown.
    void visit(const PathNode& at, std::int32_t column);
    void decide_leaf(const PathNode& at);
    // What a fraction of a case can collect at and below a node.
    Lead lead_at(std::int32_t node, std::int32_t parent, float fraction, std::int32_t column) const;
    float fraction_below(float fraction, std::int32_t node, std::int32_t child) const;

    const Cases& cases_;
    const Tree& tree_;
    TrainingClassifier classifier_;
    RowSpan held_out_;
    bool is_bounded_;                 // two classes, no costs, and only thresholds of columns without missing values
    std::vector<double> costs_;       // per case, unless bounded: 0 if it is classified correctly
    std::vector<LeafCases> at_leaf_;  // per node
    std::vector<std::size_t> split_cases_;  // cases that a missing value sends to several leaves
    // For the current column: the errors of the cases that meet it and whose class the bounds determine, with the
    // column known and unknown, and the leaves whose cases have to be followed.
    std::int64_t n_wrong_before_ = 0, n_wrong_ = 0;
    std::vector<PathNode> undecided_;
};

}  // namespace clausewise::c50
