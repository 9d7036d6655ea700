// Histograms of sets of rows that differ little from each other.
//
// While a box is refined, the sets of rows that are summed change by a few rows from one step to the next. Sums are
// whole numbers, so adding the rows that are new and subtracting those that are gone gives exactly the sums over the
// whole set.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "base/bits.hpp"
#include "compact/byte_matrix.hpp"
#include "compact/gradient_histogram.hpp"

namespace clausewise::compact {

class NearbySums {
public:
    NearbySums(const ByteMatrix& matrix, const Derivatives& derivatives) : matrix_(matrix), derivatives_(derivatives) {}

    // Starts from the most similar of the sets that were last asked for, or from nothing, whichever takes fewer rows.
    std::shared_ptr<const GradientHistogram> of(const Words& rows);

private:
    struct Known {
        Words rows;
        std::shared_ptr<const GradientHistogram> sums;
    };
    void remember(Known known);

    // Enough for two boxes of six terms: one set for the box, and one for each of its terms.
    static constexpr std::size_t kMaxKnown = 16;

    const ByteMatrix& matrix_;
    const Derivatives& derivatives_;
    std::vector<Known> known_;
    std::size_t next_ = 0;  // the entry that is replaced next
    std::vector<std::uint32_t> listed_;
};

}  // namespace clausewise::compact
