#include "grower.hpp"

#include <algorithm>

#include "pool.hpp"

namespace clausewise {
namespace {

constexpr double kLeastGain = 1e-4;
// Recursion follows the tree, with some 800 bytes a level on a stack of 64 MB (see pool.hpp); deeper than this a node
// stays a leaf, so that no data can exhaust it.
constexpr std::size_t kMaxDepth = 4000;
// Cells of a node from which threads pay.
constexpr std::size_t kCellsForThreads = std::size_t{1} << 19;

}  // namespace

Regime Regime::of_classifier(std::size_t n_cases, std::size_t n_classes) {
    const std::size_t per_class = n_cases / n_classes;
    if (per_class <= 500) return {1.0f, 0.0f, n_cases};
    if (per_class >= 1000) return {0.0f, 0.9f, n_cases};
    const float t = static_cast<float>(static_cast<double>(per_class - 500) / 500.0);
    return {static_cast<float>(1.0 - t), static_cast<float>(0.9 * t), n_cases};
}

Grower::Grower(Cases& cases, const Regime& regime, const CountInformation& information, const std::vector<bool>& in_use,
               bool use_subsets, std::size_t n_threads)
    : cases_(cases),
      regime_(regime),
      splitter_(cases, information, use_subsets),
      use_subsets_(use_subsets),
      n_threads_(std::max<std::size_t>(1, n_threads)),
      scratch_(n_threads_),
      was_tested_(in_use.size(), false) {
    for (std::size_t a = 0; a < in_use.size(); ++a)
        if (in_use[a]) columns_.push_back(a);
    splits_.resize(columns_.size());
}

Tree Grower::grow(Span rows) {
    Tree tree;
    grow_node(tree, rows, 0);
    return tree;
}

std::int32_t Grower::grow_node(Tree& tree, Span rows, std::size_t depth) {
    cases_.control.check();
    const ClassCounts counts = count_classes(cases_, rows);
    const double in_majority = counts.per_class[static_cast<std::size_t>(counts.majority)];
    Node leaf;
    leaf.label = counts.majority;
    leaf.size = counts.total;
    leaf.errors = counts.errors();
    leaf.distribution.assign(counts.per_class.begin(), counts.per_class.end());
    const std::int32_t id = tree.add(std::move(leaf));
    if (in_majority >= 0.999 * counts.total || counts.total < 2.0 * cases_.min_cases || depth >= kMaxDepth) return id;

    const double base = total_information(counts.per_class.data(), counts.per_class.size()) / counts.total;
    NodeView view{rows, counts, base, was_tested_, rows.size() == cases_.n_rows()};
    find_rare_rows(view);
    const Split* chosen = choose(view);
    if (!chosen) return id;
    tree[id].test = chosen->test;

    const auto column = static_cast<std::size_t>(chosen->test.column);
    const bool marks_column = chosen->test.kind == TestKind::multiway;
    if (marks_column) was_tested_[column] = true;
    grow_branches(tree, id, rows, depth);
    if (marks_column) was_tested_[column] = false;

    float errors = 0.0f;
    for (const std::int32_t child : tree[id].children) errors += tree[child].errors;
    // Without a real gain on the training cases the test is taken back.
    if (errors >= 0.999 * tree[id].errors) tree[id].make_leaf();
    else tree[id].errors = errors;
    return id;
}

void Grower::find_rare_rows(NodeView& view) {
    if (cases_.n_classes != 2 || !cases_.has_unit_weights() || view.rows.size() < 256) return;
    view.rare_class = view.counts.per_class[1] < view.counts.per_class[0];
    if (view.counts.per_class[view.rare_class] * 12.0 > view.counts.total) return;
    rare_rows_.clear();
    for (const std::int32_t row : view.rows)
        if (cases_.class_of(row) == view.rare_class) rare_rows_.push_back(row);
    view.rare_rows = {rare_rows_.data(), rare_rows_.data() + rare_rows_.size()};
    if (view.rows.size() * 2 <= cases_.n_rows()) return;
    is_here_.assign(cases_.n_rows(), 0);
    for (const std::int32_t row : view.rows) is_here_[static_cast<std::size_t>(row)] = 1;
    other_rows_.clear();
    for (std::size_t row = 0; row < is_here_.size(); ++row)
        if (!is_here_[row]) other_rows_.push_back(static_cast<std::int32_t>(row));
    view.other_rows = {other_rows_.data(), other_rows_.data() + other_rows_.size()};
}

void Grower::grow_branches(Tree& tree, std::int32_t id, Span rows, std::size_t depth) {
    Division division(cases_, tree[id].test, rows, tree[id].size, spare_rows_);
    std::vector<std::int32_t> children;
    children.reserve(division.n_branches());
    for (std::size_t b = 0; b < division.n_branches(); ++b) {
        std::int32_t child = -1;
        const bool entered =
            division.enter(b, [&](Span branch, double) { child = grow_node(tree, branch, depth + 1); });
        if (!entered) {
            Node empty;
            empty.label = tree[id].label;
            empty.distribution.assign(cases_.n_classes, 0.0f);
            child = tree.add(std::move(empty));
        }
        children.push_back(child);
    }
    tree[id].children = std::move(children);
}

void Grower::evaluate_columns(const NodeView& node) {
    const std::size_t cells = node.rows.size() * columns_.size();
    parallel_for(columns_.size(), cells >= kCellsForThreads ? n_threads_ : 1, [&](std::size_t i, std::size_t worker) {
        if (cells >= kCellsForThreads) cases_.control.check();
        splits_[i] = splitter_.evaluate(columns_[i], node, scratch_[worker]);
    });
}

// Among the columns with enough gain, the one with the highest gain per information of the division.
const Split* Grower::choose(const NodeView& node) {
    evaluate_columns(node);
    const auto is_remaining = [](const Split& split) { return split.gain >= kLeastGain; };
    const auto has_many_values = [&](const Split& split) {
        return split.test.kind == TestKind::multiway &&
               split.test.n_branches >= 0.3 * static_cast<double>(regime_.n_cases);
    };
    // Without subsets, columns of very many values are looked at only if there is nothing else.
    const bool skips_many_values =
        !use_subsets_ && std::any_of(splits_.begin(), splits_.end(), [&](const Split& split) {
            return is_remaining(split) && !has_many_values(split);
        });
    double sum = 0.0;
    std::size_t n_remaining = 0;
    const auto takes_part = [&](const Split& split) {
        return is_remaining(split) && !(skips_many_values && has_many_values(split));
    };
    for (const Split& split : splits_)
        if (takes_part(split)) {
            sum += split.gain;
            ++n_remaining;
        }
    if (n_remaining == 0) return nullptr;
    const double average = sum / static_cast<double>(n_remaining);
    const double least_gain = regime_.average_gain_weight * average +
                              regime_.coding_weight * lg(static_cast<double>(n_remaining)) / node.counts.total;

    const Split* best = nullptr;
    float best_ratio = -1e-4f;
    for (const Split& split : splits_) {
        if (!takes_part(split) || split.gain < 0.999 * least_gain || !(split.information > 0.0f)) continue;
        const float ratio = split.gain / split.information;
        const bool wins_tie = best && ratio > 0.999 * best_ratio &&
                              (split.n_formed_branches < best->n_formed_branches ||
                               (split.n_formed_branches == best->n_formed_branches && split.gain > best->gain));
        if (ratio > best_ratio || wins_tie) {
            best = &split;
            best_ratio = ratio;  // may go down by up to 0.1 %
        }
    }
    return best;
}

}  // namespace clausewise
