// C5.0's decision trees, as they are grown, pruned and turned into rules.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace clausewise::c50 {

enum class TestKind : std::uint8_t { leaf, threshold, multiway, subset };

// A missing value follows every branch. A known value that cannot arrive at a test has no branch: it ends there.
inline constexpr std::int32_t kMissingBranch = -1, kNoBranch = -2;

// Between `low` and `high` a threshold is not crisp: a row follows both branches, each with a share.
struct SoftBounds {
    float low = 0.0f, middle = 0.0f, high = 0.0f;
    bool is_set = false;
};

// A test of one column. A threshold test has the branches 0 ("≤") and 1 (">"). A multiway test has one branch per
// declared value after branch 0, which means "not applicable" in C5.0 and stays empty. A subset test has one branch per
// set of values; values that did not occur at the node share the last one. A test of an ordered column is a subset test
// with the levels up to a cut and those above it.
struct Test {
    TestKind kind = TestKind::leaf;
    std::int32_t column = -1;
    std::int32_t n_branches = 0;
    std::int32_t threshold_rank = 0;            // rows with a rank up to this one take branch 0
    float threshold = 0.0f;                     // the midpoint while growing; snapped to a training value at the end
    SoftBounds bounds;                          // of a fuzzy threshold
    bool is_ordered = false;                    // subset: of the levels of an ordered column
    bool is_merged = false;                     // subset: a multiway test before its branches were merged
    std::vector<std::int32_t> branch_of_value;  // discrete: the branch of each declared value, or kNoBranch

    // The branch of a rank or code; kMissing gives kMissingBranch.
    std::int32_t branch_of(std::int32_t rank) const {
        if (rank < 0) return kMissingBranch;
        if (kind == TestKind::threshold) return rank > threshold_rank;
        return branch_of_value[static_cast<std::size_t>(rank)];
    }
};

struct Node {
    Test test;
    std::int32_t label = 0;              // the class this node would predict
    float size = 0.0f;                   // weight of the training cases here
    float errors = 0.0f;                 // of the subtree on the training cases
    std::int32_t n_leaves = 1;           // maintained by global pruning
    std::vector<float> distribution;     // weight per class
    std::vector<std::int32_t> children;  // one node per branch

    bool is_leaf() const { return test.kind == TestKind::leaf; }
    void make_leaf() {
        test = Test{};
        children.clear();
    }
};

// Nodes refer to each other by number; node 0 is the root. Replaced subtrees stay in the array, unreferenced.
struct Tree {
    std::vector<Node> nodes;

    Node& operator[](std::int32_t id) { return nodes[static_cast<std::size_t>(id)]; }
    const Node& operator[](std::int32_t id) const { return nodes[static_cast<std::size_t>(id)]; }
    std::int32_t add(Node node) {
        nodes.push_back(std::move(node));
        return static_cast<std::int32_t>(nodes.size()) - 1;
    }
};

}  // namespace clausewise::c50
