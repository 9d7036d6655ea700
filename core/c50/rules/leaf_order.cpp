#include "c50/rules/leaf_order.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "c50/division.hpp"

namespace clausewise::c50 {
namespace {

// Sorts rows by leaf, stably. The place of a row with a missing value hardly matters, as it fails both branches.
class LeafSorter {
public:
    LeafSorter(const Cases& cases, const Tree& tree)
        : cases_(cases), tree_(tree), is_tested(cases.matrix.n_columns()) {}

    void sort(std::int32_t id, RowSpan rows) {
        const Node& node = tree_[id];
        if (node.is_leaf()) return;
        const auto number = static_cast<std::size_t>(node.test.column);
        const Column& column = cases_.matrix.column(number);
        is_tested[number] = true;
        if (node.test.kind == TestKind::threshold) {
            std::int32_t* const border = partition_rows(column, node.test.threshold_rank, rows, spare_);
            sort(node.children[0], {rows.first, border});
            sort(node.children[1], {border, rows.last});
            return;
        }
        const auto branch_of = [&](std::int32_t row) {
            return node.test.branch_of(column.ranks[static_cast<std::size_t>(row)]);
        };
        std::stable_sort(rows.begin(), rows.end(),
                         [&](std::int32_t a, std::int32_t b) { return branch_of(a) < branch_of(b); });
        RowSpan part{rows.first, rows.first};
        for (std::size_t b = 0; b < node.children.size(); ++b) {
            part.last = std::find_if(part.first, rows.last,
                                     [&](std::int32_t row) { return branch_of(row) > static_cast<std::int32_t>(b); });
            sort(node.children[b], part);
            part.first = part.last;
        }
    }

private:
    const Cases& cases_;
    const Tree& tree_;
    std::vector<std::int32_t> spare_;

public:
    std::vector<bool> is_tested;  // per column
};

std::uint64_t value_bit(std::int32_t code) { return std::uint64_t{1} << (code & 63); }

}  // namespace

LeafOrder::LeafOrder(const Cases& cases, const Tree& tree)
    : rows_(cases.n_rows()), last_padding_(~last_word_mask(cases.n_rows())), columns_(cases.matrix.n_columns()) {
    std::iota(rows_.begin(), rows_.end(), 0);
    LeafSorter sorter(cases, tree);
    sorter.sort(0, {rows_.data(), rows_.data() + rows_.size()});
    classes_.reserve(rows_.size());
    for (const std::int32_t row : rows_) classes_.push_back(cases.classes[static_cast<std::size_t>(row)]);
    for (std::size_t a = 0; a < columns_.size(); ++a)
        if (sorter.is_tested[a]) {
            cases.cancel.check();
            arrange(cases.matrix.column(a), columns_[a]);
        }
}

void LeafOrder::arrange(const Column& column, Arranged& arranged) const {
    arranged.has_missing = column.has_missing;
    arranged.ranks.assign(n_blocks() * kWordBits, kMissing);
    for (std::size_t place = 0; place < rows_.size(); ++place)
        arranged.ranks[place] = column.ranks[static_cast<std::size_t>(rows_[place])];
    for (std::size_t block = 0; block < n_blocks(); ++block) {
        std::int32_t lowest = std::numeric_limits<std::int32_t>::max(), highest = kMissing;
        std::uint64_t values = 0;
        for (std::size_t place = block * kWordBits; place < (block + 1) * kWordBits; ++place) {
            const std::int32_t rank = arranged.ranks[place];
            if (rank == kMissing) continue;
            lowest = std::min(lowest, rank);
            highest = std::max(highest, rank);
            values |= value_bit(rank);
        }
        if (column.is_discrete) {
            arranged.values.push_back(values);
        } else {
            arranged.lowest.push_back(lowest);
            arranged.highest.push_back(highest);
        }
    }
}

Words LeafOrder::blocks_failing(const Test& test, std::size_t branch) const {
    const Arranged& column = columns_[static_cast<std::size_t>(test.column)];
    if (test.kind == TestKind::threshold) {
        if (branch == 0) return rows_above(column.lowest, test.threshold_rank);
        Words failing = rows_above(column.highest, test.threshold_rank);
        for (auto& word : failing) word = ~word;
        failing.back() &= last_word_mask(n_blocks());
        return failing;
    }
    std::uint64_t accepted = 0;
    for (std::size_t v = 0; v < test.branch_of_value.size(); ++v)
        if (test.branch_of_value[v] == static_cast<std::int32_t>(branch))
            accepted |= value_bit(static_cast<std::int32_t>(v));
    Words failing(words_for(n_blocks()), 0);
    for (std::size_t block = 0; block < n_blocks(); ++block)
        failing[block >> 6] |= static_cast<std::uint64_t>((column.values[block] & accepted) == 0) << (block & 63);
    return failing;
}

std::uint64_t LeafOrder::rows_failing(const Test& test, std::size_t branch, std::size_t block) const {
    const Arranged& column = columns_[static_cast<std::size_t>(test.column)];
    const std::int32_t* const ranks = column.ranks.data() + block * kWordBits;
    std::uint64_t failing = 0;
    if (test.kind == TestKind::threshold) {
        // Often the extremes decide, and the ranks need not be read. The lowest does not account for missing values.
        if (!column.has_missing && column.lowest[block] > test.threshold_rank) failing = ~failing;
        else if (column.highest[block] > test.threshold_rank) failing = ranks_above(ranks, test.threshold_rank);
        if (branch == 1) failing = ~failing;  // missing values are not above either
        else if (column.has_missing) failing |= ~ranks_above(ranks, kMissing);
    } else {
        for (std::size_t i = 0; i < kWordBits; ++i)
            failing |= static_cast<std::uint64_t>(test.branch_of(ranks[i]) != static_cast<std::int32_t>(branch)) << i;
    }
    return failing & ~padding(block);
}

void BlockFailures::reset(const LeafOrder& order, const Test& test, std::size_t branch) {
    const bool follows = test_ == &test && branch == branch_ + 1;
    test_ = &test;
    branch_ = branch;
    whole_blocks_ = order.blocks_failing(test, branch);
    if (follows && test.kind == TestKind::threshold && !order.has_missing(static_cast<std::size_t>(test.column))) {
        // Rows that satisfy "at most" fail "above".
        for (std::size_t block = 0; block < order.n_blocks(); ++block) rows_[block] = ~rows_[block];
        rows_[order.n_blocks() - 1] &= ~order.padding(order.n_blocks() - 1);
        return;
    }
    rows_.resize(order.n_blocks() + 1, 0);
    is_known_.assign(words_for(order.n_blocks()), 0);
}

const std::uint64_t* BlockFailures::rows(const LeafOrder& order, const SparseWords& blocks) {
    for (std::size_t i = 0; i < blocks.words.size(); ++i) {
        const std::size_t w = blocks.places[i];
        const std::uint64_t unknown = blocks.words[i] & ~is_known_[w];
        if (unknown == 0) continue;
        for_each_bit(&unknown, 1, [&](std::size_t bit) {
            const std::size_t block = w * kWordBits + bit;
            rows_[block] = order.rows_failing(*test_, branch_, block);
        });
        is_known_[w] |= unknown;
    }
    return rows_.data();
}

}  // namespace clausewise::c50
