#include "coverage/premises.hpp"

#include <cmath>
#include <stdexcept>
#include <string>

namespace clausewise::coverage {
namespace {

[[noreturn]] void fail(const char* what) { throw std::invalid_argument(std::string("premises: ") + what); }

}  // namespace

void Premises::check() const {
    const std::size_t n_terms = feature.size();
    if (starts.empty() || starts.front() != 0 || starts.back() != static_cast<std::int64_t>(n_terms))
        fail("starts do not span the terms");
    if (low.size() != n_terms || high.size() != n_terms || value_set.size() != n_terms || missing.size() != n_terms)
        fail("columns differ in length");
    if (set_starts.empty() || set_starts.front() != 0 ||
        set_starts.back() != static_cast<std::int64_t>(set_codes.size()) ||
        !std::is_sorted(set_starts.begin(), set_starts.end()))
        fail("set_starts do not span the codes");
    if (!std::is_sorted(starts.begin(), starts.end())) fail("starts are not ascending");
    for (std::size_t rule = 0; rule < n_rules(); ++rule) {
        const auto first = static_cast<std::size_t>(starts[rule]);
        const auto last = static_cast<std::size_t>(starts[rule + 1]);
        for (std::size_t term = first; term < last; ++term) {
            if (feature[term] < 0 || static_cast<std::size_t>(feature[term]) >= n_categories.size())
                fail("unknown feature");
            if (term > first && feature[term] <= feature[term - 1]) fail("terms are not sorted by feature");
            if (std::isnan(low[term]) || std::isnan(high[term])) fail("a threshold is NaN");
            check_value_set(term);
        }
    }
}

void Premises::check_value_set(std::size_t term) const {
    const std::int32_t n_codes = n_categories[static_cast<std::size_t>(feature[term])];
    if (missing[term] != 0 && value_set[term] >= 0) fail("a test for missing values has no value set");
    if (missing[term] == 0 && (value_set[term] >= 0) != (n_codes != kNotCategorical))
        fail("value sets belong to categorical features, intervals to all others");
    if (value_set[term] < 0) return;
    const auto set = static_cast<std::size_t>(value_set[term]);
    if (set + 1 >= set_starts.size()) fail("unknown value set");
    for (std::int64_t i = set_starts[set]; i < set_starts[set + 1]; ++i) {
        const std::int32_t code = set_codes[static_cast<std::size_t>(i)];
        if (code < 0 || code >= n_codes) fail("unknown category code");
    }
}

}  // namespace clausewise::coverage
