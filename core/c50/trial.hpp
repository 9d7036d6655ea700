// One classifier: a pruned tree, or the rules formed from it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "c50/cases.hpp"
#include "c50/information.hpp"
#include "c50/prune/pessimistic_errors.hpp"
#include "c50/prune/training_classifier.hpp"
#include "c50/rules/formed_rules.hpp"
#include "c50/tree.hpp"

namespace clausewise::c50 {

struct Options {
    bool rules = true;
    double min_cases = 2.0;
    float confidence = 0.25f;  // CF
    bool winnow = false;
    bool global_pruning = true;
    bool use_subsets = true;
    std::size_t n_trials = 1;
    bool early_stopping = true;
    bool fuzzy_thresholds = false;
    bool always_in_leaf_order = false;  // use the counting of large trees for any size; for tests, changes no result
    bool summary = true;                // compute Model::usage and the numbers of errors
};

// Wall-clock seconds of each stage of a fit, summed over its trials.
struct StageSeconds {
    double winnow = 0.0, grow = 0.0, prune = 0.0, form_rules = 0.0, select_rules = 0.0;
};

struct Classifier {
    Tree tree;                      // the pruned tree; nodes that node 0 does not reach are unused
    std::vector<FormedRule> rules;  // in C5.0's order
    std::int32_t default_label = 0;
    std::int64_t n_errors = 0;     // on the training cases
    double mean_confidence = 0.0;  // with which it votes on them
};

// A classifier that was just built, with what it says of the training cases.
struct Trial {
    Classifier classifier;
    std::vector<std::int32_t> rows;  // the row order of the rules' covers; empty if it is that of the matrix
    std::vector<Verdict> verdicts;   // per row

    bool is_trivial(bool has_rules) const {
        return classifier.tree[0].is_leaf() || (has_rules && classifier.rules.empty());
    }
};

// The number of leaves that are not empty.
std::size_t count_leaves(const Tree& tree);

// Builds trials, one after the other, from the same cases with their current weights.
class TrialBuilder {
public:
    TrialBuilder(Cases& cases, const Options& options, const PessimisticErrors& extra_errors,
                 const std::vector<bool>& in_use, std::size_t n_threads);

    // Grows the tree from `growing_rows` and uses all cases for everything else.
    Trial build(const std::vector<std::int32_t>& growing_rows);
    const StageSeconds& seconds() const { return seconds_; }

private:
    Tree pruned_tree(const std::vector<std::int32_t>& growing_rows);
    void form_rules(Trial& trial);
    void judge(Trial& trial);

    Cases& cases_;
    const Options& options_;
    const PessimisticErrors& extra_errors_;
    const std::vector<bool>& in_use_;
    std::size_t n_threads_;
    bool is_first_ = true;
    float leaf_ratio_ = 0.0f;           // leaves that later trees may have, per case
    std::vector<std::int32_t> n_cuts_;  // per column that the first tree tests: possible cuts
    LogFactorial log_factorial_;
    StageSeconds seconds_;
};

}  // namespace clausewise::c50
