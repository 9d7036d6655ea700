#include "c50/rule_selector.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>

#include "c50/cells.hpp"

namespace clausewise::c50 {
namespace {

constexpr double kTheoryDiscount = 0.23;

// Covers each class with its best rules, greedily.
std::vector<bool> initial_subset(const Cases& cases, const std::vector<double>& class_totals,
                                 const std::vector<FormedRule>& rules, const Cells& cells) {
    std::vector<bool> selected(rules.size(), false);
    std::vector<std::size_t> order(rules.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return rules[a].vote > rules[b].vote; });
    std::vector<std::int32_t> covered_for(cells.size(), -1);  // the last class whose rules cover the cell
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

// Length of a rule subset and of its exceptions, in hundredths of a bit.
class DescriptionLength {
public:
    DescriptionLength(const Cases& cases, float tree_errors, LogFactorial& log_factorial)
        : n_cases_(static_cast<float>(cases.n_rows())), log_factorial_(log_factorial) {
        const auto n = static_cast<double>(cases.n_rows()), k = static_cast<double>(cases.n_classes);
        float rate = static_cast<float>((tree_errors + k - 1.0) / (n + k));
        if (rate > 0.5f) rate = 0.45f;
        bits_per_error_ = static_cast<float>(-lg(rate));
        bits_per_hit_ = static_cast<float>(-lg(1.0 - rate));
        bits_per_class_ = lg(k - 1.0);
    }
    double operator()(std::size_t n_rules, double rule_bits, float errors) {
        const double theory = kTheoryDiscount * std::max(0.0, rule_bits - log_factorial_(n_rules));
        const float error_bits = errors * bits_per_error_;
        const float hit_bits = (n_cases_ - errors) * bits_per_hit_;
        return std::rint(100.0 * (theory + error_bits + hit_bits + errors * bits_per_class_));
    }
    // A lower bound is least(n_rules, rule_bits) + least_per_error() * errors: what single precision and rint may take
    // away is taken away here as well.
    double least(std::size_t n_rules, double rule_bits) {
        const double theory = kTheoryDiscount * (rule_bits - log_factorial_(n_rules));
        return 100.0 * (theory + (1.0 - kRounding) * n_cases_ * bits_per_hit_) - 1.0;
    }
    double least_per_error() const {
        return 100.0 * ((1.0 - kRounding) * (bits_per_error_ + bits_per_class_) - (1.0 + kRounding) * bits_per_hit_);
    }

private:
    static constexpr double kRounding = 1.0 / (1 << 20);  // eight times that of two operations in single precision

    float n_cases_;
    LogFactorial& log_factorial_;
    float bits_per_error_, bits_per_hit_;
    double bits_per_class_;
};

// The votes of the selected rules on every cell. A cell is decided by the largest vote, the lowest class on ties; one
// that no selected rule covers is an error, whatever its class.
class Votes {
public:
    Votes(std::size_t n_cells, std::size_t n_classes)
        : n_classes_(n_classes), votes_(n_cells * n_classes, 0), n_firing_(n_cells, 0) {}

    void add(const FormedRule& rule, std::int32_t sign, std::size_t cell) {
        votes_[cell * n_classes_ + static_cast<std::size_t>(rule.label)] += sign * rule.vote;
        n_firing_[cell] += sign;
    }
    const std::int32_t* of(std::size_t cell) const { return votes_.data() + cell * n_classes_; }
    std::int32_t n_firing(std::size_t cell) const { return n_firing_[cell]; }

private:
    std::size_t n_classes_;
    std::vector<std::int32_t> votes_;
    std::vector<std::int32_t> n_firing_;
};

// By how much the total error changes if a rule is flipped, for all rules, after every flip.
//
// Any weights: single-precision sums over rows in order, made anew for the rules that share rows with the flipped one.
class SummedChanges {
public:
    SummedChanges(const Cases& cases, const std::vector<FormedRule>& rules, const Cells& cells,
                  const std::vector<bool>& selected, const std::vector<float>& error_costs)
        : n_classes_(cases.n_classes),
          rules_(rules),
          cells_(cells),
          selected_(selected),
          error_costs_(error_costs),
          votes_(cells.size(), cases.n_classes),
          changes_(rules.size()),
          is_known_(rules.size(), false) {
        for (std::size_t r = 0; r < rules.size(); ++r)
            if (selected[r]) cells.cells_of_rule.for_each(r, [&](std::size_t cell) { votes_.add(rules[r], 1, cell); });
        for (std::size_t cell = 0; cell < cells.size(); ++cell) total_ += error(cell);
    }
    float total() const { return total_; }
    float of(std::size_t r) {
        if (!is_known_[r]) {
            const std::int32_t sign = selected_[r] ? -1 : 1;
            float change = 0.0f;
            cells_.cells_of_rule.for_each(r, [&](std::size_t cell) {
                const float before = error(cell);
                votes_.add(rules_[r], sign, cell);
                change += error(cell) - before;
                votes_.add(rules_[r], -sign, cell);
            });
            changes_[r] = change;
            is_known_[r] = true;
        }
        return changes_[r];
    }
    // `selected` still shows the state before the flip.
    void flip(std::size_t flipped) {
        total_ += of(flipped);
        cells_.cells_of_rule.for_each(flipped, [&](std::size_t cell) {
            votes_.add(rules_[flipped], selected_[flipped] ? -1 : 1, cell);
            cells_.rules_of_cell.for_each(cell, [&](std::size_t r) { is_known_[r] = false; });
        });
    }

private:
    float error(std::size_t cell) const {
        if (votes_.n_firing(cell) <= 0) return cells_.weight[cell];
        const std::int32_t* votes = votes_.of(cell);
        const auto predicted = static_cast<std::size_t>(std::max_element(votes, votes + n_classes_) - votes);
        const std::size_t actual = cells_.label[cell];
        if (predicted == actual) return 0.0f;
        return error_costs_.empty() ? cells_.weight[cell]
                                    : cells_.weight[cell] * error_costs_[predicted * n_classes_ + actual];
    }

    std::size_t n_classes_;
    const std::vector<FormedRule>& rules_;
    const Cells& cells_;
    const std::vector<bool>& selected_;
    const std::vector<float>& error_costs_;
    Votes votes_;
    std::vector<float> changes_;
    std::vector<bool> is_known_;
    float total_ = 0.0f;
};

// Unit weights: whole numbers, so a flip only has to revisit its own cells and the rules that cover them.
class CountedChanges {
public:
    CountedChanges(const Cases& cases, const std::vector<FormedRule>& rules, const Cells& cells,
                   const std::vector<bool>& selected)
        : n_classes_(static_cast<std::int32_t>(cases.n_classes)),
          rules_(rules),
          cells_(cells),
          votes_(cells.size(), cases.n_classes) {
        for (std::size_t r = 0; r < rules.size(); ++r) {
            const std::int32_t sign = selected[r] ? -1 : 1;
            flips_.push_back({sign * rules[r].vote, rules[r].label, sign, 0});
            if (selected[r]) cells.cells_of_rule.for_each(r, [&](std::size_t cell) { votes_.add(rules[r], 1, cell); });
        }
        for (std::size_t cell = 0; cell < cells.size(); ++cell) {
            if (cell % 4096 == 0) cases.cancel.check();
            if (!standing(cell).is_correct) total_ += count(cell);
            add_contributions(cell);
        }
    }
    float total() const { return static_cast<float>(total_); }
    float of(std::size_t r) const { return static_cast<float>(flips_[r].change); }
    void flip(std::size_t flipped) {
        Flip& flip = flips_[flipped];
        const std::int32_t change = flip.change;
        total_ += change;
        cells_.cells_of_rule.for_each(flipped, [&](std::size_t cell) {
            const Standing before = standing(cell);
            votes_.add(rules_[flipped], flip.sign, cell);
            change_contributions(cell, before, flip.label, flip.vote);
        });
        // Flipping back would undo exactly this, whatever was added above.
        flip = {-flip.vote, flip.label, -flip.sign, -change};
    }

private:
    // What flipping a rule adds to the votes for its class, and to the number of errors. Kept apart from the rules and
    // small: it is read all the time.
    struct Flip {
        std::int32_t vote, label, sign, change;
    };
    // What it takes to decide a cell rightly: its own class must reach the highest rival, one more for lower classes.
    struct Standing {
        std::int32_t own, highest, second, highest_class, n_firing;
        bool is_correct;

        // A rule with a smaller vote cannot change whether the cell is decided rightly.
        std::int32_t least_vote() const { return n_firing <= 1 ? 0 : std::abs(own - highest); }
    };
    std::int32_t count(std::size_t cell) const { return static_cast<std::int32_t>(cells_.weight[cell]); }
    Standing standing(std::size_t cell) const {
        const std::int32_t* votes = votes_.of(cell);
        const std::int32_t actual = cells_.label[cell];
        Standing s{votes[actual], -1, -1, -1, votes_.n_firing(cell), false};
        for (std::int32_t c = 0; c < n_classes_; ++c) {
            if (c == actual) continue;
            const std::int32_t needed = votes[c] + (c < actual);
            if (needed > s.highest) {
                s.second = s.highest;
                s.highest = needed;
                s.highest_class = c;
            } else if (needed > s.second) {
                s.second = needed;
            }
        }
        s.is_correct = s.n_firing > 0 && s.own >= s.highest;
        return s;
    }
    // How flipping a rule would change the number of wrong decisions about a row of class `actual`. `votes_of_class`
    // are those for the rule's class. There are no branches: nothing about rules in a row is predictable.
    static std::int32_t change_by(const Flip& flip, const Standing& s, std::int32_t actual,
                                  std::int32_t votes_of_class) {
        const bool is_rival = flip.label != actual;
        const std::int32_t own = s.own + (is_rival ? 0 : flip.vote);
        const std::int32_t others = flip.label == s.highest_class ? s.second : s.highest;
        const std::int32_t needed = votes_of_class + (flip.label < actual) + flip.vote;
        const bool is_correct_after =
            (s.n_firing + flip.sign > 0) & (own >= (is_rival ? std::max(others, needed) : s.highest));
        return s.is_correct - is_correct_after;
    }
    // Adds what a cell as it stands contributes to the changes of the rules that cover it.
    void add_contributions(std::size_t cell) {
        const Standing s = standing(cell);
        const std::int32_t* const votes = votes_.of(cell);
        const std::int32_t actual = cells_.label[cell], n = count(cell);
        for_each_flip(cell, s.least_vote(),
                      [&](Flip& flip) { flip.change += n * change_by(flip, s, actual, votes[flip.label]); });
    }
    // The same after a vote was added for `label`, less what the cell contributed before.
    void change_contributions(std::size_t cell, const Standing& before, std::int32_t label, std::int32_t vote) {
        const Standing now = standing(cell);
        const std::int32_t* const votes = votes_.of(cell);
        const std::int32_t actual = cells_.label[cell], n = count(cell);
        for_each_flip(cell, std::min(before.least_vote(), now.least_vote()), [&](Flip& flip) {
            const std::int32_t votes_now = votes[flip.label];
            const std::int32_t votes_before = votes_now - (flip.label == label ? vote : 0);
            flip.change +=
                n * (change_by(flip, now, actual, votes_now) - change_by(flip, before, actual, votes_before));
        });
    }
    // The rules that cover a cell, as far as their vote is at least this.
    template <class Visit>
    void for_each_flip(std::size_t cell, std::int32_t least_vote, Visit&& visit) {
        const std::int32_t* const end = cells_.rules_of_cell.end_of(cell);
        for (const std::int32_t* r = cells_.rules_of_cell.begin_of(cell); r != end; ++r) {
            Flip& flip = flips_[static_cast<std::size_t>(*r)];
            if (std::abs(flip.vote) < least_vote) return;
            visit(flip);
        }
    }

    std::int32_t n_classes_;
    const std::vector<FormedRule>& rules_;
    const Cells& cells_;
    Votes votes_;
    std::vector<Flip> flips_;
    std::int32_t total_ = 0;
};

// The selection while it is improved, and what the description length needs of it.
class Selection {
public:
    Selection(const std::vector<FormedRule>& rules, std::vector<bool>& selected)
        : selected_(selected), is_selected_(selected.begin(), selected.end()) {
        double most = 0.0;
        for (std::size_t r = 0; r < rules.size(); ++r) {
            const double bits = rules[r].bits;
            change_.push_back(selected[r] ? -bits : bits);
            n_selected_ += selected[r];
            most += std::abs(bits);
            is_exact_ = is_exact_ && bits * kFractions == std::floor(bits * kFractions);
        }
        is_exact_ = is_exact_ && most < kMostBits;
        sum_ = sum_in_order();
    }
    bool operator[](std::size_t r) const { return is_selected_[r] != 0; }
    std::size_t n_selected() const { return n_selected_; }
    double bits() const { return sum_; }
    // By how much flipping a rule changes the sum of bits.
    double change(std::size_t r) const { return change_[r]; }
    void flip(std::size_t r) {
        n_selected_ = selected_[r] ? n_selected_ - 1 : n_selected_ + 1;
        selected_[r] = !selected_[r];
        is_selected_[r] = selected_[r];
        sum_ += change_[r];
        change_[r] = -change_[r];
        if (!is_exact_) sum_ = sum_in_order();
    }

private:
    // The sum is defined in the order of the rules. Any order will do while all are multiples of one small fraction,
    // and no sum has more than 53 digits.
    static constexpr double kFractions = 1 << 26, kMostBits = 1 << 26;

    double sum_in_order() const {
        double sum = 0.0;
        for (std::size_t r = 0; r < change_.size(); ++r)
            if (is_selected_[r]) sum -= change_[r];
        return sum;
    }

    std::vector<bool>& selected_;
    std::vector<char> is_selected_;  // the same, more quickly read
    std::vector<double> change_;
    std::size_t n_selected_ = 0;
    double sum_ = 0.0;
    bool is_exact_ = true;
};

// The rule whose flip makes the description shortest, if it is shorter then; otherwise a number that no rule has.
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
        // Nearly all rules are out of the question, and the bound is quickly computed.
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

// Flips one rule at a time while the description gets shorter.
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

// Classes in order, votes descending. The selection sort swaps within the array of all candidates, and these swaps
// decide the order of equal votes.
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
    result.rules = in_final_order(std::move(candidates), selected, cases.n_classes);
    return result;
}

}  // namespace clausewise::c50
