#include "c50/division.hpp"

#include <algorithm>
#include <numeric>

namespace clausewise::c50 {

std::int32_t* partition_rows(const Column& column, std::int32_t threshold_rank, RowSpan rows,
                             std::vector<std::int32_t>& spare) {
    if (spare.size() < rows.size() + 1) spare.resize(rows.size() + 1);
    std::int32_t* kept = rows.first;
    std::int32_t* moved = spare.data();
    const std::int32_t* ranks = column.ranks.data();
    // Both targets are written and only one advances, so there is no branch to mispredict.
    for (const std::int32_t row : rows) {
        const bool goes_right = ranks[row] > threshold_rank;
        *kept = row;
        *moved = row;
        kept += !goes_right;
        moved += goes_right;
    }
    std::copy(spare.data(), moved, kept);
    return kept;
}

Division::Division(Cases& cases, const Test& test, RowSpan rows, float node_size, std::vector<std::int32_t>& spare,
                   const ClassCounts* counts)
    : cases_(cases), branches_(static_cast<std::size_t>(test.n_branches)) {
    const Column& column = cases.matrix.column(static_cast<std::size_t>(test.column));
    if (test.kind == TestKind::threshold && !column.has_missing && cases.adds_in_any_order()) {
        std::int32_t* border = partition_rows(column, test.threshold_rank, rows, spare);
        branches_[0].rows = {rows.first, border};
        branches_[1].rows = {border, rows.last};
        if (counts) count_branches(*counts);
        else
            for (Branch& branch : branches_) branch.known = cases.weight_of(branch.rows);
        return;
    }
    // Two-class costs matter only for missing values.
    if (test.kind == TestKind::threshold && (!column.has_missing || cases.class_scale.empty())) {
        divide_by_threshold(column, test.threshold_rank, rows, node_size);
        return;
    }
    const auto scaled_weight = [&](std::int32_t row) {
        return cases.class_scale.empty() ? 0.0
                                         : static_cast<double>(cases.weights[static_cast<std::size_t>(row)] /
                                                               cases.class_scale[cases.class_of(row)]);
    };
    double known_scaled = 0.0, missing_weight = 0.0, missing_scaled = 0.0;
    std::vector<std::int32_t> branch_of_row(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const std::int32_t row = rows.first[i];
        const std::int32_t index = test.branch_of(column.ranks[static_cast<std::size_t>(row)]);
        branch_of_row[i] = index;
        if (index == kMissingBranch) {
            missing_.push_back(row);
            missing_weight += cases.weight(row);
            missing_scaled += scaled_weight(row);
            continue;
        }
        if (index == kNoBranch) continue;
        Branch& branch = branches_[static_cast<std::size_t>(index)];
        branch.known += cases.weight(row);
        branch.known_scaled += scaled_weight(row);
        known_scaled += scaled_weight(row);
    }
    // Sums are exact in double precision, and used in single precision.
    missing_weight_ = static_cast<float>(missing_weight);
    missing_scaled_ = static_cast<float>(missing_scaled);
    known_total_ = cases.class_scale.empty() ? node_size - missing_weight_ : static_cast<float>(known_scaled);
    // Light cases are not worth following if there are many of them and many branches.
    const bool skips_light = test.n_branches >= 10 && rows.size() > 1000 && missing_.size() * 2 > rows.size();
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const std::int32_t row = rows.first[i];
        if (branch_of_row[i] >= 0) branches_[static_cast<std::size_t>(branch_of_row[i])].owned.push_back(row);
        else if (branch_of_row[i] == kMissingBranch && (!skips_light || cases.weight(row) >= 0.1))
            for (Branch& branch : branches_) branch.owned.push_back(row);
    }
    for (Branch& branch : branches_) branch.rows = {branch.owned.data(), branch.owned.data() + branch.owned.size()};
}

// Counts the smaller branch; the other one has the rest, as sums are exact.
void Division::count_branches(const ClassCounts& all) {
    const std::size_t smaller = branches_[1].rows.size() < branches_[0].rows.size();
    ClassCounts &few = branches_[smaller].counts, &rest = branches_[1 - smaller].counts;
    few = count_classes(cases_, branches_[smaller].rows);
    rest = all;
    for (std::size_t c = 0; c < rest.per_class.size(); ++c) rest.per_class[c] -= few.per_class[c];
    rest.add_up();
    for (Branch& branch : branches_)
        branch.known = std::accumulate(branch.counts.per_class.begin(), branch.counts.per_class.end(), 0.0);
}

// Cases with weights, in the order of `rows`, which stays as it is: later sums run over the rows in that order.
void Division::divide_by_threshold(const Column& column, std::int32_t threshold_rank, RowSpan rows, float node_size) {
    for (Branch& branch : branches_) branch.owned.resize(rows.size() + 1);
    std::int32_t* below = branches_[0].owned.data();
    std::int32_t* above = branches_[1].owned.data();
    double known_below = 0.0, known_above = 0.0, missing_weight = 0.0;
    const std::int32_t* ranks = column.ranks.data();
    const float* weights = cases_.weights.data();
    // Both targets are written, and those that the row belongs to advance; zeros do not change a sum.
    for (const std::int32_t row : rows) {
        const std::int32_t rank = ranks[row];
        const bool goes_above = rank > threshold_rank;
        const double weight = weights[row];
        *below = row;
        *above = row;
        below += !goes_above;
        above += goes_above;
        known_above += goes_above ? weight : 0.0;
        if (rank != kMissing) {
            known_below += goes_above ? 0.0 : weight;
        } else {
            ++above;
            missing_.push_back(row);
            missing_weight += weight;
        }
    }
    branches_[0].rows = {branches_[0].owned.data(), below};
    branches_[1].rows = {branches_[1].owned.data(), above};
    branches_[0].known = known_below;
    branches_[1].known = known_above;
    missing_weight_ = static_cast<float>(missing_weight);
    known_total_ = node_size - missing_weight_;
}

}  // namespace clausewise::c50
