// The ranks of a column that occur at a node.
//
// Three classes with one interface: how many cases have a rank up to r, how many distinct ranks (groups) there are up
// to r, which ranks precede and follow r, and which rank the case at a position has.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "c50/bit_sets.hpp"
#include "c50/cases.hpp"
#include "induction/matrix.hpp"

namespace clausewise::c50 {

struct RankScratch {
    Words present;                            // one bit per rank
    std::vector<std::int32_t> groups_before;  // per word of `present`
    std::vector<std::int32_t> cases_before;   // per word of `present`
    std::vector<std::int32_t> cases_up_to;    // per rank
    std::vector<std::int32_t> kept;           // rows
    std::vector<std::int32_t> repeated;       // ranks that occur again
    std::vector<std::int32_t> extra_rank, extra_up_to;
};

// For a node of all rows: everything was counted when the column was prepared.
class WholeColumn {
public:
    explicit WholeColumn(const Column& column) : column_(column) {}
    std::int32_t cases_up_to(std::int32_t r) const { return column_.starts[static_cast<std::size_t>(r) + 1]; }
    std::int32_t groups_up_to(std::int32_t r) const { return r + 1; }
    std::int32_t before(std::int32_t r) const { return r - 1; }
    std::int32_t after(std::int32_t r) const { return r + 1; }
    std::int32_t rank_at(std::int32_t position) const {
        if (column_.n_values == column_.starts.back()) return position;  // every value occurs once
        const auto above = std::upper_bound(column_.starts.begin(), column_.starts.end(), position);
        return static_cast<std::int32_t>(above - column_.starts.begin()) - 1;
    }

private:
    const Column& column_;
};

// Calls visit(rank, row) for the rows without the column's common value, and returns the number of rows with it. These
// are filtered out first, as setting the same bit again and again would stall.
template <class Visit>
std::int32_t visit_uncommon(const Column& column, RowSpan rows, std::vector<std::int32_t>& kept, Visit&& visit) {
    const std::int32_t* ranks = column.ranks.data();
    if (column.common_rank < 0) {
        for (const std::int32_t row : rows) visit(static_cast<std::size_t>(ranks[row]), row);
        return 0;
    }
    kept.resize(rows.size() + 1);
    std::int32_t* next = kept.data();
    for (const std::int32_t row : rows) {
        *next = row;
        next += ranks[row] != column.common_rank;
    }
    for (const std::int32_t* row = kept.data(); row != next; ++row) visit(static_cast<std::size_t>(ranks[*row]), *row);
    return static_cast<std::int32_t>(rows.size()) - static_cast<std::int32_t>(next - kept.data());
}

// For mostly unique values: one bit per rank that occurs, with running counts, and a short list of the ranks that occur
// more than once.
class MarkedColumn {
public:
    // `others` are the rows outside the node, given if they are fewer: then they are removed from the whole.
    MarkedColumn(const Column& column, RowSpan rows, RowSpan others, RankScratch& scratch)
        : present_(scratch.present),
          groups_before_(scratch.groups_before),
          cases_before_(scratch.cases_before),
          extra_rank_(scratch.extra_rank),
          extra_up_to_(scratch.extra_up_to) {
        extra_rank_.clear();
        extra_up_to_.clear();
        if (others.size() > 0) unmark(column, others, scratch);
        else mark(column, rows, scratch);
        count_marks(present_, groups_before_);
        // Running counts of cases: the marks, plus the repetitions.
        cases_before_ = groups_before_;
        for (std::size_t e = 0; e < extra_rank_.size(); ++e) {
            const std::size_t from = (static_cast<std::size_t>(extra_rank_[e]) >> 6) + 1;
            const std::size_t to =
                e + 1 < extra_rank_.size() ? (static_cast<std::size_t>(extra_rank_[e + 1]) >> 6) + 1 : present_.size();
            for (std::size_t w = from; w < to; ++w) cases_before_[w] += extra_up_to_[e];
        }
    }
    std::int32_t cases_up_to(std::int32_t r) const {
        const auto w = static_cast<std::size_t>(r) >> 6;
        const std::int32_t groups = groups_up_to(r), before_word = cases_before_[w] - groups_before_[w];
        if (w + 1 < present_.size() && cases_before_[w + 1] - groups_before_[w + 1] == before_word)
            return groups + before_word;
        const auto above = std::upper_bound(extra_rank_.begin(), extra_rank_.end(), r);
        return groups + (above == extra_rank_.begin()
                             ? 0
                             : extra_up_to_[static_cast<std::size_t>(above - extra_rank_.begin()) - 1]);
    }
    std::int32_t groups_up_to(std::int32_t r) const {
        const auto w = static_cast<std::size_t>(r) >> 6;
        return groups_before_[w] + count_bits(present_[w] & (~std::uint64_t{0} >> (63 - (r & 63))));
    }
    std::int32_t before(std::int32_t r) const {  // -1 if there is none
        auto w = static_cast<std::size_t>(r) >> 6;
        std::uint64_t word = present_[w] & ((std::uint64_t{1} << (r & 63)) - 1);
        while (word == 0) {
            if (w == 0) return -1;
            word = present_[--w];
        }
        return static_cast<std::int32_t>(w * 64) + highest_bit(word);
    }
    std::int32_t after(std::int32_t r) const {  // there must be one
        auto w = static_cast<std::size_t>(r + 1) >> 6;
        std::uint64_t word = present_[w] & (~std::uint64_t{0} << ((r + 1) & 63));
        while (word == 0) word = present_[++w];
        return static_cast<std::int32_t>(w * 64) + lowest_bit(word);
    }
    std::int32_t rank_at(std::int32_t position) const {
        const auto above = std::upper_bound(cases_before_.begin(), cases_before_.end(), position);
        auto r = static_cast<std::int32_t>(above - cases_before_.begin() - 1) * 64 - 1;
        do r = after(r);
        while (cases_up_to(r) <= position);
        return r;
    }

private:
    bool is_marked(std::size_t r) const { return (present_[r >> 6] >> (r & 63)) & 1; }
    void set(std::size_t r) { present_[r >> 6] |= std::uint64_t{1} << (r & 63); }
    void clear(std::size_t r) { present_[r >> 6] &= ~(std::uint64_t{1} << (r & 63)); }
    void add_extra(std::int32_t r, std::int32_t n) {  // in ascending order of ranks
        const std::int32_t so_far = extra_up_to_.empty() ? 0 : extra_up_to_.back();
        if (!extra_rank_.empty() && extra_rank_.back() == r) {
            extra_up_to_.back() += n;
            return;
        }
        extra_rank_.push_back(r);
        extra_up_to_.push_back(so_far + n);
    }
    void mark(const Column& column, RowSpan rows, RankScratch& scratch) {
        present_.assign(words_for(static_cast<std::size_t>(column.n_values)), 0);
        auto& repeated = scratch.repeated;
        repeated.clear();
        const std::int32_t n_common = visit_uncommon(column, rows, scratch.kept, [&](std::size_t r, std::int32_t) {
            if (is_marked(r)) repeated.push_back(static_cast<std::int32_t>(r));
            set(r);
        });
        std::sort(repeated.begin(), repeated.end());
        if (n_common > 0) set(static_cast<std::size_t>(column.common_rank));
        bool is_common_due = n_common > 1;
        for (const std::int32_t r : repeated) {
            if (is_common_due && r > column.common_rank) {
                add_extra(column.common_rank, n_common - 1);
                is_common_due = false;
            }
            add_extra(r, 1);
        }
        if (is_common_due) add_extra(column.common_rank, n_common - 1);
    }
    void unmark(const Column& column, RowSpan others, RankScratch& scratch) {
        present_.assign(words_for(static_cast<std::size_t>(column.n_values)), ~std::uint64_t{0});
        present_.back() = last_word_mask(static_cast<std::size_t>(column.n_values));
        // Ranks that stand for several rows are counted below.
        auto& removed = scratch.repeated;
        removed.clear();
        const std::int32_t n_common_elsewhere =
            visit_uncommon(column, others, scratch.kept, [&](std::size_t r, std::int32_t) {
                if (column.starts[r + 1] - column.starts[r] > 1) removed.push_back(static_cast<std::int32_t>(r));
                else clear(r);
            });
        std::sort(removed.begin(), removed.end());
        auto next = removed.begin();
        const auto settle = [&](std::int32_t r, std::int32_t n_gone) {
            const auto index = static_cast<std::size_t>(r);
            const std::int32_t n_here = column.starts[index + 1] - column.starts[index] - n_gone;
            if (n_here == 0) clear(index);
            if (n_here > 1) add_extra(r, n_here - 1);
        };
        bool is_common_due = column.common_rank >= 0;
        for (const std::int32_t r : column.repeated_ranks) {
            if (is_common_due && r > column.common_rank) {
                settle(column.common_rank, n_common_elsewhere);
                is_common_due = false;
            }
            const auto first = next;
            while (next != removed.end() && *next == r) ++next;
            settle(r, static_cast<std::int32_t>(next - first));
        }
        if (is_common_due) settle(column.common_rank, n_common_elsewhere);
    }

    Words& present_;
    std::vector<std::int32_t>& groups_before_;  // per word of present_
    std::vector<std::int32_t>& cases_before_;   // per word of present_
    std::vector<std::int32_t>& extra_rank_;     // ranks that occur more than once, ascending
    std::vector<std::int32_t>& extra_up_to_;    // repetitions up to each of them: cases less groups
};

// For often repeated values: running counts per rank.
class CountedColumn {
public:
    CountedColumn(const Column& column, RowSpan rows, RowSpan others, RankScratch& scratch)
        : cases_(scratch.cases_up_to), groups_(scratch.cases_before) {
        const auto n_values = static_cast<std::size_t>(column.n_values);
        const std::int32_t* ranks = column.ranks.data();
        cases_.assign(n_values, 0);
        groups_.resize(n_values);
        if (others.size() > 0)
            for (const std::int32_t row : others) --cases_[static_cast<std::size_t>(ranks[row])];
        else
            for (const std::int32_t row : rows) ++cases_[static_cast<std::size_t>(ranks[row])];
        std::int32_t n_cases = 0, n_groups = 0;
        for (std::size_t r = 0; r < n_values; ++r) {
            if (others.size() > 0) cases_[r] += column.starts[r + 1] - column.starts[r];
            n_groups += cases_[r] > 0;
            n_cases += cases_[r];
            groups_[r] = n_groups;
            cases_[r] = n_cases;
        }
    }
    std::int32_t cases_up_to(std::int32_t r) const { return cases_[static_cast<std::size_t>(r)]; }
    std::int32_t groups_up_to(std::int32_t r) const { return groups_[static_cast<std::size_t>(r)]; }
    std::int32_t before(std::int32_t r) const {
        for (--r; r >= 0 && !occurs(r); --r) {
        }
        return r;
    }
    std::int32_t after(std::int32_t r) const {
        for (++r; !occurs(r); ++r) {
        }
        return r;
    }
    std::int32_t rank_at(std::int32_t position) const {
        return static_cast<std::int32_t>(std::upper_bound(cases_.begin(), cases_.end(), position) - cases_.begin());
    }

private:
    bool occurs(std::int32_t r) const { return cases_up_to(r) > (r == 0 ? 0 : cases_up_to(r - 1)); }

    std::vector<std::int32_t>& cases_;
    std::vector<std::int32_t>& groups_;
};

}  // namespace clausewise::c50
