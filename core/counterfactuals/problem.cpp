#include "counterfactuals/problem.hpp"

#include <algorithm>
#include <stdexcept>

namespace clausewise::counterfactuals {
namespace {

void require(bool holds, const char* message) {
    if (!holds) throw std::invalid_argument(message);
}

void check_starts(const std::vector<std::int64_t>& starts, std::size_t n_axes, std::size_t n_entries) {
    require(starts.size() == n_axes + 1 && starts.front() == 0 && std::is_sorted(starts.begin(), starts.end()) &&
                static_cast<std::size_t>(starts.back()) == n_entries,
            "starts must be ascending, one per axis and one at the end");
}

}  // namespace

void Axes::check(std::size_t n_rules) const {
    const std::size_t n_words = words_for(n_rules);
    check_starts(value_starts, n_axes(), values.size());
    require(!bin_starts.empty(), "there must be one start of bins per axis, and one at the end");
    check_starts(bin_starts, n_axes(), n_bins());
    require(accepts.size() == n_bins() * n_words, "accepts must have one bit per bin and rule");
    require(bin_of_value.size() == values.size() && direction.size() == values.size(),
            "every value needs a bin and a direction");
    for (std::size_t axis = 0; axis < n_axes(); ++axis) {
        require(n_bins(axis) > 0, "every axis needs a bin");
        const auto begin = bin_of_value.begin() + value_starts[axis],
                   end = bin_of_value.begin() + value_starts[axis + 1];
        require(std::is_sorted(begin, end) && (begin == end || (*begin >= 0 && *(end - 1) < n_bins(axis))),
                "the bins of values must be ascending and exist");
    }
}

std::int32_t Votes::decide(const std::uint64_t* fires, std::vector<double>& totals) const {
    bool is_by_priority = false;
    for (std::size_t w = 0; w < has_priority.size(); ++w) is_by_priority |= (fires[w] & has_priority[w]) != 0;
    if (is_by_priority) totals.assign(n_classes(), 0.0);
    else totals.assign(start.begin(), start.end());
    for (std::size_t w = 0; w < has_priority.size(); ++w) {
        const std::uint64_t votes = is_by_priority ? fires[w] & has_priority[w] : fires[w];
        for_each_bit(&votes, 1, [&](std::size_t bit) {
            const std::size_t rule = w * kWordBits + bit;
            totals[static_cast<std::size_t>(class_of_rule[rule])] += vote_of_rule[rule];
        });
    }
    const std::vector<double>& divisor = is_by_priority ? priority_divisors : divisors;
    for (std::size_t c = 0; c < n_classes(); ++c) totals[c] /= divisor[c];
    // Ties go to the default class, then to the lowest class.
    auto best = static_cast<std::size_t>(default_class);
    for (std::size_t c = 0; c < n_classes(); ++c)
        if (totals[c] > totals[best]) best = c;
    return static_cast<std::int32_t>(best);
}

void Votes::check() const {
    require(vote_of_rule.size() == n_rules() && has_priority.size() == words_for(n_rules()),
            "every rule needs a vote, and a bit that says whether it has priority");
    require(start.size() == n_classes() && priority_divisors.size() == n_classes(),
            "start and divisors must have one entry per class");
    const auto is_class = [this](std::int32_t c) { return c >= 0 && static_cast<std::size_t>(c) < n_classes(); };
    require(is_class(default_class) && std::all_of(class_of_rule.begin(), class_of_rule.end(), is_class),
            "unknown class index");
}

}  // namespace clausewise::counterfactuals
