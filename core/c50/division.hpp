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
    // `counts`, if given, are those of all rows.
    Division(Cases& cases, const Test& test, RowSpan rows, float node_size, std::vector<std::int32_t>& spare,
             const ClassCounts* counts = nullptr);

    std::size_t n_branches() const { return branches_.size(); }
    RowSpan rows(std::size_t branch) const { return branches_[branch].rows; }
    // Of the rows of a branch, if known without counting them; otherwise empty.
    const ClassCounts& counts(std::size_t branch) const { return branches_[branch].counts; }
    bool has_missing() const { return !missing_.empty(); }
    // The rows with a missing value.
    RowSpan missing() { return {missing_.data(), missing_.data() + missing_.size()}; }
    // Calls visit(rows, weight); during the call, the weights of rows with a missing value are scaled down. `weight` is
    // the total of the branch, including these rows. Skips branches of less than kMinBranchWeight and returns false.
    template <class Visit>
    bool enter_to_grow(std::size_t branch, Visit&& visit) {
        return enter(branch, missing_weight_, visit);
    }
    // The same, but with two-class costs the rows with a missing value count with their unscaled weights.
    template <class Visit>
    bool enter_to_prune(std::size_t branch, Visit&& visit) {
        return enter(branch, cases_.class_scale.empty() ? missing_weight_ : missing_scaled_, visit);
    }

private:
    struct Branch {
        std::vector<std::int32_t> owned;
        RowSpan rows{nullptr, nullptr};
        ClassCounts counts{};
        double known = 0.0;         // weight of the rows whose value is known
        double known_scaled = 0.0;  // the same, divided by the class scale of two-class costs
    };

    void count_branches(const ClassCounts& all);
    void divide_by_threshold(const Column& column, std::int32_t threshold_rank, RowSpan rows, float node_size);
    template <class Visit>
    bool enter(std::size_t branch, float missing_weight, Visit&& visit);

    Cases& cases_;
    std::vector<Branch> branches_;
    std::vector<std::int32_t> missing_;
    float missing_weight_ = 0.0f;
    float missing_scaled_ = 0.0f;
    float known_total_ = 0.0f;
};

inline constexpr double kMinBranchWeight = 0.05;

template <class Visit>
bool Division::enter(std::size_t index, float missing_weight, Visit&& visit) {
    Branch& branch = branches_[index];
    const auto known = static_cast<float>(branch.known);
    if (missing_.empty()) {
        if (!(known >= kMinBranchWeight)) return false;
        visit(branch.rows, known);
        return true;
    }
    const float share = (cases_.class_scale.empty() ? known : static_cast<float>(branch.known_scaled)) / known_total_;
    const float weight = known + share * missing_weight;
    if (!(weight >= kMinBranchWeight)) return false;
    const auto multiply_missing = [&](auto&& change) {
        for (const std::int32_t row : missing_) {
            float& of_row = cases_.weights[static_cast<std::size_t>(row)];
            of_row = change(of_row);
        }
    };
    multiply_missing([&](float before) { return before * share; });
    visit(branch.rows, weight);
    multiply_missing([&](float before) { return before / share; });
    return true;
}

}  // namespace clausewise::c50
