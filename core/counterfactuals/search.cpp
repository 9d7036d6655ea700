#include "counterfactuals/search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>

#include "base/parallel.hpp"
#include "counterfactuals/reach.hpp"

namespace clausewise::counterfactuals {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Keeps the cheapest changes. Changes that cost more than `bound` are not needed.
class Cheapest {
public:
    explicit Cheapest(std::size_t n) : n_(n) {}

    double bound() const { return bound_; }

    void add(const Change& change) {
        found_.push_back(change);
        if (found_.size() == n_ || found_.size() >= 2 * n_) shorten();
    }

    std::vector<Change> sorted() && {
        shorten();
        std::sort(found_.begin(), found_.end());
        return std::move(found_);
    }

private:
    void shorten() {
        if (found_.size() < n_ || n_ == 0) return;
        const auto last = found_.begin() + static_cast<std::ptrdiff_t>(n_ - 1);
        std::nth_element(found_.begin(), last, found_.end());
        bound_ = last->cost;
        found_.resize(n_);
    }

    std::size_t n_;
    double bound_ = kInfinity;
    std::vector<Change> found_;
};

// Keeps every k-th change, with the smallest power of two for k that keeps at most n of them.
class Spread {
public:
    explicit Spread(std::size_t n) : n_(n) {}

    double bound() const { return kInfinity; }

    void add(const Change& change) {
        if (n_seen_++ % step_ != 0 || n_ == 0) return;
        if (found_.size() == n_) {
            for (std::size_t i = 0; 2 * i < n_; ++i) found_[i] = found_[2 * i];
            found_.resize((n_ + 1) / 2);
            step_ *= 2;
            if ((n_seen_ - 1) % step_ != 0) return;
        }
        if (found_.size() < n_) found_.push_back(change);
    }

    std::vector<Change> sorted() && {
        std::sort(found_.begin(), found_.end());
        return std::move(found_);
    }

private:
    std::size_t n_, n_seen_ = 0, step_ = 1;
    std::vector<Change> found_;
};

// What sets of rules decide. A set recurs in many pairs of bins and on many rows, so the last ones are remembered.
class Decisions {
public:
    explicit Decisions(const Votes& votes)
        : votes_(votes), n_words_(votes.has_priority.size()), sets_(kSlots * n_words_), classes_(kSlots, kNone) {}

    std::int32_t operator()(const Words& fires) {
        std::uint64_t hash = 0;
        for (const std::uint64_t word : fires) hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
        const std::size_t slot = static_cast<std::size_t>(hash >> (64 - kSlotBits));
        const auto known = sets_.begin() + static_cast<std::ptrdiff_t>(slot * n_words_);
        if (classes_[slot] == kNone || !std::equal(fires.begin(), fires.end(), known)) {
            std::copy(fires.begin(), fires.end(), known);
            classes_[slot] = votes_.decide(fires.data(), totals_);
        }
        return classes_[slot];
    }

private:
    static constexpr std::size_t kSlotBits = 10, kSlots = std::size_t{1} << kSlotBits;

    const Votes& votes_;
    std::size_t n_words_;
    Words sets_;
    std::vector<std::int32_t> classes_;
    std::vector<double> totals_;
};

// A value that a feature of the row may change to.
struct Move {
    std::int32_t value;
    double cost;
};

// The moves of one axis into one bin.
struct MovesToBin {
    const std::uint64_t* accepts;
    std::size_t begin, end;
    double least_cost;
    double reach;  // how far they move the votes: Reach::of_bin
};

// Tries the changes of one row after another; one object per thread.
class RowSearch {
public:
    RowSearch(const Axes& axes, const Votes& votes, const TestedAxes& tested, const Wish& wish)
        : axes_(axes),
          wish_(wish),
          n_rules_(votes.n_rules()),
          n_words_(words_for(n_rules_)),
          decide_(votes),
          reach_(votes, tested, axes.n_axes()),
          accepts_(axes.n_axes()),
          bin_starts_(axes.n_axes() + 1),
          least_cost_(axes.n_axes()),
          order_(axes.n_axes()),
          most_reach_(axes.n_axes()),
          fail_{Words(n_words_), Words(n_words_), Words(n_words_)},
          may_fire_(n_words_),
          with_first_(n_words_),
          fires_(n_words_) {
        std::iota(order_.begin(), order_.end(), std::size_t{0});
    }

    std::vector<Change> changes(const double* values, const std::int32_t* bins, std::int32_t decided) {
        decided_ = decided;
        list_moves(values, bins);
        // A sample depends on the order in which changes are tried; the cheapest ones do not.
        if (!wish_.is_spread) sort_by_cost();
        count_failing_terms();
        reach_.start(fail_, decided, wish_.wanted);
        return wish_.is_spread ? tried(Spread(wish_.n_changes)) : tried(Cheapest(wish_.n_changes));
    }

private:
    void list_moves(const double* values, const std::int32_t* bins) {
        moves_.clear();
        moves_to_bins_.clear();
        for (std::size_t axis = 0; axis < axes_.n_axes(); ++axis) {
            const auto first_bin = static_cast<std::size_t>(axes_.bin_starts[axis]);
            accepts_[axis] = accepts_in(first_bin + static_cast<std::size_t>(bins[axis]));
            bin_starts_[axis] = moves_to_bins_.size();
            least_cost_[axis] = kInfinity;
            if (!std::isfinite(values[axis])) continue;
            std::int32_t last_bin = kNone;
            for (std::int64_t v = axes_.value_starts[axis]; v < axes_.value_starts[axis + 1]; ++v) {
                const auto value = static_cast<std::size_t>(v);
                const std::int32_t bin = axes_.bin_of_value[value];
                if (!may_move(values[axis], value) || (bin == bins[axis] && !wish_.within_bins)) continue;
                const double cost = cost_of(axis, values[axis], axes_.values[value]);
                if (bin != last_bin) {
                    const std::uint64_t* const accepts = accepts_in(first_bin + static_cast<std::size_t>(bin));
                    moves_to_bins_.push_back({accepts, moves_.size(), moves_.size(), cost, 0.0});
                    last_bin = bin;
                }
                moves_.push_back({static_cast<std::int32_t>(v), cost});
                MovesToBin& own = moves_to_bins_.back();
                own.end = moves_.size();
                own.least_cost = std::min(own.least_cost, cost);
                least_cost_[axis] = std::min(least_cost_[axis], cost);
            }
        }
        bin_starts_.back() = moves_to_bins_.size();
    }

    // With cheap changes first, the bound falls early, and the rest of an axis is left out once one bin costs too much.
    void sort_by_cost() {
        for (std::size_t axis = 0; axis < axes_.n_axes(); ++axis)
            std::sort(moves_to_bins_.begin() + static_cast<std::ptrdiff_t>(bin_starts_[axis]),
                      moves_to_bins_.begin() + static_cast<std::ptrdiff_t>(bin_starts_[axis + 1]),
                      [](const MovesToBin& one, const MovesToBin& other) { return one.least_cost < other.least_cost; });
        std::sort(order_.begin(), order_.end(),
                  [this](std::size_t one, std::size_t other) { return least_cost_[one] < least_cost_[other]; });
    }

    const std::uint64_t* accepts_in(std::size_t bin) const { return axes_.accepts.data() + bin * n_words_; }

    bool may_move(double from, std::size_t value) const {
        const double to = axes_.values[value];
        const std::int8_t direction = axes_.direction[value];
        return direction == 0 ? to != from : direction > 0 ? to > from : to < from;
    }

    double cost_of(std::size_t axis, double from, double to) const {
        const double unit = axes_.units[axis];
        return unit == 0.0 ? 1.0 : std::abs(to - from) / unit;
    }

    // Which rules fail on no axis, on exactly one, and on exactly two.
    void count_failing_terms() {
        for (std::size_t w = 0; w < n_words_; ++w) {
            std::uint64_t at_least_one = 0, at_least_two = 0, at_least_three = 0;
            for (const std::uint64_t* accepts : accepts_) {
                const std::uint64_t fails = ~accepts[w];
                at_least_three |= at_least_two & fails;
                at_least_two |= at_least_one & fails;
                at_least_one |= fails;
            }
            const std::uint64_t rules = w + 1 == n_words_ ? last_word_mask(n_rules_) : ~std::uint64_t{0};
            fail_.none[w] = rules & ~at_least_one;
            fail_.one[w] = rules & at_least_one & ~at_least_two;
            fail_.two[w] = rules & at_least_two & ~at_least_three;
        }
    }

    template <class Found>
    std::vector<Change> tried(Found found) {
        for (const std::size_t axis : order_) try_one(axis, found);
        if (wish_.two_features) reach_.find_pairs(fail_, accepts_);
        for (std::size_t i = 0; wish_.two_features && i < order_.size(); ++i)
            for (std::size_t j = i + 1; j < order_.size(); ++j) {
                if (least_cost_[order_[i]] + least_cost_[order_[j]] > found.bound()) break;
                try_two(std::min(order_[i], order_[j]), std::max(order_[i], order_[j]), found);
            }
        return std::move(found).sorted();
    }

    template <class Found>
    void try_one(std::size_t axis, Found& found) {
        for (std::size_t w = 0; w < n_words_; ++w) may_fire_[w] = fail_.none[w] | (fail_.one[w] & ~accepts_[axis][w]);
        reach_.start_axis(axis, fail_, accepts_[axis]);
        most_reach_[axis] = -kInfinity;
        for (std::size_t b = bin_starts_[axis]; b < bin_starts_[axis + 1]; ++b) {
            MovesToBin& moves = moves_to_bins_[b];
            // Nor will a pair with it be needed, as it costs even more.
            if (moves.least_cost > found.bound()) break;
            moves.reach = reach_.of_bin(moves.accepts);
            most_reach_[axis] = std::max(most_reach_[axis], moves.reach);
            if (moves.reach < reach_.needed()) continue;
            for (std::size_t w = 0; w < n_words_; ++w) fires_[w] = may_fire_[w] & moves.accepts[w];
            if (!is_wanted(decide_(fires_))) continue;
            for (std::size_t i = moves.begin; i < moves.end; ++i) {
                if (moves_[i].cost > found.bound()) continue;
                found.add({moves_[i].cost, {as_int(axis), kNone}, {moves_[i].value, kNone}});
            }
        }
    }

    template <class Found>
    void try_two(std::size_t first, std::size_t second, Found& found) {
        const double needed = reach_.needed() - reach_.of_pair(first, second);
        if (most_reach_[first] + most_reach_[second] < needed) return;
        for (std::size_t w = 0; w < n_words_; ++w) {
            const std::uint64_t fails_first = ~accepts_[first][w], fails_second = ~accepts_[second][w];
            may_fire_[w] = fail_.none[w] | (fail_.one[w] & (fails_first | fails_second)) |
                           (fail_.two[w] & fails_first & fails_second);
        }
        for (std::size_t b = bin_starts_[first]; b < bin_starts_[first + 1]; ++b) {
            const MovesToBin& one = moves_to_bins_[b];
            if (one.least_cost + least_cost_[second] > found.bound()) break;
            if (one.reach + most_reach_[second] < needed) continue;
            for (std::size_t w = 0; w < n_words_; ++w) with_first_[w] = may_fire_[w] & one.accepts[w];
            for (std::size_t c = bin_starts_[second]; c < bin_starts_[second + 1]; ++c) {
                const MovesToBin& other = moves_to_bins_[c];
                if (one.least_cost + other.least_cost > found.bound()) break;
                if (one.reach + other.reach < needed) continue;
                for (std::size_t w = 0; w < n_words_; ++w) fires_[w] = with_first_[w] & other.accepts[w];
                if (!is_wanted(decide_(fires_))) continue;
                for (std::size_t i = one.begin; i < one.end; ++i)
                    for (std::size_t j = other.begin; j < other.end; ++j) {
                        const double cost = moves_[i].cost + moves_[j].cost;
                        if (cost > found.bound()) continue;
                        found.add({cost, {as_int(first), as_int(second)}, {moves_[i].value, moves_[j].value}});
                    }
            }
        }
    }

    bool is_wanted(std::int32_t becomes) const {
        return wish_.wanted == kNone ? becomes != decided_ : becomes == wish_.wanted;
    }

    static std::int32_t as_int(std::size_t axis) { return static_cast<std::int32_t>(axis); }

    const Axes& axes_;
    const Wish& wish_;
    std::size_t n_rules_, n_words_;
    Decisions decide_;
    Reach reach_;
    // Of the current row:
    std::int32_t decided_ = kNone;
    std::vector<const std::uint64_t*> accepts_;  // per axis, the rules whose terms hold
    std::vector<Move> moves_;
    std::vector<MovesToBin> moves_to_bins_;
    std::vector<std::size_t> bin_starts_;  // per axis, and at the end, in moves_to_bins_
    std::vector<double> least_cost_;       // per axis; infinite if it has no moves
    std::vector<std::size_t> order_;       // the axes, in the order in which they are tried
    std::vector<double> most_reach_;       // per axis, of its bins
    FailingTerms fail_;
    Words may_fire_, with_first_, fires_;
};

}  // namespace

bool operator<(const Change& one, const Change& other) {
    const auto key = [](const Change& change) {
        return std::make_tuple(change.cost, change.axes[1] != kNone, change.axes[0], change.axes[1], change.values[0],
                               change.values[1]);
    };
    return key(one) < key(other);
}

std::vector<std::vector<Change>> search_changes(const Axes& axes, const Votes& votes, const Rows& rows,
                                                const Wish& wish, std::size_t n_threads, const CancelToken& cancel) {
    std::vector<std::vector<Change>> found(rows.n_rows);
    n_threads = std::max<std::size_t>(1, std::min(n_threads, rows.n_rows));
    const TestedAxes tested(axes, votes.n_rules());
    std::vector<RowSearch> searches(n_threads, RowSearch(axes, votes, tested, wish));
    parallel_for(rows.n_rows, n_threads, [&](std::size_t row, std::size_t worker) {
        cancel.check();
        const std::size_t start = row * axes.n_axes();
        found[row] = searches[worker].changes(rows.values + start, rows.bins + start, rows.decided[row]);
    });
    return found;
}

}  // namespace clausewise::counterfactuals
