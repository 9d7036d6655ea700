#include "cart/tree.hpp"

namespace clausewise::cart {

std::int32_t Tree::label_of(const Matrix& matrix, std::size_t row, double alpha) const {
    const Node* node = &nodes[0];
    while (!node->ends_at(alpha)) {
        const Column& column = matrix.column(static_cast<std::size_t>(node->test.column));
        node = &(*this)[node->test.goes_left(column.ranks[row]) ? node->left : node->right];
    }
    return node->label;
}

}  // namespace clausewise::cart
