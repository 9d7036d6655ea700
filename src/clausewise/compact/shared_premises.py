"""The search for premises that all classes share, with one weight per premise and class."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from clausewise import _core
from clausewise.compact.model import Floats, Member
from clausewise.compact.search import Budget, Search, different

# Number of classes, those with the largest gradients, whose best boxes are then judged for all classes.
_N_DIRECTIONS = 3
# How often a box and its class weights are fitted to each other.
_N_ROUNDS = 2


class SharedSearch(Search):
    """Grows and prunes premises that all outputs share.

    The class weights w of a premise are a direction. Along it, the gradient of a row is Σ w·g and its
    curvature Σ w²·h, so boxes are searched as for a single output.
    """

    def compact(self, budget: Budget, price: float) -> None:
        """Search for the best model within a budget, at this price."""
        self.price = price
        self.grow(replace(budget, n_rules=self.overgrown(budget.n_rules)))
        self.prune(budget.n_rules)
        self.model.settle(3)

    @property
    def n_rules(self) -> int:
        """Number of premises."""
        return len(self.model.blocks[0].members)

    def grow(self, budget: Budget) -> None:
        """Add the premise that lowers objective and price most until the budget is used up, or none helps."""
        model = self.model
        while self.n_rules < budget.n_rules:
            self._report("grow", self.n_rules, budget.n_rules)
            member, weights = self._best_premise()
            # A premise is read once for every class.
            if member is None or self.cost + model.n_outputs * member.cost > budget.reading_cost:
                return
            for output, block in enumerate(model.blocks):
                start = np.insert(block.fit.weights, -1, weights[output])
                model.replace(output, model.fitted(output, (*block.members, member), start, max_steps=1))

    def prune(self, n_rules: int) -> None:
        """Remove the least important premise until there are this many."""
        model = self.model
        while self.n_rules > n_rules:
            weakest = int(np.sum([block.importance for block in model.blocks], axis=0).argmin())
            for output, block in enumerate(model.blocks):
                model.replace(output, model.fitted(output, *block.without(weakest), max_steps=1))

    def exchange(self, n_sweeps: int, budget: Budget, is_local: bool = False) -> None:
        """Do nothing: trying a shared premise would refit every class, which takes too long."""

    def _drop_worthless(self) -> None:
        """Do nothing: a premise that is worth little for one class may be for another."""

    def _best_premise(self) -> tuple[Member | None, Floats]:
        model = self.model
        derivatives = [model.derivatives(output) for output in range(model.n_outputs)]
        gradients = np.array([first for first, _ in derivatives])
        curvatures = np.array([second for _, second in derivatives])
        found: list[Member] = []
        n_directions = 0
        for output in np.argsort(-np.abs(gradients).sum(axis=1), kind="stable").tolist():
            found_here = self._found(gradients[output], curvatures[output], ())
            of_output = different(found_here, model.blocks[0])
            found += of_output
            n_directions += bool(of_output)
            if n_directions == _N_DIRECTIONS:
                break
        best: tuple[Member | None, Floats] = (None, np.zeros(model.n_outputs))
        for _ in range(_N_ROUNDS + 1):
            if not found:
                break
            worth, weights = self._judged(found, gradients, curvatures)
            i = int(worth.argmax())
            if worth[i] <= 0:
                break
            best = found[i], weights[:, i]
            direction = weights[:, i] / np.linalg.norm(weights[:, i])
            refined = self.candidates(
                direction @ gradients, direction**2 @ curvatures, [found[i]], beam_width=0
            )
            found = [found[i], *different(refined, model.blocks[0])]
        return best

    def _judged(
        self, found: Sequence[Member], gradients: Floats, curvatures: Floats
    ) -> tuple[Floats, Floats]:
        """Return what each premise gains less its price, with its best class weights (classes × premises)."""
        rows = np.stack([member.rows for member in found])
        first = np.array([_core.weighted_cover(rows, gradient) for gradient in gradients])
        second = np.array([_core.weighted_cover(rows, curvature) for curvature in curvatures])
        weights = first / (second + self.model.penalty)
        prices = self.price * np.array([member.cost for member in found])
        return (weights * first).sum(axis=0) / 2 - prices, weights
