// The premises of a rule set, in columns.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace clausewise::coverage {

inline constexpr std::int32_t kNotCategorical = -1;

// The terms of rule r are [starts[r], starts[r + 1]), sorted by feature, at most one per feature. A term is the
// interval (low, high], or, if value_set >= 0, the set of category codes [set_starts[value_set], set_starts[value_set +
// 1]) of set_codes, or, if missing, the test for a missing value.
struct Premises {
    std::vector<std::int64_t> starts;
    std::vector<std::int32_t> feature;
    std::vector<double> low;
    std::vector<double> high;
    std::vector<std::int32_t> value_set;
    std::vector<std::uint8_t> missing;
    std::vector<std::int64_t> set_starts;
    std::vector<std::int32_t> set_codes;
    std::vector<std::int32_t> n_categories;  // per feature of the table; kNotCategorical for a number

    std::size_t n_rules() const { return starts.size() - 1; }

    // Does the value satisfy the term? NaN is a missing value. low = -inf means "no lower bound", which -inf satisfies.
    bool holds(std::size_t term, double x) const {
        if (missing[term] != 0) return std::isnan(x);
        if (value_set[term] < 0)
            return x <= high[term] && (x > low[term] || low[term] == -std::numeric_limits<double>::infinity());
        const auto set = static_cast<std::size_t>(value_set[term]);
        const auto begin = set_codes.begin() + set_starts[set];
        const auto end = set_codes.begin() + set_starts[set + 1];
        return std::any_of(begin, end, [x](std::int32_t code) { return static_cast<double>(code) == x; });
    }

    // Throws std::invalid_argument unless the arrays fit together: Python builds them, and a mistake there must not
    // become a stray memory access here.
    void check() const;

private:
    void check_value_set(std::size_t term) const;
};

}  // namespace clausewise::coverage
