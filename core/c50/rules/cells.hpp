// Training rows merged by the rules that cover them: rows of one class covered by the same rules are one cell.
//
// Selecting rules needs only the class of a row and the rules that cover it. A hundred thousand rows make a few hundred
// cells, and everything after this step works on cells.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "c50/cases.hpp"
#include "c50/rules/formed_rules.hpp"

namespace clausewise::c50 {

// Lists of numbers, concatenated.
struct Lists {
    std::vector<std::size_t> starts{0};
    std::vector<std::int32_t> members;

    std::size_t size() const { return starts.size() - 1; }
    const std::int32_t* begin_of(std::size_t i) const { return members.data() + starts[i]; }
    const std::int32_t* end_of(std::size_t i) const { return members.data() + starts[i + 1]; }
    template <class Visit>
    void for_each(std::size_t i, Visit&& visit) const {
        for (const std::int32_t* m = begin_of(i); m != end_of(i); ++m) visit(static_cast<std::size_t>(*m));
    }
    void end_list() { starts.push_back(members.size()); }
    // Member m of list i becomes member i of list m; the members i of a new list are in the order of `order`. Lists
    // must be ascending.
    Lists transposed(std::size_t n_lists, const std::vector<std::size_t>& order) const;
};

struct Cells {
    std::vector<std::uint16_t> label;  // class of the rows
    std::vector<double> weight;        // of all rows of the cell
    Lists rules_of_cell;               // by descending vote
    Lists cells_of_rule;
    // If merged rows have weights of their own, for sums that depend on the order of the rows; otherwise empty.
    std::vector<std::int32_t> cell_of_row;

    std::size_t size() const { return label.size(); }
    // Equal rows are merged, unless sums have to run over the rows in order: then every row is a cell.
    static Cells of(const Cases& cases, const FormedRules& formed);

private:
    static Cells merged(const Cases& cases, const FormedRules& formed);
    static Cells one_per_row(const Cases& cases, const FormedRules& formed);
};

}  // namespace clausewise::c50
