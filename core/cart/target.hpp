// What a tree learns, and its settings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace clausewise::cart {

enum class Impurity : std::uint8_t { gini, entropy };

struct Options {
    Impurity impurity = Impurity::gini;
    std::size_t min_split = 2;   // rows that a node needs to be split
    std::size_t min_leaf = 1;    // rows that each side of a split needs
    std::size_t max_leaves = 0;  // 0: no limit; otherwise the best splits come first
    bool prunes = true;          // compute the pruning strength of every node
};

struct Target {
    const std::vector<std::uint16_t>& classes;  // of all rows of the matrix
    std::size_t n_classes;
    const std::vector<double>& weights;     // positive, of all rows; empty if all are 1
    const std::vector<std::int32_t>* rows;  // those to learn from; null for all

    std::size_t class_of(std::int32_t row) const { return classes[static_cast<std::size_t>(row)]; }
    double weight_of(std::int32_t row) const { return weights.empty() ? 1.0 : weights[static_cast<std::size_t>(row)]; }
};

}  // namespace clausewise::cart
