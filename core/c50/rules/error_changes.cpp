#include "c50/rules/error_changes.hpp"

#include <algorithm>

namespace clausewise::c50 {

SummedChanges::SummedChanges(const Cases& cases, const std::vector<FormedRule>& rules, const Cells& cells,
                             const std::vector<bool>& selected, const std::vector<float>& error_costs)
    : cases_(cases),
      n_classes_(cases.n_classes),
      rules_(rules),
      cells_(cells),
      error_costs_(error_costs),
      votes_(cells.size(), cases.n_classes),
      of_cell_(cells.size(), EffectsOfCell{0, 0}) {
    for (std::size_t r = 0; r < rules.size(); ++r) {
        flips_.push_back({rules[r].vote, rules[r].label, selected[r], 0.0f});
        if (selected[r]) cells.cells_of_rule.for_each(r, [&](std::size_t cell) { votes_.add(rules[r], 1, cell); });
    }
    double total = 0.0;
    for (std::size_t cell = 0; cell < cells.size(); ++cell) {
        if (cell % 4096 == 0) cases.cancel.check();
        const Situation now = situation(cell);
        // Products with costs are rounded; without, they are 0 or the weight.
        total +=
            error_costs.empty() ? cells.weight[cell] * now.cost : static_cast<float>(cells.weight[cell]) * now.cost;
        of_cell_[cell].begin = effects_.size();
        for_each_flip(cell, now.least_vote(), [&](std::size_t r, const Flip& flip) {
            note(r, 0.0f, change_by(flip, now, cell, votes_of(cell, flip.label)));
        });
        of_cell_[cell].end = effects_.size();
        if (!cells.cell_of_row.empty()) continue;
        apply(cell, cells.weight[cell]);
        effects_.clear();
    }
    total_ = static_cast<float>(total);
    for (std::size_t row = 0; row < cells.cell_of_row.size(); ++row) apply_to_row(row);
}

void SummedChanges::flip(std::size_t flipped) {
    const Flip flip = flips_[flipped];
    const std::int32_t sign = flip.is_selected ? -1 : 1;
    effects_.clear();
    cells_.cells_of_rule.for_each(flipped, [&](std::size_t cell) {
        const Situation before = situation(cell);
        votes_.add(rules_[flipped], sign, cell);
        const Situation now = situation(cell);
        of_cell_[cell].begin = effects_.size();
        for_each_flip(cell, std::min(before.least_vote(), now.least_vote()), [&](std::size_t r, const Flip& other) {
            const std::int32_t votes_now = votes_of(cell, other.label);
            const std::int32_t votes_before = votes_now - (other.label == flip.label ? sign * flip.vote : 0);
            note(r, change_by(other, before, cell, votes_before), change_by(other, now, cell, votes_now));
        });
        of_cell_[cell].end = effects_.size();
    });
    if (cells_.cell_of_row.empty()) {
        const std::int32_t* const begin = cells_.cells_of_rule.begin_of(flipped);
        for (const std::int32_t* at = cells_.cells_of_rule.end_of(flipped); at != begin;) {
            const auto cell = static_cast<std::size_t>(*--at);
            apply(cell, cells_.weight[cell]);
        }
    } else if (!effects_.empty()) {
        rows_.clear();
        rules_[flipped].covered.for_each([&](std::int32_t row) { rows_.push_back(row); });
        std::for_each(rows_.rbegin(), rows_.rend(),
                      [&](std::int32_t row) { apply_to_row(static_cast<std::size_t>(row)); });
    }
    total_ += flip.change;
    flips_[flipped] = {flip.vote, flip.label, !flip.is_selected, -flip.change};
}

void SummedChanges::apply_to_row(std::size_t row) {
    apply(static_cast<std::size_t>(cells_.cell_of_row[row]), cases_.weights[row]);
}

void SummedChanges::apply(std::size_t cell, double weight) {
    for (std::size_t e = of_cell_[cell].begin; e < of_cell_[cell].end; ++e) {
        const Effect& effect = effects_[e];
        float& change = flips_[static_cast<std::size_t>(effect.rule)].change;
        // Taken out and put in, each rounded: equal contributions need not cancel.
        if (effect.less != 0.0f) change = static_cast<float>(change - effect.less * weight);
        if (effect.more != 0.0f) change = static_cast<float>(change + effect.more * weight);
    }
}

// The hot helpers are `inline`, as the compiler would not inline all of them by itself.
inline SummedChanges::Standing SummedChanges::standing(std::size_t cell) const {
    const std::int32_t* const votes = votes_.of(cell);
    Standing found{kNoClass, kNoClass};
    for (std::int32_t c = 0; c < static_cast<std::int32_t>(n_classes_); ++c) {
        if (votes[c] > votes_of(cell, found.top)) {
            found.next = found.top;
            found.top = c;
        } else if (votes[c] > votes_of(cell, found.next)) {
            found.next = c;
        }
    }
    return found;
}

inline float SummedChanges::cost(std::int32_t predicted, std::size_t cell) const {
    const std::size_t actual = cells_.label[cell];
    if (predicted == kNoClass) return 1.0f;
    if (error_costs_.empty()) return static_cast<std::size_t>(predicted) == actual ? 0.0f : 1.0f;
    return error_costs_[static_cast<std::size_t>(predicted) * n_classes_ + actual];
}

inline SummedChanges::Situation SummedChanges::situation(std::size_t cell) const {
    const Standing found = standing(cell);
    return {found, votes_of(cell, found.top), votes_of(cell, found.next), cost(found.top, cell)};
}

inline float SummedChanges::change_by(const Flip& flip, const Situation& now, std::size_t cell,
                                      std::int32_t votes_of_class) const {
    const auto [top, next] = now.standing;
    // Dropping a rule for the leading class, or selecting one for another class, may change the leader.
    if (flip.is_selected != (flip.label == top)) return 0.0f;
    const std::int32_t winner = flip.is_selected ? next : flip.label;
    const std::int32_t lead =
        flip.is_selected ? now.second - (now.most - flip.vote) : votes_of_class + flip.vote - now.most;
    if (lead < 0 || (lead == 0 && winner > top)) return 0.0f;
    return cost(winner, cell) - now.cost;
}

template <class Visit>
void SummedChanges::for_each_flip(std::size_t cell, std::int32_t least_vote, Visit&& visit) const {
    const std::int32_t* const end = cells_.rules_of_cell.end_of(cell);
    for (const std::int32_t* r = cells_.rules_of_cell.begin_of(cell); r != end; ++r) {
        const Flip& flip = flips_[static_cast<std::size_t>(*r)];
        if (flip.vote < least_vote) return;
        visit(static_cast<std::size_t>(*r), flip);
    }
}

inline CountedChanges::Standing CountedChanges::standing(std::size_t cell) const {
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

inline std::int32_t CountedChanges::change_by(const Flip& flip, const Standing& s, std::int32_t actual,
                                              std::int32_t votes_of_class) {
    const bool is_rival = flip.label != actual;
    const std::int32_t own = s.own + (is_rival ? 0 : flip.vote);
    const std::int32_t others = flip.label == s.highest_class ? s.second : s.highest;
    const std::int32_t needed = votes_of_class + (flip.label < actual) + flip.vote;
    const bool is_correct_after =
        (s.n_firing + flip.sign > 0) & (own >= (is_rival ? std::max(others, needed) : s.highest));
    return s.is_correct - is_correct_after;
}

template <class Visit>
void CountedChanges::for_each_flip(std::size_t cell, std::int32_t least_vote, Visit&& visit) {
    const std::int32_t* const end = cells_.rules_of_cell.end_of(cell);
    for (const std::int32_t* r = cells_.rules_of_cell.begin_of(cell); r != end; ++r) {
        Flip& flip = flips_[static_cast<std::size_t>(*r)];
        if (std::abs(flip.vote) < least_vote) return;
        visit(flip);
    }
}

CountedChanges::CountedChanges(const Cases& cases, const std::vector<FormedRule>& rules, const Cells& cells,
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

void CountedChanges::flip(std::size_t flipped) {
    Flip& flip = flips_[flipped];
    const std::int32_t change = flip.change;
    total_ += change;
    cells_.cells_of_rule.for_each(flipped, [&](std::size_t cell) {
        const Standing before = standing(cell);
        votes_.add(rules_[flipped], flip.sign, cell);
        change_contributions(cell, before, flip.label, flip.vote);
    });
    // Flipping back would undo exactly this change, whatever was added above.
    flip = {-flip.vote, flip.label, -flip.sign, -change};
}

void CountedChanges::add_contributions(std::size_t cell) {
    const Standing s = standing(cell);
    const std::int32_t* const votes = votes_.of(cell);
    const std::int32_t actual = cells_.label[cell], n = count(cell);
    for_each_flip(cell, s.least_vote(),
                  [&](Flip& flip) { flip.change += n * change_by(flip, s, actual, votes[flip.label]); });
}

void CountedChanges::change_contributions(std::size_t cell, const Standing& before, std::int32_t label,
                                          std::int32_t vote) {
    const Standing now = standing(cell);
    const std::int32_t* const votes = votes_.of(cell);
    const std::int32_t actual = cells_.label[cell], n = count(cell);
    for_each_flip(cell, std::min(before.least_vote(), now.least_vote()), [&](Flip& flip) {
        const std::int32_t votes_now = votes[flip.label];
        const std::int32_t votes_before = votes_now - (flip.label == label ? vote : 0);
        flip.change += n * (change_by(flip, now, actual, votes_now) - change_by(flip, before, actual, votes_before));
    });
}

}  // namespace clausewise::c50
