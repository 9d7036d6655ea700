// How many rows a rule covers, and how many it would cover without each of its conditions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "c50/bit_sets.hpp"
#include "c50/cases.hpp"
#include "c50/rules/bit_counters.hpp"
#include "c50/rules/formed_rules.hpp"
#include "c50/rules/leaf_order.hpp"
#include "c50/rules/near_rows.hpp"
#include "c50/rules/row_set.hpp"

namespace clausewise::c50 {

// One condition of the path from the root to a node.
struct PathStep {
    Condition condition;
    Words fails;  // the rows that fail it; empty if rows are in leaf order
};

// What a row of the rule's class weighs, and any other row.
struct PairWeights {
    double own = 1.0, other = 1.0;
};

// The covered and the misclassified weight, with all kept conditions and without each one.
struct CoverCounts {
    double n = 0.0, errors = 0.0;                   // with all kept conditions
    std::vector<double> n_without, errors_without;  // without one condition, per step of the path

    // Drops a condition: the rows that failed only this one become covered. The caller then adds the rows that failed
    // it and one other.
    void count_dropped(std::size_t dropped, const std::vector<std::size_t>& kept) {
        for (const std::size_t d : kept) {
            n_without[d] += n_without[dropped] - n;
            errors_without[d] += errors_without[dropped] - errors;
        }
        n = n_without[dropped];
        errors = errors_without[dropped];
    }
    // Of `covered`, `both` counts the rows of the rule's class.
    void start_with(PairCount covered, const std::vector<std::size_t>& kept, PairWeights weights = {}) {
        errors = weights.other * static_cast<double>(covered.first - covered.both);
        n = weights.own * static_cast<double>(covered.both) + errors;
        for (const std::size_t d : kept) {
            n_without[d] = n;
            errors_without[d] = errors;
        }
    }
    // Adds rows that fail only condition d, which the rule without it covers.
    void add_nearly_covered(std::size_t d, PairCount more, PairWeights weights = {}) {
        const double more_errors = weights.other * static_cast<double>(more.first - more.both);
        n_without[d] += weights.own * static_cast<double>(more.both) + more_errors;
        errors_without[d] += more_errors;
    }
};

// For two classes with one weight per class, or unit weights: counts 64 rows at a time.
class UnitCounter {
public:
    UnitCounter(const std::vector<PathStep>& path, const BitCounters& n_failed, const Words& of_class,
                PairWeights weights)
        : path_(path), n_failed_(n_failed), of_class_(of_class), weights_(weights) {}

    void count(const std::vector<std::size_t>& kept, CoverCounts& counts);
    void drop(std::size_t dropped, const std::vector<std::size_t>& kept, CoverCounts& counts);
    RowSet covered(double) const { return RowSet::of(n_failed_.zeros()); }

private:
    void add_nearly_covered(const std::vector<std::size_t>& kept, CoverCounts& counts) const;

    const std::vector<PathStep>& path_;
    BitCounters n_failed_;
    const Words& of_class_;
    const PairWeights weights_;
    SparseWords nearly_covered_;  // rows that fail one condition since the last drop
};

// The same for large trees, with the rows in leaf order. Most blocks fail two or more conditions as a whole, so they
// hold neither covered rows nor rows that fail one condition. They are skipped until enough of these conditions are
// dropped.
class LeafOrderCounter {
public:
    LeafOrderCounter(const LeafOrder& order, std::vector<BlockFailures>& path, const BitCounters& n_failed_by_block,
                     const Words& of_class, NearRows& near)
        : order_(order), path_(path), n_failed_by_block_(n_failed_by_block), of_class_(of_class), near_(near) {}

    void count(const std::vector<std::size_t>& kept, CoverCounts& counts);
    void drop(std::size_t dropped, const std::vector<std::size_t>& kept, CoverCounts& counts);
    RowSet covered(double n) const { return RowSet(near_.zeros(), static_cast<std::size_t>(n), order_.n_blocks()); }

private:
    void include_blocks(const SparseWords& blocks, const std::vector<std::size_t>& kept);
    void add_nearly_covered(const std::vector<std::size_t>& kept, CoverCounts& counts);

    const LeafOrder& order_;
    std::vector<BlockFailures>& path_;
    BitCounters n_failed_by_block_;
    const Words& of_class_;
    NearRows& near_;
    SparseWords entering_;
};

// For any weights and for costs. The rows are found 64 at a time, but sums run over them in order and are updated
// incrementally, as the behaviour is defined.
class WeightedCounter {
public:
    // `weights` and `error_weights` have one entry per row: what it weighs, and what it weighs if it is an error.
    WeightedCounter(const std::vector<float>& weights, const std::vector<float>& error_weights,
                    const std::vector<PathStep>& path, const BitCounters& n_failed)
        : weights_(weights), error_weights_(error_weights), path_(path), n_failed_(n_failed) {}

    void count(const std::vector<std::size_t>& kept, CoverCounts& counts);
    void drop(std::size_t dropped, const std::vector<std::size_t>& kept, CoverCounts& counts);
    RowSet covered(double) const { return RowSet::of(n_failed_.zeros()); }

private:
    void add_nearly_covered(const std::vector<std::size_t>& kept, CoverCounts& counts) const;

    const std::vector<float>& weights_;
    const std::vector<float>& error_weights_;
    const std::vector<PathStep>& path_;
    BitCounters n_failed_;
    SparseWords nearly_covered_;  // rows that fail one condition since the last drop
};

}  // namespace clausewise::c50
