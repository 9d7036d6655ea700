"""Weighted premises as a penalised softmax model: every premise has a weight for every class."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from clausewise import _core
from clausewise.compact.minimisation import minimised
from clausewise.compact.model import Floats, Member, Votes, fires, stacked

# A fit takes at most so many steps, and ends when a step lowers the objective by less than this fraction.
_MAX_STEPS, _TOLERANCE = 6, 1e-5
# Weights of a new premise are halved until they lower the objective by this fraction of what was promised.
_SUFFICIENT, _MAX_HALVINGS = 0.3, 8
# The most classes whose weights a new premise gets at once: those with the largest gradients.
_MAX_CLASSES = 64


class SharedModel:
    """Premises with a weight per class.

    Parameters
    ----------
    codes : ndarray of int
        The class of each training row.
    n_classes : int
        Number of classes.
    row_weight : ndarray of float
        The weight of each row.
    penalty : float
        Half of it times the sum of squared weights is added to the loss.

    Attributes
    ----------
    members : list of Member
        The premises.
    weights : ndarray of shape (n_premises, n_classes)
        What each premise adds to each class.
    base : ndarray of shape (n_classes,)
        What each class starts with.
    probabilities : ndarray of shape (n_rows, n_classes)
        The softmax of the sums.
    """

    def __init__(self, codes: NDArray[np.int32], n_classes: int, row_weight: Floats, penalty: float) -> None:
        self.penalty, self.row_weight, self.n_outputs = penalty, row_weight, n_classes
        self._codes = codes
        self.members: list[Member] = []
        self.weights = np.zeros((0, n_classes))
        self.base = np.log(np.bincount(codes, weights=row_weight, minlength=n_classes))
        self.base -= self.base.mean()
        self._score = np.tile(self.base, (len(codes), 1))
        self.probabilities = _softmax(self._score)

    @property
    def n_rules(self) -> int:
        """Number of premises."""
        return len(self.members)

    @property
    def objective(self) -> float:
        """Loss and penalty."""
        return float((self.row_weight * self._losses()).sum() + self._penalised(self.weights))

    def residuals(self) -> Floats:
        """Return the negative derivatives of the loss by the scores, per row and class."""
        left = -self.probabilities
        left[np.arange(len(left)), self._codes] += 1.0
        return np.asarray(self.row_weight[:, None] * left)

    def curvature(self, direction: Floats) -> Floats:
        """Return the second derivative of each row's loss if its scores move in a direction."""
        mean = np.einsum("ik,k->i", self.probabilities, direction)
        square = np.einsum("ik,k->i", self.probabilities, direction**2)
        return np.asarray(self.row_weight * np.maximum(square - mean**2, 0.0))

    def gains(self, found: Sequence[Member], residuals: Floats) -> tuple[Floats, Floats]:
        """Return by how much each premise would lower the objective, to second order, and its weights.

        With the sums G of the residuals and H of the second derivatives over its rows, these are the weights
        w = (H + penalty)⁻¹ G and the gain G'w / 2.
        """
        rows, n_classes = stacked(found, len(self._codes)), self.n_outputs
        first = _core.column_sums(rows, residuals).reshape(len(found), n_classes)
        weighted = self.row_weight[:, None] * self.probabilities
        expected = _core.column_sums(rows, weighted).reshape(len(found), n_classes)
        roots = np.sqrt(self.row_weight)[:, None] * self.probabilities
        gains, weights = np.zeros(len(found)), np.zeros((len(found), n_classes))
        for number, gradient in enumerate(first):
            classes = np.sort(np.argsort(-np.abs(gradient), kind="stable")[:_MAX_CLASSES])
            of_classes = roots if len(classes) == n_classes else np.ascontiguousarray(roots[:, classes])
            products = _core.product_sums(rows[number : number + 1], of_classes).reshape(len(classes), -1)
            second = np.diag(expected[number, classes] + self.penalty) - products
            weights[number, classes] = np.linalg.solve(second, gradient[classes])
            gains[number] = (gradient * weights[number]).sum() / 2
        return gains, weights

    def add(self, member: Member, weights: Floats, gain: float) -> None:
        """Add a premise with these weights, or a fraction of them if they do not gain what was promised."""
        rows = np.flatnonzero(fires(member, len(self._codes)))
        score, codes, row_weight = self._score[rows], self._codes[rows], self.row_weight[rows]
        before = float(row_weight @ _losses(score, codes))
        for _ in range(_MAX_HALVINGS):
            after = float(row_weight @ _losses(score + weights, codes)) + self._penalised(weights)
            if before - after >= _SUFFICIENT * gain:
                break
            weights, gain = weights / 2, gain / 2
        self.members.append(member)
        self.weights = np.vstack([self.weights, weights])
        self._score[rows] += weights
        self.probabilities[rows] = _softmax(self._score[rows])

    def remove(self, positions: Sequence[int]) -> None:
        """Remove premises; the weights of the others stay."""
        for position in positions:
            rows = np.flatnonzero(fires(self.members[position], len(self._codes)))
            self._score[rows] -= self.weights[position]
        self.members = [member for i, member in enumerate(self.members) if i not in positions]
        self.weights = np.delete(self.weights, positions, axis=0)
        self.probabilities = _softmax(self._score)

    def settle(self, max_steps: int = _MAX_STEPS) -> None:
        """Fit all weights, from the present ones, in at most so many steps."""
        n_rows, shape, codes = len(self._codes), self.weights.shape, self._codes
        covered = [np.flatnonzero(fires(member, n_rows)) for member in self.members]
        starts = np.concatenate([[0], np.cumsum([len(rows) for rows in covered], dtype=np.int64)])
        numbers = np.concatenate([np.empty(0, dtype=np.int64), *covered])
        by_premise = csr_array((np.ones(len(numbers)), numbers, starts), shape=(shape[0], n_rows))
        by_row = csr_array(by_premise.T)
        every_row = np.arange(n_rows)

        def scores(parameters: Floats) -> Floats:
            weights, base = parameters[: -shape[1]].reshape(shape), parameters[-shape[1] :]
            return np.asarray(by_row @ weights + base)

        def objective(parameters: Floats) -> tuple[float, Floats]:
            weights = parameters[: -shape[1]].reshape(shape)
            score = scores(parameters)
            score -= score.max(axis=1, keepdims=True)
            at_label = score[every_row, codes]
            slope = np.exp(score, out=score)
            total = slope.sum(axis=1)
            loss = float((self.row_weight * (np.log(total) - at_label)).sum())
            slope /= total[:, None]
            slope[every_row, codes] -= 1.0
            slope *= self.row_weight[:, None]
            gradient = by_premise @ slope + self.penalty * weights
            return loss + self._penalised(weights), np.concatenate([gradient.ravel(), slope.sum(axis=0)])

        start = np.concatenate([self.weights.ravel(), self.base])
        found = minimised(objective, start, max_steps, _TOLERANCE)
        self.weights, self.base = found[: -shape[1]].reshape(shape), found[-shape[1] :]
        self._score = scores(found)
        self.probabilities = _softmax(self._score)

    def importance(self) -> Floats:
        """Return by how much the objective would rise without each premise, if the other weights stay."""
        losses = self._losses()
        found = np.empty(len(self.members))
        for position, member in enumerate(self.members):
            rows = np.flatnonzero(fires(member, len(self._codes)))
            without = _losses(self._score[rows] - self.weights[position], self._codes[rows])
            rise = float((self.row_weight[rows] * (without - losses[rows])).sum())
            found[position] = rise - self._penalised(self.weights[position])
        return found

    def votes(self) -> list[Votes]:
        """Return the premises, and the weights of each class."""
        importance = self.importance() / self.n_outputs
        return [
            Votes(tuple(self.members), self.weights[:, k], float(self.base[k]), importance)
            for k in range(self.n_outputs)
        ]

    def _losses(self) -> Floats:
        return _losses(self._score, self._codes)

    def _penalised(self, weights: Floats) -> float:
        return float(self.penalty / 2 * (weights**2).sum())


def _softmax(score: Floats) -> Floats:
    powers = np.exp(score - score.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def _losses(score: Floats, codes: NDArray[np.int32]) -> Floats:
    """Return the logistic loss of each row."""
    most = score.max(axis=1)
    total = np.exp(score - most[:, None]).sum(axis=1)
    return np.asarray(np.log(total) + most - score[np.arange(len(score)), codes])
