// Class counts, or weights, per bin of every column, for the nodes of a growing tree. Two classes. In columns with
// missing values, these have a bin of their own after the others.
//
// A division counts only the smaller branch; the larger one is the difference, and replaces its parent. So at most one
// histogram per halving of the rows is kept at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "c50/cases.hpp"
#include "induction/matrix.hpp"

namespace clausewise::c50 {

using induction::BinValues;

// The number of cases of a bin, and of those of the second class, in the halves of one word: a single addition counts
// both. With fewer than 2^16 rows neither overflows 16 bits, and twice as many counts fit in the cache.
using NarrowCount = std::uint32_t;
using WideCount = std::uint64_t;
template <class Count>
inline constexpr int kHalfBits = sizeof(Count) * 4;
template <class Count>
std::int32_t all_of(Count count) {
    return static_cast<std::int32_t>(count & ((Count{1} << kHalfBits<Count>)-1));
}
template <class Count>
std::int32_t second_of(Count count) {
    return static_cast<std::int32_t>(count >> kHalfBits<Count>);
}

// The same for cases with weights. Unless sums of weights are exact, only bounds that allow for rounding may use them.
struct WeightSum {
    double all = 0.0, second = 0.0;

    WeightSum& operator+=(const WeightSum& other) {
        all += other.all;
        second += other.second;
        return *this;
    }
    WeightSum& operator-=(const WeightSum& other) {
        all -= other.all;
        second -= other.second;
        return *this;
    }
};

// What a case adds, with weights. Two classes.
inline WeightSum weight_sum(const Cases& cases, std::int32_t row) {
    const std::size_t label = cases.class_of(row);
    const double weight = cases.class_weights.empty() ? cases.weight(row) : cases.class_weights[label];
    return {weight, label == 1 ? weight : 0.0};
}

// A column of a histogram.
struct BinnedColumn {
    const std::uint8_t* bins;     // per row
    const BinValues* bin_values;  // per bin
    std::size_t n_bins;           // without that of missing values
    std::size_t n_counted;        // with it
    std::size_t start;            // offset of its bins in a histogram
    std::int32_t common_bin;      // as in Column
    std::int32_t n_repeated;
};

class NodeHistograms {
public:
    static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

    // Covers those of the given columns that have bins.
    NodeHistograms(const Cases& cases, const std::vector<std::size_t>& columns, std::size_t n_threads);

    bool is_empty() const { return columns_.empty(); }
    bool has(std::size_t column) const { return binned_of_column_[column] >= 0; }
    const BinnedColumn& binned(std::size_t column) const {
        return columns_[static_cast<std::size_t>(binned_of_column_[column])];
    }
    std::size_t n_held() const { return n_held_; }
    // Releases all but the first `n_held` histograms.
    void release(std::size_t n_held) { n_held_ = n_held; }
    // Counts these rows; returns the number of the new histogram.
    std::size_t count(RowSpan rows);
    // Removes the rows `smaller` from a histogram. Returns the number of a new histogram of these rows, or kNone if it
    // is not wanted.
    std::size_t divide(std::size_t number, RowSpan smaller, bool wants_smaller);
    // Adds weighted rows to a histogram, or removes them.
    void add(std::size_t number, RowSpan rows);
    void remove(std::size_t number, RowSpan rows);
    // Weighted cases: the sums of a column's bins. They may be written to `room`.
    const WeightSum* weights(std::size_t number, std::size_t column, std::vector<WeightSum>& room) const;
    // Unit weights, or one weight per class: calls use(counts) with the counts of a column's bins, narrow or wide.
    template <class Use>
    auto with_counts(std::size_t number, std::size_t column, Use&& use) const {
        const std::size_t start = binned(column).start;
        return is_wide_ ? use(wide_.held[number].data() + start) : use(narrow_.held[number].data() + start);
    }

private:
    template <class Count>
    struct Store {
        std::vector<std::vector<Count>> held;
        std::vector<Count> unit;  // per current row: what it adds to its bin

        void make_room(std::size_t number, std::size_t size);
        void read_classes(const Cases& cases, RowSpan rows);
        // Adds to `counts`.
        void count_column(const BinnedColumn& column, RowSpan rows, Count* counts) const;
    };
    template <class Count>
    void count(Store<Count>& store, std::size_t number, RowSpan rows);
    template <class Count>
    void divide(Store<Count>& store, std::size_t number, RowSpan smaller, std::size_t new_number);
    template <class Work>
    void for_each_column(std::size_t n_rows, Work&& work);
    // Calls use(store) with the store in use.
    template <class Use>
    void with_store(Use&& use) {
        if (!counts_rows_) use(weighted_);
        else if (is_wide_) use(wide_);
        else use(narrow_);
    }

    const Cases& cases_;
    std::size_t n_threads_;
    std::vector<BinnedColumn> columns_;           // contiguous, as growing scans them again and again
    std::vector<std::int32_t> binned_of_column_;  // -1: the column has no bins
    std::size_t size_ = 0;                        // of a histogram
    std::size_t n_held_ = 0;
    bool counts_rows_;  // instead of adding their weights
    bool is_wide_;
    Store<NarrowCount> narrow_;  // one of the three is in use
    Store<WideCount> wide_;
    Store<WeightSum> weighted_;
};

}  // namespace clausewise::c50
