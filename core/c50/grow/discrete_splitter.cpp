// Tests of discrete columns: one branch per value, or per subset of values.
#include <algorithm>
#include <cmath>

#include "c50/grow/splitter.hpp"

namespace clausewise::c50 {
namespace {

constexpr double kMinOccurrence = 1e-4;    // a value below this weight does not occur at the node
constexpr double kSameProportion = 0.001;  // blocks whose class proportions differ by less are joined first
constexpr double kMinImprovement = 1e-4;   // by which a join must beat the best one so far

struct Block {
    std::vector<std::int32_t> values;
    std::vector<double> per_class;
    double weight = 0.0;
    double information = 0.0;

    void refresh() {
        weight = 0.0;
        for (const double w : per_class) weight += w;
        information = total_information(per_class.data(), per_class.size());
    }
};

Block join(const Block& a, const Block& b) {
    Block joined = a;
    joined.values.insert(joined.values.end(), b.values.begin(), b.values.end());
    for (std::size_t c = 0; c < joined.per_class.size(); ++c) joined.per_class[c] += b.per_class[c];
    joined.refresh();
    return joined;
}

struct Scoring {
    double n_all, n_known, n_missing, base;

    double gain(double information) const {
        const double missing_rate = 1.0 - n_known / n_all;
        return (1.0 - missing_rate) * (base - information / n_known);
    }
    double gain(const std::vector<Block>& blocks) const {
        double information = 0.0;
        for (const Block& block : blocks) information += block.information;
        return gain(information);
    }
    double division_information(const std::vector<Block>& blocks) const {
        double sum = -n_missing * lg(n_missing / n_all);
        for (const Block& block : blocks) sum += -block.weight * lg(block.weight / n_all);
        return sum / n_all;
    }
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
    for (std::size_t c = 0; c < a.per_class.size(); ++c)
        if (!(std::fabs(a.per_class[c] / a.weight - b.per_class[c] / b.weight) < kSameProportion)) return false;
    return true;
}

void join_equal_proportions(std::vector<Block>& blocks) {
    for (std::size_t i = 0; i < blocks.size(); ++i)
        for (std::size_t j = i + 1; j < blocks.size();) {
            if (agree_in_proportions(blocks[i], blocks[j])) {
                blocks[i] = join(blocks[i], blocks[j]);
                blocks.erase(blocks.begin() + static_cast<std::ptrdiff_t>(j));
            } else {
                ++j;
            }
        }
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
        for (std::size_t c = 0; c < sum_.size(); ++c) sum_[c] = a.per_class[c] + b.per_class[c];
        return total_information(sum_.data(), sum_.size());
    }

    std::vector<std::vector<double>> rows_;
    std::vector<double> sum_;
};

// Joins the pair that keeps the highest gain; returns false if no pair qualifies. The sum runs over the blocks in the
// order they would have after the join, because the comparison is exact.
bool join_best_pair(const Scoring& scoring, std::vector<Block>& blocks, PairInformation& pairs, double min_cases) {
    const bool only_two_big = count_big(blocks, min_cases - 1e-4) == 2;
    const auto is_big = [&](const Block& block) { return block.weight >= min_cases - 1e-4; };
    // A join changes two terms of the sum, which gives the gain up to rounding; only pairs that may win are summed
    // exactly.
    constexpr double kRounding = 1e-9;
    double total = 0.0;
    for (const Block& block : blocks) total += block.information;
    double best_gain = -kMinImprovement;
    std::size_t best_i = 0, best_j = 0;
    for (std::size_t i = 0; i < blocks.size(); ++i)
        for (std::size_t j = i + 1; j < blocks.size(); ++j) {
            if (only_two_big && is_big(blocks[i]) && is_big(blocks[j])) continue;
            const double estimate = total - blocks[i].information - blocks[j].information + pairs(i, j);
            if (scoring.gain(estimate) + kRounding < best_gain + kMinImprovement) continue;
            double information = 0.0;
            for (std::size_t k = 0; k < blocks.size(); ++k) {
                if (k == i) information += pairs(i, j);
                else if (k != j) information += blocks[k].information;
            }
            const double gain = scoring.gain(information);
            if (gain > best_gain + kMinImprovement) {
                best_gain = gain;
                best_i = i;
                best_j = j;
            }
        }
    if (best_j == 0) return false;
    blocks[best_i] = join(blocks[best_i], blocks[best_j]);
    blocks.erase(blocks.begin() + static_cast<std::ptrdiff_t>(best_j));
    pairs.joined(blocks, best_i, best_j);
    return true;
}

Split subset_split(const Scoring& scoring, std::int32_t column, std::vector<Block> blocks, double min_cases,
                   const CancelToken& cancel) {
    const std::size_t n_values = blocks.size();
    if (count_big(blocks, min_cases) < 1) return {};
    blocks.erase(std::remove_if(blocks.begin(), blocks.end(),
                                [](const Block& block) { return !(block.weight > kMinOccurrence); }),
                 blocks.end());
    const LogPartitions log_partitions(blocks.size());

    std::vector<Block> best_blocks;
    double best_score = 0.0, best_gain = 0.0, best_information = 0.0;
    const auto consider = [&] {
        const double information = scoring.division_information(blocks);
        if (!(information > 0.0)) return;
        const double code_length = log_partitions(blocks.size()), gain = scoring.gain(blocks);
        const double score = (gain - code_length / scoring.n_all) / information;
        if (!best_blocks.empty() && score < best_score) return;
        best_blocks = blocks;
        best_score = score;
        best_gain = gain - code_length / scoring.n_known;
        best_information = information;
    };
    // The first two stages need two blocks of the minimum weight; joins keep two if there are two.
    const auto has_two_big = [&] { return blocks.size() >= 2 && count_big(blocks, min_cases) >= 2; };
    if (has_two_big()) consider();
    join_equal_proportions(blocks);
    if (has_two_big()) consider();
    if (blocks.size() > 2) {
        PairInformation pairs(blocks, cancel);
        while (blocks.size() > 2 && join_best_pair(scoring, blocks, pairs, min_cases)) {
            cancel.check();
            consider();
        }
    }
    if (best_blocks.empty()) return {};

    Split split;
    split.gain = static_cast<float>(best_gain);
    split.information = static_cast<float>(best_information);
    split.test.kind = TestKind::subset;
    split.test.column = column;
    split.n_formed_branches = split.test.n_formed_branches = static_cast<std::int32_t>(best_blocks.size());
    // Values that do not occur at the node share the last branch.
    split.test.branch_of_value.assign(n_values, split.n_formed_branches);
    for (std::size_t b = 0; b < best_blocks.size(); ++b)
        for (const std::int32_t value : best_blocks[b].values)
            split.test.branch_of_value[static_cast<std::size_t>(value)] = static_cast<std::int32_t>(b);
    const auto& branches = split.test.branch_of_value;
    split.test.n_branches = *std::max_element(branches.begin(), branches.end()) + 1;
    return split;
}

}  // namespace

Split Splitter::discrete(std::size_t index, const NodeView& node, SplitScratch&) const {
    const Column& column = cases_.matrix.column(index);
    const auto n_values = static_cast<std::size_t>(column.n_values);
    const bool by_subsets = use_subsets_ && n_values + 1 > 3;
    if (!by_subsets && node.was_tested[index]) return {};

    std::vector<Block> blocks(n_values);
    for (std::size_t v = 0; v < n_values; ++v) {
        blocks[v].values = {static_cast<std::int32_t>(v)};
        blocks[v].per_class.assign(cases_.n_classes, 0.0);
    }
    Scoring scoring{node.counts.total, 0.0, 0.0, node.base};
    std::vector<double> known(cases_.n_classes, 0.0);
    for (const std::int32_t row : node.rows) {
        const std::int32_t value = column.ranks[static_cast<std::size_t>(row)];
        const double weight = cases_.weight(row);
        if (value == kMissing) {
            scoring.n_missing += weight;
        } else {
            blocks[static_cast<std::size_t>(value)].per_class[cases_.class_of(row)] += weight;
            known[cases_.class_of(row)] += weight;
        }
    }
    for (Block& block : blocks) block.refresh();
    scoring.n_known = scoring.n_all - scoring.n_missing;
    if (scoring.n_missing > 0.0 && scoring.n_known > 0.0)
        scoring.base = total_information(known.data(), known.size()) / scoring.n_known;
    if (by_subsets)
        return subset_split(scoring, static_cast<std::int32_t>(index), std::move(blocks), cases_.min_cases,
                            cases_.cancel);

    if (count_big(blocks, cases_.min_cases) < 2) return {};
    Split split;
    split.gain = static_cast<float>(std::max(scoring.gain(blocks), 0.0));
    split.information = static_cast<float>(scoring.division_information(blocks));
    split.test.kind = TestKind::multiway;
    split.test.column = static_cast<std::int32_t>(index);
    split.test.n_branches = column.n_values + 1;
    split.n_formed_branches = n_values + 1 <= 3 ? 3 : split.test.n_branches;
    split.test.branch_of_value.resize(n_values);
    for (std::size_t v = 0; v < n_values; ++v) split.test.branch_of_value[v] = static_cast<std::int32_t>(v) + 1;
    return split;
}

}  // namespace clausewise::c50
