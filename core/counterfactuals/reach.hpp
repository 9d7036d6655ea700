// How far changes move the votes against the present decision, at most.
//
// Most pairs of values change few rules, and cannot flip a decision that is not close. The votes of the rules that stop
// and start to fire show this: they are added up once for each bin of each feature, and for two features at a time
// corrected by what the rules that test both can add. No pair has to be evaluated for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/bits.hpp"
#include "counterfactuals/problem.hpp"

namespace clausewise::counterfactuals {

// Which axes each rule tests.
struct TestedAxes {
    TestedAxes(const Axes& axes, std::size_t n_rules);

    std::size_t n_words;
    Words rules;                      // per axis, one bit per rule
    std::vector<std::size_t> starts;  // the axes of rule r are [starts[r], starts[r + 1]) of `axes`
    std::vector<std::size_t> axes;
};

// The rules of a row that fail on no axis, on exactly one, and on exactly two.
struct FailingTerms {
    Words none, one, two;
};

class Reach {
public:
    Reach(const Votes& votes, const TestedAxes& tested, std::size_t n_axes);

    // Starts with a row: what the rules decide, and the wanted class (or kNone for any other).
    void start(const FailingTerms& fail, std::int32_t decided, std::int32_t wanted);

    // A change flips the decision only if it moves the votes at least this far. Minus infinity if nothing is known, as
    // with rules that have priority.
    double needed() const { return needed_; }

    // Starts with an axis, on which the present value satisfies the terms of the rules in `accepts`.
    void start_axis(std::size_t axis, const FailingTerms& fail, const std::uint64_t* accepts);
    // How far a change to a bin of this axis moves the votes.
    double of_bin(const std::uint64_t* accepts) const {
        double moved = 0.0;
        for (const RuleOfAxis& rule : rules_of_axis_) moved += rule.moved[accepts[rule.word] >> rule.bit & 1];
        return moved;
    }

    // Finds how much further two changes move the votes, at most, than both alone; `accepts` are those of each axis.
    void find_pairs(const FailingTerms& fail, const std::vector<const std::uint64_t*>& accepts);
    double of_pair(std::size_t first, std::size_t second) const { return of_pair_[first * n_axes_ + second]; }

private:
    // A rule that stops or starts to fire if one feature changes, and how far that moves the votes, by whether its term
    // holds afterwards.
    struct RuleOfAxis {
        std::size_t word;
        unsigned bit;
        double moved[2];
    };

    void add_to_pair(std::size_t one, std::size_t other, double moved);

    const Votes& votes_;
    const TestedAxes& tested_;
    std::size_t n_axes_;
    bool is_known_;              // there are no rules with priority
    std::vector<double> vote_;   // of each rule, as it counts in a total that is divided
    std::vector<double> total_;  // of each class, on the present row
    double slack_;               // more than rounding errors of sums can amount to
    double needed_;
    std::int32_t decided_, wanted_;
    // How far each rule moves the votes if it stops or starts to fire; less than 0 if it moves them back.
    std::vector<double> of_lost_, of_gained_;
    std::vector<RuleOfAxis> rules_of_axis_;
    std::vector<double> of_pair_;
    std::vector<std::size_t> failing_axis_;  // scratch space, one per rule
};

}  // namespace clausewise::counterfactuals
