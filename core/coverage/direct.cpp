#include "coverage/direct.hpp"

#include <cmath>
#include <utility>

#include "base/bits.hpp"
#include "coverage/ballot.hpp"

namespace clausewise::coverage {
namespace {

// Up to so many comparisons take less time than the tables: finding the bin of a value costs as much as 14 of them, and
// adding the votes of the bits of a row as much as 80 (measured with AVX2).
constexpr std::size_t kComparisonsPerBin = 14;
constexpr std::size_t kComparisonsPerRow = 80;

using Lanes = std::int64_t[kDirectRows];

DirectTest test_of(const Premises& premises, std::size_t term, std::size_t tested, std::vector<double>& codes) {
    DirectTest test{DirectTest::Kind::missing, tested, premises.low[term], premises.high[term], codes.size(), 0};
    if (premises.missing[term] != 0) return test;
    if (premises.value_set[term] >= 0) {
        const auto set = static_cast<std::size_t>(premises.value_set[term]);
        test.kind = DirectTest::Kind::in_set;
        codes.insert(codes.end(), premises.set_codes.begin() + premises.set_starts[set],
                     premises.set_codes.begin() + premises.set_starts[set + 1]);
        test.last_code = codes.size();
        return test;
    }
    const bool has_low = std::isfinite(test.low);
    const bool has_high = std::isfinite(test.high);
    if (has_low) test.kind = has_high ? DirectTest::Kind::between : DirectTest::Kind::above;
    else test.kind = has_high ? DirectTest::Kind::at_most : DirectTest::Kind::known;
    return test;
}

// Loops over one block, inlined into a function that is compiled for several processors.
template <class Holds>
inline void keep_where(Lanes& fires, const double* values, const Holds& holds) {
    for (std::size_t i = 0; i < kDirectRows; ++i) fires[i] &= holds(values[i]) ? std::int64_t{-1} : std::int64_t{0};
}

inline void keep_in_set(Lanes& fires, const double* values, const double* code, const double* end) {
    Lanes is_in = {};
    for (; code != end; ++code)
        for (std::size_t i = 0; i < kDirectRows; ++i)
            is_in[i] |= values[i] == *code ? std::int64_t{-1} : std::int64_t{0};
    for (std::size_t i = 0; i < kDirectRows; ++i) fires[i] &= is_in[i];
}

}  // namespace

std::unique_ptr<const DirectRules> direct_rules(const Premises& premises) {
    auto rules = std::make_unique<DirectRules>();
    std::vector<std::size_t> place(premises.n_categories.size(), 0);
    for (const std::int32_t feature : premises.feature) place[static_cast<std::size_t>(feature)] = 1;
    for (std::size_t feature = 0; feature < place.size(); ++feature) {
        if (place[feature] == 0) continue;
        place[feature] = rules->columns.size();
        rules->columns.push_back(feature);
    }
    std::size_t n_comparisons = 0;
    for (std::size_t term = 0; term < premises.feature.size(); ++term) {
        const std::size_t tested = place[static_cast<std::size_t>(premises.feature[term])];
        const DirectTest test = test_of(premises, term, tested, rules->codes);
        n_comparisons += test.kind == DirectTest::Kind::in_set ? test.last_code - test.first_code : 1;
        n_comparisons += test.kind == DirectTest::Kind::between ? 1 : 0;
        if (n_comparisons > kComparisonsPerRow + kComparisonsPerBin * rules->columns.size()) return nullptr;
        rules->tests.push_back(test);
    }
    rules->starts.assign(premises.starts.begin(), premises.starts.end());
    return rules;
}

CLAUSEWISE_CLONES void add_votes(const DirectRules& rules, const double* const* values, const Ballot& ballot,
                                 double* totals) {
    for (std::size_t rule = 0; rule < rules.n_rules(); ++rule) {
        Lanes fires;
        std::fill_n(fires, kDirectRows, std::int64_t{-1});
        for (std::size_t t = rules.starts[rule]; t < rules.starts[rule + 1]; ++t) {
            const DirectTest& test = rules.tests[t];
            const double* x = values[test.tested];
            const double low = test.low;
            const double high = test.high;
            // A missing value is NaN, which satisfies none of these comparisons but the one with itself.
            switch (test.kind) {
                case DirectTest::Kind::above:
                    keep_where(fires, x, [low](double value) { return value > low; });
                    break;
                case DirectTest::Kind::at_most:
                    keep_where(fires, x, [high](double value) { return value <= high; });
                    break;
                case DirectTest::Kind::between:
                    keep_where(fires, x, [low, high](double value) { return (value > low) & (value <= high); });
                    break;
                case DirectTest::Kind::known:
                    keep_where(fires, x, [](double value) { return value == value; });
                    break;
                case DirectTest::Kind::missing:
                    keep_where(fires, x, [](double value) { return value != value; });
                    break;
                case DirectTest::Kind::in_set:
                    keep_in_set(fires, x, rules.codes.data() + test.first_code, rules.codes.data() + test.last_code);
                    break;
            }
        }
        const double vote = ballot.vote_of_rule[rule];
        double* of_class = totals + static_cast<std::size_t>(ballot.class_of_rule[rule]) * kDirectRows;
        // A choice and not a sum with 0, which would turn a total of -0 into 0.
        for (std::size_t i = 0; i < kDirectRows; ++i) of_class[i] = fires[i] != 0 ? of_class[i] + vote : of_class[i];
    }
}

void start_totals(const Ballot& ballot, double* totals) {
    for (std::size_t c = 0; c < ballot.n_classes(); ++c)
        std::fill_n(totals + c * kDirectRows, kDirectRows, ballot.base_of_class[c]);
}

void divide_totals(const Ballot& ballot, double* totals) {
    if (!ballot.divides) return;
    for (std::size_t c = 0; c < ballot.n_classes(); ++c)
        for (std::size_t i = 0; i < kDirectRows; ++i) totals[c * kDirectRows + i] /= ballot.divisor_of_class[c];
}

CLAUSEWISE_CLONES void decide_block(const double* totals, std::size_t n_classes, std::int32_t default_class,
                                    std::int32_t* decisions) {
    double best[kDirectRows];
    Lanes winner;
    std::copy_n(totals + static_cast<std::size_t>(default_class) * kDirectRows, kDirectRows, best);
    std::fill_n(winner, kDirectRows, std::int64_t{default_class});
    for (std::size_t c = 0; c < n_classes; ++c) {
        const double* of_class = totals + c * kDirectRows;
        const auto code = static_cast<std::int64_t>(c);
        for (std::size_t i = 0; i < kDirectRows; ++i) winner[i] = of_class[i] > best[i] ? code : winner[i];
        for (std::size_t i = 0; i < kDirectRows; ++i) best[i] = of_class[i] > best[i] ? of_class[i] : best[i];
    }
    for (std::size_t i = 0; i < kDirectRows; ++i) decisions[i] = static_cast<std::int32_t>(winner[i]);
}

}  // namespace clausewise::coverage
