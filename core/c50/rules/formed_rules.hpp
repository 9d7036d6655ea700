// Rules while they are formed and selected.
#pragma once

#include <cstdint>
#include <vector>

#include "c50/rules/row_set.hpp"

namespace clausewise::c50 {

enum class ConditionKind : std::uint8_t { at_most, above, equals, among };

struct Condition {
    std::int32_t column = -1;
    ConditionKind kind = ConditionKind::at_most;
    std::int32_t threshold_rank = 0;
    float threshold = 0.0f;
    std::vector<std::int32_t> values;  // discrete, ascending
    float bits = 0.0f;                 // its code length
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

struct FormedRules {
    std::vector<FormedRule> rules;
    std::vector<std::uint16_t> classes;  // of the rows, in the row order that the rules use
    std::vector<std::int32_t> rows;      // that order; empty if it is the order of the matrix
};

}  // namespace clausewise::c50
