// From a pruned tree to candidate rules: the path of every node, without the conditions that it does not need.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "c50/cases.hpp"
#include "c50/information.hpp"
#include "c50/rules/bit_counters.hpp"
#include "c50/rules/cover_counters.hpp"
#include "c50/rules/formed_rules.hpp"
#include "c50/rules/leaf_order.hpp"
#include "c50/rules/near_rows.hpp"
#include "c50/tree.hpp"

namespace clausewise::c50 {

class RuleFormer {
public:
    // `n_cuts` are the cuts per column that the code length of a threshold counts.
    RuleFormer(const Cases& cases, const std::vector<double>& class_totals, std::size_t n_columns_in_use,
               bool use_subsets, const std::vector<std::int32_t>& n_cuts, LogFactorial& log_factorial,
               const std::vector<float>& error_costs);

    FormedRules form(const Tree& tree, bool always_in_leaf_order);

private:
    void visit(const Tree& tree, std::int32_t id);
    void change_failures(int by);
    Condition condition_of(const Test& test, std::size_t branch);
    float bits_of_values(std::size_t column, std::size_t n_named);
    void form_rule(std::int32_t label);
    template <class Counter>
    void drop_conditions(Counter& counter, std::int32_t label);
    void accept(std::int32_t label, const std::vector<std::size_t>& kept, double cover, double errors, RowSet covered);
    float rule_bits(const std::vector<Condition>& conditions);
    void remove_absent_values(FormedRule& rule);
    float threshold_bits(std::size_t column);
    // `previous` are the rows that fail the previous branch.
    Words rows_failing(const Test& test, std::size_t branch, Words previous) const;
    const std::vector<std::int32_t>& ranks(std::size_t column) const;
    FormedRule* find_same(const FormedRule& rule);
    const Words& rows_of_class(std::int32_t label);
    // Per row, what it weighs if a rule for `label` covers it by mistake; 0 if the rule is right.
    const std::vector<float>& error_weights(std::int32_t label);

    const Cases& cases_;
    const std::vector<double>& class_totals_;
    bool use_subsets_;
    const std::vector<std::int32_t>& n_cuts_;
    LogFactorial& log_factorial_;
    const std::vector<float>& error_costs_;
    float column_bits_;
    std::vector<PathStep> path_;
    bool counts_by_words_;  // one weight per class and no costs: rows are counted 64 at a time
    // For large trees and unit weights: rules then refer to rows by their position in this order.
    std::optional<LeafOrder> order_;
    std::vector<BlockFailures> block_path_;  // one for each step of path_; later ones are unused
    NearRows near_;
    // The number of failed conditions of the path per row; or, in leaf order, those that a whole block fails.
    BitCounters n_failed_;
    std::vector<Words> class_rows_;
    std::vector<float> weights_;                     // per row, if rows are not counted by words
    std::vector<std::vector<float>> error_weights_;  // per class
    std::vector<FormedRule> rules_;
    std::unordered_multimap<std::uint64_t, std::size_t> numbers_by_hash_;  // indices into rules_
};

}  // namespace clausewise::c50
