#include "induction/gaps.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>

namespace clausewise::induction {

template <class Real>
std::vector<Gap> gaps_above(const Matrix& matrix, const TableView<Real>& table,
                            const std::vector<std::int32_t>& columns, const std::vector<std::int32_t>& ranks) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    std::vector<Gap> gaps(columns.size(), {-kInfinity, kInfinity});
    std::vector<std::vector<std::size_t>> wanted(matrix.n_columns());
    for (std::size_t i = 0; i < columns.size(); ++i) wanted[static_cast<std::size_t>(columns[i])].push_back(i);
    for (std::size_t a = 0; a < wanted.size(); ++a) {
        if (wanted[a].empty()) continue;
        const Column& column = matrix.column(a);
        // Per rank next to a wanted gap: the smallest and the greatest original number.
        std::vector<std::int32_t> slot(static_cast<std::size_t>(column.n_values) + 1, -1);
        std::vector<Gap> extremes;
        const auto add = [&](std::int32_t rank) {
            auto& place = slot[static_cast<std::size_t>(rank)];
            if (place >= 0) return;
            place = static_cast<std::int32_t>(extremes.size());
            extremes.push_back({kInfinity, -kInfinity});
        };
        for (const std::size_t i : wanted[a]) {
            add(ranks[i]);
            add(ranks[i] + 1);
        }
        for (std::size_t row = 0; row < table.n_rows; ++row) {
            const std::int32_t rank = column.ranks[row];
            if (rank == kMissing) continue;
            const std::int32_t place = slot[static_cast<std::size_t>(rank)];
            if (place < 0) continue;
            auto& [smallest, greatest] = extremes[static_cast<std::size_t>(place)];
            const double value = static_cast<double>(table.at(row, a));
            smallest = std::min(smallest, value);
            greatest = std::max(greatest, value);
        }
        for (const std::size_t i : wanted[a]) {
            gaps[i].left = extremes[static_cast<std::size_t>(slot[static_cast<std::size_t>(ranks[i])])].right;
            gaps[i].right = extremes[static_cast<std::size_t>(slot[static_cast<std::size_t>(ranks[i]) + 1])].left;
        }
    }
    return gaps;
}

template std::vector<Gap> gaps_above(const Matrix&, const TableView<float>&, const std::vector<std::int32_t>&,
                                     const std::vector<std::int32_t>&);
template std::vector<Gap> gaps_above(const Matrix&, const TableView<double>&, const std::vector<std::int32_t>&,
                                     const std::vector<std::int32_t>&);

}  // namespace clausewise::induction
