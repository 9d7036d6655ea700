#include "c50/rules/cover_counters.hpp"

namespace clausewise::c50 {

void UnitCounter::count(const std::vector<std::size_t>& kept, CoverCounts& counts) {
    counts.start_with(n_failed_.count_zeros(of_class_, nearly_covered_), kept, weights_);
    add_nearly_covered(kept, counts);
}

void UnitCounter::drop(std::size_t dropped, const std::vector<std::size_t>& kept, CoverCounts& counts) {
    counts.count_dropped(dropped, kept);
    n_failed_.remove(path_[dropped].fails);
    n_failed_.find_ones(path_[dropped].fails, nearly_covered_);
    add_nearly_covered(kept, counts);
}

void UnitCounter::add_nearly_covered(const std::vector<std::size_t>& kept, CoverCounts& counts) const {
    for (const std::size_t d : kept)
        counts.add_nearly_covered(d, count_within(nearly_covered_, path_[d].fails.data(), of_class_.data()), weights_);
}

void LeafOrderCounter::count(const std::vector<std::size_t>& kept, CoverCounts& counts) {
    near_.reset(kept.size(), order_, of_class_);
    include_blocks(n_failed_by_block_.at_most_one(), kept);
    counts.start_with(near_.count_zeros(), kept);
    add_nearly_covered(kept, counts);
}

void LeafOrderCounter::drop(std::size_t dropped, const std::vector<std::size_t>& kept, CoverCounts& counts) {
    counts.count_dropped(dropped, kept);
    near_.drop(dropped, path_[dropped].known_rows());
    const Words& whole_blocks = path_[dropped].whole_blocks();
    n_failed_by_block_.remove(whole_blocks);
    n_failed_by_block_.find_ones(whole_blocks, entering_);
    include_blocks(entering_, kept);
    add_nearly_covered(kept, counts);
}

void LeafOrderCounter::include_blocks(const SparseWords& blocks, const std::vector<std::size_t>& kept) {
    std::vector<FailedBy> conditions;
    for (const std::size_t d : kept) conditions.push_back({path_[d].rows(order_, blocks), &path_[d].whole_blocks()});
    near_.include_blocks(blocks, kept, conditions);
}

void LeafOrderCounter::add_nearly_covered(const std::vector<std::size_t>& kept, CoverCounts& counts) {
    const NearRows::Found& found = near_.found();
    for (const std::size_t d : kept) {
        counts.add_nearly_covered(d, found.counts[d]);
        counts.add_nearly_covered(d, count_within(found.listed, path_[d].known_rows(), of_class_.data()));
    }
}

void WeightedCounter::count(const std::vector<std::size_t>& kept, CoverCounts& counts) {
    const Words covered = n_failed_.zeros();
    for_each_bit(covered.data(), covered.size(), [&](std::size_t row) {
        counts.n += weights_[row];
        counts.errors += error_weights_[row];
    });
    for (const std::size_t d : kept) {
        counts.n_without[d] = counts.n;
        counts.errors_without[d] = counts.errors;
    }
    n_failed_.find_ones(nearly_covered_);
    add_nearly_covered(kept, counts);
}

void WeightedCounter::drop(std::size_t dropped, const std::vector<std::size_t>& kept, CoverCounts& counts) {
    counts.count_dropped(dropped, kept);
    n_failed_.remove(path_[dropped].fails);
    n_failed_.find_ones(path_[dropped].fails, nearly_covered_);
    add_nearly_covered(kept, counts);
}

void WeightedCounter::add_nearly_covered(const std::vector<std::size_t>& kept, CoverCounts& counts) const {
    for (const std::size_t d : kept) {
        const Words& fails = path_[d].fails;
        double n = 0.0, errors = 0.0;
        for (std::size_t i = 0; i < nearly_covered_.words.size(); ++i) {
            const std::size_t place = nearly_covered_.places[i];
            const std::uint64_t word = nearly_covered_.words[i] & fails[place];
            const float* const weights = weights_.data() + place * kWordBits;
            const float* const error_weights = error_weights_.data() + place * kWordBits;
            for_each_bit(&word, 1, [&](std::size_t bit) {
                n += weights[bit];
                errors += error_weights[bit];
            });
        }
        counts.n_without[d] += n;
        counts.errors_without[d] += errors;
    }
}

}  // namespace clausewise::c50
