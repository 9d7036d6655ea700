#include "coverage/explain.hpp"

#include <cstddef>

namespace clausewise::coverage {

RowExplanation explain_row(const Premises& premises, const double* row) {
    RowExplanation found;
    for (std::size_t rule = 0; rule < premises.n_rules(); ++rule) {
        const auto end = static_cast<std::size_t>(premises.starts[rule + 1]);
        std::size_t n_failing = 0;
        std::size_t failing_term = 0;
        for (auto term = static_cast<std::size_t>(premises.starts[rule]); term < end && n_failing < 2; ++term) {
            if (premises.holds(term, row[static_cast<std::size_t>(premises.feature[term])])) continue;
            failing_term = term;
            ++n_failing;
        }
        if (n_failing == 0) found.fired.push_back(static_cast<std::int32_t>(rule));
        if (n_failing != 1) continue;
        found.near.push_back(static_cast<std::int32_t>(rule));
        found.failing_terms.push_back(static_cast<std::int64_t>(failing_term));
    }
    return found;
}

}  // namespace clausewise::coverage
