#include "compact/nearby_sums.hpp"

#include <utility>

namespace clausewise::compact {
namespace {

std::size_t count_rows(const Words& rows) {
    std::size_t n = 0;
    for (const std::uint64_t word : rows) n += static_cast<std::size_t>(count_bits(word));
    return n;
}

std::size_t count_differences(const Words& a, const Words& b) {
    std::size_t n = 0;
    for (std::size_t w = 0; w < a.size(); ++w) n += static_cast<std::size_t>(count_bits(a[w] ^ b[w]));
    return n;
}

// Lists the rows of `a` that are not in `b`.
void list_others(const Words& a, const Words& b, std::vector<std::uint32_t>& rows) {
    rows.clear();
    for (std::size_t w = 0; w < a.size(); ++w)
        for (std::uint64_t word = a[w] & ~b[w]; word != 0; word &= word - 1)
            rows.push_back(static_cast<std::uint32_t>(w * kWordBits) + static_cast<std::uint32_t>(lowest_bit(word)));
}

}  // namespace

std::shared_ptr<const GradientHistogram> NearbySums::of(const Words& rows) {
    const Known* nearest = nullptr;
    std::size_t fewest = count_rows(rows);
    for (const Known& known : known_) {
        const std::size_t n_different = count_differences(rows, known.rows);
        if (n_different == 0) return known.sums;
        if (n_different >= fewest) continue;
        fewest = n_different;
        nearest = &known;
    }
    std::shared_ptr<GradientHistogram> sums;
    if (nearest) {
        sums = std::make_shared<GradientHistogram>(*nearest->sums);
        list_others(rows, nearest->rows, listed_);
        add_rows(matrix_, derivatives_.rows(), listed_, *sums);
        list_others(nearest->rows, rows, listed_);
        subtract_rows(matrix_, derivatives_.rows(), listed_, *sums);
    } else {
        sums = std::make_shared<GradientHistogram>(matrix_.n_all_bins());
        listed_.clear();
        list_rows(rows, listed_);
        add_rows(matrix_, derivatives_.rows(), listed_, *sums);
    }
    remember({rows, sums});
    return sums;
}

void NearbySums::remember(Known known) {
    if (known_.size() < kMaxKnown) {
        known_.push_back(std::move(known));
        return;
    }
    known_[next_] = std::move(known);
    next_ = (next_ + 1) % kMaxKnown;
}

}  // namespace clausewise::compact
