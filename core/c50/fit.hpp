// C5.0: winnow, grow, prune, form rules, select rules. Written from a description of its behaviour, not from its
// source.
#pragma once

#include <cstdint>
#include <vector>

#include "base/cancel.hpp"
#include "c50/cases.hpp"
#include "c50/rules/formed_rules.hpp"
#include "c50/tree.hpp"
#include "induction/matrix.hpp"

namespace clausewise::c50 {

struct Options {
    bool rules = true;
    double min_cases = 2.0;
    float confidence = 0.25f;  // CF
    bool winnow = false;
    bool global_pruning = true;
    bool use_subsets = true;
    bool always_in_leaf_order = false;  // use the counting of large trees for any size; for tests, changes no result
    bool usage = true;                  // compute Model::usage
};

// Wall-clock seconds of each stage of a fit.
struct StageSeconds {
    double winnow = 0.0, grow = 0.0, prune = 0.0, form_rules = 0.0, select_rules = 0.0;
};

struct Model {
    std::size_t n_classes = 0;
    Tree tree;  // the pruned tree; nodes that node 0 does not reach are unused
    std::vector<FormedRule> rules;
    std::int32_t default_label = 0;
    std::vector<bool> in_use;   // columns that winnowing kept
    std::vector<double> usage;  // per column; see usage.hpp
    StageSeconds seconds;
};

// `weights` may be empty; missing and non-positive ones count as the mean. `costs` may be empty.
Model fit(const Matrix& matrix, std::vector<std::uint16_t> classes, std::size_t n_classes,
          const std::vector<float>& weights, const std::vector<float>& costs, const Options& options,
          std::size_t n_threads, const CancelToken& cancel);

}  // namespace clausewise::c50
