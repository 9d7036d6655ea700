#include "c50/cases.hpp"

#include <algorithm>

namespace clausewise::c50 {

Costs::Costs(std::vector<float> by_predicted_then_actual, std::size_t n_classes) : n_classes_(n_classes) {
    if (by_predicted_then_actual.size() != n_classes * n_classes)
        throw std::invalid_argument("costs must be classes × classes");
    bool any = false;
    for (std::size_t p = 0; p < n_classes; ++p)
        for (std::size_t r = 0; r < n_classes; ++r) {
            float& cost = by_predicted_then_actual[p * n_classes + r];
            if (p == r) cost = 0.0f;
            else if (!(cost > 1.0f)) cost = 1.0f;
            else any = true;
        }
    if (any) costs_ = std::move(by_predicted_then_actual);
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

std::int32_t* partition_rows(const Column& column, std::int32_t threshold_rank, RowSpan rows,
                             std::vector<std::int32_t>& spare) {
    if (spare.size() < rows.size() + 1) spare.resize(rows.size() + 1);
    std::int32_t* kept = rows.first;
    std::int32_t* moved = spare.data();
    const std::int32_t* ranks = column.ranks.data();
    // Both targets are written and one advances: no branch to mispredict.
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

Division::Division(Cases& cases, const Test& test, RowSpan rows, float node_size, std::vector<std::int32_t>& spare)
    : cases_(cases), branches_(static_cast<std::size_t>(test.n_branches)) {
    const Column& column = cases.matrix.column(static_cast<std::size_t>(test.column));
    if (test.kind == TestKind::threshold && !column.has_missing && cases.has_unit_weights()) {
        std::int32_t* border = partition_rows(column, test.threshold_rank, rows, spare);
        branches_[0].rows = {rows.first, border};
        branches_[1].rows = {border, rows.last};
        for (Branch& branch : branches_) branch.known = static_cast<double>(branch.rows.size());
        return;
    }
    const auto scaled_weight = [&](std::int32_t row) {
        return cases.class_scale.empty() ? 0.0
                                         : static_cast<double>(cases.weights[static_cast<std::size_t>(row)] /
                                                               cases.class_scale[cases.class_of(row)]);
    };
    double known_scaled = 0.0;
    std::vector<std::int32_t> branch_of_row(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const std::int32_t row = rows.first[i];
        const std::int32_t index = test.branch_of(column.ranks[static_cast<std::size_t>(row)]);
        branch_of_row[i] = index;
        if (index < 0) {
            missing_.push_back(row);
            missing_weight_ += cases.weight(row);
            missing_scaled_ += scaled_weight(row);
            continue;
        }
        Branch& branch = branches_[static_cast<std::size_t>(index)];
        branch.known += cases.weight(row);
        branch.known_scaled += scaled_weight(row);
        known_scaled += scaled_weight(row);
    }
    known_total_ = static_cast<float>(cases.class_scale.empty() ? node_size - missing_weight_ : known_scaled);
    // Not worth following: many light cases into many branches.
    const bool skips_light = test.n_branches >= 10 && rows.size() > 1000 && missing_.size() * 2 > rows.size();
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const std::int32_t row = rows.first[i];
        if (branch_of_row[i] >= 0) branches_[static_cast<std::size_t>(branch_of_row[i])].owned.push_back(row);
        else if (!skips_light || cases.weight(row) >= 0.1)
            for (Branch& branch : branches_) branch.owned.push_back(row);
    }
    for (Branch& branch : branches_) branch.rows = {branch.owned.data(), branch.owned.data() + branch.owned.size()};
}

}  // namespace clausewise::c50
