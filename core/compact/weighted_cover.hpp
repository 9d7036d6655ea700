// Weighted counts of the rows on which rules fire.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/cancel.hpp"

namespace clausewise::compact {

// Bits of rules over rows: rule r has the words [r * n_words, (r + 1) * n_words).
struct FiredBits {
    const std::uint64_t* words;
    std::size_t n_rules;
    std::size_t n_rows;
};

// Σ row_weight over the rows on which each rule fires.
std::vector<double> weighted_cover(const FiredBits& fired, const double* row_weight, const CancelToken& cancel);

// Σ row_weight over the rows on which both fire, for every pair of a rule of `a` and a rule of `b`.
std::vector<double> weighted_overlap(const FiredBits& a, const FiredBits& b, const double* row_weight,
                                     const CancelToken& cancel);

// Σ values over the rows on which each rule fires, for every column of a table (rows × columns); rules × columns.
std::vector<double> column_sums(const FiredBits& fired, const double* values, std::size_t n_columns,
                                const CancelToken& cancel);

// Σ v v' over the rows v of a table on which each rule fires; rules × columns × columns.
std::vector<double> product_sums(const FiredBits& fired, const double* values, std::size_t n_columns,
                                 const CancelToken& cancel);

// Σ weight of the rules that fire, for every row.
std::vector<double> weighted_sums(const FiredBits& fired, const double* weight, const CancelToken& cancel);

}  // namespace clausewise::compact
