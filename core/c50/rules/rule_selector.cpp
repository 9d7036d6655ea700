#include "c50/rules/rule_selector.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "c50/rules/cells.hpp"
#include "c50/rules/description_length.hpp"
#include "c50/rules/error_changes.hpp"

namespace clausewise::c50 {
namespace {

// Covers each class with its best rules, greedily.
std::vector<bool> initial_subset(const Cases& cases, const std::vector<double>& class_totals,
                                 const std::vector<FormedRule>& rules, const Cells& cells) {
    std::vector<bool> selected(rules.size(), false);
    std::vector<std::size_t> order(rules.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return rules[a].vote > rules[b].vote; });
    std::vector<std::int32_t> covered_for(cells.size(), -1);  // the last class whose selected rules cover the cell
    for (std::int32_t label = 0; label < static_cast<std::int32_t>(cases.n_classes); ++label) {
        double remaining = class_totals[static_cast<std::size_t>(label)], false_positives = 0.0;
        for (const std::size_t r : order) {
            if (!(remaining > false_positives)) break;
            if (rules[r].label != label || rules[r].correct < cases.min_cases) continue;
            double new_true = 0.0, new_false = 0.0;
            cells.cells_of_rule.for_each(r, [&](std::size_t cell) {
                if (covered_for[cell] != label)
                    (cells.label[cell] == label ? new_true : new_false) += cells.weight[cell];
            });
            if (new_true - new_false <= cases.min_cases + 1e-4) continue;
            remaining -= new_true;
            false_positives += new_false;
            selected[r] = true;
            cells.cells_of_rule.for_each(r, [&](std::size_t cell) { covered_for[cell] = label; });
        }
    }
    return selected;
}

// The current selection, with the sums that the description length needs.
class Selection {
public:
    Selection(const std::vector<FormedRule>& rules, std::vector<bool>& selected)
        : selected_(selected), is_selected_(selected.begin(), selected.end()) {
        for (std::size_t r = 0; r < rules.size(); ++r) {
            const double bits = rules[r].bits;
            change_.push_back(selected[r] ? -bits : bits);
            n_selected_ += selected[r];
            if (selected[r]) sum_ += bits;
        }
    }
    bool operator[](std::size_t r) const { return is_selected_[r] != 0; }
    std::size_t n_selected() const { return n_selected_; }
    double bits() const { return sum_; }
    // The change of the sum of bits if a rule is flipped.
    double change(std::size_t r) const { return change_[r]; }
    void flip(std::size_t r) {
        n_selected_ = selected_[r] ? n_selected_ - 1 : n_selected_ + 1;
        selected_[r] = !selected_[r];
        is_selected_[r] = selected_[r];
        sum_ += change_[r];  // a running sum, as the behaviour is defined
        change_[r] = -change_[r];
    }

private:
    std::vector<bool>& selected_;
    std::vector<char> is_selected_;  // the same, faster to read
    std::vector<double> change_;
    std::size_t n_selected_ = 0;
    double sum_ = 0.0;
};

// The rule whose flip makes the description shortest, or n_rules if no flip shortens it.
template <class Changes>
std::size_t best_flip(const Selection& selection, std::size_t n_rules, std::size_t last, Changes& changes,
                      DescriptionLength& length) {
    const std::size_t n_selected = selection.n_selected(), n_fewer = n_selected == 0 ? 0 : n_selected - 1;
    const double bits = selection.bits();
    const float total = changes.total();
    double shortest = length(n_selected, bits, total);
    const double least_with = length.least(n_selected + 1, bits), least_without = length.least(n_fewer, bits);
    const double per_error = length.least_per_error();
    std::size_t pick = n_rules;
    for (std::size_t r = 0; r < n_rules; ++r) {
        const float errors = total + changes.of(r);
        const double change = selection.change(r);
        // The bound is quick to compute and excludes nearly all rules.
        const bool is_selected = selection[r];
        const double least = is_selected ? least_without : least_with;
        if (least + 100.0 * kTheoryDiscount * change + per_error * errors > shortest) continue;
        if (r == last || (!is_selected && total < 1e-3)) continue;
        const double alternative = length(is_selected ? n_selected - 1 : n_selected + 1, bits + change, errors);
        if (alternative < shortest || (alternative == shortest && is_selected)) {
            shortest = alternative;
            pick = r;
        }
    }
    return pick;
}

// Flips one rule at a time while that shortens the description.
template <class Changes>
void shorten_description(const Cases& cases, const std::vector<FormedRule>& rules, std::vector<bool>& selected,
                         Changes& changes, DescriptionLength& length) {
    Selection selection(rules, selected);
    for (std::size_t last = rules.size();;) {
        cases.cancel.check();
        const std::size_t pick = best_flip(selection, rules.size(), last, changes, length);
        if (pick == rules.size()) return;
        changes.flip(pick);
        selection.flip(pick);
        last = pick;
    }
}

std::int32_t default_class(const Cases& cases, const std::vector<double>& class_totals, const Cells& cells,
                           const std::vector<bool>& selected) {
    std::vector<double> uncovered(cases.n_classes, 0.0);
    for (std::size_t cell = 0; cell < cells.size(); ++cell) {
        bool is_covered = false;
        cells.rules_of_cell.for_each(cell, [&](std::size_t r) { is_covered = is_covered || selected[r]; });
        if (!is_covered) uncovered[cells.label[cell]] += cells.weight[cell];
    }
    double total = 0.001;
    for (const double weight : uncovered) total += weight;
    std::vector<double> scores(cases.n_classes);
    for (std::size_t c = 0; c < scores.size(); ++c)
        scores[c] = (uncovered[c] + 1.0) / (total + 2.0) + class_totals[c] / static_cast<double>(cases.n_rows());
    if (cases.costs.is_active() && cases.class_scale.empty()) return cases.costs.cheapest(scores.data());
    return static_cast<std::int32_t>(std::max_element(scores.begin(), scores.end()) - scores.begin());
}

// Orders rules by class, then by descending vote. The selection sort swaps within the array of all candidates, and
// these swaps determine the order of equal votes.
std::vector<FormedRule> in_final_order(std::vector<FormedRule> rules, const std::vector<bool>& selected,
                                       std::size_t n_classes) {
    std::vector<std::size_t> array(rules.size());
    std::iota(array.begin(), array.end(), std::size_t{0});
    std::size_t current = 0;
    for (std::int32_t label = 0; label < static_cast<std::int32_t>(n_classes); ++label)
        for (;;) {
            std::size_t best = array.size();
            for (std::size_t p = current; p < array.size(); ++p) {
                const std::size_t r = array[p];
                if (selected[r] && rules[r].label == label &&
                    (best == array.size() || rules[r].vote > rules[array[best]].vote))
                    best = p;
            }
            if (best == array.size()) break;
            std::swap(array[current++], array[best]);
        }
    std::vector<FormedRule> ordered;
    ordered.reserve(current);
    for (std::size_t p = 0; p < current; ++p) ordered.push_back(std::move(rules[array[p]]));
    return ordered;
}

}  // namespace

SelectedRules select_rules(const Cases& cases, const std::vector<double>& class_totals, FormedRules formed,
                           float tree_errors, LogFactorial& log_factorial, const std::vector<float>& error_costs) {
    const Cells cells = Cells::of(cases, formed);
    std::vector<FormedRule>& candidates = formed.rules;
    std::vector<bool> selected = initial_subset(cases, class_totals, candidates, cells);
    DescriptionLength length(cases, tree_errors, log_factorial);
    if (cases.has_unit_weights() && error_costs.empty()) {
        CountedChanges changes(cases, candidates, cells, selected);
        shorten_description(cases, candidates, selected, changes, length);
    } else {
        SummedChanges changes(cases, candidates, cells, selected, error_costs);
        shorten_description(cases, candidates, selected, changes, length);
    }
    SelectedRules result;
    result.default_label = default_class(cases, class_totals, cells, selected);
    result.rows = std::move(formed.rows);
    result.rules = in_final_order(std::move(candidates), selected, cases.n_classes);
    return result;
}

}  // namespace clausewise::c50
