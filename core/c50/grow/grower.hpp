// Growing a tree, top down.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "c50/cases.hpp"
#include "c50/division.hpp"
#include "c50/grow/node_histograms.hpp"
#include "c50/grow/ratio_bound.hpp"
#include "c50/grow/splitter.hpp"
#include "c50/grow/weighted_bound.hpp"
#include "c50/tree.hpp"

namespace clausewise::c50 {

// Settings of one tree.
struct GrowthSettings {
    float average_gain_weight = 1.0f;  // weight of the mean gain of all columns in the least gain
    float coding_weight = 0.0f;        // weight of the code length of a column in the least gain
    std::size_t n_cases = 0;
    float leaf_ratio = 0.0f;  // leaves allowed per case, 0 for any number

    // The number of leaves that a tree on cases of this weight may have.
    double most_leaves(float weight) const {
        return leaf_ratio > 0.0f ? std::rint(leaf_ratio * weight) : std::numeric_limits<double>::infinity();
    }
    static GrowthSettings of_classifier(std::size_t n_cases, std::size_t n_classes);
    static GrowthSettings of_winnowing(std::size_t n_cases) { return {0.0f, 0.0f, n_cases, 0.0f}; }
};

// The decision at a node of a tree in which each column is judged on its own. Columns that never led had no influence,
// so without them the tree stays the same.
struct Decision {
    std::vector<Split> leaders;          // columns that led in turn; the last was chosen
    std::vector<std::int32_t> branches;  // child nodes, if there was a leader
};

// One per node of the tree, as grown.
using Decisions = std::vector<Decision>;

class Grower {
public:
    Grower(Cases& cases, const GrowthSettings& settings, const CountInformation& information,
           const std::vector<bool>& in_use, bool use_subsets, std::size_t n_threads);

    // Records the decisions in `made`, if given and if each column is judged on its own.
    Tree grow(RowSpan rows, Decisions* made = nullptr);
    // The same tree as `grow`, given the decisions of a tree grown from these rows with more columns.
    Tree grow_again(RowSpan rows, const Decisions& known);
    // Grows new branches below a node whose test is set, for the given rows. Empty branches get the given label.
    void grow_branches(Tree& tree, std::int32_t id, RowSpan rows, std::size_t depth, std::int32_t label_of_empty) {
        grow_branches(tree, id, Site{rows, depth}, nullptr, nullptr, label_of_empty);
    }

    const GrowthSettings& settings() const { return settings_; }
    std::vector<std::int32_t>& spare_rows() { return spare_rows_; }

private:
    struct Site {
        RowSpan rows;
        std::size_t depth;
        std::int32_t known = -1;                        // the decision made for these rows before
        std::size_t histogram = NodeHistograms::kNone;  // in `histograms_`, if the rows are counted there
        ClassCounts counts{};                           // of the rows, if known already
    };

    std::int32_t grow_node(Tree& tree, Site site);
    // `counts`, if given, are those of the rows of the site.
    void grow_branches(Tree& tree, std::int32_t id, const Site& site, const ClassCounts* counts, const Decision* known,
                       std::int32_t label_of_empty);
    std::vector<Site> sites_below(const Site& site, Division& division, const Test& test, const Decision* known);
    bool is_in_use(const Split& split) const { return in_use_[static_cast<std::size_t>(split.test.column)]; }
    bool is_terminal(const ClassCounts& counts) const;
    // Very few rows are sorted faster than counted, unless most columns can be excluded.
    bool should_count(const Site& site) const {
        constexpr std::size_t kFewRows = 100, kManyColumns = 64, kFewWeightedRows = 150;
        if (!needs_columns(site) || histograms_.is_empty()) return false;
        if (!cases_.has_unit_weights()) return is_average_ignored_ && site.rows.size() >= kFewWeightedRows;
        return site.rows.size() >= kFewRows || (judges_columns_alone_ && columns_.size() >= kManyColumns);
    }
    bool needs_columns(const Site& site) const {
        return site.known < 0 || needs_columns_[static_cast<std::size_t>(site.known)];
    }
    void find_rare_rows(NodeView& view);
    std::vector<Split> leaders_of(NodeView& view, const Site& site, const Decision* known);
    const Split* choose(const NodeView& node);
    bool choose_in_turn(const NodeView& node, std::vector<Split>& leaders);
    std::size_t most_promising(const NodeView& node);
    void evaluate_columns(const NodeView& node);
    double least_gain(double average, std::size_t n_remaining, const NodeView& node) const;
    bool is_large(const NodeView& node) const;
    bool should_bound(const NodeView& node) const;
    void start_bound(const NodeView& node);
    void require(double ratio);
    bool is_excluded(const NodeView& node, std::size_t column);
    double promise(const NodeView& node, std::size_t column);

    Cases& cases_;
    GrowthSettings settings_;
    Splitter splitter_;
    std::size_t n_threads_;
    std::vector<bool> in_use_;           // per column
    std::vector<std::size_t> columns_;   // indices of those in use
    std::vector<Split> splits_;          // one per column in use
    std::vector<SplitScratch> scratch_;  // one per thread
    std::vector<bool> was_tested_;       // columns with a multiway test above
    std::vector<bool> is_evaluated_;     // per column in use, for the current node
    bool is_average_ignored_;            // the mean gain of all columns does not count
    bool judges_columns_alone_;          // nor does their number: each column is judged on its own
    double most_errors_of_leaf_;         // a node with at most so many cannot be divided to any use
    RatioBound bound_;
    WeightedBound weighted_bound_;
    NodeHistograms histograms_;
    std::vector<WeightSum> sums_;  // of the bins of a column
    Decisions* made_ = nullptr;
    const Decisions* known_ = nullptr;
    std::vector<bool> needs_columns_;  // per known decision: must it, or one below, be made again?
    std::vector<std::int32_t> spare_rows_;
    std::vector<std::int32_t> rare_rows_, other_rows_;  // of the current node
    std::vector<std::uint8_t> is_in_node_;              // per row of the matrix, for the current node
};

}  // namespace clausewise::c50
