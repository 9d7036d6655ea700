#include "cart/splitter.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace clausewise::cart {
namespace {

// Purities that differ by less than this fraction of the node's weight are equal: the difference is rounding.
constexpr double kRounding = 1e-12;

// Both measures are a function of a sum over the classes and of the weight. With unit weights the sums are updated
// incrementally from cut to cut (for Gini they are whole numbers, hence exact). With other weights, differences would
// keep the rounding errors of large sums, so the sums are recomputed for every cut.
struct Gini {
    static constexpr bool kIsIncremental = false;
    double term(double x) const { return x * x; }
    double purity(double terms, double weight) const { return terms / weight; }
};

struct GiniOfRows : Gini {
    static constexpr bool kIsIncremental = true;
};

struct Entropy {
    static constexpr bool kIsIncremental = false;
    double term(double x) const { return x > 0.0 ? x * std::log2(x) : 0.0; }
    double purity(double terms, double weight) const { return terms - term(weight); }
};

struct EntropyOfRows {
    static constexpr bool kIsIncremental = true;
    const induction::CountInformation& information;
    double term(double x) const { return information[static_cast<std::int32_t>(x)]; }
    double purity(double terms, double weight) const { return terms - term(weight); }
};

template <class Measure>
double sum_of_terms(const ClassWeights& weights, const Measure& measure) {
    double terms = 0.0;
    for (const double weight : weights) terms += measure.term(weight);
    return terms;
}

double sum_of(const ClassWeights& weights) { return std::accumulate(weights.begin(), weights.end(), 0.0); }

Test cut_between(std::int32_t below, std::int32_t above, std::size_t column, bool missing_goes_left) {
    return {Test::Kind::threshold, missing_goes_left, static_cast<std::int32_t>(column), below + (above - below) / 2};
}

Test missing_test(std::size_t column) { return {Test::Kind::missing, false, static_cast<std::int32_t>(column), 0}; }

template <class Measure>
double purity_by(const ClassWeights& weights, const Measure& measure) {
    return measure.purity(sum_of_terms(weights, measure), sum_of(weights));
}

}  // namespace

double purity_of(const ClassWeights& weights, Impurity impurity) {
    return impurity == Impurity::gini ? purity_by(weights, Gini{}) : purity_by(weights, Entropy{});
}

double risk_of(const ClassWeights& weights, Impurity impurity) {
    return impurity == Impurity::gini ? sum_of(weights) - purity_by(weights, Gini{}) : -purity_by(weights, Entropy{});
}

// The two sides of a cut. All rows start on one side (`from`) and are moved to the other (`to`).
template <class Measure>
class Splitter::Sides {
public:
    Sides(const Measure& measure, const ClassWeights& total, std::size_t n_rows, std::size_t min_leaf)
        : measure_(measure), from_(total), to_(total.size(), 0.0), n_from_(n_rows), min_leaf_(min_leaf) {
        const double weight = sum_of(total);
        tolerance_ = kRounding * weight;
        if constexpr (Measure::kIsIncremental) {
            terms_from_ = sum_of_terms(total, measure);
            weight_from_ = weight;
        }
    }

    void take(std::size_t label, double weight) {
        const double before = from_[label], after = std::max(0.0, before - weight);
        if constexpr (Measure::kIsIncremental) {
            terms_from_ += measure_.term(after) - measure_.term(before);
            terms_to_ += measure_.term(to_[label] + weight) - measure_.term(to_[label]);
            weight_from_ -= weight;
            weight_to_ += weight;
        }
        from_[label] = after;
        to_[label] += weight;
    }
    void count_taken(std::size_t n_rows) {
        n_from_ -= n_rows;
        n_to_ += n_rows;
    }
    void take_row(std::size_t label, double weight) {
        take(label, weight);
        count_taken(1);
    }
    // Keeps the test that makes the current division, if it is allowed and better than the best so far.
    void offer(const Test& test, Split& found) const {
        if (n_from_ < min_leaf_ || n_to_ < min_leaf_) return;
        const double now = purity();
        if (now > found.purity + tolerance_) found = {test, now};
    }
    bool has_taken_most() const { return n_to_ > n_from_; }
    std::size_t n_taken() const { return n_to_; }
    std::size_t n_remaining() const { return n_from_; }

private:
    double purity() const {
        if constexpr (Measure::kIsIncremental)
            return measure_.purity(terms_from_, weight_from_) + measure_.purity(terms_to_, weight_to_);
        return purity_by(from_, measure_) + purity_by(to_, measure_);
    }

    const Measure& measure_;
    ClassWeights from_, to_;
    double terms_from_ = 0.0, terms_to_ = 0.0, weight_from_ = 0.0, weight_to_ = 0.0;
    double tolerance_;
    std::size_t n_from_, n_to_ = 0, min_leaf_;
};

Splitter::Splitter(const Matrix& matrix, const NodeRows& rows, const Target& target, const Options& options,
                   const CancelToken& cancel)
    : matrix_(matrix), rows_(rows), target_(target), options_(options), cancel_(cancel) {}

Split Splitter::best(RowRange range, const ClassWeights& total) {
    const bool are_rows = target_.weights.empty();
    if (options_.impurity == Impurity::gini)
        return are_rows ? best_by(GiniOfRows{}, range, total) : best_by(Gini{}, range, total);
    return are_rows ? best_by(EntropyOfRows{matrix_.information()}, range, total) : best_by(Entropy{}, range, total);
}

template <class Measure>
Split Splitter::best_by(const Measure& measure, RowRange range, const ClassWeights& total) {
    Split found;
    for (std::size_t column = 0; column < matrix_.n_columns(); ++column) {
        cancel_.check();
        if (rows_.in_order_of(column, range) != nullptr) {
            try_ordered(measure, column, range, total, found);
        } else if (matrix_.column(column).is_discrete) {
            try_categories(measure, column, range, total, found);
        } else {
            try_counted(measure, column, range, total, found);
        }
    }
    return found;
}

// Missing values are tried on both sides. If the node has none, later missing values follow the majority.
template <class Measure>
void Splitter::try_ordered(const Measure& measure, std::size_t column, RowRange range, const ClassWeights& total,
                           Split& found) {
    const std::int32_t* const order = rows_.in_order_of(column, range);
    const std::vector<std::int32_t>& ranks = matrix_.column(column).ranks;
    const auto rank_at = [&](std::size_t place) { return ranks[static_cast<std::size_t>(order[place])]; };
    std::size_t n_known = range.size();
    while (n_known > 0 && rank_at(n_known - 1) == kMissing) --n_known;
    const bool has_missing = n_known < range.size();
    if (n_known == 0 || (!has_missing && rank_at(0) == rank_at(n_known - 1))) return;

    for (const bool missing_goes_left : {false, true}) {
        if (missing_goes_left && !has_missing) break;
        Sides<Measure> sides(measure, total, range.size(), options_.min_leaf);
        if (missing_goes_left)
            for (std::size_t i = n_known; i < range.size(); ++i)
                sides.take_row(target_.class_of(order[i]), target_.weight_of(order[i]));
        std::int32_t rank = rank_at(0);
        bool is_pure = true;  // all rows of this rank are of one class
        for (std::size_t i = 0; i + 1 < n_known; ++i) {
            const std::size_t label = target_.class_of(order[i]);
            sides.take_row(label, target_.weight_of(order[i]));
            const std::int32_t next = rank_at(i + 1);
            const bool is_same_class = target_.class_of(order[i + 1]) == label;
            if (next == rank) {
                is_pure = is_pure && is_same_class;
                continue;
            }
            // A cut between two values of one and the same class is never best, as the measures are convex. Whether a
            // repeated value, which is rare here, is of one class is not checked.
            const bool is_next_single = i + 2 == n_known || rank_at(i + 2) != next;
            const bool can_be_best = !is_pure || !is_same_class || !is_next_single || options_.min_leaf > 1;
            const bool goes_left = has_missing ? missing_goes_left : sides.has_taken_most();
            if (can_be_best) sides.offer(cut_between(rank, next, column, goes_left), found);
            rank = next;
            is_pure = true;
        }
        if (has_missing && !missing_goes_left) {
            sides.take_row(target_.class_of(order[n_known - 1]), target_.weight_of(order[n_known - 1]));
            sides.offer(missing_test(column), found);
        }
    }
}

void Splitter::count(std::size_t column, RowRange range) {
    const std::vector<std::int32_t>& ranks = matrix_.column(column).ranks;
    const auto n_values = static_cast<std::size_t>(matrix_.column(column).n_values);
    counts_.assign((n_values + 1) * target_.n_classes, 0.0);
    n_rows_of_.assign(n_values + 1, 0);
    const std::int32_t* const rows = rows_.in(range);
    for (std::size_t i = 0; i < range.size(); ++i) {
        const std::int32_t rank = ranks[static_cast<std::size_t>(rows[i])];
        const std::size_t value = rank == kMissing ? n_values : static_cast<std::size_t>(rank);
        counts_[value * target_.n_classes + target_.class_of(rows[i])] += target_.weight_of(rows[i]);
        ++n_rows_of_[value];
    }
}

template <class Measure>
void Splitter::try_counted(const Measure& measure, std::size_t column, RowRange range, const ClassWeights& total,
                           Split& found) {
    count(column, range);
    const std::size_t n_values = n_rows_of_.size() - 1;
    const bool has_missing = n_rows_of_[n_values] > 0;
    for (const bool missing_goes_left : {false, true}) {
        if (missing_goes_left && !has_missing) break;
        Sides<Measure> sides(measure, total, range.size(), options_.min_leaf);
        if (missing_goes_left) take(n_values, sides);
        std::int32_t previous = -1;
        for (std::size_t value = 0; value < n_values; ++value) {
            if (n_rows_of_[value] == 0) continue;
            const auto rank = static_cast<std::int32_t>(value);
            const bool goes_left = has_missing ? missing_goes_left : sides.has_taken_most();
            if (previous >= 0) sides.offer(cut_between(previous, rank, column, goes_left), found);
            take(value, sides);
            previous = rank;
        }
        if (has_missing && !missing_goes_left) sides.offer(missing_test(column), found);
    }
}

// One category against all others.
template <class Measure>
void Splitter::try_categories(const Measure& measure, std::size_t column, RowRange range, const ClassWeights& total,
                              Split& found) {
    count(column, range);
    const std::size_t n_values = n_rows_of_.size() - 1;
    const bool has_missing = n_rows_of_[n_values] > 0;
    Test test;
    test.kind = Test::Kind::category;
    test.column = static_cast<std::int32_t>(column);
    for (std::size_t value = 0; value < n_values; ++value) {
        if (n_rows_of_[value] == 0) continue;
        test.rank = static_cast<std::int32_t>(value);
        Sides<Measure> sides(measure, total, range.size(), options_.min_leaf);
        take(value, sides);
        test.missing_goes_left = has_missing || sides.n_remaining() > sides.n_taken();
        // Rows with other categories must remain besides those with missing values.
        if (sides.n_remaining() > static_cast<std::size_t>(n_rows_of_[n_values])) sides.offer(test, found);
        if (!has_missing) continue;
        take(n_values, sides);
        test.missing_goes_left = false;
        sides.offer(test, found);
    }
    if (!has_missing) return;
    Sides<Measure> sides(measure, total, range.size(), options_.min_leaf);
    take(n_values, sides);
    sides.offer(missing_test(column), found);
}

template <class Measure>
void Splitter::take(std::size_t value, Sides<Measure>& sides) const {
    const double* const weights = counts_.data() + value * target_.n_classes;
    for (std::size_t label = 0; label < target_.n_classes; ++label)
        if (weights[label] > 0.0) sides.take(label, weights[label]);
    sides.count_taken(static_cast<std::size_t>(n_rows_of_[value]));
}

}  // namespace clausewise::cart
