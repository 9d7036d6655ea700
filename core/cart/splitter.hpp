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
    Test test;                                                 // without a column where no test is allowed
    double purity = -std::numeric_limits<double>::infinity();  // of both sides together
};

// Weight of each class. Doubles: whole numbers where rows count 1.
using ClassWeights = std::vector<double>;

// Weight times (1 − impurity) for Gini's impurity, −weight × impurity for the entropy: more is better for both, and
// sides can be added.
double purity_of(const ClassWeights& weights, Impurity impurity);
// Weight times impurity.
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
    void look_in_order(const Measure& measure, std::size_t column, RowRange range, const ClassWeights& total,
                       Split& found);
    template <class Measure>
    void look_at_counts(const Measure& measure, std::size_t column, RowRange range, const ClassWeights& total,
                        Split& found);
    template <class Measure>
    void look_at_categories(const Measure& measure, std::size_t column, RowRange range, const ClassWeights& total,
                            Split& found);
    void count(std::size_t column, RowRange range);
    template <class Measure>
    void take(std::size_t value, Sides<Measure>& sides) const;

    const Matrix& matrix_;
    const NodeRows& rows_;
    Target target_;
    Options options_;
    const CancelToken& cancel_;
    // Of the column looked at: weight per value and class, rows per value; the place behind the last is for missing
    // ones.
    std::vector<double> counts_;
    std::vector<std::int32_t> n_rows_of_;
};

}  // namespace clausewise::cart
