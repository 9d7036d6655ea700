#include "c50/splitter.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "c50/bin_scan.hpp"
#include "c50/bit_sets.hpp"

namespace clausewise::c50 {
namespace {

// Fewer are sorted more quickly than they are found in bins.
constexpr std::size_t kRowsForBins = 40;

// A rank and a class in one word: sorting by the upper part puts the rows of a node in the order of a column.
// `class_bits` low bits carry the class and need no sorting.
template <class Key>
void sort_keys(std::vector<Key>& keys, std::vector<Key>& spare, unsigned class_bits) {
    if (keys.size() < 40) {
        std::sort(keys.begin(), keys.end());
        return;
    }
    const auto [smallest, greatest] = std::minmax_element(keys.begin(), keys.end());
    const Key offset = static_cast<Key>((*smallest >> class_bits) << class_bits);
    Key range = static_cast<Key>((*greatest - offset) >> class_bits);
    if (range == 0) return;
    // As few passes as there may be, with digits of the same length: fewer places to add up.
    const unsigned most = keys.size() < 1500 ? 8 : 11, n_bits = static_cast<unsigned>(highest_bit(range)) + 1;
    const unsigned n_passes = (n_bits + most - 1) / most, digit = (n_bits + n_passes - 1) / n_passes;
    const Key mask = static_cast<Key>((Key{1} << digit) - 1);
    std::array<std::uint32_t, 2048> count;
    spare.resize(keys.size());
    for (unsigned shift = class_bits; range != 0; shift += digit, range = static_cast<Key>(range >> digit)) {
        std::fill_n(count.begin(), mask + 1, 0u);
        for (const Key key : keys) ++count[((key - offset) >> shift) & mask];
        std::uint32_t total = 0;
        for (std::size_t i = 0; i <= mask; ++i) {
            const std::uint32_t here = count[i];
            count[i] = total;
            total += here;
        }
        for (const Key key : keys) spare[count[((key - offset) >> shift) & mask]++] = key;
        keys.swap(spare);
    }
}

// −z·lg(z/n): the share of a part in the information of a division.
double part_information(double z, double n) { return z <= 0.0 ? 0.0 : -z * lg(z / n); }

}  // namespace

Split Splitter::evaluate(std::size_t column, const NodeView& node, double least_ratio, SplitScratch& scratch) const {
    const Column& data = cases_.matrix.column(column);
    if (!data.is_usable()) return {};
    return data.is_discrete ? discrete(column, node, scratch) : continuous(column, node, least_ratio, scratch);
}

// Both sides of a cut hold at least this weight: min_cases, or a tenth of the cases per class up to 25.
double Splitter::smallest_side(double n_known) const {
    const double side = std::min(25.0, 0.10 * n_known / static_cast<double>(cases_.n_classes));
    return std::max<double>(side, cases_.min_cases);
}

CutRange Splitter::cut_range(const NodeView& node) const {
    const double side = smallest_side(node.counts.total);
    return {std::max(static_cast<std::int32_t>(std::ceil(side - 1e-5)), 1),
            static_cast<std::int32_t>(node.rows.size()) - static_cast<std::int32_t>(std::ceil(side))};
}

// Unit weights, two classes, one of them rare: by the skipping rule only cuts beside a group that holds a case of the
// rare class are evaluated (and the first and last), so only these are visited.
template <class Place>
void Splitter::scan_beside_rare(const Place& place, const Column& column, const NodeView& node, SplitScratch& scratch,
                                CutScan& scan) const {
    const auto total = static_cast<std::int32_t>(node.rows.size());
    const auto total_rare = static_cast<std::int32_t>(node.rare_rows.size());
    scan.lowest_rank = place.rank_at(0);
    scan.highest_rank = place.rank_at(total - 1);
    if (scan.lowest_rank == scan.highest_rank) return;
    const double side = smallest_side(scan.n_known);
    const std::int32_t last_end = total - static_cast<std::int32_t>(std::ceil(side));
    if (last_end < 1) return;
    const std::int32_t first_cut = place.rank_at(std::max(static_cast<std::int32_t>(std::ceil(side - 1e-5)) - 1, 0));
    if (place.cases_up_to(first_cut) > last_end) return;
    const std::int32_t last_cut = place.before(place.rank_at(last_end));
    scan.n_cuts = place.groups_up_to(last_cut) - place.groups_up_to(first_cut) + 1;

    // Groups with cases of the rare class: their ranks, and how many such cases there are up to each.
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

    // A cut is named by the rank to its left.
    auto& cuts = scratch.cuts;
    cuts.assign(1, first_cut);
    const std::int32_t limit = place.cases_up_to(last_cut) == last_end ? place.before(last_cut) : last_cut;
    const auto add = [&](std::int32_t cut) {
        if (cut > cuts.back()) cuts.push_back(cut);
    };
    for (const std::int32_t r : rare_rank) {
        if (r <= first_cut) continue;
        const std::int32_t left = place.before(r);
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
        const std::int32_t below = place.cases_up_to(cut), rare_below = g == 0 ? 0 : rare_up_to[g - 1];
        const std::int32_t right = place.after(cut), right_end = place.cases_up_to(right);
        if (right_end < last_end) {
            int left_label;
            if (cut == first_cut) {
                left_label = label(below, rare_below);
            } else {
                const std::int32_t left_start = place.cases_up_to(place.before(cut));
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

// Follows the groups of equal value of one column, lowest first: unit weights, two classes.
class Splitter::TwoClassScan {
public:
    TwoClassScan(const CountInformation& information, const NodeView& node, CutRange range, CutScan& scan)
        : information_(information),
          scan_(scan),
          total_(static_cast<std::int32_t>(node.rows.size())),
          total_first_(static_cast<std::int32_t>(node.counts.per_class[0])),
          range_(range) {}

    // A group of `n` cases, `n_first` of them of the first class. The cut before it is judged now, when both of the
    // groups beside it are known.
    void add(std::int32_t rank, std::int32_t n, std::int32_t n_first) {
        const int right_label = label(n, n_first);
        if (end_ >= range_.first && end_ <= range_.last) {
            // The block to the left of the first cut is everything so far.
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
        if (low >= scan_.best) {  // no later cut can win; they are only counted
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

void Splitter::scan_two_classes(const Column& column, const NodeView& node, bool is_marked, SplitScratch& scratch,
                                CutScan& scan) const {
    TwoClassScan groups(information_, node, cut_range(node), scan);
    const std::int32_t* ranks = column.ranks.data();
    const std::uint16_t* classes = cases_.classes.data();
    const auto n_values = static_cast<std::size_t>(column.n_values);
    if (is_marked && column.is_mostly_unique) {
        // Marks in a bit per rank replace sorting; the few ranks met again are sorted and join in.
        auto& present = scratch.place.present;
        auto& of_first_class = scratch.of_first_class;
        auto& repeated = scratch.place.repeated;
        present.assign(words_for(n_values), 0);
        of_first_class.assign(present.size(), 0);
        repeated.clear();
        std::int32_t first_uncommon = 0;
        const std::int32_t n_common =
            visit_uncommon(column, node.rows, scratch.place.kept, [&](std::size_t r, std::int32_t row) {
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

Split Splitter::continuous(std::size_t index, const NodeView& node, double least_ratio, SplitScratch& scratch) const {
    const Column& column = cases_.matrix.column(index);
    CutScan scan;
    scan.n_all = node.counts.total;
    if (!cases_.has_unit_weights()) {
        scan_weighted(column, node, scratch, scan);
    } else {
        scan.n_known = scan.n_all;
        scan.base = node.base;
        if (scan.n_known < 2.0 * cases_.min_cases) return {};
        if (cases_.n_classes > 2) {
            scan_many_classes(column, node, scratch, scan);
        } else {
            // Sorting is quicker than marking where the node holds few of the column's values.
            const std::size_t few = column.is_mostly_unique ? 24 : 2;
            const bool is_marked = node.rows.size() * few >= static_cast<std::size_t>(column.n_values);
            const CutScan before = scan;
            if (node.is_counted(index) && column.has_value_bins) {
                node.with_counts(index, [&](const auto* counts) { scan_value_bins(column, counts, node, scan); });
            } else if (node.is_counted(index) && node.rows.size() >= kRowsForBins) {
                const bool is_found = node.with_counts(index, [&](const auto* counts) {
                    return BinScan(column, counts, {node.rows, node.counts, node.is_here, cases_.classes.data()},
                                   cut_range(node), least_ratio, information_, scratch.place, scan)
                        .find();
                });
                if (!is_found) {
                    scan = before;
                    scan_two_classes(column, node, is_marked, scratch, scan);
                }
            } else if (node.rare_rows.size() > 0 && node.holds_all_rows)
                scan_beside_rare(WholeColumn(column), column, node, scratch, scan);
            else if (node.rare_rows.size() > 0 && is_marked && !column.is_mostly_unique)
                scan_beside_rare(CountedColumn(column, node.rows, node.other_rows, scratch.place), column, node,
                                 scratch, scan);
            else if (node.rare_rows.size() > 0 && is_marked)
                scan_beside_rare(MarkedColumn(column, node.rows, node.other_rows, scratch.place), column, node, scratch,
                                 scan);
            else scan_two_classes(column, node, is_marked, scratch, scan);
        }
    }
    if (scan.best >= kNoCut || scan.is_excluded) return {};

    const double known_share = scan.n_known / scan.n_all;
    double gain = (1.0 - (1.0 - known_share)) * (scan.base - scan.best / scan.n_known);
    if (gain <= 0.0) return {};
    const auto value = [&](std::int32_t rank) { return column.values[static_cast<std::size_t>(rank)]; };
    const float left = value(scan.rank_below), right = value(scan.rank_above);
    const float range_per_gap = (value(scan.highest_rank) - value(scan.lowest_rank)) / (right - left);
    const double n_cuts = static_cast<double>(scan.n_cuts);
    gain -= lg(range_per_gap < n_cuts ? static_cast<double>(range_per_gap) : n_cuts) / scan.n_all;
    if (gain <= 0.0) return {};

    Split split;
    split.gain = static_cast<float>(gain);
    split.information = static_cast<float>((part_information(scan.n_unknown, scan.n_all) +
                                            part_information(scan.weight_below, scan.n_all) +
                                            part_information(scan.n_known - scan.weight_below, scan.n_all)) /
                                           scan.n_all);
    split.test.kind = TestKind::threshold;
    split.test.column = static_cast<std::int32_t>(index);
    split.test.n_branches = 2;
    float middle = static_cast<float>(0.5 * static_cast<double>(left + right));
    if (middle >= right) middle = left;
    split.test.threshold = middle;
    split.test.threshold_rank = column.rank_at_most(middle);
    return split;
}

// Unit weights, any number of classes.
void Splitter::scan_many_classes(const Column& column, const NodeView& node, SplitScratch& scratch,
                                 CutScan& scan) const {
    const std::size_t n = node.rows.size(), n_classes = cases_.n_classes;
    const std::int32_t* ranks = column.ranks.data();
    const std::uint16_t* classes = cases_.classes.data();
    auto& rank = scratch.group_rank;
    auto& end = scratch.group_end;
    auto& sequence = scratch.sequence;  // classes of the cases, in order of value
    rank.clear();
    end.clear();
    sequence.resize(n);
    const auto n_values = static_cast<std::size_t>(column.n_values);
    if (n_values * n_classes <= 2 * n) {
        auto& counts = scratch.class_counts;
        counts.assign(n_values * n_classes, 0);
        for (const std::int32_t row : node.rows)
            ++counts[static_cast<std::size_t>(ranks[row]) * n_classes + classes[row]];
        std::size_t position = 0;
        for (std::size_t r = 0; r < n_values; ++r) {
            const std::size_t before = position;
            for (std::size_t c = 0; c < n_classes; ++c)
                for (std::int32_t i = counts[r * n_classes + c]; i > 0; --i)
                    sequence[position++] = static_cast<std::uint16_t>(c);
            if (position == before) continue;
            rank.push_back(static_cast<std::int32_t>(r));
            end.push_back(static_cast<std::int32_t>(position));
        }
    } else {
        auto& keys = scratch.wide_keys;
        keys.resize(n);
        for (std::size_t i = 0; i < n; ++i) {
            const std::int32_t row = node.rows.first[i];
            keys[i] = static_cast<std::uint64_t>(ranks[row]) << 16 | classes[row];
        }
        sort_keys(keys, scratch.wide_sorted, 16);
        for (std::size_t i = 0; i < n; ++i) {
            const auto r = static_cast<std::int32_t>(keys[i] >> 16);
            sequence[i] = static_cast<std::uint16_t>(keys[i] & 0xffff);
            if (!rank.empty() && rank.back() == r) {
                end.back() = static_cast<std::int32_t>(i) + 1;
            } else {
                rank.push_back(r);
                end.push_back(static_cast<std::int32_t>(i) + 1);
            }
        }
    }
    const std::size_t n_groups = rank.size();
    if (n_groups < 2) return;
    scan.lowest_rank = rank[0];
    scan.highest_rank = rank[n_groups - 1];

    const double side = smallest_side(scan.n_known);
    const auto total = static_cast<std::int32_t>(n);
    const std::int32_t last_end = total - static_cast<std::int32_t>(std::ceil(side));
    std::size_t g = 0;
    while (g < n_groups && end[g] < side - 1e-5) ++g;
    if (g >= n_groups || end[g] > last_end) return;

    auto& low = scratch.low_count;
    auto& high = scratch.high_count;
    low.assign(n_classes, 0);
    high.resize(n_classes);
    for (std::size_t c = 0; c < n_classes; ++c) high[c] = static_cast<std::int32_t>(node.counts.per_class[c]);
    // Running sums of n·lg(n) over the classes tell, up to `slack`, what the exact sums would be: most cuts are seen
    // to be worse than the best one without adding up all classes.
    double low_parts = 0.0, high_parts = 0.0;
    for (std::size_t c = 0; c < n_classes; ++c) high_parts += information_[high[c]];
    const double slack = 1e-9 + 1e-15 * static_cast<double>(n) * information_[total];
    const auto pass = [&](std::int32_t from, std::int32_t to) {
        for (std::int32_t i = from; i < to; ++i) {
            const std::size_t c = sequence[static_cast<std::size_t>(i)];
            low_parts -= information_[low[c]];
            high_parts -= information_[high[c]];
            low_parts += information_[++low[c]];
            high_parts += information_[--high[c]];
        }
    };
    const auto label = [&](std::int32_t from, std::int32_t to) -> int {
        const std::uint16_t c = sequence[static_cast<std::size_t>(from)];
        for (std::int32_t i = from + 1; i < to; ++i)
            if (sequence[static_cast<std::size_t>(i)] != c) return 0;
        return c + 1;
    };
    const auto exact = [&](const std::vector<std::int32_t>& counts, std::int32_t cases) {
        double parts = 0.0;
        for (const std::int32_t count : counts) parts += information_[count];
        return information_[cases] - parts;
    };
    pass(0, end[g]);
    int left_label = label(0, end[g]);
    for (; end[g] <= last_end; ++g) {
        ++scan.n_cuts;
        const int right_label = label(end[g], end[g + 1]);
        if (left_label == 0 || left_label != right_label || end[g + 1] >= last_end) {
            const std::int32_t below = end[g];
            const double low_estimate = information_[below] - low_parts;
            const double estimate = low_estimate + information_[total - below] - high_parts;
            if (low_estimate + slack >= scan.best || estimate - slack < scan.best) {
                const double low_information = exact(low, below);
                if (low_information >= scan.best) {
                    for (++g; end[g] <= last_end; ++g) ++scan.n_cuts;
                    return;
                }
                scan.offer(low_information + exact(high, total - below), below, rank[g], rank[g + 1]);
            }
        }
        left_label = right_label;
        pass(end[g], end[g + 1]);
    }
}

// Any weights and missing values: case by case, in double precision.
void Splitter::scan_weighted(const Column& column, const NodeView& node, SplitScratch& scratch, CutScan& scan) const {
    const std::size_t n_classes = cases_.n_classes;
    // The position of the row in the node makes keys distinct, so that the order of equal values is the node's order.
    auto& keys = scratch.wide_keys;
    keys.clear();
    for (std::size_t i = 0; i < node.rows.size(); ++i) {
        const std::int32_t rank = column.ranks[static_cast<std::size_t>(node.rows.first[i])];
        if (rank == kMissing) scan.n_unknown += cases_.weight(node.rows.first[i]);
        else keys.push_back(static_cast<std::uint64_t>(rank) << 32 | i);
    }
    scan.n_known = scan.n_all - scan.n_unknown;
    if (scan.n_known < 2.0 * cases_.min_cases || keys.size() < 2) return;
    sort_keys(keys, scratch.wide_sorted, 32);

    const std::size_t n = keys.size();
    const auto rank_at = [&](std::size_t p) { return static_cast<std::int32_t>(keys[p] >> 32); };
    const auto row_at = [&](std::size_t p) { return node.rows.first[keys[p] & 0xffffffffu]; };
    auto& weights = scratch.weights;
    auto& sequence = scratch.sequence;
    weights.resize(n);
    sequence.resize(n);
    auto& low = scratch.low;
    auto& high = scratch.high;
    std::vector<double> total(n_classes, 0.0);
    low.assign(n_classes, 0.0);
    high.assign(n_classes, 0.0);
    for (std::size_t p = 0; p < n; ++p) {
        weights[p] = cases_.weight(row_at(p));
        sequence[p] = static_cast<std::uint16_t>(cases_.class_of(row_at(p)));
        total[sequence[p]] += weights[p];
    }
    scan.base = scan.n_unknown > 0.0 ? total_information(total.data(), n_classes) / scan.n_known : node.base;
    scan.lowest_rank = rank_at(0);
    scan.highest_rank = rank_at(n - 1);

    const double side = smallest_side(scan.n_known);
    std::ptrdiff_t last = static_cast<std::ptrdiff_t>(n) - 1;
    for (double above = 0.0; last >= 0 && above < side; --last) above += weights[static_cast<std::size_t>(last)];
    std::ptrdiff_t p = 0;
    const auto is_cut = [&](std::ptrdiff_t at) {
        return rank_at(static_cast<std::size_t>(at)) != rank_at(static_cast<std::size_t>(at) + 1);
    };
    double below = 0.0;
    const auto pass = [&](std::ptrdiff_t at) {
        const auto i = static_cast<std::size_t>(at);
        below += weights[i];
        low[sequence[i]] += weights[i];
    };
    while (p <= last && (below + weights[static_cast<std::size_t>(p)] < side - 1e-5 || !is_cut(p))) pass(p++);
    if (p > last) return;

    const auto label = [&](std::ptrdiff_t from, std::ptrdiff_t to) -> int {
        const std::uint16_t c = sequence[static_cast<std::size_t>(from)];
        for (std::ptrdiff_t i = from + 1; i < to; ++i)
            if (sequence[static_cast<std::size_t>(i)] != c) return 0;
        return c + 1;
    };
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
        const bool reaches_limit =
            p == last || rank_at(static_cast<std::size_t>(last)) == rank_at(static_cast<std::size_t>(p) + 1);
        if (left_label == 0 || left_label != right_label || reaches_limit) {
            const double low_information = total_information(low.data(), n_classes);
            if (low_information >= scan.best) {
                for (++p; p <= last; ++p) scan.n_cuts += is_cut(p);
                return;
            }
            for (std::size_t c = 0; c < n_classes; ++c) high[c] = total[c] - low[c];
            scan.offer(low_information + total_information(high.data(), n_classes), below,
                       rank_at(static_cast<std::size_t>(p)), rank_at(static_cast<std::size_t>(p) + 1));
        }
        left_label = right_label;
        ++p;
    }
}

}  // namespace clausewise::c50
