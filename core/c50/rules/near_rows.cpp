#include "c50/rules/near_rows.hpp"

#include <algorithm>

namespace clausewise::c50 {
namespace {

constexpr std::size_t kGroup = 8;
constexpr std::size_t kNoCondition = static_cast<std::size_t>(-1);

// Counts one more condition for eight blocks; `carry` are the rows that fail it. `n_planes` may leave out planes that
// no carry can reach yet.
inline void add(std::uint64_t* planes, std::size_t n_planes, std::uint64_t* carry) {
    for (std::size_t p = 0; p < n_planes; ++p, planes += kGroup)
        for (std::size_t i = 0; i < kGroup; ++i) {
            const std::uint64_t before = planes[i];
            planes[i] = before ^ carry[i];
            carry[i] &= before;
        }
}

inline void remove(std::uint64_t* planes, std::size_t n_planes, std::uint64_t* borrow) {
    for (std::size_t p = 0; p < n_planes; ++p, planes += kGroup)
        for (std::size_t i = 0; i < kGroup; ++i) {
            const std::uint64_t before = planes[i];
            planes[i] = before ^ borrow[i];
            borrow[i] &= ~before;
        }
}

// The rows of eight blocks whose counter is exactly 1.
inline void find_ones(const std::uint64_t* planes, std::size_t n_planes, std::uint64_t* ones) {
    std::uint64_t higher[kGroup] = {};
    for (std::size_t p = 1; p < n_planes; ++p)
        for (std::size_t i = 0; i < kGroup; ++i) higher[i] |= planes[p * kGroup + i];
    for (std::size_t i = 0; i < kGroup; ++i) ones[i] = planes[i] & ~higher[i];
}

CLAUSEWISE_CLONES
void add_conditions(std::uint64_t* planes, std::size_t n_planes, const std::uint32_t* blocks, std::size_t n_groups,
                    const FailedBy* conditions, std::size_t n_conditions, std::uint64_t* ones) {
    for (std::size_t g = 0; g < n_groups; ++g, planes += n_planes * kGroup, blocks += kGroup, ones += kGroup) {
        std::size_t n_reached = 2;
        for (std::size_t c = 0; c < n_conditions; ++c) {
            std::uint64_t carry[kGroup];
            for (std::size_t i = 0; i < kGroup; ++i) carry[i] = conditions[c].rows[blocks[i]];
            if ((c + 1) >> n_reached != 0) ++n_reached;
            add(planes, n_reached, carry);
        }
        find_ones(planes, n_planes, ones);
    }
}

CLAUSEWISE_CLONES
void remove_condition(std::uint64_t* planes, std::size_t n_planes, const std::uint32_t* blocks, std::size_t n_groups,
                      const std::uint64_t* condition, std::uint64_t* ones) {
    for (std::size_t g = 0; g < n_groups; ++g, planes += n_planes * kGroup, blocks += kGroup, ones += kGroup) {
        std::uint64_t borrow[kGroup], within[kGroup];
        for (std::size_t i = 0; i < kGroup; ++i) within[i] = borrow[i] = condition[blocks[i]];
        remove(planes, n_planes, borrow);
        find_ones(planes, n_planes, ones);
        for (std::size_t i = 0; i < kGroup; ++i) ones[i] &= within[i];
    }
}

CLAUSEWISE_CLONES
PairCount count_pairs(const std::uint64_t* words, const std::uint64_t* marked, std::size_t n_words) {
    PairCount count;
    for (std::size_t i = 0; i < n_words; ++i) {
        count.first += count_bits(words[i]);
        count.both += count_bits(words[i] & marked[i]);
    }
    return count;
}

}  // namespace

void NearRows::reset(std::size_t n_conditions, const LeafOrder& order, const Words& of_class) {
    order_ = &order;
    of_class_ = &of_class;
    n_planes_ = 2;  // padding counts 2 permanently
    while (n_conditions >> n_planes_ != 0) ++n_planes_;
    blocks_.clear();
    of_class_here_.clear();
    runs_.clear();
    planes_.clear();
    found_.counts.assign(n_conditions, PairCount{});
    found_.listed.clear();
}

void NearRows::include_blocks(const SparseWords& marked, const std::vector<std::size_t>& numbers,
                              const std::vector<FailedBy>& conditions) {
    const std::size_t n_before = blocks_.size(), n_runs_before = runs_.size();
    const auto add_blocks = [&](std::size_t word, std::uint64_t bits) {
        for_each_bit(&bits, 1,
                     [&](std::size_t bit) { blocks_.push_back(static_cast<std::uint32_t>(word * kWordBits + bit)); });
    };
    Words others = marked.words;
    for (std::size_t c = 0; c < conditions.size(); ++c) {
        const std::size_t first = blocks_.size();
        const std::uint64_t* const whole_blocks = conditions[c].whole_blocks->data();
        for (std::size_t i = 0; i < others.size(); ++i) {
            const std::uint64_t wholly = others[i] & whole_blocks[marked.places[i]];
            if (wholly == 0) continue;
            others[i] &= ~wholly;
            add_blocks(marked.places[i], wholly);
        }
        end_run(numbers[c], first);
    }
    const std::size_t first = blocks_.size();
    for (std::size_t i = 0; i < others.size(); ++i) add_blocks(marked.places[i], others[i]);
    while (blocks_.size() % kGroup != 0) blocks_.push_back(static_cast<std::uint32_t>(order_->n_blocks()));
    end_run(kNoCondition, first);
    const std::size_t n_groups = (blocks_.size() - n_before) / kGroup;
    if (n_groups == 0) return;

    of_class_here_.resize(blocks_.size());
    for (std::size_t i = n_before; i < blocks_.size(); ++i) of_class_here_[i] = (*of_class_)[blocks_[i]];
    planes_.resize(blocks_.size() * n_planes_, 0);
    const std::size_t last_block = order_->n_blocks() - 1;
    for (std::size_t i = n_before; i < blocks_.size(); ++i)
        if (blocks_[i] >= last_block)
            planes_[(i / kGroup * n_planes_ + 1) * kGroup + i % kGroup] = order_->padding(blocks_[i]);
    ones_.resize(blocks_.size());
    add_conditions(planes_.data() + n_before * n_planes_, n_planes_, blocks_.data() + n_before, n_groups,
                   conditions.data(), conditions.size(), ones_.data() + n_before);
    for (std::size_t i = n_runs_before; i < runs_.size(); ++i) note_ones(runs_[i]);
}

void NearRows::end_run(std::size_t condition, std::size_t first) {
    if (first != blocks_.size()) runs_.push_back({condition, first, blocks_.size()});
}

void NearRows::drop(std::size_t number, const std::uint64_t* rows) {
    remove_condition(planes_.data(), n_planes_, blocks_.data(), blocks_.size() / kGroup, rows, ones_.data());
    for (Run& run : runs_) {
        if (run.condition == number) run.condition = kNoCondition;
        note_ones(run);
    }
}

const NearRows::Found& NearRows::found() {
    is_found_new_ = false;
    return found_;
}

void NearRows::note_ones(const Run& run) {
    if (!is_found_new_) {
        std::fill(found_.counts.begin(), found_.counts.end(), PairCount{});
        found_.listed.clear();
        is_found_new_ = true;
    }
    if (run.condition != kNoCondition) {
        const PairCount more =
            count_pairs(ones_.data() + run.first, of_class_here_.data() + run.first, run.last - run.first);
        found_.counts[run.condition].first += more.first;
        found_.counts[run.condition].both += more.both;
        return;
    }
    for (std::size_t i = run.first; i < run.last; ++i)
        if (ones_[i] != 0) found_.listed.add(blocks_[i], ones_[i]);
}

template <class Visit>
void NearRows::for_each_zeros(Visit&& visit) const {
    for (const Run& run : runs_) {
        if (run.condition != kNoCondition) continue;
        for (std::size_t i = run.first; i < run.last; ++i) {
            std::uint64_t any = 0;
            for (std::size_t p = 0; p < n_planes_; ++p)
                any |= planes_[(i / kGroup * n_planes_ + p) * kGroup + i % kGroup];
            if (~any != 0) visit(blocks_[i], ~any);
        }
    }
}

PairCount NearRows::count_zeros() const {
    PairCount count;
    for_each_zeros([&](std::uint32_t block, std::uint64_t zeros) {
        count.first += count_bits(zeros);
        count.both += count_bits(zeros & (*of_class_)[block]);
    });
    return count;
}

std::vector<std::pair<std::uint32_t, std::uint64_t>> NearRows::zeros() const {
    std::vector<std::pair<std::uint32_t, std::uint64_t>> found;
    for_each_zeros([&](std::uint32_t block, std::uint64_t zeros) { found.emplace_back(block, zeros); });
    std::sort(found.begin(), found.end());
    return found;
}

}  // namespace clausewise::c50
