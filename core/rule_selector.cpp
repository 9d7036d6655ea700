#include "rule_selector.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace clausewise {
namespace {

constexpr double kTheoryDiscount = 0.23;

// Covers each class with its best rules, greedily.
std::vector<bool> initial_subset(const Cases& cases, const std::vector<double>& class_totals,
                                 const std::vector<FormedRule>& rules) {
    std::vector<bool> selected(rules.size(), false);
    std::vector<std::size_t> order(rules.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return rules[a].vote > rules[b].vote; });
    std::vector<std::int32_t> covered_for(cases.n_rows(), -1);      // the last class whose rules cover the row
    for (std::int32_t label = 0; label < static_cast<std::int32_t>(cases.n_classes); ++label) {
        double remaining = class_totals[static_cast<std::size_t>(label)], false_positives = 0.0;
        for (const std::size_t r : order) {
            if (!(remaining > false_positives)) break;
            if (rules[r].label != label || rules[r].correct < cases.min_cases) continue;
            double new_true = 0.0, new_false = 0.0;
            rules[r].covered.for_each([&](std::int32_t row) {
                if (covered_for[static_cast<std::size_t>(row)] == label) return;
                (static_cast<std::int32_t>(cases.class_of(row)) == label ? new_true : new_false) += cases.weight(row);
            });
            if (new_true - new_false <= cases.min_cases + 1e-4) continue;
            remaining -= new_true;
            false_positives += new_false;
            selected[r] = true;
            rules[r].covered.for_each([&](std::int32_t row) { covered_for[static_cast<std::size_t>(row)] = label; });
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

private:
    float n_cases_;
    LogFactorial& log_factorial_;
    float bits_per_error_, bits_per_hit_;
    double bits_per_class_;
};

// The votes of the selected rules on every row. A row is decided by the largest vote, the lowest class on ties; a row
// that no selected rule covers is an error, whatever its class.
class Votes {
public:
    Votes(const Cases& cases, const std::vector<float>& error_costs)
        : cases_(cases), error_costs_(error_costs), votes_(cases.n_rows() * cases.n_classes, 0), n_firing_(cases.n_rows(), 0) {}

    void add(const FormedRule& rule, std::int32_t sign) {
        rule.covered.for_each([&](std::int32_t row) { add(rule, sign, row); });
    }
    void add(const FormedRule& rule, std::int32_t sign, std::int32_t row) {
        mutable_row(row)[rule.label] += sign * rule.vote;
        n_firing_[static_cast<std::size_t>(row)] += sign;
    }
    // Weight of the error on a row, in single precision.
    float error(std::int32_t row) const { return error(row, of_row(row), n_firing_[static_cast<std::size_t>(row)]); }
    // The same if the rule were flipped.
    float error_with(const FormedRule& rule, std::int32_t sign, std::int32_t row) {
        std::int32_t* votes = mutable_row(row);
        votes[rule.label] += sign * rule.vote;
        const float changed = error(row, votes, n_firing_[static_cast<std::size_t>(row)] + sign);
        votes[rule.label] -= sign * rule.vote;
        return changed;
    }
    const std::int32_t* of_row(std::int32_t row) const { return votes_.data() + static_cast<std::size_t>(row) * cases_.n_classes; }
    std::int32_t n_firing(std::int32_t row) const { return n_firing_[static_cast<std::size_t>(row)]; }

private:
    std::int32_t* mutable_row(std::int32_t row) { return votes_.data() + static_cast<std::size_t>(row) * cases_.n_classes; }
    float error(std::int32_t row, const std::int32_t* votes, std::int32_t n_firing) const {
        const float weight = static_cast<float>(cases_.weight(row));
        if (n_firing <= 0) return weight;
        const auto predicted = static_cast<std::size_t>(std::max_element(votes, votes + cases_.n_classes) - votes);
        const std::size_t actual = cases_.class_of(row);
        if (predicted == actual) return 0.0f;
        return error_costs_.empty() ? weight : weight * error_costs_[predicted * cases_.n_classes + actual];
    }

    const Cases& cases_;
    const std::vector<float>& error_costs_;
    std::vector<std::int32_t> votes_;
    std::vector<std::int32_t> n_firing_;
};

// By how much the total error changes if a rule is flipped, for all rules, after every flip.
//
// Any weights: the changes of the rules that share rows with the flipped one are summed anew, row by row.
class SummedChanges {
public:
    SummedChanges(const Cases& cases, const std::vector<FormedRule>& rules, const std::vector<bool>& selected,
                  const std::vector<float>& error_costs)
        : rules_(rules), selected_(selected), votes_(cases, error_costs), changes_(rules.size()),
          is_known_(rules.size(), false), is_touched_(cases.n_rows()) {
        for (std::size_t r = 0; r < rules.size(); ++r)
            if (selected[r]) votes_.add(rules[r], 1);
        for (std::int32_t row = 0; row < static_cast<std::int32_t>(cases.n_rows()); ++row) total_ += votes_.error(row);
    }
    float total() const { return total_; }
    float of(std::size_t r) {
        if (!is_known_[r]) {
            const std::int32_t sign = selected_[r] ? -1 : 1;
            float change = 0.0f;
            rules_[r].covered.for_each([&](std::int32_t row) {
                change += votes_.error_with(rules_[r], sign, row) - votes_.error(row);
            });
            changes_[r] = change;
            is_known_[r] = true;
        }
        return changes_[r];
    }
    // `selected` still shows the state before the flip.
    void flip(std::size_t flipped) {
        total_ += of(flipped);
        votes_.add(rules_[flipped], selected_[flipped] ? -1 : 1);
        std::fill(is_touched_.begin(), is_touched_.end(), false);
        rules_[flipped].covered.for_each([&](std::int32_t row) { is_touched_[static_cast<std::size_t>(row)] = true; });
        for (std::size_t r = 0; r < rules_.size(); ++r) {
            bool shares = false;
            rules_[r].covered.for_each([&](std::int32_t row) { shares = shares || is_touched_[static_cast<std::size_t>(row)]; });
            if (shares) is_known_[r] = false;
        }
    }

private:
    const std::vector<FormedRule>& rules_;
    const std::vector<bool>& selected_;
    Votes votes_;
    std::vector<float> changes_;
    std::vector<bool> is_known_;
    std::vector<bool> is_touched_;
    float total_ = 0.0f;
};

// Unit weights: whole numbers, so a flip only has to revisit its own rows and the rules that cover them.
class CountedChanges {
public:
    CountedChanges(const Cases& cases, const std::vector<FormedRule>& rules, const std::vector<bool>& selected)
        : cases_(cases), rules_(rules), votes_(cases, kNoCosts), changes_(rules.size(), 0), first_(cases.n_rows() + 1, 0) {
        for (std::size_t r = 0; r < rules.size(); ++r) {
            const std::int32_t sign = selected[r] ? -1 : 1;
            flips_.push_back({sign * rules[r].vote, rules[r].label, sign});
            if (selected[r]) votes_.add(rules[r], 1);
            rules[r].covered.for_each([&](std::int32_t row) { ++first_[static_cast<std::size_t>(row) + 1]; });
        }
        for (std::size_t row = 0; row < cases.n_rows(); ++row) first_[row + 1] += first_[row];
        covering_.resize(first_.back());
        std::vector<std::size_t> next(first_.begin(), first_.end() - 1);
        for (std::size_t r = 0; r < rules.size(); ++r)
            rules[r].covered.for_each([&](std::int32_t row) {
                covering_[next[static_cast<std::size_t>(row)]++] = static_cast<std::int32_t>(r);
            });
        for (std::int32_t row = 0; row < static_cast<std::int32_t>(cases.n_rows()); ++row) {
            total_ += !standing(row).is_correct;
            visit_contributions(row, [&](std::size_t r, int change) { changes_[r] += change; });
        }
    }
    float total() const { return static_cast<float>(total_); }
    float of(std::size_t r) const { return static_cast<float>(changes_[r]); }
    void flip(std::size_t flipped) {
        const std::int64_t change = changes_[flipped];
        total_ += change;
        const FormedRule& rule = rules_[flipped];
        Flip& flip = flips_[flipped];
        rule.covered.for_each([&](std::int32_t row) {
            visit_contributions(row, [&](std::size_t r, int before) { changes_[r] -= before; });
            votes_.add(rule, flip.sign, row);
            visit_contributions(row, [&](std::size_t r, int after) { changes_[r] += after; });
        });
        // Flipping back would undo exactly this, whatever was added above.
        changes_[flipped] = -change;
        flip.vote = -flip.vote;
        flip.sign = -flip.sign;
    }

private:
    inline static const std::vector<float> kNoCosts{};

    // What flipping a rule adds to the votes for its class. Kept apart from the rules: this is read all the time.
    struct Flip {
        std::int32_t vote, label, sign;
    };

    // What it takes to decide a row rightly: its own class must reach the highest rival, one more for lower classes.
    struct Standing {
        std::int32_t own, highest, second, highest_class;
        bool is_correct;
    };
    Standing standing(std::int32_t row) const {
        const std::int32_t* votes = votes_.of_row(row);
        const auto actual = static_cast<std::int32_t>(cases_.class_of(row));
        Standing s{votes[actual], -1, -1, -1, false};
        for (std::int32_t c = 0; c < static_cast<std::int32_t>(cases_.n_classes); ++c) {
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
        s.is_correct = votes_.n_firing(row) > 0 && s.own >= s.highest;
        return s;
    }
    // Whether a row would be decided rightly if the rule were flipped.
    static bool is_correct_after(const Flip& flip, const Standing& s, const std::int32_t* votes, std::int32_t actual,
                                 std::int32_t n_firing) {
        if (n_firing + flip.sign <= 0) return false;
        if (flip.label == actual) return s.own + flip.vote >= s.highest;
        const std::int32_t others = flip.label == s.highest_class ? s.second : s.highest;
        return s.own >= std::max(others, votes[flip.label] + (flip.label < actual) + flip.vote);
    }
    // Calls visit(rule, change) with what a row as it stands contributes to the changes of the rules that cover it.
    template <class Visit>
    void visit_contributions(std::int32_t row, Visit&& visit) const {
        const Standing s = standing(row);
        const std::int32_t* votes = votes_.of_row(row);
        const auto actual = static_cast<std::int32_t>(cases_.class_of(row));
        const std::int32_t n_firing = votes_.n_firing(row);
        for (std::size_t i = first_[static_cast<std::size_t>(row)]; i < first_[static_cast<std::size_t>(row) + 1]; ++i) {
            const auto r = static_cast<std::size_t>(covering_[i]);
            visit(r, s.is_correct - is_correct_after(flips_[r], s, votes, actual, n_firing));
        }
    }

    const Cases& cases_;
    const std::vector<FormedRule>& rules_;
    Votes votes_;
    std::vector<Flip> flips_;
    std::vector<std::int64_t> changes_;
    std::vector<std::size_t> first_;        // per row, where its rules begin in covering_
    std::vector<std::int32_t> covering_;
    std::int64_t total_ = 0;
};

// Flips one rule at a time while the description gets shorter.
template <class Changes>
void shorten_description(const Cases& cases, const std::vector<FormedRule>& rules, std::vector<bool>& selected,
                         Changes& changes, DescriptionLength& length) {
    std::size_t last = rules.size();
    auto n_selected = static_cast<std::size_t>(std::count(selected.begin(), selected.end(), true));
    for (;;) {
        cases.control.check();
        double bits = 0.0;
        for (std::size_t r = 0; r < rules.size(); ++r)
            if (selected[r]) bits += rules[r].bits;
        double shortest = length(n_selected, bits, changes.total());
        std::size_t pick = rules.size();
        for (std::size_t r = 0; r < rules.size(); ++r) {
            if (r == last || (!selected[r] && changes.total() < 1e-3)) continue;
            const double alternative = selected[r] ? length(n_selected - 1, bits - rules[r].bits, changes.total() + changes.of(r))
                                                   : length(n_selected + 1, bits + rules[r].bits, changes.total() + changes.of(r));
            if (alternative < shortest || (alternative == shortest && selected[r])) {
                shortest = alternative;
                pick = r;
            }
        }
        if (pick == rules.size()) return;
        changes.flip(pick);
        n_selected = selected[pick] ? n_selected - 1 : n_selected + 1;
        selected[pick] = !selected[pick];
        last = pick;
    }
}

std::int32_t default_class(const Cases& cases, const std::vector<double>& class_totals, const std::vector<FormedRule>& rules,
                           const std::vector<bool>& selected) {
    std::vector<bool> is_covered(cases.n_rows(), false);
    for (std::size_t r = 0; r < rules.size(); ++r)
        if (selected[r]) rules[r].covered.for_each([&](std::int32_t row) { is_covered[static_cast<std::size_t>(row)] = true; });
    std::vector<double> uncovered(cases.n_classes, 0.0);
    for (std::size_t row = 0; row < cases.n_rows(); ++row)
        if (!is_covered[row]) uncovered[cases.classes[row]] += cases.weight(static_cast<std::int32_t>(row));
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
std::vector<FormedRule> in_final_order(std::vector<FormedRule> rules, const std::vector<bool>& selected, std::size_t n_classes) {
    std::vector<std::size_t> array(rules.size());
    std::iota(array.begin(), array.end(), std::size_t{0});
    std::size_t current = 0;
    for (std::int32_t label = 0; label < static_cast<std::int32_t>(n_classes); ++label)
        for (;;) {
            std::size_t best = array.size();
            for (std::size_t p = current; p < array.size(); ++p) {
                const std::size_t r = array[p];
                if (selected[r] && rules[r].label == label && (best == array.size() || rules[r].vote > rules[array[best]].vote))
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

SelectedRules select_rules(const Cases& cases, const std::vector<double>& class_totals, std::vector<FormedRule> candidates,
                           float tree_errors, LogFactorial& log_factorial, const std::vector<float>& error_costs) {
    std::vector<bool> selected = initial_subset(cases, class_totals, candidates);
    DescriptionLength length(cases, tree_errors, log_factorial);
    if (cases.has_unit_weights() && error_costs.empty()) {
        CountedChanges changes(cases, candidates, selected);
        shorten_description(cases, candidates, selected, changes, length);
    } else {
        SummedChanges changes(cases, candidates, selected, error_costs);
        shorten_description(cases, candidates, selected, changes, length);
    }
    SelectedRules result;
    result.default_label = default_class(cases, class_totals, candidates, selected);
    result.rules = in_final_order(std::move(candidates), selected, cases.n_classes);
    return result;
}

}  // namespace clausewise
