#include "c50/prune/winnower.hpp"

#include <algorithm>

#include "c50/grow/grower.hpp"
#include "c50/prune/held_out_errors.hpp"
#include "c50/prune/local_pruner.hpp"
#include "c50/prune/tree_passes.hpp"

namespace clausewise::c50 {
namespace {

// The cases of each class go alternately to the front and to the back of the order; the first half is for training.
std::vector<std::int32_t> in_alternating_halves(const Cases& cases) {
    std::vector<std::int32_t> order(cases.n_rows());
    std::vector<bool> goes_to_back(cases.n_classes, false);
    std::size_t front = 0, back = order.size();
    for (std::size_t row = 0; row < order.size(); ++row) {
        const std::size_t c = cases.classes[row];
        order[goes_to_back[c] ? --back : front++] = static_cast<std::int32_t>(row);
        goes_to_back[c] = !goes_to_back[c];
    }
    return order;
}

struct Trial {
    Tree tree;
    std::vector<bool> grown_on;  // columns tested before pruning
};

}  // namespace

std::vector<bool> winnow(Cases& cases, const CountInformation& information, const PessimisticErrors& extra_errors,
                         bool use_subsets, bool merges_by_label, std::size_t n_threads) {
    const std::size_t n_columns = cases.matrix.n_columns();
    const double min_cases = cases.min_cases;
    const std::vector<float> weights = cases.weights;
    std::vector<std::int32_t> order = in_alternating_halves(cases);
    const std::size_t half = order.size() / 2;
    const RowSpan training{order.data(), order.data() + half},
        held_out{order.data() + half, order.data() + order.size()};
    // Reading columns in row order is quicker and, with unit weights, does not change the tree.
    if (cases.has_unit_weights()) std::sort(training.begin(), training.end());
    const std::vector<std::int32_t> in_order(training.begin(), training.end());

    Decisions decisions;  // of the first trial; the second reuses them where it can
    const auto try_columns = [&](const std::vector<bool>& in_use) {
        // Growing divides the rows in place, and the order of weighted cases of equal value matters.
        if (cases.has_exact_sums) std::copy(in_order.begin(), in_order.end(), training.begin());
        cases.min_cases = std::max(min_cases / 2.0, 2.0);
        Grower grower(cases, GrowthSettings::of_winnowing(half), information, in_use, use_subsets, n_threads);
        Trial trial;
        trial.tree = decisions.empty() ? grower.grow(training, &decisions) : grower.grow_again(training, decisions);
        trial.grown_on = tested_columns(trial.tree, n_columns);
        LocalPruner(cases, grower, extra_errors).prune(trial.tree, training);
        if (cases.costs.is_active()) relabel_by_costs(cases, trial.tree);
        tidy_discrete_tests(trial.tree, n_columns, merges_by_label);
        cases.min_cases = min_cases;
        cases.weights = weights;
        return trial;
    };

    std::vector<bool> in_use(n_columns, true);
    const Trial first = try_columns(in_use);
    HeldOutErrors errors(cases, first.tree, held_out);
    const double base = errors.total();
    const std::vector<bool> tested = tested_columns(first.tree, n_columns);
    std::vector<std::size_t> harmful;
    for (std::size_t a = 0; a < n_columns; ++a)
        if (tested[a] && errors.is_less_without(a)) harmful.push_back(a);
    if (!harmful.empty()) {
        for (const std::size_t a : harmful) in_use[a] = false;
        const Trial without = try_columns(in_use);
        if (HeldOutErrors(cases, without.tree, held_out).total() > base)
            for (const std::size_t a : harmful) in_use[a] = true;
    }
    for (std::size_t a = 0; a < n_columns; ++a) in_use[a] = in_use[a] && first.grown_on[a];
    return in_use;
}

}  // namespace clausewise::c50
