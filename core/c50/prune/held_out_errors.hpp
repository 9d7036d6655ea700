// The errors of a tree on held-out cases, and what they would be if one column were unknown: that matters only to the
// cases that meet a test of it.
//
// A case with an unknown value follows all branches, and what a leaf adds to the scores of the classes depends on the
// leaf alone. So the cases of one leaf differ only in what they collect beside the path to it. With two classes there
// are bounds on that, and where these tell the class, no case of the leaf has to be followed.
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
    // The tree must stay as it is.
    HeldOutErrors(const Cases& cases, const Tree& tree, RowSpan held_out);

    // In the order of the cases, because costs need not add up exactly.
    double total() const;
    // Is the total smaller if the column is unknown?
    bool is_less_without(std::size_t column);

private:
    // By how much the score of the second class may exceed that of the first.
    struct Lead {
        double least = 0.0, most = 0.0;

        void add(Lead other) {
            least += other.least;
            most += other.most;
        }
    };
    // A node on the path of some cases.
    struct Place {
        std::int32_t node, parent;
        float fraction;              // of each case that comes here
        std::int32_t first_unknown;  // the first node above that tests the unknown column; -1 if there is none
        Lead elsewhere;              // what these cases collect beside their path
    };
    struct LeafCases {
        std::vector<std::int32_t> rows;
        std::int64_t n_wrong = 0;
        std::int64_t n_second = 0;  // of the second class
    };

    // Of a bounded tree: notes the cases at the leaves that they come to from a node.
    void file(std::int32_t id, RowSpan rows, std::vector<std::int32_t>& spare);
    bool is_wrong(std::int32_t row, std::int32_t label) const;
    double cost(std::int32_t row, std::int32_t label) const;
    std::int32_t leaf_of(std::int32_t row) const;
    bool is_less_by_costs(std::int32_t column);
    // Goes through the leaves below, for the column at hand.
    void visit(const Place& place, std::int32_t column);
    void judge_leaf(const Place& place);
    // What a fraction of a case may collect at and below a node.
    Lead lead_at(std::int32_t node, std::int32_t parent, float fraction, std::int32_t column) const;
    float fraction_below(float fraction, std::int32_t node, std::int32_t child) const;

    const Cases& cases_;
    const Tree& tree_;
    TrainingClassifier classifier_;
    RowSpan held_out_;
    bool is_bounded_;                 // two classes, no costs, and only thresholds of columns without missing values
    std::vector<double> costs_;       // per case, unless bounded: 0 if it is classified correctly
    std::vector<LeafCases> at_leaf_;  // per node
    std::vector<std::size_t> scattered_;  // cases that a missing value leads to several leaves
    // Of the column at hand: the errors of the cases that meet it and are decided, before and without it, and the
    // leaves whose cases have to be followed.
    std::int64_t n_wrong_before_ = 0, n_wrong_ = 0;
    std::vector<Place> undecided_;
};

}  // namespace clausewise::c50
