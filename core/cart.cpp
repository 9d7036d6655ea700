#include "cart.hpp"

#include <algorithm>
#include <numeric>
#include <queue>
#include <utility>

#include "cart_rows.hpp"
#include "cart_splitter.hpp"

namespace clausewise {
namespace {

// A node that may be divided, and by what.
struct OpenNode {
    std::int32_t id;
    RowRange range;
    CartSplit split;
    double gain;

    // For the queue: the greatest gain first, among equals the older node.
    bool operator<(const OpenNode& other) const { return gain != other.gain ? gain < other.gain : id > other.id; }
};

class CartGrower {
public:
    CartGrower(const Matrix& matrix, const CartOrders& orders, const CartTarget& target, const CartOptions& options)
        : target_(target),
          options_(options),
          rows_(matrix, orders, target.rows),
          splitter_(matrix, rows_, target, options) {}

    CartTree grow(const Control& control) {
        const Counted root = counted(rows_.all());
        add_node(root);
        look_for_test(0, rows_.all(), root);
        for (std::size_t n_leaves = 1; !open_.empty() && n_leaves != options_.max_leaves; ++n_leaves) {
            control.check();
            divide(next());
        }
        return std::move(tree_);
    }

private:
    struct Counted {
        ClassWeights weights;       // of all rows
        ClassWeights known;         // of those that were known to every test on the way
        std::size_t n_classes = 0;  // that occur
    };

    Counted counted(RowRange range) const {
        Counted found{ClassWeights(target_.n_classes, 0.0), ClassWeights(target_.n_classes, 0.0), 0};
        const std::int32_t* const rows = rows_.in(range);
        for (std::size_t i = 0; i < range.size(); ++i) {
            const auto row = static_cast<std::size_t>(rows[i]);
            const double weight = target_.weights.empty() ? 1.0 : target_.weights[row];
            double& of_class = found.weights[target_.classes[row]];
            found.n_classes += of_class == 0.0;
            of_class += weight;
            if (!rows_.was_missing(rows[i])) found.known[target_.classes[row]] += weight;
        }
        return found;
    }

    std::int32_t add_node(const Counted& of_rows) {
        CartNode node;
        const auto most = std::max_element(of_rows.weights.begin(), of_rows.weights.end());
        node.label = static_cast<std::int32_t>(most - of_rows.weights.begin());
        node.risk = of_rows.n_classes > 1 ? risk_of(of_rows.weights, options_.impurity) : 0.0;
        node.cover = std::accumulate(of_rows.known.begin(), of_rows.known.end(), 0.0);
        node.correct = of_rows.known[static_cast<std::size_t>(node.label)];
        tree_.nodes.push_back(node);
        return static_cast<std::int32_t>(tree_.nodes.size()) - 1;
    }

    bool may_be_divided(RowRange range, const Counted& of_rows) const {
        return of_rows.n_classes > 1 && range.size() >= options_.min_split && range.size() >= 2 * options_.min_leaf;
    }

    void look_for_test(std::int32_t id, RowRange range, const Counted& of_rows) {
        if (!may_be_divided(range, of_rows)) return;
        const CartSplit split = splitter_.best(range, of_rows.weights);
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
        CartNode& parent = tree_.nodes[static_cast<std::size_t>(node.id)];
        parent.test = node.split.test;
        parent.left = left_id;
        parent.right = right_id;
        look_for_test(right_id, right, on_right);
        look_for_test(left_id, left, on_left);
    }

    CartTarget target_;
    CartOptions options_;
    CartRows rows_;
    CartSplitter splitter_;
    CartTree tree_;
    std::vector<OpenNode> open_;  // the next one last, or a heap where the best comes first
};

// Cost-complexity pruning: how much each subtree lowers the risk per leaf that it adds. The weakest is cut first, which
// changes those above it; written down is the strength of pruning at which each node becomes a leaf.
class WeakestLinks {
public:
    explicit WeakestLinks(CartTree& tree)
        : tree_(tree), parent_(tree.nodes.size(), -1), n_leaves_(tree.nodes.size(), 1), risk_(tree.nodes.size()) {
        for (std::size_t i = tree.nodes.size(); i-- > 0;) {
            const CartNode& node = tree.nodes[i];
            risk_[i] = node.risk;
            if (node.is_leaf()) continue;
            const auto left = static_cast<std::size_t>(node.left), right = static_cast<std::size_t>(node.right);
            parent_[left] = parent_[right] = static_cast<std::int32_t>(i);
            n_leaves_[i] = n_leaves_[left] + n_leaves_[right];
            risk_[i] = risk_[left] + risk_[right];
        }
    }

    void cut(double total_weight) {
        for (std::size_t i = 0; i < tree_.nodes.size(); ++i) push(i);
        double alpha = 0.0;
        while (!links_.empty()) {
            const Link weakest = links_.top();
            links_.pop();
            if (weakest.n_leaves != n_leaves_[weakest.node]) continue;  // changed since, or gone
            alpha = std::max(alpha, weakest.strength / total_weight);
            collapse(weakest.node, alpha);
        }
    }

private:
    struct Link {
        double strength;
        std::size_t node;
        std::int32_t n_leaves;  // when it was written down
        bool operator<(const Link& other) const {
            return strength != other.strength ? strength > other.strength : node > other.node;
        }
    };

    void push(std::size_t i) {
        if (n_leaves_[i] < 2) return;
        links_.push({(tree_.nodes[i].risk - risk_[i]) / (n_leaves_[i] - 1), i, n_leaves_[i]});
    }

    void collapse(std::size_t i, double alpha) {
        tree_.nodes[i].collapses_at = alpha;
        std::vector<std::int32_t> below{tree_.nodes[i].left, tree_.nodes[i].right};
        while (!below.empty()) {
            const auto one = static_cast<std::size_t>(below.back());
            below.pop_back();
            if (n_leaves_[one] < 2) continue;
            n_leaves_[one] = 0;
            below.push_back(tree_.nodes[one].left);
            below.push_back(tree_.nodes[one].right);
        }
        const std::int32_t n_lost = n_leaves_[i] - 1;
        const double risk_gained = tree_.nodes[i].risk - risk_[i];
        n_leaves_[i] = 1;
        for (std::int32_t above = parent_[i]; above >= 0; above = parent_[static_cast<std::size_t>(above)]) {
            const auto one = static_cast<std::size_t>(above);
            n_leaves_[one] -= n_lost;
            risk_[one] += risk_gained;
            push(one);
        }
    }

    CartTree& tree_;
    std::vector<std::int32_t> parent_, n_leaves_;
    std::vector<double> risk_;  // of the leaves below
    std::priority_queue<Link> links_;
};

double total_weight(const CartTarget& target) {
    const std::size_t n_rows = target.rows == nullptr ? target.classes.size() : target.rows->size();
    if (target.weights.empty()) return static_cast<double>(n_rows);
    if (target.rows == nullptr) return std::accumulate(target.weights.begin(), target.weights.end(), 0.0);
    double total = 0.0;
    for (const std::int32_t row : *target.rows) total += target.weights[static_cast<std::size_t>(row)];
    return total;
}

}  // namespace

std::int32_t CartTree::label_of(const Matrix& matrix, std::size_t row, double alpha) const {
    const CartNode* node = &nodes[0];
    while (!node->ends_at(alpha)) {
        const Column& column = matrix.column(static_cast<std::size_t>(node->test.column));
        node = &(*this)[node->test.goes_left(column.ranks[row]) ? node->left : node->right];
    }
    return node->label;
}

CartTree grow_cart(const Matrix& matrix, const CartOrders& orders, const CartTarget& target, const CartOptions& options,
                   const Control& control) {
    CartTree tree = CartGrower(matrix, orders, target, options).grow(control);
    WeakestLinks(tree).cut(total_weight(target));
    return tree;
}

}  // namespace clausewise
