// The training cases of one fit: the shared matrix, their classes, and weights that missing values divide.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "base/cancel.hpp"
#include "c50/information.hpp"
#include "c50/tree.hpp"
#include "induction/matrix.hpp"

namespace clausewise::c50 {

using induction::Column;
using induction::kMissing;
using induction::Matrix;

// A range of row numbers that a node owns; stages reorder them in place.
struct RowSpan {
    std::int32_t* first;
    std::int32_t* last;

    std::int32_t* begin() const { return first; }
    std::int32_t* end() const { return last; }
    std::size_t size() const { return static_cast<std::size_t>(last - first); }
};

// A cost matrix as C5.0 reads it: entries above 1 count, everything else is 1.
class Costs {
public:
    Costs() = default;
    Costs(std::vector<float> by_predicted_then_actual, std::size_t n_classes);

    bool is_active() const { return !costs_.empty(); }
    float operator()(std::size_t predicted, std::size_t actual) const {
        return costs_[predicted * n_classes_ + actual];
    }
    // The class of least expected cost, the first on ties.
    template <class Real>
    std::int32_t cheapest(const Real* weight_per_class) const {
        std::int32_t best = 0;
        double best_cost = 1e38;
        for (std::size_t c = 0; c < n_classes_; ++c) {
            const double cost = expected(c, weight_per_class);
            if (cost < best_cost) {
                best_cost = cost;
                best = static_cast<std::int32_t>(c);
            }
        }
        return best;
    }
    template <class Real>
    double expected(std::size_t predicted, const Real* weight_per_class) const {
        double cost = 0.0;
        for (std::size_t d = 0; d < n_classes_; ++d)
            if (d != predicted) cost += weight_per_class[d] * (*this)(predicted, d);
        return cost;
    }

private:
    std::size_t n_classes_ = 0;
    std::vector<float> costs_;
};

struct Cases {
    const Matrix& matrix;
    std::vector<std::uint16_t> classes;  // per row
    std::size_t n_classes;
    // Weight per row; empty when every case has weight 1 throughout. Descending past a missing value scales the
    // weight down and back up again, and the rounding of that is part of the defined behaviour.
    std::vector<float> weights;
    // Two-class costs act as weights: a case of class c weighs class_scale[c]. Empty without such costs.
    std::vector<float> class_scale;
    Costs costs;
    double min_cases = 2.0;
    const CancelToken& cancel;

    std::size_t n_rows() const { return classes.size(); }
    bool has_unit_weights() const { return weights.empty(); }
    double weight(std::int32_t row) const { return weights.empty() ? 1.0 : weights[static_cast<std::size_t>(row)]; }
    std::size_t class_of(std::int32_t row) const { return classes[static_cast<std::size_t>(row)]; }
};

// Weights per class of some cases, their total and the most frequent class (first on ties).
struct ClassCounts {
    std::vector<double> per_class;
    float total = 0.0f;
    std::int32_t majority = 0;

    float errors() const { return static_cast<float>(total - per_class[static_cast<std::size_t>(majority)]); }
    // Finds the total and the majority of what is counted per class.
    void add_up();
};

ClassCounts count_classes(const Cases& cases, RowSpan rows);
// The same for these rows and all that a node was last counted with; unit weights, so that all sums are exact.
ClassCounts count_classes(const Cases& cases, const Node& node, RowSpan others);

// Stably moves the rows that take branch 0 of a threshold test to the front; returns the border.
std::int32_t* partition_rows(const Column& column, std::int32_t threshold_rank, RowSpan rows,
                             std::vector<std::int32_t>& spare);

// The rows of a node divided by a test. Rows with a missing value enter every branch with a share of their weight.
class Division {
public:
    Division(Cases& cases, const Test& test, RowSpan rows, float node_size, std::vector<std::int32_t>& spare);

    std::size_t n_branches() const { return branches_.size(); }
    RowSpan rows(std::size_t branch) const { return branches_[branch].rows; }
    // Calls visit(rows, weight) with the weights of rows that miss the value scaled down for the time of the call.
    // `weight` is the branch's total, the shares of these rows included. Skips branches of weight below 0.05.
    template <class Visit>
    bool enter(std::size_t branch, Visit&& visit);

private:
    struct Branch {
        std::vector<std::int32_t> owned;
        RowSpan rows{nullptr, nullptr};
        double known = 0.0;         // weight of the rows whose value is known
        double known_scaled = 0.0;  // the same, divided by the class scale of two-class costs
    };

    Cases& cases_;
    std::vector<Branch> branches_;
    std::vector<std::int32_t> missing_;
    double missing_weight_ = 0.0;
    double missing_scaled_ = 0.0;
    float known_total_ = 0.0f;
};

inline constexpr double kSmallestBranch = 0.05;

template <class Visit>
bool Division::enter(std::size_t index, Visit&& visit) {
    Branch& branch = branches_[index];
    if (missing_.empty()) {
        if (branch.known < kSmallestBranch) return false;
        visit(branch.rows, branch.known);
        return true;
    }
    const bool scaled = !cases_.class_scale.empty();
    const float share =
        static_cast<float>(static_cast<float>(scaled ? branch.known_scaled : branch.known) / known_total_);
    if (branch.known + share * missing_weight_ < kSmallestBranch) return false;
    const auto multiply_missing = [&](auto&& change) {
        for (const std::int32_t row : missing_) {
            float& weight = cases_.weights[static_cast<std::size_t>(row)];
            weight = change(weight);
        }
    };
    multiply_missing([&](float weight) { return weight * share; });
    visit(branch.rows, branch.known + share * (scaled ? missing_scaled_ : missing_weight_));
    multiply_missing([&](float weight) { return weight / share; });
    return true;
}

}  // namespace clausewise::c50
