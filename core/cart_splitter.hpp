// The test that lowers the impurity of a node most.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "cart.hpp"
#include "cart_rows.hpp"

namespace clausewise {

struct CartSplit {
    CartTest test;                                             // without a column where no test is allowed
    double purity = -std::numeric_limits<double>::infinity();  // of both sides together
};

// Weight of each class. Doubles: whole numbers where rows count 1.
using ClassWeights = std::vector<double>;

// Weight times (1 − impurity) for Gini's impurity, −weight × impurity for the entropy: more is better for both, and
// sides can be added.
double purity_of(const ClassWeights& weights, Impurity impurity);
// Weight times impurity.
double risk_of(const ClassWeights& weights, Impurity impurity);

class CartSplitter {
public:
    CartSplitter(const Matrix& matrix, const CartRows& rows, const CartTarget& target, const CartOptions& options,
                 const Control& control);

    CartSplit best(RowRange range, const ClassWeights& total);

private:
    template <class Measure>
    class Sides;
    template <class Measure>
    CartSplit best_by(const Measure& measure, RowRange range, const ClassWeights& total);
    template <class Measure>
    void look_in_order(const Measure& measure, std::size_t column, RowRange range, const ClassWeights& total,
                       CartSplit& found);
    template <class Measure>
    void look_at_counts(const Measure& measure, std::size_t column, RowRange range, const ClassWeights& total,
                        CartSplit& found);
    template <class Measure>
    void look_at_categories(const Measure& measure, std::size_t column, RowRange range, const ClassWeights& total,
                            CartSplit& found);
    void count(std::size_t column, RowRange range);
    template <class Measure>
    void take(std::size_t value, Sides<Measure>& sides) const;

    const Matrix& matrix_;
    const CartRows& rows_;
    CartTarget target_;
    CartOptions options_;
    const Control& control_;
    // Of the column looked at: weight per value and class, rows per value; the place behind the last is for missing
    // ones.
    std::vector<double> counts_;
    std::vector<std::int32_t> n_rows_of_;
};

}  // namespace clausewise
