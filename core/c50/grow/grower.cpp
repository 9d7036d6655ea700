#include "c50/grow/grower.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/parallel.hpp"

namespace clausewise::c50 {
namespace {

constexpr double kMinGain = 1e-4;
// Growing recurses along the tree, with some 800 bytes per level on a stack of 64 MB (see base/parallel.hpp). A node at
// this depth stays a leaf, so that no data can overflow the stack.
constexpr std::size_t kMaxDepth = 4000;
// Threads pay off for nodes of at least this many cells (rows × columns).
constexpr std::size_t kCellsForThreads = std::size_t{1} << 19;

// Gain ratios above this fraction of the best count as equal to it.
constexpr double kTieRatio = 0.999;
// Bounding the gain ratios pays off from this many columns on.
constexpr std::size_t kColumnsForBound = 4;
// Guessing the best column first pays off up to this many columns. Among more, a high ratio is found early anyway.
constexpr std::size_t kColumnsForGuess = 100;

// The columns in use, except those with more values than tests may have branches.
std::vector<bool> considered(const Cases& cases, std::vector<bool> in_use, bool use_subsets, std::size_t n_cases) {
    if (!use_subsets && !cases.keeps_many_values)
        for (std::size_t a = 0; a < in_use.size(); ++a) in_use[a] = in_use[a] && !cases.has_many_values(a, n_cases);
    return in_use;
}

std::vector<std::size_t> listed(const std::vector<bool>& in_use) {
    std::vector<std::size_t> columns;
    for (std::size_t a = 0; a < in_use.size(); ++a)
        if (in_use[a]) columns.push_back(a);
    return columns;
}

// With at most so many errors a node stays a leaf: a test that hardly lowers the errors is undone, and to lower them, a
// branch would need more cases of another class than of the majority. Thresholds leave the minimum of cases, but for
// rounding, in every branch; tests of discrete columns may not, nor where cases are divided. The errors of a branch
// below the least weight, which costs may leave, do not count; twice that weight allows for rounding.
double most_errors_of_leaf(const Cases& cases, const std::vector<std::size_t>& columns) {
    const bool has_thresholds_alone = std::none_of(columns.begin(), columns.end(), [&](std::size_t a) {
        return cases.matrix.column(a).is_discrete || cases.matrix.column(a).has_missing;
    });
    const double least_in_branch = cases.min_cases - 1e-5;
    if (!has_thresholds_alone || !cases.adds_in_any_order() || least_in_branch < 2.0 * kMinBranchWeight) return -1.0;
    return cases.has_unit_weights() ? 0.5 * std::ceil(least_in_branch) : 0.5 * (1.0 - 1e-6) * least_in_branch;
}

// The highest gain ratio leads; among nearly equal ratios, fewer branches and then the higher gain.
bool takes_lead(const Split& split, const Split* leader) {
    if (split.gain < kMinGain || !(split.information > 0.0f)) return false;
    if (!leader) return true;
    const float ratio = split.ratio(), best_ratio = leader->ratio();  // the leading ratio may decrease by up to 0.1 %
    return ratio > best_ratio ||
           (ratio > kTieRatio * best_ratio &&
            (split.n_counted_branches < leader->n_counted_branches ||
             (split.n_counted_branches == leader->n_counted_branches && split.gain > leader->gain)));
}

}  // namespace

GrowthSettings GrowthSettings::of_classifier(std::size_t n_cases, std::size_t n_classes) {
    const std::size_t per_class = n_cases / n_classes;
    if (per_class <= 500) return {1.0f, 0.0f, n_cases, 0.0f};
    if (per_class >= 1000) return {0.0f, 0.9f, n_cases, 0.0f};
    const float t = static_cast<float>(static_cast<double>(per_class - 500) / 500.0);
    return {static_cast<float>(1.0 - t), static_cast<float>(0.9 * t), n_cases, 0.0f};
}

Grower::Grower(Cases& cases, const GrowthSettings& settings, const CountInformation& information,
               const std::vector<bool>& in_use, bool use_subsets, std::size_t n_threads)
    : cases_(cases),
      settings_(settings),
      splitter_(cases, information, use_subsets),
      n_threads_(std::max<std::size_t>(1, n_threads)),
      in_use_(considered(cases, in_use, use_subsets, settings.n_cases)),
      columns_(listed(in_use_)),
      splits_(columns_.size()),
      scratch_(n_threads_),
      was_tested_(in_use.size(), false),
      is_evaluated_(columns_.size(), false),
      is_average_ignored_(settings.average_gain_weight == 0.0f),
      judges_columns_alone_(is_average_ignored_ && settings.coding_weight == 0.0f),
      most_errors_of_leaf_(most_errors_of_leaf(cases, columns_)),
      bound_(information),
      weighted_bound_(cases),
      histograms_(cases, columns_, n_threads_) {}

Tree Grower::grow(RowSpan rows, Decisions* made) {
    // Weights that are divided at missing values are not restored exactly, so decisions would depend on earlier ones.
    const bool keeps_weights = std::none_of(columns_.begin(), columns_.end(),
                                            [&](std::size_t a) { return cases_.matrix.column(a).has_missing; });
    made_ = judges_columns_alone_ && keeps_weights ? made : nullptr;
    Tree tree;
    grow_node(tree, {rows, 0});
    if (made_) made_->resize(tree.nodes.size());
    made_ = nullptr;
    return tree;
}

Tree Grower::grow_again(RowSpan rows, const Decisions& known) {
    needs_columns_.assign(known.size(), false);
    for (std::size_t id = known.size(); id-- > 0;) {  // a node comes before its descendants
        const auto& [leaders, branches] = known[id];
        needs_columns_[id] =
            std::any_of(leaders.begin(), leaders.end(), [&](const Split& leader) { return !is_in_use(leader); }) ||
            std::any_of(branches.begin(), branches.end(),
                        [&](std::int32_t branch) { return needs_columns_[static_cast<std::size_t>(branch)]; });
    }
    known_ = &known;
    Tree tree;
    grow_node(tree, {rows, 0, known.empty() ? -1 : 0});
    known_ = nullptr;
    return tree;
}

bool Grower::is_terminal(const ClassCounts& counts) const {
    return counts.per_class[static_cast<std::size_t>(counts.majority)] >= 0.999 * counts.total ||
           counts.total < 2.0 * cases_.min_cases || settings_.most_leaves(counts.total) < 2.0 ||
           counts.errors() <= most_errors_of_leaf_;
}

std::int32_t Grower::grow_node(Tree& tree, Site site) {
    cases_.cancel.check();
    const ClassCounts counts =
        site.counts.per_class.empty() ? count_classes(cases_, site.rows) : std::move(site.counts);
    Node leaf;
    leaf.label = counts.majority;
    leaf.size = counts.total;
    leaf.errors = counts.errors();
    leaf.distribution.assign(counts.per_class.begin(), counts.per_class.end());
    const std::int32_t id = tree.add(std::move(leaf));
    if (is_terminal(counts) || site.depth >= kMaxDepth) return id;

    const std::size_t n_held = histograms_.n_held();
    if (site.histogram == NodeHistograms::kNone && should_count(site)) site.histogram = histograms_.count(site.rows);
    const double base = total_information(counts.per_class.data(), counts.per_class.size()) / counts.total;
    NodeView view{site.rows,
                  counts,
                  base,
                  was_tested_,
                  site.rows.size() == cases_.n_rows(),
                  settings_.most_leaves(counts.total) + 1.0};
    const Decision* known = site.known < 0 ? nullptr : &(*known_)[static_cast<std::size_t>(site.known)];
    std::vector<Split> leaders = leaders_of(view, site, known);
    if (leaders.empty()) {
        histograms_.release(n_held);
        return id;
    }
    const Test test = tree[id].test = leaders.back().test;
    // The same column divides the same rows in the same way.
    if (known && test.column != known->leaders.back().test.column) known = nullptr;

    const auto column = static_cast<std::size_t>(test.column);
    const bool marks_column = test.kind == TestKind::multiway;
    if (marks_column) was_tested_[column] = true;
    grow_branches(tree, id, site, &counts, known, tree[id].label);
    histograms_.release(n_held);
    if (marks_column) was_tested_[column] = false;
    if (made_) {
        if (made_->size() < tree.nodes.size()) made_->resize(tree.nodes.size());
        (*made_)[static_cast<std::size_t>(id)] = {std::move(leaders), tree[id].children};
    }

    float errors = 0.0f;
    for (const std::int32_t child : tree[id].children) errors += tree[child].errors;
    // A test that hardly lowers the errors on the training cases is undone.
    if (errors >= 0.999 * tree[id].errors) tree[id].make_leaf();
    else tree[id].errors = errors;
    return id;
}

std::vector<Split> Grower::leaders_of(NodeView& view, const Site& site, const Decision* known) {
    if (known && std::all_of(known->leaders.begin(), known->leaders.end(),
                             [&](const Split& leader) { return is_in_use(leader); }))
        return known->leaders;
    const bool is_counted = site.histogram != NodeHistograms::kNone;
    if (!cases_.has_unit_weights()) {
        view.is_sorted = std::is_sorted(view.rows.begin(), view.rows.end());
        view.weight = cases_.weight_of(view.rows);
    }
    const bool is_marked = is_counted || view.is_sorted;
    if (is_marked) {
        is_in_node_.resize(cases_.n_rows(), 0);
        for (const std::int32_t row : view.rows) is_in_node_[static_cast<std::size_t>(row)] = 1;
        view.is_in_node = is_in_node_.data();
    }
    if (is_counted) {
        view.histograms = &histograms_;
        view.histogram = site.histogram;
    } else {
        find_rare_rows(view);
    }
    std::vector<Split> leaders;
    std::fill(is_evaluated_.begin(), is_evaluated_.end(), false);
    // If all columns have to be evaluated anyway, evaluating them in turn saves nothing.
    const bool evaluates_in_turn = judges_columns_alone_ || (is_average_ignored_ && should_bound(view));
    if (!evaluates_in_turn || !choose_in_turn(view, leaders)) {
        const Split* chosen = choose(view);
        leaders.clear();
        if (chosen) leaders.push_back(*chosen);
    }
    if (is_marked)
        for (const std::int32_t row : view.rows) is_in_node_[static_cast<std::size_t>(row)] = 0;
    return leaders;
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
    is_in_node_.assign(cases_.n_rows(), 0);
    for (const std::int32_t row : view.rows) is_in_node_[static_cast<std::size_t>(row)] = 1;
    other_rows_.clear();
    for (std::size_t row = 0; row < is_in_node_.size(); ++row)
        if (!is_in_node_[row]) other_rows_.push_back(static_cast<std::int32_t>(row));
    view.other_rows = {other_rows_.data(), other_rows_.data() + other_rows_.size()};
}

// The sites of the branches of a node. Their cases are counted only if their columns have to be evaluated.
std::vector<Grower::Site> Grower::sites_below(const Site& site, Division& division, const Test& test,
                                              const Decision* known) {
    std::vector<Site> sites;
    for (std::size_t b = 0; b < division.n_branches(); ++b)
        sites.push_back({division.rows(b), site.depth + 1, known ? known->branches[b] : -1, NodeHistograms::kNone,
                         division.counts(b)});
    if (site.histogram == NodeHistograms::kNone || test.kind != TestKind::threshold) return sites;
    std::array<bool, 2> is_wanted{};
    for (std::size_t b = 0; b < 2; ++b) {
        is_wanted[b] = should_count(sites[b]);
        // The weights of cases with a missing value depend on the branch.
        if (division.has_missing()) continue;
        if (sites[b].counts.per_class.empty()) sites[b].counts = count_classes(cases_, sites[b].rows);
        is_wanted[b] = is_wanted[b] && !is_terminal(sites[b].counts);
    }
    const std::size_t smaller = sites[1].rows.size() < sites[0].rows.size(), larger = 1 - smaller;
    if (!is_wanted[larger]) return sites;
    sites[smaller].histogram = histograms_.divide(site.histogram, sites[smaller].rows, is_wanted[smaller]);
    sites[larger].histogram = site.histogram;
    // Cases with a missing value were counted in the smaller branch. They are added on entering a branch, with the
    // weights that they then have.
    if (division.has_missing() && is_wanted[smaller]) histograms_.remove(sites[smaller].histogram, division.missing());
    return sites;
}

void Grower::grow_branches(Tree& tree, std::int32_t id, const Site& site, const ClassCounts* counts,
                           const Decision* known, std::int32_t label_of_empty) {
    Division division(cases_, tree[id].test, site.rows, tree[id].size, spare_rows_, counts);
    const std::vector<Site> sites = sites_below(site, division, tree[id].test, known);
    std::vector<std::int32_t> children;
    children.reserve(division.n_branches());
    for (std::size_t b = 0; b < division.n_branches(); ++b) {
        std::int32_t child = -1;
        const bool entered = division.enter_to_grow(b, [&](RowSpan, float) {
            if (sites[b].histogram != NodeHistograms::kNone && division.has_missing())
                histograms_.add(sites[b].histogram, division.missing());
            child = grow_node(tree, sites[b]);
        });
        if (!entered) {
            Node empty;
            empty.label = label_of_empty;
            empty.distribution.assign(cases_.n_classes, 0.0f);
            child = tree.add(std::move(empty));
        }
        children.push_back(child);
    }
    tree[id].children = std::move(children);
}

bool Grower::is_large(const NodeView& node) const { return node.rows.size() * columns_.size() >= kCellsForThreads; }

// Can columns be excluded by bounds? For a large node, several threads evaluate all columns instead.
bool Grower::should_bound(const NodeView& node) const {
    return node.histograms && columns_.size() >= kColumnsForBound && (n_threads_ == 1 || !is_large(node));
}

// Evaluates the columns that are not evaluated yet.
void Grower::evaluate_columns(const NodeView& node) {
    const bool checks = is_large(node);
    parallel_for(columns_.size(), checks ? n_threads_ : 1, [&](std::size_t i, std::size_t worker) {
        if (checks) cases_.cancel.check();
        if (!is_evaluated_[i]) splits_[i] = splitter_.evaluate(columns_[i], node, 0.0, scratch_[worker]);
    });
}

double Grower::least_gain(double average, std::size_t n_remaining, const NodeView& node) const {
    return 0.999 * (settings_.average_gain_weight * average +
                    settings_.coding_weight * lg(static_cast<double>(n_remaining)) / node.counts.total);
}

// Among the columns with enough gain, the one with the highest gain ratio; null if there is none.
const Split* Grower::choose(const NodeView& node) {
    evaluate_columns(node);
    const auto takes_part = [](const Split& split) { return split.gain >= kMinGain; };
    double sum = 0.0;
    std::size_t n_remaining = 0;
    for (const Split& split : splits_)
        if (takes_part(split)) {
            sum += split.gain;
            ++n_remaining;
        }
    if (n_remaining == 0) return nullptr;
    const double average = sum / static_cast<double>(n_remaining);
    const double least = least_gain(average, n_remaining, node);

    const Split* leader = nullptr;
    for (const Split& split : splits_)
        if (takes_part(split) && split.gain >= least && takes_lead(split, leader)) leader = &split;
    return leader;
}

// The same if the average gain does not count: columns are evaluated in turn, and those that cannot take the lead are
// skipped. The number of remaining columns is then unknown; returns false if it matters.
//
// The first column with the highest ratio takes the lead from any other. So it does not matter which one led before,
// and columns below a ratio that is certain to be reached can be skipped until it is.
bool Grower::choose_in_turn(const NodeView& node, std::vector<Split>& leaders) {
    const bool is_bounded = should_bound(node), checks = is_large(node);
    const double sufficient_gain = least_gain(0.0, columns_.size(), node);
    double reached_ratio = 0.0, least_ratio = 0.0;
    const auto lead_with = [&](double ratio) {
        least_ratio = kTieRatio * ratio;
        if (is_bounded) require(least_ratio);
    };
    if (is_bounded) {
        start_bound(node);
        if (columns_.size() <= kColumnsForGuess) {
            const std::size_t i = most_promising(node);
            splits_[i] = splitter_.evaluate(columns_[i], node, 0.0, scratch_[0]);
            is_evaluated_[i] = true;
            if (takes_lead(splits_[i], nullptr) && splits_[i].gain >= sufficient_gain)
                lead_with(reached_ratio = splits_[i].ratio());
        }
    } else {
        evaluate_columns(node);
    }
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        const std::size_t column = columns_[i];
        Split& split = splits_[i];
        if (is_bounded && !is_evaluated_[i]) {
            if (checks) cases_.cancel.check();
            const bool cannot_lead = node.is_counted(column) && is_excluded(node, column);
            if (cannot_lead && least_ratio > 0.0) continue;
            split = cannot_lead ? Split{} : splitter_.evaluate(column, node, least_ratio, scratch_[0]);
            is_evaluated_[i] = least_ratio == 0.0 || split.gain > 0.0f;
        }
        if (!takes_lead(split, leaders.empty() ? nullptr : &leaders.back())) continue;
        if (split.gain < sufficient_gain) return false;
        leaders.push_back(split);
        if (split.ratio() < reached_ratio) continue;
        reached_ratio = 0.0;
        lead_with(split.ratio());
    }
    return true;
}

void Grower::start_bound(const NodeView& node) {
    if (cases_.has_unit_weights())
        bound_.start(static_cast<std::int32_t>(node.rows.size()), static_cast<std::int32_t>(node.counts.per_class[1]),
                     splitter_.cut_range(node), cases_.classes.data(), node.is_in_node);
    else
        weighted_bound_.start({node.counts.per_class[0] + node.counts.per_class[1], node.counts.per_class[1]},
                              node.is_in_node);
}

void Grower::require(double ratio) {
    if (cases_.has_unit_weights()) bound_.require(ratio);
    else weighted_bound_.require(ratio);
}

// Does the bound exclude a column that is counted?
bool Grower::is_excluded(const NodeView& node, std::size_t column) {
    const BinnedColumn& binned = histograms_.binned(column);
    if (!cases_.has_unit_weights())
        return weighted_bound_.excludes(cases_.matrix.column(column), binned,
                                        histograms_.weights(node.histogram, column, sums_));
    return node.with_counts(
        column, [&](const auto* counts) { return bound_.excludes(cases_.matrix.column(column), binned, counts); });
}

double Grower::promise(const NodeView& node, std::size_t column) {
    const BinnedColumn& binned = histograms_.binned(column);
    if (!cases_.has_unit_weights())
        return weighted_bound_.promise(binned, histograms_.weights(node.histogram, column, sums_));
    return node.with_counts(column, [&](const auto* counts) { return bound_.promise(binned, counts); });
}

// Index in `columns_` of the column that probably has the highest ratio.
std::size_t Grower::most_promising(const NodeView& node) {
    std::size_t best = 0;
    double greatest = -1.0;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        if (!node.is_counted(columns_[i])) continue;
        const double promised = promise(node, columns_[i]);
        if (promised > greatest) {
            greatest = promised;
            best = i;
        }
    }
    return best;
}

}  // namespace clausewise::c50
