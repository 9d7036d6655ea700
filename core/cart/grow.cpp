#include "cart/grow.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "cart/node_rows.hpp"
#include "cart/pruner.hpp"
#include "cart/splitter.hpp"

namespace clausewise::cart {
namespace {

// A leaf that can be split, and its best split.
struct OpenNode {
    std::int32_t id;
    RowRange range;
    Split split;
    double gain;

    // Order of the heap: the greatest gain first, the older node on ties.
    bool operator<(const OpenNode& other) const { return gain != other.gain ? gain < other.gain : id > other.id; }
};

class Grower {
public:
    Grower(const Matrix& matrix, const Target& target, const Options& options, const CancelToken& cancel)
        : target_(target),
          options_(options),
          cancel_(cancel),
          rows_(matrix, target.rows),
          splitter_(matrix, rows_, target, options, cancel) {}

    Tree grow(const ColumnOrders& orders) {
        cancel_.check();
        const Counted root = counted(rows_.all());
        add_node(root);
        if (may_be_divided(rows_.all(), root)) rows_.take_orders(orders);
        find_split(0, rows_.all(), root);
        for (std::size_t n_leaves = 1; !open_.empty() && n_leaves != options_.max_leaves; ++n_leaves) {
            cancel_.check();
            divide(next());
        }
        return std::move(tree_);
    }

private:
    struct Counted {
        ClassWeights weights;       // of all rows
        ClassWeights known;         // of the rows without a missing value in any test above
        std::size_t n_classes = 0;  // classes that occur
    };

    Counted counted(RowRange range) const {
        Counted found{ClassWeights(target_.n_classes, 0.0), ClassWeights(target_.n_classes, 0.0), 0};
        const std::int32_t* const rows = rows_.in(range);
        for (std::size_t i = 0; i < range.size(); ++i) {
            const std::size_t label = target_.class_of(rows[i]);
            const double weight = target_.weight_of(rows[i]);
            found.n_classes += found.weights[label] == 0.0;
            found.weights[label] += weight;
            if (!rows_.was_missing(rows[i])) found.known[label] += weight;
        }
        return found;
    }

    std::int32_t add_node(const Counted& of_rows) {
        Node node;
        const auto most = std::max_element(of_rows.weights.begin(), of_rows.weights.end());
        node.label = static_cast<std::int32_t>(most - of_rows.weights.begin());
        node.risk = of_rows.n_classes > 1 ? risk_of(of_rows.weights, options_.impurity) : 0.0;
        node.cover = std::accumulate(of_rows.known.begin(), of_rows.known.end(), 0.0);
        node.correct = of_rows.known[static_cast<std::size_t>(node.label)];
        tree_.nodes.push_back(node);
        return static_cast<std::int32_t>(tree_.nodes.size()) - 1;
    }

    bool may_be_divided(RowRange range, const Counted& of_rows) const {
        return of_rows.n_classes > 1 && range.size() >= options_.min_split && range.size() / 2 >= options_.min_leaf;
    }

    void find_split(std::int32_t id, RowRange range, const Counted& of_rows) {
        if (!may_be_divided(range, of_rows)) return;
        const Split split = splitter_.best(range, of_rows.weights);
        if (split.test.column < 0) return;
        open_.push_back({id, range, split, split.purity - purity_of(of_rows.weights, options_.impurity)});
        if (options_.max_leaves > 0) std::push_heap(open_.begin(), open_.end());
    }

    OpenNode next() {
        if (options_.max_leaves > 0) std::pop_heap(open_.begin(), open_.end());
        const OpenNode node = open_.back();
        open_.pop_back();
        return node;
    }

    void divide(const OpenNode& node) {
        const std::size_t middle = rows_.divide(node.range, node.split.test);
        const RowRange left{node.range.begin, middle}, right{middle, node.range.end};
        const Counted on_left = counted(left), on_right = counted(right);
        if (may_be_divided(left, on_left) || may_be_divided(right, on_right)) rows_.divide_orders(node.range);
        const std::int32_t left_id = add_node(on_left), right_id = add_node(on_right);
        Node& parent = tree_.nodes[static_cast<std::size_t>(node.id)];
        parent.test = node.split.test;
        parent.left = left_id;
        parent.right = right_id;
        find_split(right_id, right, on_right);
        find_split(left_id, left, on_left);
    }

    Target target_;
    Options options_;
    const CancelToken& cancel_;
    NodeRows rows_;
    Splitter splitter_;
    Tree tree_;
    std::vector<OpenNode> open_;  // a stack, or with max_leaves a heap with the best on top
};

double total_weight(const Target& target) {
    if (target.rows == nullptr)
        return target.weights.empty() ? static_cast<double>(target.classes.size())
                                      : std::accumulate(target.weights.begin(), target.weights.end(), 0.0);
    double total = 0.0;
    for (const std::int32_t row : *target.rows) total += target.weight_of(row);
    return total;
}

}  // namespace

Tree grow(const Matrix& matrix, const ColumnOrders& orders, const Target& target, const Options& options,
          const CancelToken& cancel) {
    Tree tree = Grower(matrix, target, options, cancel).grow(orders);
    if (options.prunes) find_pruning_strengths(tree, total_weight(target), cancel);
    return tree;
}

}  // namespace clausewise::cart
