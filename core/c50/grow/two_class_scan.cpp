// Cuts of a continuous column: unit weights, two classes.
#include "c50/grow/splitter.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "c50/bit_sets.hpp"
#include "c50/grow/bin_scan.hpp"
#include "c50/grow/radix_sort.hpp"

namespace clausewise::c50 {
namespace {

// Fewer rows are sorted faster than they are found in bins.
constexpr std::size_t kRowsForBins = 40;

}  // namespace

// One class is rare: by the skipping rule, only the cuts next to a group with a case of the rare class are evaluated
// (and the first and last), so only these are visited.
template <class NodeRanks>
void Splitter::scan_beside_rare(const NodeRanks& ranks, const Column& column, const NodeView& node,
                                SplitScratch& scratch, CutScan& scan) const {
    const auto total = static_cast<std::int32_t>(node.rows.size());
    const auto total_rare = static_cast<std::int32_t>(node.rare_rows.size());
    scan.lowest_rank = ranks.rank_at(0);
    scan.highest_rank = ranks.rank_at(total - 1);
    if (scan.lowest_rank == scan.highest_rank) return;
    const double side = cases_.smallest_side(scan.n_known);
    const std::int32_t last_end = total - static_cast<std::int32_t>(std::ceil(side));
    if (last_end < 1) return;
    const std::int32_t first_cut = ranks.rank_at(std::max(static_cast<std::int32_t>(std::ceil(side - 1e-5)) - 1, 0));
    if (ranks.cases_up_to(first_cut) > last_end) return;
    const std::int32_t last_cut = ranks.before(ranks.rank_at(last_end));
    scan.n_cuts = ranks.groups_up_to(last_cut) - ranks.groups_up_to(first_cut) + 1;

    // Groups with cases of the rare class: their ranks, and the number of such cases up to each.
    auto& keys = scratch.keys;
    keys.clear();
    for (const std::int32_t row : node.rare_rows)
        keys.push_back(static_cast<std::uint32_t>(column.ranks[static_cast<std::size_t>(row)]));
    sort_keys(keys, scratch.sorted, 0);
    auto& rare_rank = scratch.group_rank;
    auto& rare_up_to = scratch.group_end;
    rare_rank.clear();
    rare_up_to.clear();
    for (std::size_t i = 0; i < keys.size(); ++i) {
        if (i == 0 || keys[i] != keys[i - 1]) {
            rare_rank.push_back(static_cast<std::int32_t>(keys[i]));
            rare_up_to.push_back(0);
        }
        rare_up_to.back() = static_cast<std::int32_t>(i) + 1;
    }

    // A cut is identified by the rank to its left.
    auto& cuts = scratch.cuts;
    cuts.assign(1, first_cut);
    const std::int32_t limit = ranks.cases_up_to(last_cut) == last_end ? ranks.before(last_cut) : last_cut;
    const auto add = [&](std::int32_t cut) {
        if (cut > cuts.back()) cuts.push_back(cut);
    };
    for (const std::int32_t r : rare_rank) {
        if (r <= first_cut) continue;
        const std::int32_t left = ranks.before(r);
        if (left >= limit) break;
        add(left);
        if (r < limit) add(r);
    }
    add(limit);
    add(last_cut);

    const std::size_t n_rare_groups = rare_rank.size();
    const auto label = [](std::int32_t cases, std::int32_t rare) { return rare == 0 ? 1 : rare == cases ? 2 : 0; };
    const auto information = [&](std::int32_t cases, std::int32_t rare) {
        return information_[cases] - (information_[node.rare_class == 0 ? rare : cases - rare] +
                                      information_[node.rare_class == 0 ? cases - rare : rare]);
    };
    std::size_t g = 0;  // rare groups up to the cut
    for (const std::int32_t cut : cuts) {
        while (g < n_rare_groups && rare_rank[g] <= cut) ++g;
        const std::int32_t below = ranks.cases_up_to(cut), rare_below = g == 0 ? 0 : rare_up_to[g - 1];
        const std::int32_t right = ranks.after(cut), right_end = ranks.cases_up_to(right);
        if (right_end < last_end) {
            int left_label;
            if (cut == first_cut) {
                left_label = label(below, rare_below);
            } else {
                const std::int32_t left_start = ranks.cases_up_to(ranks.before(cut));
                const bool is_rare = g > 0 && rare_rank[g - 1] == cut;
                left_label = label(below - left_start, is_rare ? rare_below - (g > 1 ? rare_up_to[g - 2] : 0) : 0);
            }
            const bool right_is_rare = g < n_rare_groups && rare_rank[g] == right;
            const int right_label = label(right_end - below, right_is_rare ? rare_up_to[g] - rare_below : 0);
            if (left_label != 0 && left_label == right_label) continue;
        }
        const double low = information(below, rare_below);
        if (low >= scan.best) return;
        scan.offer(low + information(total - below, total_rare - rare_below), below, cut, right);
    }
}

// Scans the groups of equal value of one column, lowest first.
class Splitter::TwoClassScan {
public:
    TwoClassScan(const CountInformation& information, const NodeView& node, CutRange range, CutScan& scan)
        : information_(information),
          scan_(scan),
          total_(static_cast<std::int32_t>(node.rows.size())),
          total_first_(static_cast<std::int32_t>(node.counts.per_class[0])),
          range_(range) {}

    // A group of `n` cases, `n_first` of them of the first class. The cut before the group is evaluated now, as both
    // neighbouring groups are known.
    void add(std::int32_t rank, std::int32_t n, std::int32_t n_first) {
        const int right_label = label(n, n_first);
        if (end_ >= range_.first && end_ <= range_.last) {
            // The group to the left of the first cut is everything so far.
            const int left_label = scan_.n_cuts++ == 0 ? label(end_, first_) : label_;
            if (!is_decided_ && (left_label == 0 || left_label != right_label || end_ + n >= range_.last))
                evaluate(rank);
        } else if (end_ == 0) {
            scan_.lowest_rank = rank;
        }
        end_ += n;
        first_ += n_first;
        label_ = right_label;
        scan_.highest_rank = rank;
    }

private:
    static int label(std::int32_t n, std::int32_t n_first) { return n_first == n ? 1 : n_first == 0 ? 2 : 0; }
    void evaluate(std::int32_t rank) {
        const double low = information_[end_] - (information_[first_] + information_[end_ - first_]);
        if (low >= scan_.best) {  // no later cut can win, so they are only counted
            is_decided_ = true;
            return;
        }
        const std::int32_t above = total_ - end_, above_first = total_first_ - first_;
        const double high = information_[above] - (information_[above_first] + information_[above - above_first]);
        scan_.offer(low + high, end_, scan_.highest_rank, rank);
    }

    const CountInformation& information_;
    CutScan& scan_;
    const std::int32_t total_, total_first_;
    const CutRange range_;
    std::int32_t end_ = 0, first_ = 0;  // cases so far, and those of the first class
    int label_ = 0;                     // of the last group
    bool is_decided_ = false;
};

void Splitter::scan_all_groups(const Column& column, const NodeView& node, bool is_marked, SplitScratch& scratch,
                               CutScan& scan) const {
    TwoClassScan groups(information_, node, cut_range(node), scan);
    const std::int32_t* ranks = column.ranks.data();
    const std::uint16_t* classes = cases_.classes.data();
    const auto n_values = static_cast<std::size_t>(column.n_values);
    if (is_marked && column.is_mostly_unique) {
        // One bit per rank replaces sorting; only the few repeated ranks are sorted and merged in.
        auto& present = scratch.ranks.present;
        auto& of_first_class = scratch.of_first_class;
        auto& repeated = scratch.ranks.repeated;
        present.assign(words_for(n_values), 0);
        of_first_class.assign(present.size(), 0);
        repeated.clear();
        std::int32_t first_uncommon = 0;
        const std::int32_t n_common =
            visit_uncommon(column, node.rows, scratch.ranks.kept, [&](std::size_t r, std::int32_t row) {
                const auto is_first = static_cast<std::uint64_t>(classes[row] == 0);
                first_uncommon += static_cast<std::int32_t>(is_first);
                const std::uint64_t bit = std::uint64_t{1} << (r & 63);
                if (present[r >> 6] & bit) {
                    repeated.push_back(static_cast<std::int32_t>(r * 2 + is_first));
                    return;
                }
                present[r >> 6] |= bit;
                of_first_class[r >> 6] |= is_first << (r & 63);
            });
        std::sort(repeated.begin(), repeated.end());
        repeated.push_back(std::numeric_limits<std::int32_t>::max());
        const std::int32_t first_common = static_cast<std::int32_t>(node.counts.per_class[0]) - first_uncommon;
        if (n_common > 0)
            present[static_cast<std::size_t>(column.common_rank) >> 6] |= std::uint64_t{1} << (column.common_rank & 63);
        const std::int32_t* again = repeated.data();
        for (std::size_t w = 0; w < present.size(); ++w)
            for (std::uint64_t here = present[w]; here != 0; here &= here - 1) {
                const int bit = lowest_bit(here);
                const std::int32_t r = static_cast<std::int32_t>(w * 64) + bit;
                const bool is_common = r == column.common_rank;
                std::int32_t n = is_common ? n_common : 1;
                std::int32_t n_first =
                    is_common ? first_common : static_cast<std::int32_t>((of_first_class[w] >> bit) & 1);
                for (; *again >> 1 == r; ++again, ++n) n_first += *again & 1;
                groups.add(r, n, n_first);
            }
    } else if (is_marked) {
        auto& counts = scratch.class_counts;
        counts.assign(n_values * 2, 0);
        for (const std::int32_t row : node.rows) ++counts[static_cast<std::size_t>(ranks[row]) * 2 + classes[row]];
        for (std::size_t r = 0; r < n_values; ++r)
            if (const std::int32_t n = counts[2 * r] + counts[2 * r + 1])
                groups.add(static_cast<std::int32_t>(r), n, counts[2 * r]);
    } else {
        auto& keys = scratch.keys;
        keys.resize(node.rows.size());
        for (std::size_t i = 0; i < keys.size(); ++i) {
            const std::int32_t row = node.rows.first[i];
            keys[i] = static_cast<std::uint32_t>(ranks[row]) * 2 + classes[row];
        }
        sort_keys(keys, scratch.sorted, 1);
        for (std::size_t i = 0; i < keys.size();) {
            const std::uint32_t r = keys[i] >> 1;
            std::int32_t n = 0, n_first = 0;
            for (; i < keys.size() && keys[i] >> 1 == r; ++i, ++n) n_first += static_cast<std::int32_t>(~keys[i] & 1);
            groups.add(static_cast<std::int32_t>(r), n, n_first);
        }
    }
}

template <class Count>
void Splitter::scan_value_bins(const Column& column, const Count* counts, const NodeView& node, CutScan& scan) const {
    TwoClassScan groups(information_, node, cut_range(node), scan);
    for (std::size_t r = 0; r < column.n_bins(); ++r)
        if (counts[r] != 0)
            groups.add(static_cast<std::int32_t>(r), all_of(counts[r]), all_of(counts[r]) - second_of(counts[r]));
}

void Splitter::scan_two_classes(std::size_t index, const NodeView& node, double least_ratio, SplitScratch& scratch,
                                CutScan& scan) const {
    const Column& column = cases_.matrix.column(index);
    // Sorting is faster than marking if the node holds few of the column's values.
    const std::size_t few = column.is_mostly_unique ? 24 : 2;
    const bool is_marked = node.rows.size() * few >= static_cast<std::size_t>(column.n_values);
    const CutScan before = scan;
    if (node.is_counted(index) && column.has_value_bins) {
        node.with_counts(index, [&](const auto* counts) { scan_value_bins(column, counts, node, scan); });
    } else if (node.is_counted(index) && node.rows.size() >= kRowsForBins) {
        const bool is_found = node.with_counts(index, [&](const auto* counts) {
            return BinScan(column, counts, {node.rows, node.counts, node.is_in_node, cases_.classes.data()},
                           cut_range(node), least_ratio, information_, scratch.ranks, scan)
                .find();
        });
        if (!is_found) {
            scan = before;
            scan_all_groups(column, node, is_marked, scratch, scan);
        }
    } else if (node.rare_rows.size() > 0 && node.holds_all_rows)
        scan_beside_rare(WholeColumn(column), column, node, scratch, scan);
    else if (node.rare_rows.size() > 0 && is_marked && !column.is_mostly_unique)
        scan_beside_rare(CountedColumn(column, node.rows, node.other_rows, scratch.ranks), column, node, scratch, scan);
    else if (node.rare_rows.size() > 0 && is_marked)
        scan_beside_rare(MarkedColumn(column, node.rows, node.other_rows, scratch.ranks), column, node, scratch, scan);
    else scan_all_groups(column, node, is_marked, scratch, scan);
}

}  // namespace clausewise::c50
