#include "coverage/rule_index.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/parallel.hpp"

namespace clausewise::coverage {

RuleIndex::RuleIndex(Premises premises, std::size_t group_bytes) : premises_(std::move(premises)) {
    premises_.check();
    direct_ = direct_rules(premises_);
    divide_into_groups(group_bytes);
    if (groups_.size() == 1) kept_ = build_group(0, 1);
}

std::vector<Chunk> RuleIndex::build_group(std::size_t group, std::size_t n_threads) const {
    const Group range = groups_[group];
    std::vector<Chunk> chunks(range.last_chunk - range.first_chunk);
    parallel_for(chunks.size(), n_threads, [&](std::size_t i, std::size_t) {
        const std::size_t first_rule = (range.first_chunk + i) * kMaxChunkRules;
        chunks[i] = build_chunk(premises_, first_rule, std::min(kMaxChunkRules, premises_.n_rules() - first_rule));
    });
    return chunks;
}

void RuleIndex::divide_into_groups(std::size_t group_bytes) {
    const std::size_t n_chunks = (premises_.n_rules() + kMaxChunkRules - 1) / kMaxChunkRules;
    std::size_t bytes = 0;
    groups_.push_back({0, 0});  // stays empty if there are no rules
    for (std::size_t chunk = 0; chunk < n_chunks; ++chunk) {
        const std::size_t more = max_table_bytes(chunk);
        if (bytes > 0 && bytes + more > group_bytes) {
            groups_.push_back({chunk, chunk});
            bytes = 0;
        }
        groups_.back().last_chunk = chunk + 1;
        bytes += more;
    }
}

// An upper bound on the size of a chunk's tables: every term brings two thresholds of its own.
std::size_t RuleIndex::max_table_bytes(std::size_t chunk) const {
    const std::size_t first_rule = chunk * kMaxChunkRules;
    const std::size_t n_rules = std::min(kMaxChunkRules, premises_.n_rules() - first_rule);
    const auto begin = static_cast<std::size_t>(premises_.starts[first_rule]);
    const auto end = static_cast<std::size_t>(premises_.starts[first_rule + n_rules]);
    std::vector<std::int32_t> tested(premises_.feature.begin() + static_cast<std::ptrdiff_t>(begin),
                                     premises_.feature.begin() + static_cast<std::ptrdiff_t>(end));
    std::sort(tested.begin(), tested.end());
    tested.erase(std::unique(tested.begin(), tested.end()), tested.end());
    std::size_t n_bins = 2 * (end - begin);
    for (const std::int32_t feature : tested)
        n_bins += 2 + static_cast<std::size_t>(std::max(0, premises_.n_categories[static_cast<std::size_t>(feature)]));
    constexpr std::size_t kSearchBytes = sizeof(double) + 32 * sizeof(std::uint16_t);
    return n_bins * (chunk_words(n_rules) * sizeof(std::uint64_t) + kSearchBytes);
}

}  // namespace clausewise::coverage
