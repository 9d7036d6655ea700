"""The search for premises that all classes share, with one weight per premise and class."""

import math
from collections.abc import Sequence

import numpy as np

from clausewise.compact.bins import Bins
from clausewise.compact.model import Floats, Member
from clausewise.compact.search import Budget, Search, SearchOptions, StageReport
from clausewise.compact.shared_model import SharedModel

# Number of classes, those with the largest gradients, whose best boxes are then judged for all classes.
_N_DIRECTIONS = 3
# How often a box and its class weights are fitted to each other.
_N_ROUNDS = 3
# Premises grow half beyond the budget before the least important ones are pruned, in so many steps.
_OVERGROWTH, _N_PRUNINGS = 1.5, 6
# All weights are fitted after so many new premises; at the end, in more steps.
_ADDED_PER_FIT, _LAST_STEPS = 4, 40


class SharedSearch(Search):
    """Grows and prunes premises that all outputs share.

    The class weights w of a premise are a direction. Along it, the gradient of a row is Σ w·g and its
    curvature the variance of w under the row's probabilities, so boxes are searched as for a single output.
    """

    model: SharedModel  # type: ignore[assignment]

    def __init__(
        self,
        bins: Bins,
        model: SharedModel,
        seeds: Sequence[Member],
        options: SearchOptions,
        report: StageReport,
        n_real: int | None = None,
    ) -> None:
        # What is not overridden here asks the model only for its penalty, its row weights and its size.
        super().__init__(bins, model, seeds, options, report, n_real)  # type: ignore[arg-type]

    def compact(self, budget: Budget, price: float) -> None:
        """Search for the best model within a budget, at this price."""
        self.price = price
        self.grow(Budget(self.overgrown(budget.n_rules), budget.reading_cost))
        step = math.ceil((self.n_rules - budget.n_rules) / _N_PRUNINGS)
        while self.n_rules > budget.n_rules:
            self.prune(max(self.n_rules - step, budget.n_rules))
        self.model.settle(_LAST_STEPS)

    @staticmethod
    def overgrown(n_rules: int) -> int:
        """Return the number of premises to grow to before pruning to `n_rules`."""
        return math.ceil(_OVERGROWTH * n_rules)

    @property
    def cost(self) -> int:
        """Reading cost of all rules; a premise is read once for every class."""
        return self.model.n_outputs * sum(member.cost for member in self.model.members)

    def grow(self, budget: Budget) -> None:
        """Add the premise that lowers objective and price most until the budget is used up, or none helps."""
        model, n_added = self.model, 0
        while self.n_rules < budget.n_rules:
            self._report("grow", self.n_rules, budget.n_rules)
            member, weights, gain = self._best_premise()
            if member is None or self.cost + model.n_outputs * member.cost > budget.reading_cost:
                break
            model.add(member, weights, gain)
            n_added += 1
            if n_added % _ADDED_PER_FIT == 0:
                model.settle()
        model.settle()

    def prune(self, n_rules: int) -> None:
        """Remove the least valuable premises until there are this many."""
        if self.n_rules > n_rules:
            n_removed = self.n_rules - n_rules
            self.model.remove(np.argsort(self._worth(), kind="stable")[:n_removed].tolist())
            self.model.settle()

    def exchange(self, n_sweeps: int, budget: Budget, is_local: bool = False) -> None:
        """Do nothing: trying a shared premise would refit every class, which takes too long."""

    def _drop_worthless(self) -> None:
        """Remove premises that are not worth their price, the worst first."""
        while self.n_rules:
            worth = self._worth()
            weakest = int(worth.argmin())
            if worth[weakest] >= 0:
                return
            self.model.remove([weakest])

    def _worth(self) -> Floats:
        """Return by how much each premise lowers objective and price."""
        costs = np.array([member.cost for member in self.model.members])
        return np.asarray(self.model.importance() - self.price * costs)

    def _best_premise(self) -> tuple[Member | None, Floats, float]:
        """Search for one more premise; return it with its class weights and by how much it would help."""
        model = self.model
        residuals = model.residuals()
        found: list[Member] = []
        n_directions = 0
        for output in np.argsort(-np.abs(residuals).sum(axis=0), kind="stable").tolist():
            axis = np.zeros(model.n_outputs)
            axis[output] = 1.0
            of_output = self._along(axis, residuals)
            found += of_output
            n_directions += bool(of_output)
            if n_directions == _N_DIRECTIONS:
                break
        best: tuple[Member | None, Floats, float] = (None, np.zeros(model.n_outputs), 0.0)
        most = 0.0
        for _ in range(_N_ROUNDS + 1):
            if not found:
                break
            gains, weights = model.gains(found, residuals)
            worth = gains - self.price * np.array([member.cost for member in found])
            i = int(worth.argmax())
            if worth[i] <= most:
                break
            best, most = (found[i], weights[i], float(gains[i])), float(worth[i])
            direction = weights[i] / np.sqrt((weights[i] ** 2).sum())
            found = self._along(direction, residuals, [found[i]])
        return best

    def _along(
        self, direction: Floats, residuals: Floats, starts: list[Member] | None = None
    ) -> list[Member]:
        """Search for new premises whose class weights have a direction, from scratch or near given ones."""
        gradient = np.einsum("ik,k->i", residuals, direction)
        curvature = self.model.curvature(direction)
        if starts is None:
            found = self._found(gradient, curvature, ())
        else:
            found = self.candidates(gradient, curvature, starts, beam_width=0)
        return [member for member in found if self.is_different(member, self.model.members)]
