// Cuts of a continuous column: any weights and missing values.
#include "c50/grow/splitter.hpp"

#include "c50/grow/radix_sort.hpp"
#include "c50/grow/weighted_bin_scan.hpp"

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
        if (n_classes != 2) {
            for (std::size_t p = 0; p < ranks_.size(); ++p) total_[classes_[p]] += weights_[p];
            return;
        }
        // Two sums that need not wait for each other. Adding a zero changes nothing.
        double first = 0.0, second = 0.0;
        for (std::size_t p = 0; p < ranks_.size(); ++p) {
            first += classes_[p] == 0 ? weights_[p] : 0.0;
            second += classes_[p] == 0 ? 0.0 : weights_[p];
        }
        total_ = {first, second};
    }

    const std::vector<double>& total() const { return total_; }

    // Offers the cuts to `scan`. Returns false if it skipped a cut that might have ended the scan.
    bool run(CutScan& scan, bool may_skip, std::vector<double>& low, std::vector<double>& high) const;
    // The same for two classes.
    bool run_two_classes(CutScan& scan, bool may_skip) const;

private:
    // The last position below a cut that leaves enough above it; -1 if there is none.
    std::ptrdiff_t last_position() const {
        auto last = static_cast<std::ptrdiff_t>(ranks_.size()) - 1;
        for (double above = 0.0; last >= 0 && above < side_; --last) above += weights_[static_cast<std::size_t>(last)];
        return last;
    }
    // The label of the cases of equal value from `from` on, up to the last position.
    int label_after(std::ptrdiff_t from, std::ptrdiff_t last) const {
        std::ptrdiff_t end = from + 1;
        while (end <= last && !is_cut(end - 1)) ++end;
        return label(from, end);
    }
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

bool WeightedScan::run(CutScan& scan, bool may_skip, std::vector<double>& low, std::vector<double>& high) const {
    low.assign(n_classes_, 0.0);
    high.assign(n_classes_, 0.0);
    const std::ptrdiff_t last = last_position();
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
        const int right_label = label_after(p + 1, last);
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

// Sums as in `run`. Most cuts are excluded by the filter, so whether the skipping rule applies is looked up only for
// the others; a cut that it excludes may then count as one that the filter has skipped.
bool WeightedScan::run_two_classes(CutScan& scan, bool may_skip) const {
    const std::ptrdiff_t last = last_position();
    const double* const weights = weights_.data();
    const std::uint16_t* const classes = classes_.data();
    const std::int32_t* const ranks = ranks_.data();
    double below = 0.0, low[2] = {0.0, 0.0};
    const auto pass = [&](std::ptrdiff_t at) {
        below += weights[at];
        low[0] += classes[at] == 0 ? weights[at] : 0.0;
        low[1] += classes[at] == 0 ? 0.0 : weights[at];
    };
    std::ptrdiff_t first = 0;
    for (; first <= last && (below + weights[first] < side_ - 1e-5 || !is_cut(first)); ++first) pass(first);
    if (first > last) return true;
    std::int64_t n_cuts = 0;
    for (std::ptrdiff_t p = first; p <= last; ++p) n_cuts += ranks[p] != ranks[p + 1];
    scan.n_cuts += n_cuts;

    // CutFilter for two classes, where Σ (l_c − k·p_c)² / p_c is (l_1 − k·p_1)² / (p_0·p_1).
    const double n = total_[0] + total_[1], share = total_[1] / n;
    const double slack = 1e-6 * (1.0 + 2.0 * n);
    const double information = total_information(total_.data(), 2);
    double least_distance = -1.0;
    bool has_skipped = false;
    for (std::ptrdiff_t p = first; p <= last; ++p) {
        pass(p);
        if (ranks[p] == ranks[p + 1]) continue;
        const double distance = low[1] - below * share;
        if (distance * distance < least_distance * (below * (n - below))) {
            has_skipped = true;
            continue;
        }
        const bool reaches_limit = p == last || ranks[last] == ranks[p + 1];
        if (!reaches_limit) {
            std::ptrdiff_t group = p;  // the first cut is preceded by everything so far
            if (p == first) group = 0;
            else
                while (ranks[group - 1] == ranks[p]) --group;
            const int left_label = label(group, p + 1);
            if (left_label != 0 && left_label == label_after(p + 1, last)) continue;
        }
        const double low_information = total_information(low, 2);
        if (low_information >= scan.best) return true;
        const double high[2] = {total_[0] - low[0], total_[1] - low[1]};
        const double left = low_information + total_information(high, 2);
        // As in `run`: might a cut that was skipped have ended the scan?
        if (has_skipped && left < scan.best && low_information + slack >= scan.best) return false;
        scan.offer(left, below, ranks[p], ranks[p + 1]);
        if (may_skip) least_distance = (information - slack - scan.best) * induction::kLn2 * share * (1.0 - share) / n;
    }
    return true;
}

}  // namespace

// Lists the node's cases with a known value in order of value, with their ranks, weights and classes; equal values keep
// the node's order.
void Splitter::sort_cases(const Column& column, const NodeView& node, SplitScratch& scratch) const {
    const auto make_room = [&](std::size_t n) {
        scratch.case_ranks.resize(n);
        scratch.weights.resize(n);
        scratch.sequence.resize(n);
    };
    const auto put = [&](std::size_t p, std::int32_t row, std::int32_t rank) {
        scratch.case_ranks[p] = rank;
        scratch.weights[p] = cases_.weight(row);
        scratch.sequence[p] = static_cast<std::uint16_t>(cases_.class_of(row));
    };
    // Walking through all rows in order of value is quicker than sorting a good part of them.
    if (node.is_sorted && !column.order.empty() && node.rows.size() * 8 >= column.order.size()) {
        auto& rows = scratch.sorted_rows;
        rows.resize(column.order.size() + 1);
        std::size_t n = 0;
        for (const std::int32_t row : column.order) {
            rows[n] = row;
            n += node.is_in_node[row];
        }
        make_room(n);
        for (std::size_t p = 0; p < n; ++p) put(p, rows[p], column.ranks[static_cast<std::size_t>(rows[p])]);
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
    make_room(keys.size());
    for (std::size_t p = 0; p < keys.size(); ++p)
        put(p, node.rows.first[keys[p] & 0xffffffffu], static_cast<std::int32_t>(keys[p] >> 32));
}

// Returns false if only a full scan finds the best cut.
bool Splitter::scan_weighted_bins(std::size_t index, const NodeView& node, double least_ratio, SplitScratch& scratch,
                                  CutScan& scan) const {
    if (!cases_.has_exact_sums || !node.is_counted(index)) return false;
    const auto& per_class = node.counts.per_class;
    CutScan found = scan;
    found.base = node.base;
    WeightedBinScan bins(cases_, cases_.matrix.column(index),
                         node.histograms->weights(node.histogram, index, scratch.sums),
                         {per_class[0] + per_class[1], per_class[1]}, node.rows, node.is_in_node,
                         cases_.smallest_side(scan.n_known), least_ratio, scratch.ranks, found);
    if (!bins.find()) return false;
    scan = found;
    return true;
}

void Splitter::scan_weighted(std::size_t index, const NodeView& node, double least_ratio, SplitScratch& scratch,
                             CutScan& scan) const {
    const Column& column = cases_.matrix.column(index);
    scan.n_all = node.weight;
    if (column.has_missing)
        for (const std::int32_t row : node.rows)
            if (column.ranks[static_cast<std::size_t>(row)] == kMissing) scan.n_unknown += cases_.weight(row);
    scan.n_known = scan.n_all - scan.n_unknown;
    if (scan.n_known < 2.0 * cases_.min_cases || scan_weighted_bins(index, node, least_ratio, scratch, scan)) return;
    sort_cases(column, node, scratch);
    if (scratch.case_ranks.size() < 2) return;
    WeightedScan cases(scratch, cases_.n_classes, cases_.smallest_side(scan.n_known));
    scan.base =
        scan.n_unknown > 0.0 ? total_information(cases.total().data(), cases_.n_classes) / scan.n_known : node.base;
    scan.lowest_rank = scratch.case_ranks.front();
    scan.highest_rank = scratch.case_ranks.back();
    const CutScan before = scan;
    const auto run = [&](bool may_skip) {
        return cases_.n_classes == 2 ? cases.run_two_classes(scan, may_skip)
                                     : cases.run(scan, may_skip, scratch.low, scratch.high);
    };
    if (run(true)) return;
    scan = before;
    run(false);
}

}  // namespace clausewise::c50
