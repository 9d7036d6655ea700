// Dividing the rows of a node by a test.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "c50/cases.hpp"
#include "c50/tree.hpp"

namespace clausewise::c50 {

// Stably moves the rows that take branch 0 of a threshold test to the front; returns where the others begin.
std::int32_t* partition_rows(const Column& column, std::int32_t threshold_rank, RowSpan rows,
                             std::vector<std::int32_t>& spare);

// The rows of a node divided by a test. Rows with a missing value enter every branch with a fraction of their weight.
class Division {
public:
    Division(Cases& cases, const Test& test, RowSpan rows, float node_size, std::vector<std::int32_t>& spare);

    std::size_t n_branches() const { return branches_.size(); }
    RowSpan rows(std::size_t branch) const { return branches_[branch].rows; }
    // Calls visit(rows, weight); during the call, the weights of rows with a missing value are scaled down. `weight` is
    // the total of the branch, including these rows. Skips branches of less than kMinBranchWeight and returns false.
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

inline constexpr double kMinBranchWeight = 0.05;

template <class Visit>
bool Division::enter(std::size_t index, Visit&& visit) {
    Branch& branch = branches_[index];
    if (missing_.empty()) {
        if (branch.known < kMinBranchWeight) return false;
        visit(branch.rows, branch.known);
        return true;
    }
    const bool scaled = !cases_.class_scale.empty();
    const float share =
        static_cast<float>(static_cast<float>(scaled ? branch.known_scaled : branch.known) / known_total_);
    if (branch.known + share * missing_weight_ < kMinBranchWeight) return false;
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
