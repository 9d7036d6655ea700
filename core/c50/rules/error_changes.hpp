// How the errors of a rule set change when one rule is selected or dropped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "c50/cases.hpp"
#include "c50/rules/cells.hpp"
#include "c50/rules/formed_rules.hpp"

namespace clausewise::c50 {

// The votes of the selected rules on every cell. A cell gets the class with the largest vote, the lowest on ties. A
// cell that no selected rule covers counts as an error.
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

// The change of the total error if one rule is flipped (selected or dropped), for every rule.
//
// For any weights: running sums in single precision. A flip takes the contribution of each of its rows, in descending
// order, out of the changes of all rules that cover the row, and puts the new contribution in. What it is for one unit
// of weight is worked out once for all rows of a cell.
class SummedChanges {
public:
    SummedChanges(const Cases& cases, const std::vector<FormedRule>& rules, const Cells& cells,
                  const std::vector<bool>& selected, const std::vector<float>& error_costs);
    float total() const { return total_; }
    float of(std::size_t r) const { return flips_[r].change; }
    void flip(std::size_t flipped);

private:
    static constexpr std::int32_t kNoClass = -1;  // has no votes and precedes every class

    struct Flip {
        std::int32_t vote, label;
        bool is_selected;
        float change;
    };
    // The two classes with the most votes on a cell, the first on ties.
    struct Standing {
        std::int32_t top, next;
    };
    std::int32_t votes_of(std::size_t cell, std::int32_t label) const {
        return label == kNoClass ? 0 : votes_.of(cell)[label];
    }
    Standing standing(std::size_t cell) const;
    // The cost of predicting a class for the rows of a cell.
    float cost(std::int32_t predicted, std::size_t cell) const;
    // What decides a cell: its standing, the votes of both classes, and the cost of what it predicts.
    struct Situation {
        Standing standing;
        std::int32_t most, second;
        float cost;

        // A rule with a smaller vote cannot change what is predicted.
        std::int32_t least_vote() const { return most - second; }
    };
    Situation situation(std::size_t cell) const;
    // What flipping a rule would change the cost of a row of a cell by; `votes_of_class` are the votes for its class.
    float change_by(const Flip& flip, const Situation& now, std::size_t cell, std::int32_t votes_of_class) const;
    // Visits the rules that cover a cell and have at least this vote, as visit(number, flip).
    template <class Visit>
    void for_each_flip(std::size_t cell, std::int32_t least_vote, Visit&& visit) const;
    // What a row of a cell takes out of the change of a rule, and puts in, per unit of weight.
    struct Effect {
        std::int32_t rule;
        float less, more;
    };
    struct EffectsOfCell {
        std::size_t begin, end;
    };
    // Adds an effect to the list of the current cell, unless it changes nothing.
    void note(std::size_t rule, float less, float more) {
        if (less != 0.0f || more != 0.0f) effects_.push_back({static_cast<std::int32_t>(rule), less, more});
    }
    // Applies what was noted for a cell to that many units of weight, or to one of its rows.
    void apply(std::size_t cell, double weight);
    void apply_to_row(std::size_t row);

    const Cases& cases_;
    std::size_t n_classes_;
    const std::vector<FormedRule>& rules_;
    const Cells& cells_;
    const std::vector<float>& error_costs_;
    Votes votes_;
    std::vector<Flip> flips_;             // per rule
    std::vector<Effect> effects_;         // of the current step
    std::vector<EffectsOfCell> of_cell_;  // per cell
    std::vector<std::int32_t> rows_;      // of the current rule
    float total_ = 0.0f;
};

// The same for unit weights: changes are whole numbers, so a flip only updates its own cells and the rules that cover
// them.
class CountedChanges {
public:
    CountedChanges(const Cases& cases, const std::vector<FormedRule>& rules, const Cells& cells,
                   const std::vector<bool>& selected);
    float total() const { return static_cast<float>(total_); }
    float of(std::size_t r) const { return static_cast<float>(flips_[r].change); }
    void flip(std::size_t flipped);

private:
    // What flipping a rule adds to the votes for its class and to the number of errors. Small and separate from the
    // rules, as it is read all the time.
    struct Flip {
        std::int32_t vote, label, sign, change;
    };
    // The votes that decide a cell. Its own class wins if it reaches the highest rival, plus one if that is a lower
    // class.
    struct Standing {
        std::int32_t own, highest, second, highest_class, n_firing;
        bool is_correct;

        // A rule with a smaller vote cannot change whether the cell is classified correctly.
        std::int32_t least_vote() const { return n_firing <= 1 ? 0 : std::abs(own - highest); }
    };
    std::int32_t count(std::size_t cell) const { return static_cast<std::int32_t>(cells_.weight[cell]); }
    Standing standing(std::size_t cell) const;
    // The change in errors on a row of class `actual` if a rule is flipped; `votes_of_class` are the votes for the
    // rule's class. Branch-free, as no branch would be predictable.
    static std::int32_t change_by(const Flip& flip, const Standing& s, std::int32_t actual,
                                  std::int32_t votes_of_class);
    // Adds the contribution of a cell to the changes of the rules that cover it.
    void add_contributions(std::size_t cell);
    // The same after `vote` was added for `label`, less the contribution of the cell before that.
    void change_contributions(std::size_t cell, const Standing& before, std::int32_t label, std::int32_t vote);
    // Visits the rules that cover a cell and have at least this vote.
    template <class Visit>
    void for_each_flip(std::size_t cell, std::int32_t least_vote, Visit&& visit);

    std::int32_t n_classes_;
    const std::vector<FormedRule>& rules_;
    const Cells& cells_;
    Votes votes_;
    std::vector<Flip> flips_;
    std::int32_t total_ = 0;
};

}  // namespace clausewise::c50
