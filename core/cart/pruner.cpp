#include "cart/pruner.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace clausewise::cart {
namespace {

// Cost-complexity pruning. The strength of a subtree is how much it lowers the risk per leaf that it adds. The weakest
// subtree is cut first, which changes the strengths above it; each node records the pruning strength (alpha) at which
// it becomes a leaf.
class WeakestLinks {
public:
    explicit WeakestLinks(Tree& tree) : tree_(tree), links_(tree.nodes.size()) {
        for (std::size_t i = tree.nodes.size(); i-- > 0;) {
            const Node& node = tree.nodes[i];
            links_[i].risk = node.risk;
            if (node.is_leaf()) continue;
            of(node.left).parent = of(node.right).parent = static_cast<std::int32_t>(i);
            links_[i].n_leaves = of(node.left).n_leaves + of(node.right).n_leaves;
            links_[i].risk = of(node.left).risk + of(node.right).risk;
            weigh(i);
        }
    }

    void cut(double total_weight, const CancelToken& cancel) {
        double alpha = 0.0;
        while (links_[0].n_leaves > 1) {
            cancel.check();
            std::size_t node = 0;
            while (links_[node].strength > links_[node].weakest) {
                const Node& above = tree_.nodes[node];
                const bool is_left = of(above.left).weakest <= of(above.right).weakest;
                node = static_cast<std::size_t>(is_left ? above.left : above.right);
            }
            alpha = std::max(alpha, links_[node].strength / total_weight);
            collapse(node, alpha);
        }
    }

private:
    static constexpr double kInfinity = std::numeric_limits<double>::infinity();
    struct Link {
        std::int32_t parent = -1;
        std::int32_t n_leaves = 1;
        double risk = 0.0;            // of the leaves below
        double strength = kInfinity;  // infinite for a leaf
        double weakest = kInfinity;   // the least strength here and below
    };

    Link& of(std::int32_t id) { return links_[static_cast<std::size_t>(id)]; }

    void weigh(std::size_t i) {
        const Node& node = tree_.nodes[i];
        Link& link = links_[i];
        link.strength = (node.risk - link.risk) / (link.n_leaves - 1);
        link.weakest = std::min({link.strength, of(node.left).weakest, of(node.right).weakest});
    }

    void collapse(std::size_t i, double alpha) {
        tree_.nodes[i].collapses_at = alpha;
        const std::int32_t n_lost = links_[i].n_leaves - 1;
        const double risk_gained = tree_.nodes[i].risk - links_[i].risk;
        links_[i].n_leaves = 1;
        links_[i].strength = links_[i].weakest = kInfinity;
        for (std::int32_t above = links_[i].parent; above >= 0; above = of(above).parent) {
            of(above).n_leaves -= n_lost;
            of(above).risk += risk_gained;
            weigh(static_cast<std::size_t>(above));
        }
    }

    Tree& tree_;
    std::vector<Link> links_;
};

}  // namespace

void find_pruning_strengths(Tree& tree, double total_weight, const CancelToken& cancel) {
    WeakestLinks(tree).cut(total_weight, cancel);
}

}  // namespace clausewise::cart
