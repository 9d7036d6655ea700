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
    Words fails;  // the rows that fail it, unless counted in the order of the leaves
};

// Covered and wrong weight, with all kept conditions and without each.
struct CoverCounts {
    double n = 0.0, errors = 0.0;                   // with all kept conditions
    std::vector<double> n_without, errors_without;  // per step of the path, without that one

    // The rows that failed nothing but `dropped` are covered now. Those that failed it and one other are yet to be
    // added.
    void move_past(std::size_t dropped, const std::vector<std::size_t>& kept) {
        for (const std::size_t d : kept) {
            n_without[d] += n_without[dropped] - n;
            errors_without[d] += errors_without[dropped] - errors;
        }
        n = n_without[dropped];
        errors = errors_without[dropped];
    }
    // For unit weights, whose `both` are of the rule's class:
    void start_with(PairCount covered, const std::vector<std::size_t>& kept) {
        n = static_cast<double>(covered.first);
        errors = static_cast<double>(covered.first - covered.both);
        for (const std::size_t d : kept) {
            n_without[d] = n;
            errors_without[d] = errors;
        }
    }
    // Rows that fail nothing but one kept condition belong to the rule without it.
    void add_nearly_covered(std::size_t d, PairCount more) {
        n_without[d] += static_cast<double>(more.first);
        errors_without[d] += static_cast<double>(more.first - more.both);
    }
};

// Counts for unit weights, by words of 64 rows.
class UnitCounter {
public:
    UnitCounter(const std::vector<PathStep>& path, const BitCounters& n_failed, const Words& of_class)
        : path_(path), n_failed_(n_failed), of_class_(of_class) {}

    void count(const std::vector<std::size_t>& kept, CoverCounts& counts);
    void drop(std::size_t dropped, const std::vector<std::size_t>& kept, CoverCounts& counts);
    RowSet covered(double n) const { return RowSet(n_failed_.zeros(), static_cast<std::size_t>(n)); }

private:
    void add_nearly_covered(const std::vector<std::size_t>& kept, CoverCounts& counts) const;

    const std::vector<PathStep>& path_;
    BitCounters n_failed_;
    const Words& of_class_;
    SparseWords nearly_covered_;  // rows that fail one condition, since the last drop
};

// The same for large trees, with the rows in the order of the leaves. Most blocks as a whole fail two conditions or
// more and are left out until enough of these are dropped: they hold neither covered rows nor such that fail one
// condition.
class LeafOrderCounter {
public:
    LeafOrderCounter(const LeafOrder& order, std::vector<BlockFailures>& path, const BitCounters& n_failed_by_block,
                     const Words& of_class, NearRows& near)
        : order_(order), path_(path), n_failed_by_block_(n_failed_by_block), of_class_(of_class), near_(near) {}

    void count(const std::vector<std::size_t>& kept, CoverCounts& counts);
    void drop(std::size_t dropped, const std::vector<std::size_t>& kept, CoverCounts& counts);
    RowSet covered(double n) const { return RowSet(near_.zeros(), static_cast<std::size_t>(n), order_.n_blocks()); }

private:
    void take_in(const SparseWords& blocks, const std::vector<std::size_t>& kept);
    void add_nearly_covered(const std::vector<std::size_t>& kept, CoverCounts& counts);

    const LeafOrder& order_;
    std::vector<BlockFailures>& path_;
    BitCounters n_failed_by_block_;
    const Words& of_class_;
    NearRows& near_;
    SparseWords entering_;
};

// Counts for any weights and for costs, kept incrementally as they are defined. Sums run over rows in order.
class WeightedCounter {
public:
    WeightedCounter(const Cases& cases, const std::vector<PathStep>& path, std::vector<std::uint16_t> n_failed,
                    std::int32_t label, const std::vector<float>& error_costs)
        : cases_(cases), path_(path), label_(label), error_costs_(error_costs), n_failed_(std::move(n_failed)) {}

    void count(const std::vector<std::size_t>& kept, CoverCounts& counts);
    void drop(std::size_t dropped, const std::vector<std::size_t>& kept, CoverCounts& counts);
    RowSet covered(double) const;

private:
    double weight(std::size_t row) const { return cases_.weight(static_cast<std::int32_t>(row)); }
    double error_weight(std::size_t row) const;
    void add_nearly_covered(const std::vector<std::int32_t>& rows, const std::vector<std::size_t>& kept,
                            CoverCounts& counts) const;

    const Cases& cases_;
    const std::vector<PathStep>& path_;
    std::int32_t label_;
    const std::vector<float>& error_costs_;
    std::vector<std::uint16_t> n_failed_;
};

}  // namespace clausewise::c50
