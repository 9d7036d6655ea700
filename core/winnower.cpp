#include "winnower.hpp"

#include <algorithm>

#include "grower.hpp"
#include "pruner.hpp"

namespace clausewise {
namespace {

// The cases of each class go alternately to the front and, from the end, to the back; the first half is for training.
std::vector<std::int32_t> in_halves(const Cases& cases) {
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

// The errors of a tree on held-out cases, and what they would be if one column were unknown: that matters only to the
// cases that meet a test of it.
class HeldOutErrors {
public:
    HeldOutErrors(const Cases& cases, const Tree& tree, Span held_out)
        : cases_(cases),
          classifier_(cases, tree),
          held_out_(held_out),
          costs_(held_out.size()),
          meets_(cases.matrix.n_columns()) {
        std::vector<std::int32_t> label_of_leaf(tree.nodes.size(), -1);
        const std::vector<bool> tested = tested_columns(tree, meets_.size());
        for (std::size_t i = 0; i < held_out.size(); ++i) {
            if (i % 65536 == 0) cases.control.check();
            const std::int32_t row = held_out.first[i], leaf = follow(i);
            if (leaf >= 0) {
                std::int32_t& label = label_of_leaf[static_cast<std::size_t>(leaf)];
                if (label < 0) label = classifier_.classify(row, -1);
                costs_[i] = cost(row, label);
                continue;
            }
            for (std::size_t a = 0; a < tested.size(); ++a)
                if (tested[a]) add_meeting(a, i);
            costs_[i] = cost(row, classifier_.classify(row, -1));
        }
    }

    // In the order of the cases, because costs need not add up exactly.
    double total() const {
        double sum = 0.0;
        for (const double each : costs_) sum += each;
        return sum;
    }
    // Is the total smaller if the column is unknown?
    bool is_less_without(std::size_t column) {
        const auto& meets = meets_[column];
        const auto cost_without = [&](std::size_t i) {
            if (i % 1024 == 0) cases_.control.check();
            const std::int32_t row = held_out_.first[i];
            return cost(row, classifier_.classify(row, static_cast<std::int32_t>(column)));
        };
        double sum = 0.0;
        if (!cases_.costs.is_active()) {
            // Whole numbers: the cases that do not meet it can be left out.
            double least = 0.0;
            for (const std::uint32_t i : meets) least += costs_[i];
            for (auto i = meets.begin(); i != meets.end() && sum < least; ++i) sum += cost_without(*i);
            return sum < least;
        }
        auto next = meets.begin();
        for (std::size_t i = 0; i < costs_.size(); ++i) {
            const bool meets_here = next != meets.end() && *next == i;
            sum += meets_here ? cost_without(i) : costs_[i];
            next += meets_here;
        }
        return sum < total();
    }

private:
    double cost(std::int32_t row, std::int32_t label) const {
        const auto predicted = static_cast<std::size_t>(label);
        const std::size_t actual = cases_.class_of(row);
        if (predicted == actual) return 0.0;
        return cases_.costs.is_active() ? static_cast<double>(cases_.costs(predicted, actual)) : 1.0;
    }
    void add_meeting(std::size_t column, std::size_t i) {
        auto& meets = meets_[column];
        if (meets.empty() || meets.back() != i) meets.push_back(static_cast<std::uint32_t>(i));
    }
    // The leaf that a case comes to, noting the columns on its way; -1 if a missing value leads it to several.
    std::int32_t follow(std::size_t i) {
        std::int32_t id = 0;
        while (classifier_.step(id).kind != TestKind::leaf) {
            const TrainingClassifier::Step& step = classifier_.step(id);
            const std::int32_t branch = step.branch_of(held_out_.first[i]);
            if (branch < 0) return -1;
            add_meeting(static_cast<std::size_t>(step.column), i);
            id = step.children[branch];
        }
        // A leaf without cases takes the distribution of the node above it, which is the same for all that come here.
        return id;
    }

    const Cases& cases_;
    TrainingClassifier classifier_;
    Span held_out_;
    std::vector<double> costs_;                      // per case: 0 if it is classified correctly
    std::vector<std::vector<std::uint32_t>> meets_;  // per column: the cases that meet it, ascending
};

}  // namespace

std::vector<bool> winnow(Cases& cases, const CountInformation& information, const PessimisticErrors& extra_errors,
                         bool use_subsets, std::size_t n_threads) {
    const std::size_t n_columns = cases.matrix.n_columns();
    const double min_cases = cases.min_cases;
    const std::vector<float> weights = cases.weights;
    std::vector<std::int32_t> order = in_halves(cases);
    const std::size_t half = order.size() / 2;
    const Span training{order.data(), order.data() + half}, held_out{order.data() + half, order.data() + order.size()};
    // Row order makes reading columns quicker and, with unit weights, changes nothing.
    if (cases.has_unit_weights()) std::sort(training.begin(), training.end());

    Decisions decisions;  // of the first trial, which the second follows where it can
    const auto try_columns = [&](const std::vector<bool>& in_use) {
        cases.min_cases = std::max(min_cases / 2.0, 2.0);
        Grower grower(cases, Regime::of_winnowing(half), information, in_use, use_subsets, n_threads);
        Trial trial;
        trial.tree = decisions.empty() ? grower.grow(training, &decisions) : grower.grow_again(training, decisions);
        trial.grown_on = tested_columns(trial.tree, n_columns);
        LocalPruner(cases, grower, extra_errors).prune(trial.tree, training);
        if (cases.costs.is_active()) relabel_by_costs(cases, trial.tree);
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

}  // namespace clausewise
