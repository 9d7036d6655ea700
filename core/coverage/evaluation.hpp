// Which rules fire on which rows.
//
// This is QuickScorer (Lucchese et al., SIGIR 2015), applied to rules instead of trees: the thresholds that the rules
// use on one feature cut its axis into bins, and inside a bin every test on that feature has the same outcome. So each
// bin gets a bit mask over the rules (bit set = the feature does not make the rule fail), a row looks up one mask per
// feature, and the AND of those masks are the rules that fire. A test shared by many rules is evaluated once, and a
// rule costs an eighth of a byte per feature instead of a pass over the rows.
//
// Masks for all rules and all bins would grow with the square of the number of rules, so rules are taken in
// chunks of at most 512: a chunk has masks only for the bins that its own rules distinguish.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/parallel.hpp"
#include "base/table_view.hpp"
#include "coverage/bins.hpp"
#include "coverage/block.hpp"
#include "coverage/chunk.hpp"
#include "coverage/rule_index.hpp"

namespace clausewise::coverage {

template <std::size_t NWords, class Real>
void evaluate_block(const Chunk& chunk, const TableView<Real>& rows, std::size_t first_row, std::size_t n,
                    BlockScratch& scratch) {
    std::uint64_t* bits = scratch.bits.data();
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t w = 0; w < NWords; ++w) bits[i * NWords + w] = chunk.all_rules[w];

    for (std::size_t first = 0; first < chunk.tests.size(); first += kBatchFeatures) {
        const std::size_t n_tests = std::min(kBatchFeatures, chunk.tests.size() - first);
        const std::uint64_t* masks[kBatchFeatures] = {};
        for (std::size_t t = 0; t < n_tests; ++t) {
            const FeatureTests& tests = chunk.tests[first + t];
            masks[t] = chunk.masks.data() + tests.masks;
            find_masks(chunk, tests, rows, first_row, n, scratch, &scratch.mask_offsets[t * kBlockRows]);
        }
        for (std::size_t i = 0; i < n; ++i) {
            std::uint64_t fired[NWords];
            for (std::size_t w = 0; w < NWords; ++w) fired[w] = bits[i * NWords + w];
            for (std::size_t t = 0; t < n_tests; ++t) {
                const std::uint64_t* mask = masks[t] + scratch.mask_offsets[t * kBlockRows + i];
                for (std::size_t w = 0; w < NWords; ++w) fired[w] &= mask[w];
            }
            for (std::size_t w = 0; w < NWords; ++w) bits[i * NWords + w] = fired[w];
        }
    }
}

template <class Real>
void evaluate_block(const Chunk& chunk, const TableView<Real>& rows, std::size_t first_row, std::size_t n,
                    BlockScratch& scratch) {
    switch (chunk.n_words) {
        case 1:
            return evaluate_block<1>(chunk, rows, first_row, n, scratch);
        case 2:
            return evaluate_block<2>(chunk, rows, first_row, n, scratch);
        case 4:
            return evaluate_block<4>(chunk, rows, first_row, n, scratch);
        default:
            return evaluate_block<8>(chunk, rows, first_row, n, scratch);
    }
}

// Calls visit(first_row, n, chunk, scratch) for every block of rows and every chunk of rules, and finish(first_row, n)
// after the last chunk of a block. The chunks of one block come in the order of the rules and never concurrently, so a
// visitor that sums doubles gets the same result for any number of threads. Rows are processed in tiles, so that a
// visitor needs memory for one tile only.
template <class Real, class Visit, class Finish>
void for_each_block(const RuleIndex& index, const TableView<Real>& rows, std::size_t tile_rows, std::size_t n_threads,
                    Visit&& visit, Finish&& finish) {
    const std::size_t most_tasks = (std::min(tile_rows, rows.n_rows) + kTaskRows - 1) / kTaskRows;
    std::vector<BlockScratch> scratch(std::max<std::size_t>(std::min(n_threads, most_tasks), 1));
    for (std::size_t tile = 0; tile < rows.n_rows; tile += tile_rows) {
        const std::size_t tile_end = std::min(rows.n_rows, tile + tile_rows);
        const std::size_t n_tasks = (tile_end - tile + kTaskRows - 1) / kTaskRows;
        for (std::size_t group = 0; group < index.n_groups(); ++group) {
            index.with_group(group, n_threads, [&](const std::vector<Chunk>& chunks) {
                parallel_for(n_tasks, n_threads, [&](std::size_t task, std::size_t worker) {
                    const std::size_t begin = tile + task * kTaskRows;
                    const std::size_t end = std::min(tile_end, begin + kTaskRows);
                    for (std::size_t first = begin; first < end; first += kBlockRows) {
                        const std::size_t n = std::min(kBlockRows, end - first);
                        for (const Chunk& chunk : chunks) {
                            evaluate_block(chunk, rows, first, n, scratch[worker]);
                            visit(first, n, chunk, scratch[worker]);
                        }
                        if (group + 1 == index.n_groups()) finish(first, n);
                    }
                });
            });
        }
    }
}

}  // namespace clausewise::coverage
