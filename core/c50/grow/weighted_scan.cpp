// Cuts of a continuous column: any weights and missing values.
#include "c50/grow/splitter.hpp"

#include "c50/grow/radix_sort.hpp"

namespace clausewise::c50 {
namespace {

// The known cases of a node in order of value, and what is scanned of them. Case by case, in double precision.
class WeightedScan {
public:
    WeightedScan(const SplitScratch& scratch, std::size_t n_classes, double side)
        : ranks_(scratch.case_ranks),
          weights_(scratch.weights),
          classes_(scratch.sequence),
          n_classes_(n_classes),
          side_(side),
          total_(n_classes, 0.0) {
        for (std::size_t p = 0; p < ranks_.size(); ++p) total_[classes_[p]] += weights_[p];
    }

    const std::vector<double>& total() const { return total_; }

    // Offers the cuts to `scan`. Returns false if it skipped a cut that might have ended the scan.
    bool run(CutScan& scan, bool may_skip, std::vector<double>& low, std::vector<double>& high);

private:
    bool is_cut(std::ptrdiff_t at) const { return rank_at(at) != rank_at(at + 1); }
    std::int32_t rank_at(std::ptrdiff_t at) const { return ranks_[static_cast<std::size_t>(at)]; }
    // The class of some cases, counted from 1; 0 if they have different ones.
    int label(std::ptrdiff_t from, std::ptrdiff_t to) const {
        const std::uint16_t c = classes_[static_cast<std::size_t>(from)];
        for (std::ptrdiff_t i = from + 1; i < to; ++i)
            if (classes_[static_cast<std::size_t>(i)] != c) return 0;
        return c + 1;
    }

    const std::vector<std::int32_t>& ranks_;
    const std::vector<double>& weights_;
    const std::vector<std::uint16_t>& classes_;
    std::size_t n_classes_;
    double side_;
    std::vector<double> total_;  // weight per class
};

// Shows without logarithms that a cut leaves more information than the best one. With T cases, p_c of them of class c,
// and k below the cut, of which l_c are of class c, the chi-squared bound of ratio_bound.hpp is
//     gain(k, l) · T ≤ Σ (l_c − k·p_c)² / p_c / (k·(T−k)/T · ln 2).
class CutFilter {
public:
    CutFilter(const std::vector<double>& total) {
        for (const double count : total) n_ += count;
        for (const double count : total) {
            share_.push_back(count / n_);
            per_share_.push_back(count > 0.0 ? n_ / count : 0.0);
        }
        information_ = total_information(total.data(), total.size());
        // Counts enter the information in single precision; this exceeds the error of that.
        slack_ = 1e-6 * (1.0 + n_ * static_cast<double>(total.size()));
    }

    double slack() const { return slack_; }
    bool excludes(double best, double below, const std::vector<double>& low) const {
        const double needed = (information_ - slack_ - best) * induction::kLn2 * below * (n_ - below);
        if (!(needed > 0.0)) return false;
        double distance = 0.0;
        for (std::size_t c = 0; c < low.size(); ++c) {
            const double difference = low[c] - below * share_[c];
            distance += difference * difference * per_share_[c];
        }
        return distance * n_ < needed;
    }

private:
    double n_ = 0.0;
    double information_ = 0.0;
    double slack_ = 0.0;
    std::vector<double> share_, per_share_;
};

bool WeightedScan::run(CutScan& scan, bool may_skip, std::vector<double>& low, std::vector<double>& high) {
    const auto n = static_cast<std::ptrdiff_t>(ranks_.size());
    low.assign(n_classes_, 0.0);
    high.assign(n_classes_, 0.0);
    std::ptrdiff_t last = n - 1;
    for (double above = 0.0; last >= 0 && above < side_; --last) above += weights_[static_cast<std::size_t>(last)];
    std::ptrdiff_t p = 0;
    double below = 0.0;
    const auto pass = [&](std::ptrdiff_t at) {
        const auto i = static_cast<std::size_t>(at);
        below += weights_[i];
        low[classes_[i]] += weights_[i];
    };
    while (p <= last && (below + weights_[static_cast<std::size_t>(p)] < side_ - 1e-5 || !is_cut(p))) pass(p++);
    if (p > last) return true;

    const CutFilter filter(total_);
    bool has_skipped = false;
    int left_label = label(0, p + 1);
    while (p <= last) {
        pass(p);
        if (!is_cut(p)) {
            ++p;
            continue;
        }
        ++scan.n_cuts;
        std::ptrdiff_t group_end = p + 2;
        while (group_end <= last && !is_cut(group_end - 1)) ++group_end;
        const int right_label = label(p + 1, group_end);
        const bool reaches_limit = p == last || rank_at(last) == rank_at(p + 1);
        if (left_label == 0 || left_label != right_label || reaches_limit) {
            if (may_skip && filter.excludes(scan.best, below, low)) {
                has_skipped = true;
            } else {
                const double low_information = total_information(low.data(), n_classes_);
                if (low_information >= scan.best) {
                    for (++p; p <= last; ++p) scan.n_cuts += is_cut(p);
                    return true;
                }
                for (std::size_t c = 0; c < n_classes_; ++c) high[c] = total_[c] - low[c];
                const double left = low_information + total_information(high.data(), n_classes_);
                // The information below a cut does not decrease from cut to cut. So no cut skipped has ended the scan,
                // unless that of this one is as large, up to rounding.
                if (has_skipped && left < scan.best && low_information + filter.slack() >= scan.best) return false;
                scan.offer(left, below, rank_at(p), rank_at(p + 1));
            }
        }
        left_label = right_label;
        ++p;
    }
    return true;
}

}  // namespace

// Lists the node's cases with a known value in order of value; equal values keep the node's order.
void Splitter::sort_cases(const Column& column, const NodeView& node, SplitScratch& scratch) const {
    auto& rows = scratch.sorted_rows;
    // Walking through all rows in order of value is quicker than sorting a good part of them.
    if (node.is_sorted && !column.order.empty() && node.rows.size() * 8 >= column.order.size()) {
        rows.resize(column.order.size() + 1);
        std::size_t n = 0;
        for (const std::int32_t row : column.order) {
            rows[n] = row;
            n += node.is_in_node[row];
        }
        rows.resize(n);
        return;
    }
    // The position of the row in the node makes the keys distinct.
    auto& keys = scratch.wide_keys;
    keys.clear();
    for (std::size_t i = 0; i < node.rows.size(); ++i) {
        const std::int32_t rank = column.ranks[static_cast<std::size_t>(node.rows.first[i])];
        if (rank != kMissing) keys.push_back(static_cast<std::uint64_t>(rank) << 32 | i);
    }
    sort_keys(keys, scratch.wide_sorted, 32);
    rows.resize(keys.size());
    for (std::size_t p = 0; p < keys.size(); ++p) rows[p] = node.rows.first[keys[p] & 0xffffffffu];
}

void Splitter::scan_weighted(const Column& column, const NodeView& node, SplitScratch& scratch, CutScan& scan) const {
    for (const std::int32_t row : node.rows) {
        scan.n_all += cases_.weight(row);
        if (column.has_missing && column.ranks[static_cast<std::size_t>(row)] == kMissing)
            scan.n_unknown += cases_.weight(row);
    }
    scan.n_known = scan.n_all - scan.n_unknown;
    if (scan.n_known < 2.0 * cases_.min_cases) return;
    sort_cases(column, node, scratch);
    const std::size_t n = scratch.sorted_rows.size();
    if (n < 2) return;
    scratch.case_ranks.resize(n);
    scratch.weights.resize(n);
    scratch.sequence.resize(n);
    for (std::size_t p = 0; p < n; ++p) {
        const std::int32_t row = scratch.sorted_rows[p];
        scratch.case_ranks[p] = column.ranks[static_cast<std::size_t>(row)];
        scratch.weights[p] = cases_.weight(row);
        scratch.sequence[p] = static_cast<std::uint16_t>(cases_.class_of(row));
    }
    WeightedScan cases(scratch, cases_.n_classes, smallest_side(scan.n_known));
    scan.base =
        scan.n_unknown > 0.0 ? total_information(cases.total().data(), cases_.n_classes) / scan.n_known : node.base;
    scan.lowest_rank = scratch.case_ranks.front();
    scan.highest_rank = scratch.case_ranks.back();
    const CutScan before = scan;
    if (cases.run(scan, true, scratch.low, scratch.high)) return;
    scan = before;
    cases.run(scan, false, scratch.low, scratch.high);
}

}  // namespace clausewise::c50
