#include "c50/rules/error_changes.hpp"

#include <algorithm>

namespace clausewise::c50 {

// The hot helpers are `inline`, as the compiler would not inline all of them by itself.
inline float SummedChanges::error(std::size_t cell) const {
    if (votes_.n_firing(cell) <= 0) return cells_.weight[cell];
    const std::int32_t* votes = votes_.of(cell);
    const auto predicted = static_cast<std::size_t>(std::max_element(votes, votes + n_classes_) - votes);
    const std::size_t actual = cells_.label[cell];
    if (predicted == actual) return 0.0f;
    return error_costs_.empty() ? cells_.weight[cell]
                                : cells_.weight[cell] * error_costs_[predicted * n_classes_ + actual];
}

SummedChanges::SummedChanges(const Cases& cases, const std::vector<FormedRule>& rules, const Cells& cells,
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

void SummedChanges::compute(std::size_t r) {
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

void SummedChanges::flip(std::size_t flipped) {
    total_ += of(flipped);
    cells_.cells_of_rule.for_each(flipped, [&](std::size_t cell) {
        votes_.add(rules_[flipped], selected_[flipped] ? -1 : 1, cell);
        cells_.rules_of_cell.for_each(cell, [&](std::size_t r) { is_known_[r] = false; });
    });
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
