// A CART tree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "induction/matrix.hpp"

namespace clausewise::cart {

using induction::Column;
using induction::kMissing;
using induction::Matrix;

// A test of one column that sends a row left or right.
struct Test {
    enum class Kind : std::uint8_t {
        threshold,  // ranks up to `rank` go left
        category,   // the category `rank` goes right
        missing     // known values go left, missing ones right
    };
    Kind kind = Kind::threshold;
    bool missing_goes_left = false;
    std::int32_t column = -1;  // -1 for a leaf
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
    std::int32_t label = 0;  // the class of most weight, the first on ties
    double risk = 0.0;       // impurity times weight
    // The weight of the rows here without a missing value in any test above (only these satisfy the path's conditions),
    // and the part of it that is of class `label`.
    double cover = 0.0, correct = 0.0;
    double collapses_at = std::numeric_limits<double>::infinity();  // the least alpha that prunes it

    bool is_leaf() const { return test.column < 0; }
    // An alpha of 0 prunes nothing, not even tests without a gain of their own.
    bool ends_at(double alpha) const { return is_leaf() || (alpha > 0.0 && collapses_at <= alpha); }
};

// A node comes before its descendants; node 0 is the root.
struct Tree {
    std::vector<Node> nodes;

    const Node& operator[](std::int32_t id) const { return nodes[static_cast<std::size_t>(id)]; }
    // The class predicted for a row of the matrix by the tree pruned at `alpha`.
    std::int32_t label_of(const Matrix& matrix, std::size_t row, double alpha) const;
};

}  // namespace clausewise::cart
