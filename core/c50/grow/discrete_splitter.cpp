// Tests of discrete columns: one branch per value, per subset of values, or for the levels on each side of a cut.
#include <algorithm>
#include <cmath>

#include "c50/grow/splitter.hpp"

namespace clausewise::c50 {
namespace {

constexpr double kMinOccurrence = 1e-4;    // a value below this weight does not occur at the node
constexpr double kSameProportion = 0.001;  // blocks whose class proportions differ by no more are joined first
constexpr double kMinImprovement = 1e-4;   // by which a join must beat the best one so far
constexpr double kMinCounted = 0.5;        // a value above this weight counts as a branch of a multiway test

// Values that take the same branch.
struct Block {
    std::vector<std::int32_t> values;
    std::vector<double> per_class;
    double weight = 0.0;
    double information = 0.0;  // of the classes

    void add_up() {
        weight = 0.0;
        for (const double w : per_class) weight += w;
    }
};

// The information of joined blocks: unlike in total_information, the total is added in single precision, and the counts
// are not rounded.
double joined_information(const double* per_class, std::size_t n_classes) {
    float total = 0.0f;
    double parts = 0.0;
    for (std::size_t c = 0; c < n_classes; ++c) {
        total = static_cast<float>(total + per_class[c]);
        parts += per_class[c] * lg(per_class[c]);
    }
    return static_cast<double>(total) * lg(static_cast<double>(total)) - parts;
}

void join(Block& a, const Block& b) {
    a.values.insert(a.values.end(), b.values.begin(), b.values.end());
    for (std::size_t c = 0; c < a.per_class.size(); ++c) a.per_class[c] += b.per_class[c];
    a.weight += b.weight;
    a.information = joined_information(a.per_class.data(), a.per_class.size());
}

// What the gain of a division of the node depends on.
struct Scoring {
    float n_all;
    double n_missing;
    float n_known;
    double base;  // information per known case before the division

    Scoring(const NodeView& node, double missing, const std::vector<Block>& blocks)
        : n_all(node.counts.total), n_missing(missing), n_known(static_cast<float>(n_all - missing)), base(node.base) {
        if (!(missing > 0.0)) return;
        std::vector<double> known(node.counts.per_class.size(), 0.0);
        for (const Block& block : blocks)
            for (std::size_t c = 0; c < known.size(); ++c) known[c] = static_cast<float>(known[c] + block.per_class[c]);
        base = n_known < 1e-5 ? 0.0 : total_information(known.data(), known.size()) / n_known;
    }
    double missing_rate() const { return n_missing / n_all; }
    double gain(double information_of_blocks) const {
        const double information = information_of_blocks / n_known;
        if (base <= information) return 0.0;
        return static_cast<float>(1.0 - static_cast<float>(missing_rate())) * (base - information);
    }
    double gain(const std::vector<Block>& blocks) const {
        double information = 0.0;
        for (const Block& block : blocks) information += block.information;
        return gain(information);
    }
    double division_information(const std::vector<Block>& blocks) const {
        std::vector<double> parts{n_missing};
        for (const Block& block : blocks) parts.push_back(block.weight);
        return total_information(parts.data(), parts.size()) / n_all;
    }
    // The contribution of a part to the information of the division, times the weight of the node.
    double part(double weight) const { return -weight * lg(weight / n_all); }
};

// A positive number that may exceed the range of a double: mantissa times a power of two.
struct Scaled {
    double mantissa = 0.0;
    int exponent = 0;

    double logarithm() const {
        if (mantissa == 0.0) return 0.0;
        return exponent < 1000 ? lg(std::ldexp(mantissa, exponent)) : lg(mantissa) + exponent;
    }
};

Scaled times_plus(double factor, const Scaled& a, const Scaled& b) {
    const int exponent = std::max(a.exponent, b.exponent);
    const double sum =
        factor * std::ldexp(a.mantissa, a.exponent - exponent) + std::ldexp(b.mantissa, b.exponent - exponent);
    Scaled result;
    result.mantissa = std::frexp(sum, &result.exponent);
    if (sum != 0.0) result.exponent += exponent;
    return result;
}

// lg of the number of ways to put `n_values` into `n_blocks` non-empty blocks (Stirling numbers of the second kind).
class LogPartitions {
public:
    explicit LogPartitions(std::size_t n_values) {
        std::vector<Scaled> row(n_values + 1);  // S(n, ·)
        row[0] = {0.5, 1};
        for (std::size_t n = 1; n <= n_values; ++n) {
            for (std::size_t j = n; j > 0; --j) row[j] = times_plus(static_cast<double>(j), row[j], row[j - 1]);
            row[0] = Scaled{};
        }
        for (const Scaled& ways : row) lg_.push_back(ways.logarithm());
    }
    double operator()(std::size_t n_blocks) const { return lg_[n_blocks]; }

private:
    std::vector<double> lg_;
};

std::size_t count_big(const std::vector<Block>& blocks, double least) {
    return static_cast<std::size_t>(
        std::count_if(blocks.begin(), blocks.end(), [&](const Block& block) { return block.weight >= least; }));
}

bool agree_in_proportions(const Block& a, const Block& b) {
    const double of_a = static_cast<float>(a.weight), of_b = static_cast<float>(b.weight);
    for (std::size_t c = 0; c < a.per_class.size(); ++c)
        if (!(std::fabs(a.per_class[c] / of_a - b.per_class[c] / of_b) <= kSameProportion)) return false;
    return true;
}

// The information of the union of every pair of blocks. After a join, only the pairs with the new block are recomputed.
class PairInformation {
public:
    PairInformation(const std::vector<Block>& blocks, const CancelToken& cancel) : rows_(blocks.size()) {
        for (std::size_t i = 0; i < blocks.size(); ++i) {
            cancel.check();
            rows_[i].resize(blocks.size());
            for (std::size_t j = i + 1; j < blocks.size(); ++j) rows_[i][j] = compute(blocks[i], blocks[j]);
        }
    }
    double operator()(std::size_t i, std::size_t j) const { return rows_[i][j]; }
    // Blocks i < j have been joined into block i.
    void joined(const std::vector<Block>& blocks, std::size_t i, std::size_t j) {
        rows_.erase(rows_.begin() + static_cast<std::ptrdiff_t>(j));
        for (auto& row : rows_) row.erase(row.begin() + static_cast<std::ptrdiff_t>(j));
        for (std::size_t k = 0; k < i; ++k) rows_[k][i] = compute(blocks[k], blocks[i]);
        for (std::size_t k = i + 1; k < blocks.size(); ++k) rows_[i][k] = compute(blocks[i], blocks[k]);
    }

private:
    double compute(const Block& a, const Block& b) {
        sum_.resize(a.per_class.size());
        for (std::size_t c = 0; c < sum_.size(); ++c) sum_[c] = static_cast<float>(a.per_class[c] + b.per_class[c]);
        return joined_information(sum_.data(), sum_.size());
    }

    std::vector<std::vector<double>> rows_;
    std::vector<double> sum_;
};

// Searches the best subsets of values: blocks of values are joined step by step, and the stage with the best gain ratio
// wins. Gain and information of the division are updated with each join, not computed afresh, as the behaviour is
// defined.
class SubsetSearch {
public:
    SubsetSearch(const Scoring& scoring, std::vector<Block> blocks, double min_cases)
        : scoring_(scoring),
          blocks_(std::move(blocks)),
          least_big_(min_cases - 1e-4),
          n_big_(count_big(blocks_, min_cases)) {
        blocks_.erase(std::remove_if(blocks_.begin(), blocks_.end(),
                                     [](const Block& block) { return !(block.weight > kMinOccurrence); }),
                      blocks_.end());
    }
    bool has_big() const { return n_big_ >= 1; }
    void run(const CancelToken& cancel) {
        const LogPartitions log_partitions(blocks_.size());
        gain = best_gain = scoring_.gain(blocks_);
        information = best_information = scoring_.division_information(blocks_);
        best_score = gain / information;
        best = blocks_;
        if (join_equal_proportions()) {
            information = scoring_.division_information(blocks_);
            if (blocks_.size() >= 2 && n_big_ >= 2) consider(log_partitions);
        }
        if (blocks_.size() <= 2) return;
        PairInformation pairs(blocks_, cancel);
        while (blocks_.size() > 2 && join_best_pair(pairs)) {
            cancel.check();
            consider(log_partitions);
        }
    }

    // The best stage.
    std::vector<Block> best;
    double best_gain = 0.0, best_information = 0.0;

private:
    bool is_big(const Block& block) const { return block.weight >= least_big_; }
    void join_blocks(std::size_t i, std::size_t j) {
        const bool first = is_big(blocks_[i]), second = is_big(blocks_[j]);
        join(blocks_[i], blocks_[j]);
        if (first && second) --n_big_;
        else if (!first && !second && is_big(blocks_[i])) ++n_big_;
        blocks_.erase(blocks_.begin() + static_cast<std::ptrdiff_t>(j));
    }
    // Returns whether there were any.
    bool join_equal_proportions() {
        const std::size_t n_before = blocks_.size();
        for (std::size_t i = 0; i < blocks_.size(); ++i)
            for (std::size_t j = i + 1; j < blocks_.size();) {
                if (agree_in_proportions(blocks_[i], blocks_[j])) join_blocks(i, j);
                else ++j;
            }
        return blocks_.size() < n_before;
    }
    // Joins the pair that keeps the highest gain; returns false if no pair qualifies.
    bool join_best_pair(PairInformation& pairs) {
        const double scale = (1.0 - scoring_.missing_rate()) / scoring_.n_known;
        double highest = -kMinImprovement;
        std::size_t best_i = 0, best_j = 0;
        for (std::size_t i = 0; i < blocks_.size(); ++i)
            for (std::size_t j = i + 1; j < blocks_.size(); ++j) {
                if (n_big_ == 2 && is_big(blocks_[i]) && is_big(blocks_[j])) continue;
                const double gain_of_pair =
                    gain - scale * (pairs(i, j) - (blocks_[i].information + blocks_[j].information));
                if (!(gain_of_pair > highest + kMinImprovement)) continue;
                highest = gain_of_pair;
                best_i = i;
                best_j = j;
            }
        if (best_j == 0) return false;
        const double first = blocks_[best_i].weight, second = blocks_[best_j].weight;
        gain = highest;
        information +=
            (scoring_.part(static_cast<float>(first + second)) - (scoring_.part(first) + scoring_.part(second))) /
            scoring_.n_all;
        join_blocks(best_i, best_j);
        pairs.joined(blocks_, best_i, best_j);
        return true;
    }
    // The later stage wins ties.
    void consider(const LogPartitions& log_partitions) {
        const double code_length = log_partitions(blocks_.size());
        const double score = (gain - code_length / scoring_.n_all) / information;
        if (!(score >= best_score)) return;
        best = blocks_;
        best_score = score;
        best_gain = gain - code_length / scoring_.n_known;
        best_information = information;
    }

    const Scoring& scoring_;
    std::vector<Block> blocks_;
    double least_big_;
    std::size_t n_big_;
    double gain = 0.0, information = 0.0;  // of the current stage
    double best_score = 0.0;
};

Split subset_split(const Scoring& scoring, std::vector<Block> blocks, double min_cases, const CancelToken& cancel) {
    const std::size_t n_values = blocks.size();
    SubsetSearch search(scoring, std::move(blocks), min_cases);
    if (!search.has_big()) return {};
    search.run(cancel);

    Split split;
    split.gain = static_cast<float>(search.best_gain);
    split.information = static_cast<float>(search.best_information);
    split.test.kind = TestKind::subset;
    // Values that do not occur at the node share the last branch.
    const auto n_formed = static_cast<std::int32_t>(search.best.size());
    split.test.branch_of_value.assign(n_values, n_formed);
    for (std::size_t b = 0; b < search.best.size(); ++b)
        for (const std::int32_t value : search.best[b].values)
            split.test.branch_of_value[static_cast<std::size_t>(value)] = static_cast<std::int32_t>(b);
    const auto& branches = split.test.branch_of_value;
    split.n_counted_branches = split.test.n_branches = *std::max_element(branches.begin(), branches.end()) + 1;
    return split;
}

Split multiway_split(const Scoring& scoring, const std::vector<Block>& blocks, double min_cases) {
    if (count_big(blocks, min_cases) < 2) return {};
    Split split;
    split.gain = static_cast<float>(scoring.gain(blocks));
    split.information = static_cast<float>(scoring.division_information(blocks));
    split.test.kind = TestKind::multiway;
    split.test.n_branches = static_cast<std::int32_t>(blocks.size()) + 1;
    split.n_counted_branches = std::max(3, split.test.n_branches);
    for (std::size_t v = 0; v < blocks.size(); ++v)
        split.test.branch_of_value.push_back(static_cast<std::int32_t>(v) + 1);
    return split;
}

// The best cut between the levels of an ordered column.
Split ordered_split(const Scoring& scoring, const std::vector<Block>& levels, double min_cases) {
    const std::size_t n_classes = levels[0].per_class.size();
    const auto gathered = [&](std::size_t first, std::size_t last) {
        Block side;
        side.per_class.assign(n_classes, 0.0);
        for (std::size_t v = first; v < last; ++v) {
            for (std::size_t c = 0; c < n_classes; ++c) side.per_class[c] += levels[v].per_class[c];
            side.weight += levels[v].weight;
        }
        side.information = total_information(side.per_class.data(), n_classes);
        return side;
    };
    double best_gain = 0.0;
    std::size_t best_cut = 0, n_cuts = 0;
    for (std::size_t cut = 1; cut < levels.size(); ++cut) {
        if (!(levels[cut].weight > 0.0)) continue;
        const std::vector<Block> sides{gathered(0, cut), gathered(cut, levels.size())};
        if (sides[0].weight < min_cases || sides[1].weight < min_cases) continue;
        ++n_cuts;
        const double gain = scoring.gain(sides);
        if (best_cut != 0 && !(gain > best_gain)) continue;
        best_gain = gain;
        best_cut = cut;
    }
    if (best_cut == 0) return {};
    if (n_cuts > 1) best_gain -= lg(static_cast<double>(n_cuts)) / scoring.n_all;
    if (best_gain <= 0.0) return {};
    Split split;
    split.gain = static_cast<float>(best_gain);
    split.information =
        static_cast<float>(scoring.division_information({gathered(0, best_cut), gathered(best_cut, levels.size())}));
    split.test.kind = TestKind::subset;
    split.test.is_ordered = true;
    split.test.n_branches = 2;
    for (std::size_t v = 0; v < levels.size(); ++v) split.test.branch_of_value.push_back(v >= best_cut);
    return split;
}

}  // namespace

Split Splitter::discrete(std::size_t index, const NodeView& node) const {
    const Column& column = cases_.matrix.column(index);
    const auto n_values = static_cast<std::size_t>(column.n_values);
    const bool is_ordered = cases_.is_ordered[index], by_subsets = !is_ordered && use_subsets_ && n_values >= 3;
    if (!is_ordered && !by_subsets && node.was_tested[index]) return {};

    std::vector<Block> blocks(n_values);
    for (std::size_t v = 0; v < n_values; ++v) {
        blocks[v].values = {static_cast<std::int32_t>(v)};
        blocks[v].per_class.assign(cases_.n_classes, 0.0);
    }
    double n_missing = 0.0;
    for (const std::int32_t row : node.rows) {
        const std::int32_t value = column.ranks[static_cast<std::size_t>(row)];
        const double weight = cases_.weight(row);
        if (value == kMissing) n_missing += weight;
        else blocks[static_cast<std::size_t>(value)].per_class[cases_.class_of(row)] += weight;
    }
    for (Block& block : blocks) {
        block.add_up();
        block.information = total_information(block.per_class.data(), block.per_class.size());
    }
    const Scoring scoring(node, n_missing, blocks);
    std::size_t n_branches = 2;
    Split split;
    if (is_ordered) {
        split = ordered_split(scoring, blocks, cases_.min_cases);
    } else if (by_subsets) {
        split = subset_split(scoring, std::move(blocks), cases_.min_cases, cases_.cancel);
        n_branches = static_cast<std::size_t>(split.test.n_branches);
    } else {
        n_branches = static_cast<std::size_t>(
            std::count_if(blocks.begin(), blocks.end(), [](const Block& block) { return block.weight > kMinCounted; }));
        split = multiway_split(scoring, blocks, cases_.min_cases);
    }
    if (static_cast<double>(n_branches) > node.most_branches) return {};
    split.test.column = static_cast<std::int32_t>(index);
    return split;
}

}  // namespace clausewise::c50
