#include "compact/row_groups.hpp"

#include <algorithm>

#include "base/bits.hpp"

namespace clausewise::compact {
namespace {

// The same pairs, listed by their second member.
IndexLists inverted(const IndexLists& listed, std::size_t n_keys, std::size_t n_others) {
    IndexLists other{std::vector<std::uint32_t>(n_others + 1), std::vector<std::uint32_t>(listed.entries.size())};
    for (const std::uint32_t entry : listed.entries) ++other.starts[entry + 1];
    for (std::size_t i = 0; i < n_others; ++i) other.starts[i + 1] += other.starts[i];
    std::vector<std::uint32_t> next(other.starts.begin(), other.starts.end() - 1);
    for (std::size_t key = 0; key < n_keys; ++key)
        for (const std::uint32_t* entry = listed.begin(key); entry < listed.end(key); ++entry)
            other.entries[next[*entry]++] = static_cast<std::uint32_t>(key);
    return other;
}

// Per row, which rules fire: n_rows × words_for(n_rules).
std::vector<std::uint64_t> by_row(const FiredBits& fired) {
    const std::size_t n_words = words_for(fired.n_rows), n_parts = words_for(fired.n_rules);
    std::vector<std::uint64_t> patterns(fired.n_rows * n_parts);
    std::uint64_t square[64];
    for (std::size_t part = 0; part < n_parts; ++part) {
        const std::size_t first = part * 64, n = std::min<std::size_t>(64, fired.n_rules - first);
        for (std::size_t w = 0; w < n_words; ++w) {
            for (std::size_t r = 0; r < 64; ++r) square[r] = r < n ? fired.words[(first + r) * n_words + w] : 0;
            transpose_64x64(square);
            const std::size_t n_here = std::min<std::size_t>(64, fired.n_rows - 64 * w);
            for (std::size_t i = 0; i < n_here; ++i) patterns[(64 * w + i) * n_parts + part] = square[i];
        }
    }
    return patterns;
}

std::uint64_t mix(std::uint64_t hash) {
    hash ^= hash >> 32;
    hash *= 0xd6e8feb86659fd93u;
    return hash ^ hash >> 32;
}

}  // namespace

RowGroups one_group_per_row(const FiredBits& fired, const double* target, const double* row_weight,
                            const double* offset) {
    const std::size_t n_words = words_for(fired.n_rows);
    RowGroups groups;
    groups.weight.assign(row_weight, row_weight + fired.n_rows);
    groups.offset.assign(offset, offset + fired.n_rows);
    groups.positive.resize(fired.n_rows);
    groups.group_of_row.resize(fired.n_rows);
    for (std::size_t row = 0; row < fired.n_rows; ++row) {
        groups.positive[row] = row_weight[row] * target[row];
        groups.group_of_row[row] = static_cast<std::uint32_t>(row);
    }
    groups.groups_of_rule.starts.push_back(0);
    for (std::size_t rule = 0; rule < fired.n_rules; ++rule) {
        auto& rows = groups.groups_of_rule.entries;
        for_each_bit(fired.words + rule * n_words, n_words,
                     [&](std::size_t row) { rows.push_back(static_cast<std::uint32_t>(row)); });
        groups.groups_of_rule.starts.push_back(static_cast<std::uint32_t>(rows.size()));
    }
    groups.rules_of_group = inverted(groups.groups_of_rule, fired.n_rules, fired.n_rows);
    return groups;
}

RowGroups group_rows(const FiredBits& fired, const double* target, const double* row_weight) {
    const std::size_t n_parts = words_for(fired.n_rules);
    const std::vector<std::uint64_t> patterns = by_row(fired);
    RowGroups groups;
    groups.group_of_row.resize(fired.n_rows);
    groups.rules_of_group.starts.push_back(0);
    // A hash table with open addressing, at most half full; an entry is a row of the group plus one, or 0.
    std::size_t n_places = 16;
    while (n_places < 2 * fired.n_rows) n_places *= 2;
    std::vector<std::uint32_t> table(n_places);
    for (std::size_t row = 0; row < fired.n_rows; ++row) {
        const std::uint64_t* const own = patterns.data() + row * n_parts;
        std::uint64_t hash = 0;
        for (std::size_t p = 0; p < n_parts; ++p) hash = mix(hash ^ own[p]) + p;
        std::size_t place = hash & (n_places - 1);
        while (table[place] != 0 && !std::equal(own, own + n_parts, patterns.data() + (table[place] - 1) * n_parts))
            place = (place + 1) & (n_places - 1);
        if (table[place] == 0) {
            table[place] = static_cast<std::uint32_t>(row + 1);
            groups.group_of_row[row] = static_cast<std::uint32_t>(groups.size());
            groups.weight.push_back(0.0);
            groups.positive.push_back(0.0);
            auto& rules = groups.rules_of_group.entries;
            for_each_bit(own, n_parts, [&](std::size_t rule) { rules.push_back(static_cast<std::uint32_t>(rule)); });
            groups.rules_of_group.starts.push_back(static_cast<std::uint32_t>(rules.size()));
        }
        const std::uint32_t group = groups.group_of_row[table[place] - 1];
        groups.group_of_row[row] = group;
        groups.weight[group] += row_weight[row];
        groups.positive[group] += row_weight[row] * target[row];
    }
    groups.groups_of_rule = inverted(groups.rules_of_group, groups.size(), fired.n_rules);
    return groups;
}

}  // namespace clausewise::compact
