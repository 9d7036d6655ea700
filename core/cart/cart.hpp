// CART: binary trees that lower the impurity of the classes, and how they are cut back (Breiman et al., 1984).
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/cancel.hpp"
#include "induction/matrix.hpp"

namespace clausewise::cart {

using induction::Column;
using induction::kMissing;
using induction::Matrix;

enum class Impurity : std::uint8_t { gini, entropy };

struct Options {
    Impurity impurity = Impurity::gini;
    std::size_t min_split = 2;   // rows of a node that may be divided
    std::size_t min_leaf = 1;    // rows of each side of a test
    std::size_t max_leaves = 0;  // 0: as many as it takes; otherwise the best tests come first
    bool prunes = true;          // whether it is found out how strongly each test holds against pruning
};

// A question about one column with the answers left and right.
struct Test {
    enum class Kind : std::uint8_t {
        threshold,  // ranks up to `rank` go left
        category,   // the category `rank` goes right
        missing     // known values go left, missing ones right
    };
    Kind kind = Kind::threshold;
    bool missing_goes_left = false;
    std::int32_t column = -1;  // none: a leaf
    std::int32_t rank = 0;

    bool goes_left(std::int32_t value) const {
        if (value == kMissing) return missing_goes_left;
        if (kind == Kind::threshold) return value <= rank;
        return kind == Kind::missing || value != rank;
    }
};

struct Node {
    Test test;
    std::int32_t left = -1, right = -1;
    std::int32_t label = 0;  // the class of most weight, the first of equals
    double risk = 0.0;       // impurity times weight
    // Of the rows here that were known to every test on the way, as only these satisfy its conditions: the weight, and
    // what of it is of the label's class.
    double cover = 0.0, correct = 0.0;
    double collapses_at = std::numeric_limits<double>::infinity();  // the weakest pruning that makes it a leaf

    bool is_leaf() const { return test.column < 0; }
    // A strength of 0 prunes nothing, not even tests that gain nothing by themselves.
    bool ends_at(double alpha) const { return is_leaf() || (alpha > 0.0 && collapses_at <= alpha); }
};

// Nodes come before those below them; number 0 is the root.
struct Tree {
    std::vector<Node> nodes;

    const Node& operator[](std::int32_t id) const { return nodes[static_cast<std::size_t>(id)]; }
    // The class of a row of the matrix, if the tree is pruned as strongly as this.
    std::int32_t label_of(const Matrix& matrix, std::size_t row, double alpha) const;
};

// The rows of a matrix in the order of each column that has many values, missing ones last. Shared by trees.
class ColumnOrders {
public:
    ColumnOrders(const Matrix& matrix, std::size_t n_classes);
    // It points into itself.
    ColumnOrders(const ColumnOrders&) = delete;
    ColumnOrders& operator=(const ColumnOrders&) = delete;

    // Null for a column with so few values that counting them is quicker.
    const std::vector<std::int32_t>* of(std::size_t column) const { return orders_[column]; }
    std::size_t n_ordered() const;  // columns

private:
    std::vector<const std::vector<std::int32_t>*> orders_;  // those of the matrix, where it has them
    std::vector<std::vector<std::int32_t>> own_;
};

// What a tree is to learn.
struct Target {
    const std::vector<std::uint16_t>& classes;  // of all rows of the matrix
    std::size_t n_classes;
    const std::vector<double>& weights;     // positive, of all rows; empty: all 1
    const std::vector<std::int32_t>* rows;  // those to learn from; null: all

    std::size_t class_of(std::int32_t row) const { return classes[static_cast<std::size_t>(row)]; }
    double weight_of(std::int32_t row) const { return weights.empty() ? 1.0 : weights[static_cast<std::size_t>(row)]; }
};

// Ties go to the first column and there to the first value.
Tree grow(const Matrix& matrix, const ColumnOrders& orders, const Target& target, const Options& options,
          const CancelToken& cancel);

}  // namespace clausewise::cart
