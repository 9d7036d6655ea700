#include "c50/rules/rule_votes.hpp"

#include <algorithm>
#include <cstddef>

#include "c50/rules/cells.hpp"

namespace clausewise::c50 {

std::vector<Verdict> rule_verdicts(const Cases& cases, const std::vector<FormedRule>& rules, std::int32_t default_label,
                                   const std::vector<std::int32_t>& order) {
    constexpr double kConfidenceWithoutRule = 0.5;
    Lists rows_of_rule;
    std::vector<std::size_t> numbers;
    for (const FormedRule& rule : rules) {
        cases.cancel.check();
        rule.covered.for_each([&](std::int32_t row) { rows_of_rule.members.push_back(row); });
        rows_of_rule.end_list();
        numbers.push_back(numbers.size());
    }
    const Lists rules_of_row = rows_of_rule.transposed(cases.n_rows(), numbers);

    std::vector<Verdict> verdicts(cases.n_rows(), Verdict{default_label, kConfidenceWithoutRule});
    std::vector<std::int32_t> votes(cases.n_classes);
    for (std::size_t place = 0; place < cases.n_rows(); ++place) {
        const std::int32_t* const first = rules_of_row.begin_of(place);
        const std::int32_t* const last = rules_of_row.end_of(place);
        if (first == last) continue;
        std::fill(votes.begin(), votes.end(), 0);
        for (const std::int32_t* r = first; r != last; ++r) {
            const FormedRule& rule = rules[static_cast<std::size_t>(*r)];
            votes[static_cast<std::size_t>(rule.label)] += rule.vote;
        }
        std::int32_t label = default_label;
        for (std::size_t c = 0; c < votes.size(); ++c)
            if (votes[c] > votes[static_cast<std::size_t>(label)]) label = static_cast<std::int32_t>(c);
        const FormedRule* specific = nullptr;
        for (const std::int32_t* r = first; r != last; ++r) {
            const FormedRule& rule = rules[static_cast<std::size_t>(*r)];
            if (rule.label != label) continue;
            if (!specific || rule.cover < specific->cover ||
                (rule.cover == specific->cover && rule.vote > specific->vote))
                specific = &rule;
        }
        const std::size_t row = order.empty() ? place : static_cast<std::size_t>(order[place]);
        verdicts[row] = {label, specific ? specific->vote / 1000.0 : 0.0};
    }
    return verdicts;
}

}  // namespace clausewise::c50
