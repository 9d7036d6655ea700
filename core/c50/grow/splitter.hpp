// Evaluates one column as the test of a node.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "c50/cases.hpp"
#include "c50/grow/cut_scan.hpp"
#include "c50/grow/node_histograms.hpp"
#include "c50/grow/node_ranks.hpp"
#include "c50/grow/ratio_bound.hpp"
#include "c50/information.hpp"
#include "c50/tree.hpp"

namespace clausewise::c50 {

struct Split {
    float gain = -1.0f;                   // below zero if the column cannot divide the node
    float information = 0.0f;             // of the division itself
    std::int32_t n_counted_branches = 3;  // breaks ties between columns; C5.0 counts three for a threshold
    Test test;

    float ratio() const { return gain / information; }
};

// Working memory of one thread, kept from node to node.
struct SplitScratch {
    std::vector<std::uint32_t> keys, sorted;  // rank and class in one word
    std::vector<std::uint64_t> wide_keys, wide_sorted;
    std::vector<std::int32_t> group_rank, group_end;
    std::vector<std::int32_t> class_counts;  // per rank and class
    Words of_first_class;                    // one bit per rank
    std::vector<std::uint16_t> sequence;     // classes in order of value
    std::vector<std::int32_t> sorted_rows;   // rows in order of value; their ranks and weights
    std::vector<std::int32_t> case_ranks;
    std::vector<double> weights;
    std::vector<WeightSum> sums;  // of bins
    std::vector<double> low, high;
    std::vector<std::int32_t> low_count, high_count;
    RankScratch ranks;
    std::vector<std::int32_t> cuts;
};

// The node, as the evaluation of a column sees it.
struct NodeView {
    RowSpan rows;
    const ClassCounts& counts;
    double base;                          // information per case before the division
    std::vector<bool> const& was_tested;  // per column: is there a multiway test of it above?
    bool holds_all_rows;                  // of the matrix, so that counts per rank are known
    double most_branches;                 // that a test of a discrete column may have
    // Two classes, unit weights: the rows of a class so rare that only the cuts next to them are visited.
    RowSpan rare_rows{nullptr, nullptr};
    std::size_t rare_class = 0;
    RowSpan other_rows{nullptr, nullptr};  // with `rare_rows`: the rows outside the node, if they are fewer
    // If the cases are counted: the histograms, and the number of the node's.
    const NodeHistograms* histograms = nullptr;
    std::size_t histogram = 0;
    // If the cases are counted, or weighted and sorted: one mark per row of the matrix.
    const std::uint8_t* is_in_node = nullptr;
    bool is_sorted = false;  // weighted cases: are the rows in ascending order?
    double weight = 0.0;     // weighted cases: of all rows, added in their order

    bool is_counted(std::size_t column) const { return histograms && histograms->has(column); }
    template <class Use>
    auto with_counts(std::size_t column, Use&& use) const {
        return histograms->with_counts(histogram, column, use);
    }
};

class Splitter {
public:
    Splitter(const Cases& cases, const CountInformation& information, bool use_subsets)
        : cases_(cases), information_(information), use_subsets_(use_subsets) {}

    // A column whose ratio is below `least_ratio` may be reported as one that cannot divide the node.
    Split evaluate(std::size_t column, const NodeView& node, double least_ratio, SplitScratch& scratch) const;
    CutRange cut_range(const NodeView& node) const;

private:
    class TwoClassScan;

    Split continuous(std::size_t index, const NodeView& node, double least_ratio, SplitScratch& scratch) const;
    Split discrete(std::size_t index, const NodeView& node) const;

    void scan_two_classes(std::size_t index, const NodeView& node, double least_ratio, SplitScratch& scratch,
                          CutScan& scan) const;
    void scan_all_groups(const Column& column, const NodeView& node, bool is_marked, SplitScratch& scratch,
                         CutScan& scan) const;
    template <class Count>
    void scan_value_bins(const Column& column, const Count* counts, const NodeView& node, CutScan& scan) const;
    template <class NodeRanks>
    void scan_beside_rare(const NodeRanks& ranks, const Column& column, const NodeView& node, SplitScratch& scratch,
                          CutScan& scan) const;
    void scan_many_classes(const Column& column, const NodeView& node, SplitScratch& scratch, CutScan& scan) const;
    void sort_cases(const Column& column, const NodeView& node, SplitScratch& scratch) const;
    void scan_weighted(std::size_t index, const NodeView& node, double least_ratio, SplitScratch& scratch,
                       CutScan& scan) const;
    bool scan_weighted_bins(std::size_t index, const NodeView& node, double least_ratio, SplitScratch& scratch,
                            CutScan& scan) const;

    const Cases& cases_;
    const CountInformation& information_;
    bool use_subsets_;
};

}  // namespace clausewise::c50
