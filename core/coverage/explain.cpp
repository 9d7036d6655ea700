#include "coverage/explain.hpp"

namespace clausewise::coverage::detail {

// The hits of a row are in the order of the rules within its task; a stable counting sort by row keeps that order.
RuleLists sorted_by_row(const std::vector<std::vector<Hit>>& hits_of_task, std::size_t n_rows, bool with_terms) {
    RuleLists lists;
    lists.starts.assign(n_rows + 1, 0);
    for (const auto& hits : hits_of_task)
        for (const Hit& hit : hits) ++lists.starts[hit.row + 1];
    for (std::size_t row = 0; row < n_rows; ++row) lists.starts[row + 1] += lists.starts[row];
    const auto n_hits = static_cast<std::size_t>(lists.starts.back());
    lists.rules.resize(n_hits);
    lists.failing_terms.resize(with_terms ? n_hits : 0);
    std::vector<std::int64_t> next(lists.starts.begin(), lists.starts.end() - 1);
    for (const auto& hits : hits_of_task)
        for (const Hit& hit : hits) {
            const auto place = static_cast<std::size_t>(next[hit.row]++);
            lists.rules[place] = hit.rule;
            if (with_terms) lists.failing_terms[place] = hit.failing_term;
        }
    return lists;
}

}  // namespace clausewise::coverage::detail
