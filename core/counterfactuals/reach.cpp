#include "counterfactuals/reach.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "counterfactuals/search.hpp"

namespace clausewise::counterfactuals {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

TestedAxes::TestedAxes(const Axes& all, std::size_t n_rules)
    : n_words(words_for(n_rules)), rules(all.n_axes() * n_words), starts(n_rules + 1) {
    // A rule tests an axis if one of its bins does not satisfy the rule.
    for (std::size_t axis = 0; axis < all.n_axes(); ++axis)
        for (std::int64_t bin = all.bin_starts[axis]; bin < all.bin_starts[axis + 1]; ++bin)
            for (std::size_t w = 0; w < n_words; ++w)
                rules[axis * n_words + w] |= ~all.accepts[static_cast<std::size_t>(bin) * n_words + w];
    for (std::size_t axis = 0; n_words > 0 && axis < all.n_axes(); ++axis)
        rules[(axis + 1) * n_words - 1] &= last_word_mask(n_rules);
    for (std::size_t rule = 0; rule < n_rules; ++rule) {
        for (std::size_t axis = 0; axis < all.n_axes(); ++axis)
            if ((rules[axis * n_words + rule / kWordBits] >> (rule % kWordBits) & 1) != 0) axes.push_back(axis);
        starts[rule + 1] = axes.size();
    }
}

Reach::Reach(const Votes& votes, const TestedAxes& tested, std::size_t n_axes)
    : votes_(votes),
      tested_(tested),
      n_axes_(n_axes),
      is_known_(std::all_of(votes.has_priority.begin(), votes.has_priority.end(),
                            [](std::uint64_t word) { return word == 0; })),
      vote_(votes.n_rules()),
      total_(votes.n_classes()),
      slack_(0.0),
      needed_(-kInfinity),
      decided_(kNone),
      wanted_(kNone),
      of_lost_(votes.n_rules()),
      of_gained_(votes.n_rules()),
      of_pair_(n_axes * n_axes),
      failing_axis_(votes.n_rules()) {
    for (std::size_t rule = 0; rule < votes.n_rules(); ++rule) {
        vote_[rule] = votes.vote_of_rule[rule] / votes.divisors[static_cast<std::size_t>(votes.class_of_rule[rule])];
        slack_ += std::abs(vote_[rule]);
    }
    for (std::size_t c = 0; c < votes.n_classes(); ++c) slack_ += std::abs(votes.start[c] / votes.divisors[c]);
    // A sum of n numbers is off by at most n * 2^-53 of the sum of their magnitudes; there are a handful of sums.
    slack_ *= 2e-15 * (static_cast<double>(votes.n_rules()) + 100.0);
}

void Reach::start(const FailingTerms& fail, std::int32_t decided, std::int32_t wanted) {
    needed_ = -kInfinity;
    if (!is_known_ || decided == wanted) return;
    for (std::size_t c = 0; c < total_.size(); ++c) total_[c] = votes_.start[c] / votes_.divisors[c];
    for_each_bit(fail.none.data(), fail.none.size(), [&](std::size_t rule) {
        total_[static_cast<std::size_t>(votes_.class_of_rule[rule])] += vote_[rule];
    });
    const auto is_other = [=](std::int32_t code) { return code != decided && (wanted == kNone || code == wanted); };
    double best_other = -kInfinity;
    for (std::size_t c = 0; c < total_.size(); ++c)
        if (is_other(static_cast<std::int32_t>(c))) best_other = std::max(best_other, total_[c]);
    const double margin = total_[static_cast<std::size_t>(decided)] - best_other;
    if (std::isfinite(margin)) needed_ = margin - slack_;
    if (decided == decided_ && wanted == wanted_) return;
    decided_ = decided;
    wanted_ = wanted;
    // A vote for one of several other classes helps or harms that class alone, so only its help counts for all of them.
    const bool is_one_other = wanted != kNone || total_.size() == 2;
    for (std::size_t rule = 0; rule < vote_.size(); ++rule) {
        const std::int32_t code = votes_.class_of_rule[rule];
        const double against = code == decided ? -vote_[rule] : is_other(code) ? vote_[rule] : 0.0;
        const double least = code == decided || is_one_other ? -kInfinity : 0.0;
        of_gained_[rule] = std::max(against, least);
        of_lost_[rule] = std::max(-against, least);
    }
}

void Reach::start_axis(std::size_t axis, const FailingTerms& fail, const std::uint64_t* accepts) {
    rules_of_axis_.clear();
    const std::uint64_t* tested = tested_.rules.data() + axis * tested_.n_words;
    for (std::size_t w = 0; w < tested_.n_words; ++w) {
        const std::uint64_t fires = fail.none[w] & tested[w], misses = fail.one[w] & ~accepts[w];
        for_each_bit(&fires, 1, [&](std::size_t bit) {
            rules_of_axis_.push_back({w, static_cast<unsigned>(bit), {of_lost_[w * kWordBits + bit], 0.0}});
        });
        for_each_bit(&misses, 1, [&](std::size_t bit) {
            rules_of_axis_.push_back({w, static_cast<unsigned>(bit), {0.0, of_gained_[w * kWordBits + bit]}});
        });
    }
}

void Reach::add_to_pair(std::size_t one, std::size_t other, double moved) {
    if (moved > 0.0) of_pair_[std::min(one, other) * n_axes_ + std::max(one, other)] += moved;
}

// The sum of what two changes move alone counts a rule wrongly only if it tests both features: a rule that fires is
// lost twice if both changes reject it, one that fails on one feature is gained though the other change may reject it,
// and one that fails on both is not gained.
void Reach::find_pairs(const FailingTerms& fail, const std::vector<const std::uint64_t*>& accepts) {
    std::fill(of_pair_.begin(), of_pair_.end(), 0.0);
    if (needed_ == -kInfinity) return;
    const auto first_axis = [this](std::size_t rule) { return tested_.axes.data() + tested_.starts[rule]; };
    const auto last_axis = [this](std::size_t rule) { return tested_.axes.data() + tested_.starts[rule + 1]; };
    for_each_bit(fail.none.data(), fail.none.size(), [&](std::size_t rule) {
        if (of_lost_[rule] >= 0.0) return;
        for (const std::size_t* one = first_axis(rule); one != last_axis(rule); ++one)
            for (const std::size_t* other = first_axis(rule); other != one; ++other)
                add_to_pair(*one, *other, -of_lost_[rule]);
    });
    std::fill(failing_axis_.begin(), failing_axis_.end(), n_axes_);
    for (std::size_t axis = 0; axis < n_axes_; ++axis)
        for (std::size_t w = 0; w < tested_.n_words; ++w) {
            const std::uint64_t alone = fail.one[w] & ~accepts[axis][w], with_other = fail.two[w] & ~accepts[axis][w];
            for_each_bit(&alone, 1, [&](std::size_t bit) {
                const std::size_t rule = w * kWordBits + bit;
                if (of_gained_[rule] >= 0.0) return;
                for (const std::size_t* other = first_axis(rule); other != last_axis(rule); ++other)
                    if (*other != axis) add_to_pair(axis, *other, -of_gained_[rule]);
            });
            for_each_bit(&with_other, 1, [&](std::size_t bit) {
                const std::size_t rule = w * kWordBits + bit;
                if (failing_axis_[rule] == n_axes_) failing_axis_[rule] = axis;
                else add_to_pair(failing_axis_[rule], axis, of_gained_[rule]);
            });
        }
}

}  // namespace clausewise::counterfactuals
