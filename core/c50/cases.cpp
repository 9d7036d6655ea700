#include "c50/cases.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/bits.hpp"

namespace clausewise::c50 {
namespace {

// The exponent of the lowest bit that is set, of a number above zero.
int lowest_exponent(float number) {
    std::uint32_t bits;
    std::memcpy(&bits, &number, sizeof bits);
    const std::uint32_t exponent = bits >> 23, digits = bits & 0x7fffffu;
    const bool is_normal = exponent > 0;
    return static_cast<int>(is_normal ? exponent : 1) - 150 + lowest_bit(is_normal ? digits | 0x800000u : digits);
}

// Are sums of some of these weights, in any order, exact in double precision? They are multiples of the lowest bit of
// any weight, and a double holds 53 bits. Boosting may give negative weights, which are added in order.
bool add_exactly(const std::vector<float>& weights) {
    double sum = 0.0;
    int lowest = std::numeric_limits<int>::max();
    for (const float weight : weights) {
        if (weight < 0.0f) return false;
        if (!(weight > 0.0f)) continue;
        sum += weight;
        lowest = std::min(lowest, lowest_exponent(weight));
    }
    return sum < std::ldexp(1.0, std::min(lowest, 64) + 52);
}

// The weight of the cases of each class; empty if those of a class differ.
std::vector<double> weights_of_classes(const Cases& cases) {
    constexpr double kUnknown = -1.0;
    std::vector<double> of_class(cases.n_classes, kUnknown);
    for (std::size_t row = 0; row < cases.n_rows(); ++row) {
        double& known = of_class[cases.classes[row]];
        if (known == kUnknown) known = cases.weights[row];
        if (known != cases.weights[row]) return {};
    }
    return of_class;
}

}  // namespace

bool Cases::has_missing(const std::vector<bool>& in_use) const {
    for (std::size_t a = 0; a < in_use.size(); ++a)
        if (in_use[a] && matrix.column(a).has_missing) return true;
    return false;
}

void Cases::look_at_weights(const std::vector<bool>& in_use) {
    has_exact_sums = !weights.empty() && !has_missing(in_use) && add_exactly(weights);
    class_weights = has_exact_sums ? weights_of_classes(*this) : std::vector<double>{};
}

void ClassCounts::add_up() {
    total = 0.0f;
    for (const double count : per_class) total = static_cast<float>(total + count);
    majority = static_cast<std::int32_t>(std::max_element(per_class.begin(), per_class.end()) - per_class.begin());
}

ClassCounts count_classes(const Cases& cases, RowSpan rows) {
    ClassCounts counts;
    counts.per_class.assign(cases.n_classes, 0.0);
    if (cases.has_unit_weights()) {
        if (cases.n_classes == 2) {
            std::size_t second = 0;
            for (const std::int32_t row : rows) second += cases.class_of(row);
            counts.per_class[0] = static_cast<double>(rows.size() - second);
            counts.per_class[1] = static_cast<double>(second);
        } else {
            for (const std::int32_t row : rows) counts.per_class[cases.class_of(row)] += 1.0;
        }
    } else if (cases.n_classes == 2 && !cases.class_weights.empty()) {
        std::size_t second = 0;
        for (const std::int32_t row : rows) second += cases.class_of(row);
        counts.per_class = {cases.class_weights[0] * static_cast<double>(rows.size() - second),
                            cases.class_weights[1] * static_cast<double>(second)};
    } else if (cases.n_classes == 2) {
        // Two sums that need not wait for each other. Adding a zero changes nothing.
        double first = 0.0, second = 0.0;
        for (const std::int32_t row : rows) {
            const double weight = cases.weights[static_cast<std::size_t>(row)];
            const bool is_second = cases.class_of(row) == 1;
            first += is_second ? 0.0 : weight;
            second += is_second ? weight : 0.0;
        }
        counts.per_class = {first, second};
    } else {
        for (const std::int32_t row : rows)
            counts.per_class[cases.class_of(row)] += cases.weights[static_cast<std::size_t>(row)];
    }
    counts.add_up();
    return counts;
}

ClassCounts count_classes(const Cases& cases, const Node& node, RowSpan others) {
    ClassCounts counts = count_classes(cases, others);
    for (std::size_t c = 0; c < cases.n_classes; ++c) counts.per_class[c] += node.distribution[c];
    counts.add_up();
    return counts;
}

}  // namespace clausewise::c50
