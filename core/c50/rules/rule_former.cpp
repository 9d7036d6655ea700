#include "c50/rules/rule_former.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "c50/division.hpp"
#include "c50/rules/description_length.hpp"

namespace clausewise::c50 {
namespace {

constexpr double kMinLift = 0.95;
constexpr double kMinCover = 0.99;
constexpr std::size_t kMinRowsToSort = 16384;
constexpr std::size_t kMinLeavesToSort = 64;

double times_lg(double x) { return x * lg(x); }
double two_way_information(double a, double b) { return times_lg(a + b) - times_lg(a) - times_lg(b); }

// Laplace's estimate of the error rate.
float error_rate(double n, double errors) { return n < 1e-4 ? 0.5f : static_cast<float>((errors + 1.0) / (n + 2.0)); }

bool is_same_condition(const Condition& a, const Condition& b) {
    return a.column == b.column && a.kind == b.kind && a.threshold_rank == b.threshold_rank && a.values == b.values;
}

std::uint64_t hash_of(const FormedRule& rule) {
    std::uint64_t hash = static_cast<std::uint64_t>(rule.label);
    const auto mix = [&](std::int32_t number) {
        hash = (hash ^ static_cast<std::uint32_t>(number)) * 0x9e3779b97f4a7c15u + (hash >> 29);
    };
    for (const Condition& condition : rule.conditions) {
        mix(condition.column);
        mix(static_cast<std::int32_t>(condition.kind));
        mix(condition.threshold_rank);
        for (const std::int32_t value : condition.values) mix(value);
    }
    return hash;
}

void add_members(Words& set, const Words& more) {
    for (std::size_t w = 0; w < set.size(); ++w) set[w] |= more[w];
}

std::size_t count_leaves(const Tree& tree, std::int32_t id) {
    const Node& node = tree[id];
    if (node.is_leaf()) return 1;
    std::size_t n = 0;
    for (const std::int32_t child : node.children) n += count_leaves(tree, child);
    return n;
}

// Sorting takes as long as counting a few rules; below some size, counting a block is as quick as skipping it.
bool is_worth_sorting(const Cases& cases, const Tree& tree) {
    return cases.n_rows() >= kMinRowsToSort && count_leaves(tree, 0) >= kMinLeavesToSort;
}

}  // namespace

RuleFormer::RuleFormer(const Cases& cases, const std::vector<double>& class_totals, std::size_t n_columns_in_use,
                       bool use_subsets, const std::vector<std::int32_t>& n_cuts, LogFactorial& log_factorial,
                       const std::vector<float>& error_costs)
    : cases_(cases),
      class_totals_(class_totals),
      use_subsets_(use_subsets),
      n_cuts_(n_cuts),
      log_factorial_(log_factorial),
      error_costs_(error_costs),
      column_bits_(static_cast<float>(lg(static_cast<double>(n_columns_in_use)))),
      counts_by_words_((cases.has_unit_weights() || (cases.n_classes == 2 && !cases.class_weights.empty())) &&
                       error_costs.empty()),
      n_failed_(cases.n_rows()),
      class_rows_(cases.n_classes),
      error_weights_(cases.n_classes) {
    if (counts_by_words_) return;
    weights_ = cases.weights;
    weights_.resize(cases.n_rows(), 1.0f);
}

FormedRules RuleFormer::form(const Tree& tree, bool always_in_leaf_order) {
    if (counts_by_words_ && cases_.has_unit_weights() && (always_in_leaf_order || is_worth_sorting(cases_, tree))) {
        order_.emplace(cases_, tree);
        n_failed_ = BitCounters(order_->n_blocks());
    }
    visit(tree, 0);
    for (FormedRule& rule : rules_) {
        if (use_subsets_) remove_absent_values(rule);
        rule.bits = rule_bits(rule.conditions);
    }
    if (!order_) return {std::move(rules_), cases_.classes, {}};
    return {std::move(rules_), order_->classes(), order_->rows()};
}

void RuleFormer::visit(const Tree& tree, std::int32_t id) {
    const Node& node = tree[id];
    Words fails;
    for (std::size_t b = 0; b < node.children.size(); ++b) {
        if (!order_) fails = rows_failing(node.test, b, std::move(fails));
        if (tree[node.children[b]].size < kMinBranchWeight) continue;
        path_.push_back({condition_of(node.test, b), std::move(fails)});
        if (order_) {
            if (block_path_.size() < path_.size()) block_path_.emplace_back();
            block_path_[path_.size() - 1].reset(*order_, node.test, b);
        }
        change_failures(1);
        visit(tree, node.children[b]);
        change_failures(-1);
        fails = std::move(path_.back().fails);
        path_.pop_back();
    }
    if (!path_.empty() && node.size >= 1.0f) {
        cases_.cancel.check();
        form_rule(node.label);
    }
}

// Adds the last condition of the path to the failure counts of all rows, or removes it.
void RuleFormer::change_failures(int by) {
    const Words& fails = order_ ? block_path_[path_.size() - 1].whole_blocks() : path_.back().fails;
    if (by > 0) n_failed_.add(fails);
    else n_failed_.remove(fails);
}

Words RuleFormer::rows_failing(const Test& test, std::size_t branch, Words previous) const {
    const Column& column = cases_.matrix.column(static_cast<std::size_t>(test.column));
    if (test.kind == TestKind::threshold) {
        if (branch == 0) {
            Words fails = rows_above(column.ranks, test.threshold_rank);
            if (column.has_missing) add_members(fails, rows_missing(column.ranks));
            return fails;
        }
        // Rows that satisfy "at most" fail "above", and so do missing values.
        Words fails = std::move(previous);
        for (auto& word : fails) word = ~word;
        fails.back() &= last_word_mask(column.ranks.size());
        if (column.has_missing) add_members(fails, rows_missing(column.ranks));
        return fails;
    }
    Words fails(words_for(column.ranks.size()), 0);
    for (std::size_t row = 0; row < column.ranks.size(); ++row)
        fails[row >> 6] |=
            static_cast<std::uint64_t>(test.branch_of(column.ranks[row]) != static_cast<std::int32_t>(branch))
            << (row & 63);
    return fails;
}

Condition RuleFormer::condition_of(const Test& test, std::size_t branch) {
    Condition condition;
    condition.column = test.column;
    const auto column = static_cast<std::size_t>(test.column);
    if (test.kind == TestKind::threshold) {
        condition.kind = branch == 0 ? ConditionKind::at_most : ConditionKind::above;
        condition.threshold = test.threshold;
        condition.threshold_rank = test.threshold_rank;
        condition.bits = column_bits_ + threshold_bits(column);
        return condition;
    }
    for (std::size_t v = 0; v < test.branch_of_value.size(); ++v)
        if (test.branch_of_value[v] == static_cast<std::int32_t>(branch))
            condition.values.push_back(static_cast<std::int32_t>(v));
    condition.kind = condition.values.size() == 1 ? ConditionKind::equals : ConditionKind::among;
    condition.bits = bits_of_values(column, condition.values.size());
    return condition;
}

// The code length of a single value is the entropy of the values, where rows with a missing value count in the total;
// that of a set is lg of the number of sets of its size; that of levels of an ordered column is as for a threshold.
float RuleFormer::bits_of_values(std::size_t index, std::size_t n_named) {
    const Column& column = cases_.matrix.column(index);
    if (cases_.is_ordered[index])
        return column_bits_ + static_cast<float>(1.0 + 0.5 * lg(static_cast<double>(column.n_values)));
    std::vector<std::size_t> counts(static_cast<std::size_t>(column.n_values), 0);
    for (const std::int32_t code : column.ranks)
        if (code != kMissing) ++counts[static_cast<std::size_t>(code)];
    if (n_named == 1) {
        const auto n_rows = static_cast<double>(cases_.n_rows());
        float entropy = 0.0f;
        for (const std::size_t count : counts) {
            const auto n = static_cast<double>(count);
            entropy = static_cast<float>(entropy + n / n_rows * (lg(n_rows) - lg(n)));
        }
        return column_bits_ + entropy;
    }
    const auto n_occurring =
        static_cast<std::size_t>(std::count_if(counts.begin(), counts.end(), [](std::size_t n) { return n > 0; }));
    const std::size_t n_chosen = std::min(n_named, n_occurring - 1);
    return column_bits_ + static_cast<float>(log_factorial_(n_occurring) -
                                             (log_factorial_(n_chosen) + log_factorial_(n_occurring - n_chosen)));
}

float RuleFormer::threshold_bits(std::size_t column) {
    const std::int32_t n_cuts = n_cuts_[column];
    return n_cuts > 1 ? static_cast<float>(1.0 + 0.5 * lg(n_cuts)) : 0.0f;
}

const Words& RuleFormer::rows_of_class(std::int32_t label) {
    Words& rows = class_rows_[static_cast<std::size_t>(label)];
    if (rows.empty()) {
        const std::vector<std::uint16_t>& classes = order_ ? order_->classes() : cases_.classes;
        rows.assign(words_for(classes.size()) + 1, 0);  // one more word, for padding blocks
        for (std::size_t row = 0; row < classes.size(); ++row)
            rows[row >> 6] |= static_cast<std::uint64_t>(classes[row] == label) << (row & 63);
    }
    return rows;
}

const std::vector<float>& RuleFormer::error_weights(std::int32_t label) {
    const auto predicted = static_cast<std::size_t>(label);
    std::vector<float>& weights = error_weights_[predicted];
    if (weights.empty()) {
        weights = weights_;
        for (std::size_t row = 0; row < weights.size(); ++row) {
            const std::size_t actual = cases_.classes[row];
            if (actual == predicted) weights[row] = 0.0f;
            else if (!error_costs_.empty()) weights[row] *= error_costs_[predicted * cases_.n_classes + actual];
        }
    }
    return weights;
}

const std::vector<std::int32_t>& RuleFormer::ranks(std::size_t column) const {
    return order_ ? order_->ranks(column) : cases_.matrix.column(column).ranks;
}

void RuleFormer::form_rule(std::int32_t label) {
    if (order_) {
        LeafOrderCounter counter(*order_, block_path_, n_failed_, rows_of_class(label), near_);
        drop_conditions(counter, label);
    } else if (counts_by_words_) {
        PairWeights weights;
        if (!cases_.has_unit_weights())
            weights = {cases_.class_weights[static_cast<std::size_t>(label)],
                       cases_.class_weights[static_cast<std::size_t>(1 - label)]};
        UnitCounter counter(path_, n_failed_, rows_of_class(label), weights);
        drop_conditions(counter, label);
    } else {
        WeightedCounter counter(weights_, error_weights(label), path_, n_failed_);
        drop_conditions(counter, label);
    }
}

// Repeatedly drops the condition whose absence raises the error rate least, while that does not raise it at all or the
// code length of the rule exceeds its gain.
template <class Counter>
void RuleFormer::drop_conditions(Counter& counter, std::int32_t label) {
    const auto n_cases = static_cast<double>(cases_.n_rows());
    const double of_class = class_totals_[static_cast<std::size_t>(label)];
    std::vector<std::size_t> kept(path_.size());
    std::iota(kept.begin(), kept.end(), std::size_t{0});
    CoverCounts counts;
    counts.n_without.resize(path_.size());
    counts.errors_without.resize(path_.size());
    counter.count(kept, counts);
    double cost = 0.0;
    for (const PathStep& step : path_) cost += step.condition.bits;
    cost -= log_factorial_(path_.size());
    for (;;) {
        const double gain =
            two_way_information(of_class, n_cases - of_class) -
            two_way_information(counts.n - counts.errors, counts.errors) -
            two_way_information(of_class - counts.n + counts.errors, n_cases - of_class - counts.errors);
        counts.errors = std::min(counts.errors, counts.n);
        std::size_t weakest = kept[0];
        float weakest_rate = 2.0f;
        for (const std::size_t d : kept) {
            counts.errors_without[d] = std::min(counts.errors_without[d], counts.n_without[d]);
            const float rate = error_rate(counts.n_without[d], counts.errors_without[d]);
            if (rate <= weakest_rate) {  // the last on ties
                weakest = d;
                weakest_rate = rate;
            }
        }
        const bool is_worth_its_cost = kTheoryDiscount * cost <= gain;
        if (kept.size() == 1 || (is_worth_its_cost && weakest_rate > error_rate(counts.n, counts.errors))) {
            if (counts.n > kMinCover && is_worth_its_cost)
                accept(label, kept, counts.n, counts.errors, counter.covered(counts.n));
            return;
        }
        kept.erase(std::find(kept.begin(), kept.end(), weakest));
        counter.drop(weakest, kept, counts);
        cost = cost - path_[weakest].condition.bits + log_factorial_(kept.size() + 1) - log_factorial_(kept.size());
    }
}

void RuleFormer::accept(std::int32_t label, const std::vector<std::size_t>& kept, double cover, double errors,
                        RowSet covered) {
    const auto target = static_cast<std::size_t>(label);
    double correct = cover - errors;
    float prior = static_cast<float>(class_totals_[target] / static_cast<double>(cases_.n_rows()));
    if (!cases_.class_scale.empty()) {
        cover = 0.0;
        covered.for_each([&](std::int32_t row) {
            cover += cases_.weights[static_cast<std::size_t>(row)] / cases_.class_scale[cases_.class_of(row)];
        });
        correct /= cases_.class_scale[target];
        prior /= cases_.class_scale[target];
    } else if (!error_costs_.empty()) {
        // Errors are weighted by their costs, but the correct cases are not.
        correct = 0.0;
        covered.for_each([&](std::int32_t row) {
            if (cases_.class_of(row) == target) correct += cases_.weight(row);
        });
    }
    if (!((correct + 1.0) / ((cover + 2.0) * prior) >= kMinLift)) return;
    FormedRule rule;
    rule.label = label;
    for (const std::size_t d : kept) rule.conditions.push_back(path_[d].condition);
    std::stable_sort(rule.conditions.begin(), rule.conditions.end(), [](const Condition& a, const Condition& b) {
        return a.column != b.column ? a.column < b.column : a.threshold < b.threshold;
    });
    rule.cover = static_cast<float>(cover);
    rule.correct = static_cast<float>(correct);
    rule.lift = (rule.correct + 1.0f) / ((rule.cover + 2.0f) * prior);
    rule.vote = static_cast<std::int32_t>(std::floor(1000.0 * (rule.correct + 1.0) / (rule.cover + 2.0) + 0.5));
    if (FormedRule* const same = find_same(rule)) {
        same->vote = std::max(same->vote, rule.vote);
        return;
    }
    rule.covered = std::move(covered);
    numbers_by_hash_.emplace(hash_of(rule), rules_.size());
    rules_.push_back(std::move(rule));
}

FormedRule* RuleFormer::find_same(const FormedRule& rule) {
    const auto [first, last] = numbers_by_hash_.equal_range(hash_of(rule));
    for (auto it = first; it != last; ++it) {
        FormedRule& old = rules_[it->second];
        if (old.label == rule.label && std::equal(old.conditions.begin(), old.conditions.end(), rule.conditions.begin(),
                                                  rule.conditions.end(), is_same_condition))
            return &old;
    }
    return nullptr;
}

float RuleFormer::rule_bits(const std::vector<Condition>& conditions) {
    float sum = 0.0f;
    for (const Condition& condition : conditions) sum += condition.bits;
    return static_cast<float>(sum + lg(static_cast<double>(conditions.size())) - log_factorial_(conditions.size()));
}

// Removes values that no covered row has from the sets of a rule.
void RuleFormer::remove_absent_values(FormedRule& rule) {
    for (Condition& condition : rule.conditions) {
        if (condition.kind != ConditionKind::among) continue;
        const auto column = static_cast<std::size_t>(condition.column);
        const std::vector<std::int32_t>& codes = ranks(column);
        std::vector<bool> is_present(static_cast<std::size_t>(cases_.matrix.column(column).n_values), false);
        rule.covered.for_each([&](std::int32_t row) {
            is_present[static_cast<std::size_t>(codes[static_cast<std::size_t>(row)])] = true;
        });
        auto& values = condition.values;
        values.erase(std::remove_if(values.begin(), values.end(),
                                    [&](std::int32_t v) { return !is_present[static_cast<std::size_t>(v)]; }),
                     values.end());
        if (values.size() == 1) condition.kind = ConditionKind::equals;
        condition.bits = bits_of_values(column, values.size());
    }
}

}  // namespace clausewise::c50
