#include "compact/box_search.hpp"

#include <algorithm>
#include <iterator>
#include <memory>
#include <mutex>
#include <numeric>
#include <utility>

#include "base/parallel.hpp"
#include "compact/nearby_sums.hpp"

namespace clausewise::compact {
namespace {

using RowList = std::vector<std::uint32_t>;

RowList all_rows(const ByteMatrix& matrix) {
    RowList rows(matrix.n_rows());
    std::iota(rows.begin(), rows.end(), 0u);
    return rows;
}

// The box with one more term; an existing term on the column is narrowed.
Box extended(const Box& box, std::int32_t column, const BinSet& accepts) {
    Box longer = box;
    const auto place = std::find_if(longer.begin(), longer.end(), [&](const BoxTerm& t) { return t.column >= column; });
    if (place != longer.end() && place->column == column) {
        for (std::size_t w = 0; w < accepts.size(); ++w) place->accepts[w] &= accepts[w];
    } else {
        longer.insert(place, BoxTerm{column, accepts});
    }
    return longer;
}

Box without(const Box& box, std::size_t term) {
    Box shorter = box;
    shorter.erase(shorter.begin() + static_cast<std::ptrdiff_t>(term));
    return shorter;
}

bool tests(const Box& box, std::int32_t column) {
    return std::any_of(box.begin(), box.end(), [&](const BoxTerm& term) { return term.column == column; });
}

struct BestTerm {
    std::int32_t column = -1;
    Cut cut;
};

class Searcher {
public:
    Searcher(const ByteMatrix& matrix, const Derivatives& derivatives, const SearchOptions& options,
             std::size_t n_threads, const CancelToken& cancel)
        : matrix_(matrix), derivatives_(derivatives), options_(options), n_threads_(n_threads), cancel_(cancel) {}

    // A step of the local search; the last one stays where it is.
    struct Move {
        ScoredBox from, to;
        bool is_last;
    };
    // Moves from boxes that several local searches pass through; threads may share it.
    class KnownMoves {
    public:
        template <class Compute>
        Move find(const ScoredBox& from, Compute&& compute);

    private:
        std::mutex mutex_;
        std::vector<Move> moves_;
    };

    std::vector<ScoredBox> beam(const std::vector<int>& signs) const;
    // `sums` may have served other refinements, and then need fewer rows.
    ScoredBox refine(Box box, int sign, KnownMoves& known, NearbySums& sums) const;
    // The sign of the weight that a box would get, or the first of `signs` if that sign is not among them.
    int sign_of(const Box& box, const std::vector<int>& signs) const;
    void sort(std::vector<ScoredBox>& boxes) const {
        std::stable_sort(boxes.begin(), boxes.end(),
                         [&](const ScoredBox& a, const ScoredBox& b) { return net(a) > net(b); });
    }

private:
    struct State {
        ScoredBox scored;
        RowList rows;
        // The histogram of the box that this one extends, and the rows of that box that this one no longer covers.
        std::shared_ptr<const GradientHistogram> parent_histogram;
        RowList lost;
    };
    struct Extension {
        std::size_t state;
        BoxTerm term;
        ScoredBox scored;
    };

    struct RowSets {
        Words covered;
        std::vector<Words> without_term;
    };

    RowSets row_sets(const Box& box) const;
    double gain_of(const GradientHistogram& sums, int sign) const;
    Move best_move(const Box& box, int sign, NearbySums& sums) const;
    GradientHistogram histogram(const RowList& rows) const {
        GradientHistogram sums(matrix_.n_all_bins());
        add_rows(matrix_, derivatives_.rows(), rows, sums);
        return sums;
    }
    Cut cut(const GradientHistogram& sums, std::size_t column, int sign) const {
        return best_cut(matrix_, column, &sums[matrix_.first_bin(column)], derivatives_, sign, options_.cuts);
    }
    double net(double gain, std::int32_t cost) const { return gain - options_.cuts.price * cost; }
    double net(const ScoredBox& scored) const { return net(scored.gain, scored.cost); }
    ScoredBox scored(Box box, int sign, double gain) const {
        const std::int32_t cost = matrix_.reading_cost(box);
        return {std::move(box), sign, gain, cost, -1};
    }
    void divide(const RowList& rows, const BoxTerm& term, RowList& accepted, RowList& others) const;
    std::shared_ptr<const GradientHistogram> histogram_of(const State& state) const;
    BestTerm best_term(const GradientHistogram& sums, const Box& box, int sign) const;
    std::vector<State> longer(const std::vector<State>& states) const;
    Tally total(const RowList& rows) const {
        Tally sum;
        for (const std::uint32_t row : rows) sum += derivatives_.rows()[row];
        return sum;
    }

    const ByteMatrix& matrix_;
    const Derivatives& derivatives_;
    const SearchOptions& options_;
    std::size_t n_threads_;
    const CancelToken& cancel_;
};

// --- Beam ---

// Divides rows into those that satisfy the term and the others, without a branch that would be mispredicted.
void Searcher::divide(const RowList& rows, const BoxTerm& term, RowList& accepted, RowList& others) const {
    const std::uint8_t* const bins = matrix_.column(static_cast<std::size_t>(term.column));
    accepted.resize(rows.size());
    others.resize(rows.size());
    std::size_t n_accepted = 0, n_others = 0;
    for (const std::uint32_t row : rows) {
        const bool is_accepted = contains(term.accepts, bins[row]);
        accepted[n_accepted] = row;
        others[n_others] = row;
        n_accepted += is_accepted;
        n_others += !is_accepted;
    }
    accepted.resize(n_accepted);
    others.resize(n_others);
}

// Sums over the rows of the box or over those it has lost, whichever are fewer.
std::shared_ptr<const GradientHistogram> Searcher::histogram_of(const State& state) const {
    if (state.lost.size() >= state.rows.size()) return std::make_shared<GradientHistogram>(histogram(state.rows));
    if (state.lost.empty()) return state.parent_histogram;
    auto sums = std::make_shared<GradientHistogram>(histogram(state.lost));
    for (std::size_t bin = 0; bin < sums->size(); ++bin) (*sums)[bin] = (*state.parent_histogram)[bin] - (*sums)[bin];
    return sums;
}

std::vector<Searcher::State> Searcher::longer(const std::vector<State>& states) const {
    std::vector<std::vector<Extension>> found(states.size());
    std::vector<std::shared_ptr<const GradientHistogram>> sums(states.size());
    parallel_for(states.size(), n_threads_, [&](std::size_t s, std::size_t) {
        cancel_.check();
        const ScoredBox& from = states[s].scored;
        sums[s] = histogram_of(states[s]);
        const bool is_full = from.box.size() >= static_cast<std::size_t>(options_.max_terms);
        for (std::size_t c = 0; c < matrix_.n_columns(); ++c) {
            const auto column = static_cast<std::int32_t>(c);
            if (is_full && !tests(from.box, column)) continue;
            const Cut best = cut(*sums[s], c, from.sign);
            if (best.gain <= 0) continue;
            ScoredBox longer = scored(extended(from.box, column, best.accepts), from.sign, best.gain);
            // The first term only has to help; a further one must be worth reading.
            if (!from.box.empty() && best.gain <= options_.cuts.needed(from.gain, longer.cost - from.cost)) continue;
            found[s].push_back({s, {column, best.accepts}, std::move(longer)});
        }
    });
    std::vector<Extension> all;
    for (const auto& of_state : found) all.insert(all.end(), of_state.begin(), of_state.end());
    std::stable_sort(all.begin(), all.end(),
                     [&](const Extension& a, const Extension& b) { return net(a.scored) > net(b.scored); });
    std::vector<State> next;
    for (const Extension& extension : all) {
        if (next.size() >= static_cast<std::size_t>(options_.beam_width)) break;
        const bool is_known = std::any_of(next.begin(), next.end(),
                                          [&](const State& state) { return state.scored.box == extension.scored.box; });
        if (is_known) continue;
        State extended_state{extension.scored, {}, sums[extension.state], {}};
        divide(states[extension.state].rows, extension.term, extended_state.rows, extended_state.lost);
        next.push_back(std::move(extended_state));
    }
    return next;
}

std::vector<ScoredBox> Searcher::beam(const std::vector<int>& signs) const {
    if (options_.beam_width == 0) return {};
    const RowList all = all_rows(matrix_);
    const auto of_all = std::make_shared<const GradientHistogram>(histogram(all));
    std::vector<ScoredBox> best;
    for (const int sign : signs) {
        std::vector<ScoredBox> seen;
        std::vector<State> states;
        states.push_back({scored({}, sign, 0.0), all, of_all, {}});
        for (std::int32_t depth = 0; depth < options_.max_terms + 1 && !states.empty(); ++depth) {
            states = longer(states);
            for (const State& state : states) seen.push_back(state.scored);
        }
        sort(seen);
        seen.resize(std::min(seen.size(), static_cast<std::size_t>(options_.n_refined)));
        std::move(seen.begin(), seen.end(), std::back_inserter(best));
    }
    return best;
}

// --- Local search ---

template <class Compute>
Searcher::Move Searcher::KnownMoves::find(const ScoredBox& from, Compute&& compute) {
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        for (const Move& move : moves_)
            if (move.from.sign == from.sign && move.from.box == from.box) return move;
    }
    Move found = compute();
    const std::lock_guard<std::mutex> lock(mutex_);
    moves_.push_back(found);
    return found;
}

int Searcher::sign_of(const Box& box, const std::vector<int>& signs) const {
    RowList rows;
    list_rows(matrix_.covered(box), rows);
    const int sign = total(rows).gradient < 0 ? -1 : 1;
    return std::find(signs.begin(), signs.end(), sign) != signs.end() ? sign : signs.front();
}

BestTerm Searcher::best_term(const GradientHistogram& sums, const Box& box, int sign) const {
    BestTerm best;
    const bool is_full = box.size() >= static_cast<std::size_t>(options_.max_terms);
    for (std::size_t c = 0; c < matrix_.n_columns(); ++c) {
        const auto column = static_cast<std::int32_t>(c);
        if (is_full && !tests(box, column)) continue;
        const Cut found = cut(sums, c, sign);
        if (found.gain > 0 && (best.column < 0 || net(found.gain, found.cost) > net(best.cut.gain, best.cut.cost)))
            best = {column, found};
    }
    return best;
}

// The rows that the box covers and, for each term, those that the box without it covers.
Searcher::RowSets Searcher::row_sets(const Box& box) const {
    const std::size_t n_words = words_for(matrix_.n_rows()), n_terms = box.size();
    std::vector<Words> accepted(n_terms);
    for (std::size_t t = 0; t < n_terms; ++t) matrix_.find_accepted(box[t], accepted[t]);
    RowSets sets;
    // First the rows that satisfy all later terms, then also all earlier ones.
    sets.without_term.assign(n_terms, matrix_.covered({}));
    for (std::size_t t = n_terms; t-- > 1;)
        for (std::size_t w = 0; w < n_words; ++w)
            sets.without_term[t - 1][w] = sets.without_term[t][w] & accepted[t][w];
    sets.covered = matrix_.covered({});
    for (std::size_t t = 0; t < n_terms; ++t)
        for (std::size_t w = 0; w < n_words; ++w) {
            sets.without_term[t][w] &= sets.covered[w];
            sets.covered[w] &= accepted[t][w];
        }
    return sets;
}

double Searcher::gain_of(const GradientHistogram& sums, int sign) const {
    Tally sum;  // over the bins of any column
    for (std::size_t bin = matrix_.first_bin(0); bin < matrix_.first_bin(1); ++bin) sum += sums[bin];
    return sum.n_rows >= options_.cuts.min_rows ? derivatives_.gain(sum, sign) : 0.0;
}

Searcher::Move Searcher::best_move(const Box& box, int sign, NearbySums& sums) const {
    const std::size_t n_terms = box.size();
    const bool is_too_long = n_terms > static_cast<std::size_t>(options_.max_terms);
    const RowSets sets = row_sets(box);
    const auto of_covered = sums.of(sets.covered);
    const ScoredBox current = scored(box, sign, gain_of(*of_covered, sign));
    ScoredBox best = current;
    // A longer box must gain what a term has to gain; a shorter one may lose as much.
    if (!is_too_long) {
        const BestTerm added = best_term(*of_covered, box, sign);
        if (added.column >= 0) {
            ScoredBox longer = scored(extended(box, added.column, added.cut.accepts), sign, added.cut.gain);
            if (longer.gain > options_.cuts.needed(current.gain, longer.cost - current.cost)) best = std::move(longer);
        }
    }
    ScoredBox shorter;
    for (std::size_t t = 0; t < n_terms; ++t) {
        const auto without_term = sums.of(sets.without_term[t]);
        const Box others = without(box, t);
        ScoredBox dropped = scored(others, sign, gain_of(*without_term, sign));
        if (t == 0 || net(dropped) >= net(shorter)) shorter = std::move(dropped);
        if (is_too_long) continue;
        const BestTerm replacement = best_term(*without_term, others, sign);
        if (replacement.column < 0) continue;
        ScoredBox replaced =
            scored(extended(others, replacement.column, replacement.cut.accepts), sign, replacement.cut.gain);
        if (net(replaced) > net(best) + 1e-9 * best.gain) best = std::move(replaced);
    }
    if (n_terms > 1 && (is_too_long || best.gain <= options_.cuts.needed(shorter.gain, best.cost - shorter.cost)))
        return {current, std::move(shorter), false};
    const bool is_last = best.box == box;
    return {current, std::move(best), is_last};
}

ScoredBox Searcher::refine(Box box, int sign, KnownMoves& known, NearbySums& sums) const {
    const auto max_terms = static_cast<std::size_t>(options_.max_terms);
    ScoredBox current = scored(std::move(box), sign, 0.0);
    for (std::int32_t n_moves = 0; n_moves < options_.max_moves;) {
        cancel_.check();
        if (current.box.size() <= max_terms) ++n_moves;  // shortening a start that is too long does not count
        const Move move = known.find(current, [&] { return best_move(current.box, sign, sums); });
        current = move.is_last ? move.from : move.to;
        if (move.is_last) break;
    }
    return current;
}

std::vector<ScoredBox> search_all(const ByteMatrix& matrix, const Derivatives& derivatives,
                                  const std::vector<Box>& starts, const std::vector<int>& signs,
                                  const SearchOptions& options, std::size_t n_threads, const CancelToken& cancel) {
    const Searcher searcher(matrix, derivatives, options, n_threads, cancel);
    // Starts come first, so that a box found both ways counts as refined from its start.
    std::vector<ScoredBox> initial;
    for (std::size_t s = 0; s < starts.size(); ++s)
        initial.push_back({starts[s], searcher.sign_of(starts[s], signs), 0.0, 0, static_cast<std::int32_t>(s)});
    for (ScoredBox& scored : searcher.beam(signs)) initial.push_back(std::move(scored));
    Searcher::KnownMoves moves;
    std::vector<NearbySums> sums(std::max<std::size_t>(1, n_threads), NearbySums(matrix, derivatives));
    parallel_for(initial.size(), n_threads, [&](std::size_t i, std::size_t worker) {
        const std::int32_t start = initial[i].start;
        initial[i] = searcher.refine(std::move(initial[i].box), initial[i].sign, moves, sums[worker]);
        initial[i].start = start;
    });
    searcher.sort(initial);
    std::vector<ScoredBox> distinct;
    for (ScoredBox& scored : initial) {
        const bool is_known = std::any_of(distinct.begin(), distinct.end(), [&](const ScoredBox& known) {
            return known.sign == scored.sign && known.box == scored.box;
        });
        if (!is_known && scored.gain > 0 && !scored.box.empty()) distinct.push_back(std::move(scored));
    }
    return distinct;
}

// The columns with the best single terms, and those that the starts test, in ascending order.
std::vector<std::int32_t> informative_columns(const ByteMatrix& matrix, const Derivatives& derivatives,
                                              const std::vector<Box>& starts, const std::vector<int>& signs,
                                              const SearchOptions& options) {
    GradientHistogram sums(matrix.n_all_bins());
    add_rows(matrix, derivatives.rows(), all_rows(matrix), sums);
    std::vector<double> gains(matrix.n_columns());
    std::vector<std::int32_t> columns(matrix.n_columns());
    std::iota(columns.begin(), columns.end(), 0);
    for (std::size_t c = 0; c < matrix.n_columns(); ++c)
        for (const int sign : signs)
            gains[c] = std::max(gains[c],
                                best_cut(matrix, c, &sums[matrix.first_bin(c)], derivatives, sign, options.cuts).gain);
    std::stable_sort(columns.begin(), columns.end(), [&](std::int32_t a, std::int32_t b) {
        return gains[static_cast<std::size_t>(a)] > gains[static_cast<std::size_t>(b)];
    });
    columns.resize(static_cast<std::size_t>(options.n_columns));
    for (const Box& start : starts)
        for (const BoxTerm& term : start) columns.push_back(term.column);
    std::sort(columns.begin(), columns.end());
    columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
    return columns;
}

}  // namespace

std::vector<ScoredBox> search_boxes(const ByteMatrix& matrix, const Derivatives& derivatives,
                                    const std::vector<Box>& starts, const std::vector<int>& signs,
                                    const SearchOptions& options, std::size_t n_threads, const CancelToken& cancel) {
    if (matrix.n_columns() <= static_cast<std::size_t>(options.n_columns))
        return search_all(matrix, derivatives, starts, signs, options, n_threads, cancel);
    const std::vector<std::int32_t> columns = informative_columns(matrix, derivatives, starts, signs, options);
    std::vector<Box> narrowed = starts;
    for (Box& box : narrowed)
        for (BoxTerm& term : box)
            term.column = static_cast<std::int32_t>(std::lower_bound(columns.begin(), columns.end(), term.column) -
                                                    columns.begin());
    auto found = search_all(ByteMatrix(matrix, columns), derivatives, narrowed, signs, options, n_threads, cancel);
    for (ScoredBox& scored : found)
        for (BoxTerm& term : scored.box) term.column = columns[static_cast<std::size_t>(term.column)];
    return found;
}

}  // namespace clausewise::compact
