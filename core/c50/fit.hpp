// C5.0: winnow, then build one or more classifiers from cases whose weights change: grow, prune, form rules, select
// rules. Written from a description of its behaviour, not from its source.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "base/cancel.hpp"
#include "c50/cases.hpp"
#include "c50/trial.hpp"
#include "induction/matrix.hpp"

namespace clausewise::c50 {

// Why boosting ended before the requested number of trials.
enum class Stop : std::uint8_t { none, accurate, inaccurate };

struct Model {
    std::size_t n_classes = 0;
    std::vector<Classifier> trials;  // at least one
    Stop stop = Stop::none;
    bool is_abandoned = false;  // too few trials were left, so only the first one is kept
    std::int64_t n_errors = 0;  // of all trials together, on the training cases
    std::vector<bool> in_use;   // columns that winnowing kept
    std::vector<double> usage;  // per column; see usage.hpp
    StageSeconds seconds;
};

// What a fit learns from, apart from the matrix.
struct TrainingData {
    std::vector<std::uint16_t> classes;  // per row
    std::size_t n_classes;
    std::vector<float> weights;    // may be empty; missing and non-positive ones count as the mean
    std::vector<float> costs;      // may be empty
    std::vector<bool> is_ordered;  // per column, may be empty: are the categories ordered levels?
};

// Counts the trials built in `n_done`, if given.
Model fit(const Matrix& matrix, TrainingData data, const Options& options, std::size_t n_threads,
          const CancelToken& cancel, std::atomic<std::size_t>* n_done = nullptr);

}  // namespace clausewise::c50
