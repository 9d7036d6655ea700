#include "c50/rules/cells.hpp"

#include <algorithm>
#include <numeric>

namespace clausewise::c50 {

Lists Lists::transposed(std::size_t n_lists, const std::vector<std::size_t>& order) const {
    Lists result;
    result.starts.assign(n_lists + 1, 0);
    result.members.resize(members.size());
    for (const std::int32_t m : members) ++result.starts[static_cast<std::size_t>(m) + 1];
    for (std::size_t i = 0; i < n_lists; ++i) result.starts[i + 1] += result.starts[i];
    std::vector<std::size_t> next(result.starts.begin(), result.starts.end() - 1);
    std::vector<std::size_t> n_done(starts.begin(), starts.end() - 1);
    // A few of the new lists at a time, so that the written memory stays in the cache.
    constexpr std::size_t kListsAtOnce = 4096;
    for (std::size_t end = kListsAtOnce; end < n_lists + kListsAtOnce; end += kListsAtOnce)
        for (const std::size_t i : order) {
            std::size_t& at = n_done[i];
            for (; at < starts[i + 1] && static_cast<std::size_t>(members[at]) < end; ++at)
                result.members[next[static_cast<std::size_t>(members[at])]++] = static_cast<std::int32_t>(i);
        }
    return result;
}

namespace {

// A partition of the rows. It starts with one part per class; each rule splits the parts that it covers partially.
class Partition {
public:
    Partition(const FormedRules& formed, std::size_t n_classes)
        : part_of_row_(formed.classes.begin(), formed.classes.end()), offspring_(n_classes, Offspring{-1, -1}) {}

    void divide(std::int32_t number, const FormedRule& rule) {
        rule.covered.for_each([&](std::int32_t row) {
            std::int32_t& part = part_of_row_[static_cast<std::size_t>(row)];
            if (part == kSingle) return;
            Offspring& newest = offspring_[static_cast<std::size_t>(part)];
            if (newest.rule == number) {
                part = newest.part;
                return;
            }
            part = static_cast<std::int32_t>(offspring_.size());
            newest = {number, part};
            offspring_.push_back({-1, -1});
        });
        // Renumbering once per n_rows new parts takes only a few passes over the rows in total.
        if (offspring_.size() > n_renumbered_ + part_of_row_.size()) renumber();
    }
    // Calls visit(row, n_rows) for the first row of every part.
    template <class Visit>
    void for_each(Visit&& visit) {
        const std::vector<std::int32_t> sizes = renumber();
        std::vector<bool> is_seen(sizes.size(), false);
        for (std::size_t row = 0; row < part_of_row_.size(); ++row) {
            if (part_of_row_[row] == kSingle) {
                visit(row, 1);
                continue;
            }
            const auto part = static_cast<std::size_t>(part_of_row_[row]);
            if (!is_seen[part]) visit(row, sizes[part]);
            is_seen[part] = true;
        }
    }
    // Gives all rows of a part the number that `number_of_row` has for the first of them. After `for_each`.
    void spread(std::vector<std::int32_t>& number_of_row) const {
        std::vector<std::int32_t> number_of_part(offspring_.size(), -1);
        for (std::size_t row = 0; row < part_of_row_.size(); ++row) {
            if (part_of_row_[row] == kSingle) continue;
            std::int32_t& known = number_of_part[static_cast<std::size_t>(part_of_row_[row])];
            if (known < 0) known = number_of_row[row];
            number_of_row[row] = known;
        }
    }

private:
    static constexpr std::int32_t kSingle = -1;  // the only row of its part, which no rule can split

    // The part that the latest rule has split off a part.
    struct Offspring {
        std::int32_t rule, part;
    };

    // Drops empty parts and marks the parts of a single row. Returns the sizes of the other parts.
    std::vector<std::int32_t> renumber() {
        std::vector<std::int32_t> sizes(offspring_.size(), 0), number_of(offspring_.size(), kSingle), kept_sizes;
        for (const std::int32_t part : part_of_row_)
            if (part != kSingle) ++sizes[static_cast<std::size_t>(part)];
        for (std::size_t p = 0; p < sizes.size(); ++p) {
            if (sizes[p] < 2) continue;
            number_of[p] = static_cast<std::int32_t>(kept_sizes.size());
            kept_sizes.push_back(sizes[p]);
        }
        for (std::int32_t& part : part_of_row_)
            if (part != kSingle) part = number_of[static_cast<std::size_t>(part)];
        n_renumbered_ = kept_sizes.size();
        offspring_.assign(n_renumbered_, Offspring{-1, -1});
        return kept_sizes;
    }

    std::vector<std::int32_t> part_of_row_;
    std::vector<Offspring> offspring_;
    std::size_t n_renumbered_ = 0;
};

// Rule indices by descending vote.
std::vector<std::size_t> by_vote(const std::vector<FormedRule>& rules) {
    std::vector<std::size_t> order(rules.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return rules[a].vote > rules[b].vote; });
    return order;
}

}  // namespace

Cells Cells::of(const Cases& cases, const FormedRules& formed) {
    const bool sums_costs = cases.costs.is_active() && cases.class_scale.empty();  // products, which are rounded
    const bool merges = cases.has_unit_weights() || (cases.has_exact_sums && !sums_costs);
    return merges ? merged(cases, formed) : one_per_row(cases, formed);
}

Cells Cells::one_per_row(const Cases& cases, const FormedRules& formed) {
    Cells cells;
    cells.label = formed.classes;
    cells.weight.resize(cases.n_rows(), 1.0);
    for (std::size_t row = 0; row < cases.weights.size(); ++row) cells.weight[row] = cases.weights[row];
    for (const FormedRule& rule : formed.rules) {
        rule.covered.for_each([&](std::int32_t row) { cells.cells_of_rule.members.push_back(row); });
        cells.cells_of_rule.end_list();
    }
    cells.rules_of_cell = cells.cells_of_rule.transposed(cells.size(), by_vote(formed.rules));
    return cells;
}

Cells Cells::merged(const Cases& cases, const FormedRules& formed) {
    Partition parts(formed, cases.n_classes);
    for (std::size_t r = 0; r < formed.rules.size(); ++r) {
        cases.cancel.check();
        parts.divide(static_cast<std::int32_t>(r), formed.rules[r]);
    }
    // The first row of a part represents all of it.
    Cells cells;
    std::vector<std::int32_t> cell_of_row(cases.n_rows(), -1);
    Words stands_for_cell(words_for(cases.n_rows()), 0);
    parts.for_each([&](std::size_t row, std::int32_t n_rows) {
        cell_of_row[row] = static_cast<std::int32_t>(cells.size());
        stands_for_cell[row >> 6] |= std::uint64_t{1} << (row & 63);
        cells.label.push_back(formed.classes[row]);
        cells.weight.push_back(n_rows);
    });
    if (!cases.has_unit_weights()) {
        parts.spread(cell_of_row);
        std::fill(cells.weight.begin(), cells.weight.end(), 0.0);
        for (std::size_t row = 0; row < cell_of_row.size(); ++row)
            cells.weight[static_cast<std::size_t>(cell_of_row[row])] += cases.weights[row];
        cells.cell_of_row = cell_of_row;
    }
    std::size_t n_covered = 0;
    for (const FormedRule& rule : formed.rules) n_covered += std::min(rule.covered.size(), cells.size());
    cells.cells_of_rule.members.reserve(n_covered);
    for (const FormedRule& rule : formed.rules) {
        rule.covered.for_each_in(stands_for_cell, [&](std::int32_t row) {
            cells.cells_of_rule.members.push_back(cell_of_row[static_cast<std::size_t>(row)]);
        });
        cells.cells_of_rule.end_list();
    }
    cells.rules_of_cell = cells.cells_of_rule.transposed(cells.size(), by_vote(formed.rules));
    return cells;
}

}  // namespace clausewise::c50
