// Where the values of a node lie among the ranks of a column.
//
// Two forms answer the same questions: how many cases have a rank up to r, how many different ranks there are up to r,
// which ranks are beside r, and which rank the case at a position has.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "bits.hpp"
#include "cases.hpp"
#include "matrix.hpp"

namespace clausewise {

struct PlaceScratch {
    Words present;                              // one bit per rank
    std::vector<std::int32_t> groups_before;    // per word of `present`
    std::vector<std::int32_t> cases_up_to;      // per rank
};

// The node is the whole matrix: everything was counted when the column was prepared.
class WholeColumn {
public:
    explicit WholeColumn(const Column& column) : column_(column) {}
    std::int32_t cases_up_to(std::int32_t r) const { return column_.starts[static_cast<std::size_t>(r) + 1]; }
    std::int32_t groups_up_to(std::int32_t r) const { return r + 1; }
    std::int32_t before(std::int32_t r) const { return r - 1; }
    std::int32_t after(std::int32_t r) const { return r + 1; }
    std::int32_t rank_at(std::int32_t position) const {
        if (column_.has_unique_values) return position;
        const auto above = std::upper_bound(column_.starts.begin(), column_.starts.end(), position);
        return static_cast<std::int32_t>(above - column_.starts.begin()) - 1;
    }

private:
    const Column& column_;
};

// Ranks that occur, as bits with running counts. With repeated values a running count of cases per rank joins them.
class MarkedColumn {
public:
    MarkedColumn(const Column& column, Span rows, PlaceScratch& scratch)
        : present_(scratch.present), groups_before_(scratch.groups_before), cases_(scratch.cases_up_to),
          is_unique_(column.has_unique_values) {
        const auto n_values = static_cast<std::size_t>(column.n_values);
        const std::int32_t* ranks = column.ranks.data();
        present_.assign(words_for(n_values), 0);
        if (is_unique_) {
            for (const std::int32_t row : rows) mark(static_cast<std::size_t>(ranks[row]));
        } else {
            cases_.assign(n_values, 0);
            for (const std::int32_t row : rows) {
                const auto r = static_cast<std::size_t>(ranks[row]);
                mark(r);
                ++cases_[r];
            }
            for (std::size_t r = 1; r < n_values; ++r) cases_[r] += cases_[r - 1];
        }
        groups_before_.resize(present_.size());
        count_marks(present_, groups_before_);
    }
    std::int32_t cases_up_to(std::int32_t r) const { return is_unique_ ? groups_up_to(r) : cases_[static_cast<std::size_t>(r)]; }
    std::int32_t groups_up_to(std::int32_t r) const {
        const auto w = static_cast<std::size_t>(r) >> 6;
        return groups_before_[w] + count_bits(present_[w] & (~std::uint64_t{0} >> (63 - (r & 63))));
    }
    std::int32_t before(std::int32_t r) const {
        auto w = static_cast<std::size_t>(r) >> 6;
        std::uint64_t word = present_[w] & ((std::uint64_t{1} << (r & 63)) - 1);
        while (word == 0) {
            if (w == 0) return -1;
            word = present_[--w];
        }
        return static_cast<std::int32_t>(w * 64 + 63) - __builtin_clzll(word);
    }
    std::int32_t after(std::int32_t r) const {      // there is one
        auto w = static_cast<std::size_t>(r + 1) >> 6;
        std::uint64_t word = present_[w] & (~std::uint64_t{0} << ((r + 1) & 63));
        while (word == 0) word = present_[++w];
        return static_cast<std::int32_t>(w * 64 + lowest_bit(word));
    }
    std::int32_t rank_at(std::int32_t position) const {
        if (!is_unique_)
            return static_cast<std::int32_t>(std::upper_bound(cases_.begin(), cases_.end(), position) - cases_.begin());
        const auto above = std::upper_bound(groups_before_.begin(), groups_before_.end(), position);
        const auto w = static_cast<std::size_t>(above - groups_before_.begin()) - 1;
        std::uint64_t word = present_[w];
        for (std::int32_t skip = position - groups_before_[w]; skip > 0; --skip) word &= word - 1;
        return static_cast<std::int32_t>(w * 64 + lowest_bit(word));
    }

private:
    void mark(std::size_t r) { present_[r >> 6] |= std::uint64_t{1} << (r & 63); }

    Words& present_;
    std::vector<std::int32_t>& groups_before_;      // per word of present_
    std::vector<std::int32_t>& cases_;              // with repeated values: per rank, cases up to it
    bool is_unique_;
};

}  // namespace clausewise
