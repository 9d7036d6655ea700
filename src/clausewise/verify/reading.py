"""Comparing a network as it was read, layer by layer, with how it runs.

Proofs are about what was read. Reading is exact for what it knows, but models may do more than their layers
say. So decisions and outputs are compared on rows and at points of the domain, as exactly as proofs are: a
difference counts if rounding cannot explain it.
"""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from scipy.special import log_softmax, logsumexp, softmax

from clausewise.networks import Network
from clausewise.networks.plain import Floats, PlainNetwork, UnsupportedLayerError
from clausewise.networks.plain_inputs import PlainModel
from clausewise.verify.bounds import BoundedNetwork
from clausewise.verify.decisions import Decision
from clausewise.verify.domain import Domain
from clausewise.verify.questions import Codes, NetworkQuestions
from clausewise.verify.relaxation import FUNCTION_ERROR
from clausewise.verify.search import Claim, Clock, Prover

# Random points, of which a third are corners, and rows whose outputs are compared.
_N_POINTS: Final = 384
_N_ROWS: Final = 128
# Rows that are compared at once, and those that seem to differ most, which are compared exactly; fewer for a
# large network, whose bounds take longer.
_N_AT_ONCE: Final = 2_048
_N_EXACT: Final = 16
_LEAST_EXACT: Final = 2


def check_reading(
    prover: Prover,
    model: PlainModel,
    network: Network,
    decisions: Sequence[Decision | None],
    questions: NetworkQuestions,
    matrix: Floats,
    codes: Codes,
    clock: Clock,
) -> None:
    """Raise an `UnsupportedLayerError` if a network was read differently from how it runs.

    Parameters
    ----------
    prover : Prover
        Has the layers that were read.
    model : PlainModel
        The same, up to the output itself.
    network : Network
        The network.
    decisions : sequence of Decision or None
        One for each class of the rules.
    questions : NetworkQuestions
        Asks the network.
    matrix : ndarray of shape (n_rows, n_features)
        Encoded rows of the domain.
    codes : ndarray of shape (n_rows,)
        What the network says about them.
    clock : Clock
        Ends the comparison; a few points are always compared.
    """
    _check_decisions(prover, decisions, matrix, codes)
    places = np.linspace(0, len(matrix) - 1, min(_N_ROWS, len(matrix))).astype(np.intp)
    points = np.concatenate([_points(prover.domain), matrix[places]])
    points = points[np.random.RandomState(0).permutation(len(points))]
    for part in clock.batches(len(points)):
        some = points[part]
        _check_decisions(prover, decisions, some, questions.codes(some))
        _check_outputs(prover, model.network, network.outputs(questions.rows(some)), some)


def misread() -> UnsupportedLayerError:
    """Return the error about a network that is read differently from how it runs."""
    return UnsupportedLayerError(
        "The network is read differently from how it runs: on a row of the domain, it answers other than its "
        "layers and its preprocessing say, more than rounding explains. Proofs about it are not possible."
    )


def _points(domain: Domain) -> Floats:
    """Return random points of a domain, and random corners."""
    random, whole = np.random.RandomState(0), domain.whole()
    points = domain.sampled(whole, _N_POINTS, random)
    corners = points[: _N_POINTS // 3]
    is_high = random.random_sample((len(corners), len(domain.numbers))) < 0.5
    corners[:, domain.numbers] = np.where(is_high, whole.high, whole.low)
    return points


def _check_decisions(
    prover: Prover, decisions: Sequence[Decision | None], matrix: Floats, codes: Codes
) -> None:
    known = [(code, one) for code, one in enumerate(decisions) if one is not None]
    for start in range(0, len(matrix), _N_AT_ONCE):
        rows, answers = matrix[start : start + _N_AT_ONCE], codes[start : start + _N_AT_ONCE]
        outputs = prover.network.outputs(prover.inputs.inputs(rows))
        for code, decision in known:
            values = decision.values(outputs)
            suspects = np.flatnonzero((values > 0) & (answers != code))
            suspects = suspects[np.argsort(-values[suspects], kind="stable")[: _n_exact(prover)]]
            if len(suspects):
                found = prover.examine(prover.domain.points(rows[suspects]), Claim(decision))
                if found.is_proven.any():
                    raise misread()


def _check_outputs(prover: Prover, network: PlainNetwork, outputs: Any, matrix: Floats) -> None:
    """Compare outputs with the bounds on them at single points, where they differ most from those read."""
    found = np.asarray(outputs, dtype=np.float64).reshape(len(matrix), -1)
    read = network.outputs(prover.inputs.inputs(matrix))
    if network.softmax:
        read = (softmax if network.softmax == "softmax" else log_softmax)(read, axis=1)
    if found.shape != read.shape:
        raise misread()
    difference = (np.abs(found - read) / (1.0 + np.abs(read))).max(axis=1)
    suspects = np.argsort(-difference, kind="stable")[: _n_exact(prover)]
    bounded = BoundedNetwork(network, prover.inputs.choices, prover.inputs.slack)
    boxes = prover.inputs.boxes(prover.domain.points(matrix[suspects]))
    low, high = _after_softmax(network, *bounded.output_bounds(boxes))
    if ((found[suspects] < low) | (found[suspects] > high)).any():
        raise misread()


def _n_exact(prover: Prover) -> int:
    return max(_LEAST_EXACT, min(_N_EXACT, prover.batch_size))


def _after_softmax(network: PlainNetwork, low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Return bounds on the output of the model itself."""
    if not network.softmax:
        return low, high
    largest = np.maximum(np.abs(low), np.abs(high)).max(axis=1, keepdims=True)
    # Far more than what a softmax rounds.
    error = 16 * FUNCTION_ERROR[network.dtype] * (1.0 + largest)
    least = np.column_stack([_log_share(low, high, place) for place in range(low.shape[1])]) - error
    most = np.column_stack([_log_share(high, low, place) for place in range(low.shape[1])]) + error
    return (np.exp(least), np.exp(most)) if network.softmax == "softmax" else (least, most)


def _log_share(own: Floats, others: Floats, place: int) -> Floats:
    """Return the logarithm of the softmax of one output, given its value and those of the others."""
    values = others.copy()
    values[:, place] = own[:, place]
    return np.asarray(own[:, place] - logsumexp(values, axis=1))
