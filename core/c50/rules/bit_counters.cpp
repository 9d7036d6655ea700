#include "c50/rules/bit_counters.hpp"

#include <algorithm>

namespace clausewise::c50 {
namespace {

CLAUSEWISE_CLONES
void add_to_plane(std::uint64_t* plane, std::uint64_t* carry, std::size_t n_words) {
    for (std::size_t w = 0; w < n_words; ++w) {
        const std::uint64_t before = plane[w];
        plane[w] = before ^ carry[w];
        carry[w] &= before;
    }
}

CLAUSEWISE_CLONES
void remove_from_plane(std::uint64_t* plane, std::uint64_t* borrow, std::size_t n_words) {
    for (std::size_t w = 0; w < n_words; ++w) {
        const std::uint64_t before = plane[w];
        plane[w] = before ^ borrow[w];
        borrow[w] &= ~before;
    }
}

CLAUSEWISE_CLONES
bool any_bit(const std::uint64_t* words, std::size_t n_words) {
    std::uint64_t any = 0;
    for (std::size_t w = 0; w < n_words; ++w) any |= words[w];
    return any != 0;
}

CLAUSEWISE_CLONES
void or_planes(std::uint64_t* target, const std::uint64_t* plane, std::size_t n_words) {
    for (std::size_t w = 0; w < n_words; ++w) target[w] |= plane[w];
}

// higher := lowest plane & within & ~higher planes: counters that are exactly 1.
CLAUSEWISE_CLONES
void keep_ones(std::uint64_t* higher, const std::uint64_t* lowest, const std::uint64_t* within, std::size_t n_words) {
    for (std::size_t w = 0; w < n_words; ++w) higher[w] = lowest[w] & within[w] & ~higher[w];
}

CLAUSEWISE_CLONES
PairCount count_absent(const std::uint64_t* absent_from, const std::uint64_t* marked, std::size_t n_words,
                       std::uint64_t last_mask) {
    PairCount count;
    for (std::size_t w = 0; w < n_words; ++w) {
        const std::uint64_t word = ~absent_from[w] & (w + 1 == n_words ? last_mask : ~std::uint64_t{0});
        count.first += count_bits(word);
        count.both += count_bits(word & marked[w]);
    }
    return count;
}

}  // namespace

void BitCounters::add(const Words& set) {
    carry_ = set;
    for (Words& plane : planes_) {
        add_to_plane(plane.data(), carry_.data(), n_words_);
        if (!any_bit(carry_.data(), n_words_)) return;
    }
    if (any_bit(carry_.data(), n_words_)) planes_.push_back(carry_);
}

void BitCounters::remove(const Words& set) {
    carry_ = set;
    for (Words& plane : planes_) {
        remove_from_plane(plane.data(), carry_.data(), n_words_);
        if (!any_bit(carry_.data(), n_words_)) return;
    }
}

Words BitCounters::zeros() const {
    Words any(n_words_, 0);
    for (const Words& plane : planes_) or_planes(any.data(), plane.data(), n_words_);
    for (auto& word : any) word = ~word;
    if (!any.empty()) any.back() &= last_mask_;
    return any;
}

SparseWords BitCounters::at_most_one() const {
    Words any(n_words_, 0);
    for (std::size_t p = 1; p < planes_.size(); ++p) or_planes(any.data(), planes_[p].data(), n_words_);
    if (!any.empty()) any.back() |= ~last_mask_;
    SparseWords found;
    for (std::size_t w = 0; w < n_words_; ++w)
        if (~any[w] != 0) found.add(w, ~any[w]);
    return found;
}

Words BitCounters::find_low(SparseWords& ones) const {
    ones.clear();
    Words any(n_words_, 0);
    for (std::size_t p = 1; p < planes_.size(); ++p) or_planes(any.data(), planes_[p].data(), n_words_);
    if (!planes_.empty()) {
        for (std::size_t w = 0; w < n_words_; ++w)
            if (const std::uint64_t one = planes_[0][w] & ~any[w]) ones.add(w, one);
        or_planes(any.data(), planes_[0].data(), n_words_);
    }
    return any;
}

void BitCounters::find_ones(SparseWords& ones) const { find_low(ones); }

PairCount BitCounters::count_zeros(const Words& marked, SparseWords& ones) const {
    const Words any = find_low(ones);
    return count_absent(any.data(), marked.data(), n_words_, last_mask_);
}

void BitCounters::find_ones(const Words& within, SparseWords& ones) {
    ones.clear();
    if (planes_.empty()) return;
    std::fill(carry_.begin(), carry_.end(), 0);
    for (std::size_t p = 1; p < planes_.size(); ++p) or_planes(carry_.data(), planes_[p].data(), n_words_);
    keep_ones(carry_.data(), planes_[0].data(), within.data(), n_words_);
    for (std::size_t w = 0; w < n_words_; ++w)
        if (carry_[w]) ones.add(w, carry_[w]);
}

}  // namespace clausewise::c50
