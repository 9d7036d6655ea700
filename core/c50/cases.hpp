// The training cases of one fit: the shared matrix, classes and weights.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/cancel.hpp"
#include "c50/costs.hpp"
#include "c50/tree.hpp"
#include "induction/matrix.hpp"

namespace clausewise::c50 {

using induction::Column;
using induction::kMissing;
using induction::Matrix;

// The row numbers of a node, which stages reorder in place.
struct RowSpan {
    std::int32_t* first;
    std::int32_t* last;

    std::int32_t* begin() const { return first; }
    std::int32_t* end() const { return last; }
    std::size_t size() const { return static_cast<std::size_t>(last - first); }
};

struct Cases {
    const Matrix& matrix;
    std::vector<std::uint16_t> classes;  // per row
    std::size_t n_classes;
    // Weight per row; empty when every case has weight 1 throughout. Entering a branch with a missing value scales the
    // weight down, and leaving it scales it up again; the rounding of that is part of the defined behaviour.
    std::vector<float> weights;
    // Two-class costs act as weights: a case of class c weighs class_scale[c]. Empty without such costs.
    std::vector<float> class_scale;
    Costs costs;
    double min_cases = 2.0;
    const CancelToken& cancel;
    std::vector<bool> is_ordered{};  // per column: tests divide its values by their order
    // Of cases with weights: are sums in double precision exact, and is no case divided at a missing value? Then sums
    // do not depend on the order, and differences of sums are exact, too.
    bool has_exact_sums = false;
    // If so, and if all cases of a class weigh the same: that weight, per class. Otherwise empty.
    std::vector<double> class_weights{};
    // Without subsets, discrete columns with very many values are ignored, unless all columns are such.
    bool keeps_many_values = true;

    bool has_many_values(std::size_t column, std::size_t n_cases) const {
        const Column& data = matrix.column(column);
        return data.is_discrete && !is_ordered[column] && data.n_values + 1 >= 0.3 * static_cast<double>(n_cases);
    }

    std::size_t n_rows() const { return classes.size(); }
    bool has_unit_weights() const { return weights.empty(); }
    // May sums over cases be taken in any order?
    bool adds_in_any_order() const { return has_unit_weights() || has_exact_sums; }
    // Are values missing in the columns in use?
    bool has_missing(const std::vector<bool>& in_use) const;
    // Sets `has_exact_sums` and `class_weights`, for the present weights and the columns in use.
    void look_at_weights(const std::vector<bool>& in_use);
    double weight(std::int32_t row) const { return weights.empty() ? 1.0 : weights[static_cast<std::size_t>(row)]; }
    double weight_of(RowSpan rows) const {
        if (weights.empty()) return static_cast<double>(rows.size());
        if (!class_weights.empty() && n_classes == 2) {
            std::size_t second = 0;
            for (const std::int32_t row : rows) second += classes[static_cast<std::size_t>(row)];
            return class_weights[0] * static_cast<double>(rows.size() - second) +
                   class_weights[1] * static_cast<double>(second);
        }
        double sum = 0.0;
        for (const std::int32_t row : rows) sum += weights[static_cast<std::size_t>(row)];
        return sum;
    }
    // The least weight on each side of a cut: min_cases, or a tenth of the mean number of cases per class, up to 25.
    double smallest_side(double n_known) const {
        return std::max<double>(std::min(25.0, 0.10 * n_known / static_cast<double>(n_classes)), min_cases);
    }
    std::size_t class_of(std::int32_t row) const { return classes[static_cast<std::size_t>(row)]; }
};

// Weights per class of some cases, their total and the most frequent class (first on ties).
struct ClassCounts {
    std::vector<double> per_class;
    float total = 0.0f;
    std::int32_t majority = 0;

    float errors() const { return static_cast<float>(total - per_class[static_cast<std::size_t>(majority)]); }
    // Sets the total and the majority from `per_class`.
    void add_up();
};

ClassCounts count_classes(const Cases& cases, RowSpan rows);
// The same for the cases that a node was last counted with and `others` together. Unit weights only, for which the sums
// are exact.
ClassCounts count_classes(const Cases& cases, const Node& node, RowSpan others);

}  // namespace clausewise::c50
