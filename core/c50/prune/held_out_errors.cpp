#include "c50/prune/held_out_errors.hpp"

#include <algorithm>

#include "c50/division.hpp"

namespace clausewise::c50 {
namespace {

constexpr std::int32_t kNone = -1;
// A leaf's contribution to a score is rounded to single precision, and the sum of all is at most 1.
constexpr double kRounding = 1e-5;

}  // namespace

HeldOutErrors::HeldOutErrors(const Cases& cases, const Tree& tree, RowSpan held_out)
    : cases_(cases),
      tree_(tree),
      classifier_(cases, tree),
      held_out_(held_out),
      is_bounded_(cases.n_classes == 2 && !cases.costs.is_active()),
      at_leaf_(tree.nodes.size()) {
    for (const Node& node : tree.nodes)
        if (!node.is_leaf())
            is_bounded_ = is_bounded_ && node.test.kind == TestKind::threshold &&
                          !cases.matrix.column(static_cast<std::size_t>(node.test.column)).has_missing;
    if (is_bounded_) {
        std::vector<std::int32_t> rows(held_out.begin(), held_out.end()), spare;
        assign_to_leaves(0, {rows.data(), rows.data() + rows.size()}, spare);
        return;
    }
    costs_.resize(held_out.size());
    // All cases of a leaf get the same label. A leaf without training cases takes the distribution of its parent.
    std::vector<std::int32_t> label_of_leaf(tree.nodes.size(), kNone);
    for (std::size_t i = 0; i < held_out.size(); ++i) {
        if (i % 65536 == 0) cases.cancel.check();
        const std::int32_t row = held_out.first[i], leaf = classifier_.leaf_of(row);
        if (leaf == kNone) {
            split_cases_.push_back(i);
            costs_[i] = cost(row, classifier_.classify(row, kNone));
            continue;
        }
        std::int32_t& label = label_of_leaf[static_cast<std::size_t>(leaf)];
        if (label == kNone) label = classifier_.classify(row, kNone);
        costs_[i] = cost(row, label);
        LeafCases& here = at_leaf_[static_cast<std::size_t>(leaf)];
        here.rows.push_back(row);
        here.n_wrong += is_wrong(row, label);
        here.n_second += cases.class_of(row) == 1;
    }
}

// Partitioning at every node is branch-free, unlike following each case.
void HeldOutErrors::assign_to_leaves(std::int32_t id, RowSpan rows, std::vector<std::int32_t>& spare) {
    if (rows.size() == 0) return;
    cases_.cancel.check();
    const TrainingClassifier::Step& step = classifier_.step(id);
    if (step.kind != TestKind::leaf) {
        const Column& column = cases_.matrix.column(static_cast<std::size_t>(step.column));
        std::int32_t* border = partition_rows(column, step.threshold_rank, rows, spare);
        assign_to_leaves(step.children[0], {rows.first, border}, spare);
        assign_to_leaves(step.children[1], {border, rows.last}, spare);
        return;
    }
    LeafCases& here = at_leaf_[static_cast<std::size_t>(id)];
    here.rows.assign(rows.begin(), rows.end());
    for (const std::int32_t row : rows) here.n_second += cases_.class_of(row) == 1;
    const bool is_second = classifier_.classify(*rows.first, kNone) == 1;
    here.n_wrong = is_second ? static_cast<std::int64_t>(rows.size()) - here.n_second : here.n_second;
}

bool HeldOutErrors::is_wrong(std::int32_t row, std::int32_t label) const {
    return static_cast<std::size_t>(label) != cases_.class_of(row);
}

double HeldOutErrors::cost(std::int32_t row, std::int32_t label) const {
    if (!is_wrong(row, label)) return 0.0;
    if (!cases_.costs.is_active()) return 1.0;
    return static_cast<double>(cases_.costs(static_cast<std::size_t>(label), cases_.class_of(row)));
}

double HeldOutErrors::total() const {
    double sum = 0.0;
    for (const double each : costs_) sum += each;
    if (is_bounded_)
        for (const LeafCases& leaf : at_leaf_) sum += static_cast<double>(leaf.n_wrong);
    return sum;
}

bool HeldOutErrors::is_less_without(std::size_t index) {
    const auto column = static_cast<std::int32_t>(index);
    n_wrong_before_ = n_wrong_ = 0;
    undecided_.clear();
    visit({0, 0, 1.0f, kNone, {}}, column);
    if (cases_.costs.is_active()) return is_less_by_costs(column);
    for (const PathNode& at : undecided_) n_wrong_before_ += at_leaf_[static_cast<std::size_t>(at.node)].n_wrong;
    for (const std::size_t i : split_cases_) n_wrong_before_ += costs_[i] > 0.0;

    std::size_t n_followed = 0;
    const auto follow = [&](std::int32_t row, std::int32_t from) {
        if (n_followed++ % 1024 == 0) cases_.cancel.check();
        n_wrong_ += is_wrong(row, classifier_.classify(row, column, from));
    };
    for (const PathNode& at : undecided_)
        for (const std::int32_t row : at_leaf_[static_cast<std::size_t>(at.node)].rows) {
            if (n_wrong_ >= n_wrong_before_) return false;
            follow(row, at.first_unknown);
        }
    for (const std::size_t i : split_cases_) {
        if (n_wrong_ >= n_wrong_before_) return false;
        follow(held_out_.first[i], 0);
    }
    return n_wrong_ < n_wrong_before_;
}

// Cases that meet no test of the column keep their class, but the sum is defined over all cases in order.
bool HeldOutErrors::is_less_by_costs(std::int32_t column) {
    std::vector<bool> meets(tree_.nodes.size(), false);
    for (const PathNode& at : undecided_) meets[static_cast<std::size_t>(at.node)] = true;
    double sum = 0.0;
    for (std::size_t i = 0; i < costs_.size(); ++i) {
        if (i % 1024 == 0) cases_.cancel.check();
        const std::int32_t row = held_out_.first[i], leaf = classifier_.leaf_of(row);
        const bool must_follow = leaf == kNone || meets[static_cast<std::size_t>(leaf)];
        sum += must_follow ? cost(row, classifier_.classify(row, column)) : costs_[i];
    }
    return sum < total();
}

void HeldOutErrors::visit(const PathNode& at, std::int32_t column) {
    const TrainingClassifier::Step& step = classifier_.step(at.node);
    if (step.kind == TestKind::leaf) {
        if (at.first_unknown != kNone) decide_leaf(at);
        return;
    }
    const std::vector<std::int32_t>& children = tree_[at.node].children;
    if (step.column != column) {
        // As in TrainingClassifier, a small fraction is not followed further.
        const float fraction = at.fraction < 0.01 ? 0.0f : at.fraction;
        for (const std::int32_t child : children)
            visit({child, at.node, fraction, at.first_unknown, at.elsewhere}, column);
        return;
    }
    const std::int32_t first_unknown = at.first_unknown == kNone ? at.node : at.first_unknown;
    for (const std::int32_t child : children) {
        PathNode below{child, at.node, fraction_below(at.fraction, at.node, child), first_unknown, at.elsewhere};
        if (is_bounded_)
            for (const std::int32_t other : children)
                if (other != child)
                    below.elsewhere.add(lead_at(other, at.node, fraction_below(at.fraction, at.node, other), column));
        visit(below, column);
    }
}

void HeldOutErrors::decide_leaf(const PathNode& at) {
    const LeafCases& here = at_leaf_[static_cast<std::size_t>(at.node)];
    if (here.rows.empty()) return;
    Lead lead = at.elsewhere;
    if (is_bounded_) lead.add(lead_at(at.node, at.parent, at.fraction, kNone));
    const bool is_second = lead.least > kRounding, is_first = lead.most < -kRounding;
    if (!is_bounded_ || !(is_second || is_first)) {
        undecided_.push_back(at);
        return;
    }
    n_wrong_before_ += here.n_wrong;
    n_wrong_ += is_second ? static_cast<std::int64_t>(here.rows.size()) - here.n_second : here.n_second;
}

float HeldOutErrors::fraction_below(float fraction, std::int32_t node, std::int32_t child) const {
    const float size = classifier_.step(child).size;
    return size > 1e-4 ? fraction * size / classifier_.step(node).size : 0.0f;
}

HeldOutErrors::Lead HeldOutErrors::lead_at(std::int32_t node, std::int32_t parent, float fraction,
                                           std::int32_t column) const {
    const TrainingClassifier::Step& step = classifier_.step(node);
    if (step.kind == TestKind::leaf) {
        const TrainingClassifier::Step& source = step.size < 1e-4 ? classifier_.step(parent) : step;
        const double lead =
            static_cast<double>(fraction) * (source.distribution[1] - source.distribution[0]) / source.size;
        return {lead, lead};
    }
    Lead lead;
    if (step.column != column && fraction < 0.01) return lead;
    const std::vector<std::int32_t>& children = tree_[node].children;
    if (step.column == column) {
        for (const std::int32_t child : children)
            lead.add(lead_at(child, node, fraction_below(fraction, node, child), column));
        return lead;
    }
    lead = lead_at(children[0], node, fraction, column);
    const Lead other = lead_at(children[1], node, fraction, column);
    return {std::min(lead.least, other.least), std::max(lead.most, other.most)};
}

}  // namespace clausewise::c50
