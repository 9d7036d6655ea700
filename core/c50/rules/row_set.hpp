// A set of training rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/bits.hpp"

namespace clausewise::c50 {

// Rows of the training data: a list if they are few, otherwise one bit per row.
class RowSet {
public:
    RowSet() = default;
    RowSet(Words words, std::size_t n_members) : n_members_(n_members) {
        if (n_members * 32 > words.size() * 64) {
            words_ = std::move(words);
            return;
        }
        rows_.reserve(n_members);
        for_each_bit(words.data(), words.size(),
                     [&](std::size_t row) { rows_.push_back(static_cast<std::int32_t>(row)); });
    }
    // From non-empty words and their indices below `n_words`, in ascending order.
    RowSet(const std::vector<std::pair<std::uint32_t, std::uint64_t>>& sparse, std::size_t n_members,
           std::size_t n_words)
        : n_members_(n_members) {
        if (n_members * 32 > n_words * 64) {
            words_.assign(n_words, 0);
            for (const auto& [place, word] : sparse) words_[place] = word;
            return;
        }
        rows_.reserve(n_members);
        for (const auto& [place, word] : sparse) {
            const auto first = static_cast<std::int32_t>(place * kWordBits);
            for_each_bit(&word, 1, [&](std::size_t bit) { rows_.push_back(first + static_cast<std::int32_t>(bit)); });
        }
    }
    explicit RowSet(std::vector<std::int32_t> rows) : n_members_(rows.size()), rows_(std::move(rows)) {}

    static RowSet of(Words words) {
        std::size_t n_members = 0;
        for (const std::uint64_t word : words) n_members += static_cast<std::size_t>(count_bits(word));
        return RowSet(std::move(words), n_members);
    }

    std::size_t size() const { return n_members_; }
    // In ascending order.
    template <class Visit>
    void for_each(Visit&& visit) const {
        for_each_bit(words_.data(), words_.size(), [&](std::size_t row) { visit(static_cast<std::int32_t>(row)); });
        for (const std::int32_t row : rows_) visit(row);
    }
    // The same for the members that are also in `other`.
    template <class Visit>
    void for_each_in(const Words& other, Visit&& visit) const {
        for (std::size_t w = 0; w < words_.size(); ++w) {
            const std::uint64_t word = words_[w] & other[w];
            for_each_bit(&word, 1, [&](std::size_t bit) { visit(static_cast<std::int32_t>(w * kWordBits + bit)); });
        }
        for (const std::int32_t row : rows_)
            if ((other[static_cast<std::size_t>(row) >> 6] >> (row & 63)) & 1) visit(row);
    }

private:
    std::size_t n_members_ = 0;
    Words words_;
    std::vector<std::int32_t> rows_;
};

}  // namespace clausewise::c50
