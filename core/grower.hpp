// Growing a tree, top down.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cases.hpp"
#include "splitter.hpp"
#include "tree.hpp"

namespace clausewise {

// What holds for one tree.
struct Regime {
    float average_gain_weight = 1.0f;  // how much the mean gain of all columns counts as the least gain
    float coding_weight = 0.0f;        // how much the cost of naming a column counts
    std::size_t n_cases = 0;

    static Regime of_classifier(std::size_t n_cases, std::size_t n_classes);
    static Regime of_winnowing(std::size_t n_cases) { return {0.0f, 0.0f, n_cases}; }
};

class Grower {
public:
    Grower(Cases& cases, const Regime& regime, const CountInformation& information, const std::vector<bool>& in_use,
           bool use_subsets, std::size_t n_threads);

    Tree grow(Span rows);
    // Grows new branches below a node whose test is set, for the given rows.
    void grow_branches(Tree& tree, std::int32_t id, Span rows, std::size_t depth);

    const Regime& regime() const { return regime_; }
    std::vector<std::int32_t>& spare_rows() { return spare_rows_; }

private:
    std::int32_t grow_node(Tree& tree, Span rows, std::size_t depth);
    void find_rare_rows(NodeView& view);
    const Split* choose(const NodeView& node);
    void evaluate_columns(const NodeView& node);

    Cases& cases_;
    Regime regime_;
    Splitter splitter_;
    bool use_subsets_;
    std::size_t n_threads_;
    std::vector<std::size_t> columns_;   // those in use
    std::vector<Split> splits_;          // one per column in use
    std::vector<SplitScratch> scratch_;  // one per thread
    std::vector<bool> was_tested_;       // columns with a multiway test above
    std::vector<std::int32_t> spare_rows_;
    std::vector<std::int32_t> rare_rows_, other_rows_;  // of the node at hand
    std::vector<std::uint8_t> is_here_;
};

}  // namespace clausewise
