// The test that lowers the impurity of a node most.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/cancel.hpp"
#include "cart/node_rows.hpp"
#include "cart/target.hpp"
#include "cart/tree.hpp"
#include "induction/matrix.hpp"

namespace clausewise::cart {

struct Split {
    Test test;                                                 // without a column if no test is allowed
    double purity = -std::numeric_limits<double>::infinity();  // of both sides together
};

// Weight of each class. Doubles, which are exact for the whole numbers of unit weights.
using ClassWeights = std::vector<double>;

// weight · (1 − impurity) for Gini, −weight · impurity for entropy: greater is better, and the two sides of a cut add
// up.
double purity_of(const ClassWeights& weights, Impurity impurity);
// weight · impurity
double risk_of(const ClassWeights& weights, Impurity impurity);

class Splitter {
public:
    Splitter(const Matrix& matrix, const NodeRows& rows, const Target& target, const Options& options,
             const CancelToken& cancel);

    Split best(RowRange range, const ClassWeights& total);

private:
    template <class Measure>
    class Sides;
    template <class Measure>
    Split best_by(const Measure& measure, RowRange range, const ClassWeights& total);
    template <class Measure>
    void try_ordered(const Measure& measure, std::size_t column, RowRange range, const ClassWeights& total,
                     Split& found);
    template <class Measure>
    void try_counted(const Measure& measure, std::size_t column, RowRange range, const ClassWeights& total,
                     Split& found);
    template <class Measure>
    void try_categories(const Measure& measure, std::size_t column, RowRange range, const ClassWeights& total,
                        Split& found);
    void count(std::size_t column, RowRange range);
    template <class Measure>
    void take(std::size_t value, Sides<Measure>& sides) const;

    const Matrix& matrix_;
    const NodeRows& rows_;
    Target target_;
    Options options_;
    const CancelToken& cancel_;
    // Of the current column: weight per value and class, and rows per value; the last entry is for missing values.
    std::vector<double> counts_;
    std::vector<std::int32_t> n_rows_of_;
};

}  // namespace clausewise::cart
