// A rule set prepared for evaluation.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "coverage/chunk.hpp"
#include "coverage/direct.hpp"
#include "coverage/premises.hpp"

namespace clausewise::coverage {

// Chunks are grouped so that the tables of one group stay below `group_bytes`. A single group (nearly always) is built
// once and kept; several are built anew whenever they are used.
class RuleIndex {
public:
    RuleIndex(Premises premises, std::size_t group_bytes);

    const Premises& premises() const { return premises_; }
    std::size_t n_groups() const { return groups_.size(); }
    // The rules to compare one by one, if they are so few that this is faster than tables; else null.
    const DirectRules* direct() const { return direct_.get(); }

    // Calls use(chunks) with the tables of a group.
    template <class Use>
    void with_group(std::size_t group, std::size_t n_threads, Use&& use) const {
        if (groups_.size() == 1) use(kept_);
        else use(build_group(group, n_threads));
    }

private:
    struct Group {
        std::size_t first_chunk;
        std::size_t last_chunk;
    };

    std::vector<Chunk> build_group(std::size_t group, std::size_t n_threads) const;
    void divide_into_groups(std::size_t group_bytes);
    std::size_t max_table_bytes(std::size_t chunk) const;

    Premises premises_;
    std::vector<Group> groups_;
    std::vector<Chunk> kept_;
    std::unique_ptr<const DirectRules> direct_;
};

}  // namespace clausewise::coverage
