// Rules while they are formed and selected.
#pragma once

#include <cstdint>
#include <vector>

#include "bit_sets.hpp"
#include "tree.hpp"

namespace clausewise {

enum class ConditionKind : std::uint8_t { at_most, above, equals, among };

struct Condition {
    std::int32_t column = -1;
    ConditionKind kind = ConditionKind::at_most;
    std::int32_t threshold_rank = 0;
    float threshold = 0.0f;
    std::vector<std::int32_t> values;  // discrete, ascending
    float bits = 0.0f;                 // to write it down
};

// Rows of the training data: a list when few, a bit each when many.
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
    explicit RowSet(std::vector<std::int32_t> rows) : n_members_(rows.size()), rows_(std::move(rows)) {}

    std::size_t size() const { return n_members_; }
    // In ascending order.
    template <class Visit>
    void for_each(Visit&& visit) const {
        for_each_bit(words_.data(), words_.size(), [&](std::size_t row) { visit(static_cast<std::int32_t>(row)); });
        for (const std::int32_t row : rows_) visit(row);
    }

private:
    std::size_t n_members_ = 0;
    Words words_;
    std::vector<std::int32_t> rows_;
};

struct FormedRule {
    std::int32_t label = 0;
    std::vector<Condition> conditions;
    float cover = 0.0f;
    float correct = 0.0f;
    float lift = 0.0f;
    std::int32_t vote = 0;  // per mille
    float bits = 0.0f;
    RowSet covered;
};

}  // namespace clausewise
