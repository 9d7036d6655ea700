"""Proving, or refuting, what each rule says about a network."""

import warnings
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from clausewise.base.parameters import RANDOM_STATE, VERBOSE, check_parameters, number, whole
from clausewise.base.progress import Progress
from clausewise.data.labels import Label
from clausewise.data.rows import as_rows, take_rows
from clausewise.networks import Network, wrap
from clausewise.networks.answers import are_labels
from clausewise.networks.arrays import one_blas_thread
from clausewise.networks.plain import Floats
from clausewise.rules.ruleset import RuleSet
from clausewise.verify.certificate import MANY_COLUMNS, Certificate, RuleProof, Status, note_on_columns
from clausewise.verify.decisions import Decision, decisions_of
from clausewise.verify.domain import Domain, KnownRows, Regions
from clausewise.verify.growing import Parts, grow_parts
from clausewise.verify.questions import Codes, NetworkQuestions
from clausewise.verify.reading import check_reading, misread
from clausewise.verify.row_proofs import RowProver
from clausewise.verify.search import TIME_USED, Claim, Clock, Outcome, Prover

# Possible counterexamples that the network itself is asked about.
_MAX_ASKED: Final = 256
# Rows from which the network is read, and rows that are followed; of more, a random sample.
_ROWS_TO_READ: Final = 1_024
_MAX_ROWS: Final = 20_000
# The part of the time that asking about the followed rows may take, and comparing the network with what was
# read.
_OF_ASKING: Final = 0.15
_PARAMETERS: Final = {
    "max_boxes": whole(1),
    "seconds": number(above=0),
    "max_parts": whole(0),
    "random_state": RANDOM_STATE,
    "verbose": VERBOSE,
}


@dataclass(eq=False)
class _Task:
    """What all rules share: the prover, the rows of the domain and what the network says about them."""

    rules: RuleSet
    prover: Prover
    decisions: list[Decision | None]
    matrix: Floats
    codes: Codes
    labels: list[Label]
    questions: NetworkQuestions
    max_boxes: int
    max_parts: int
    random: np.random.RandomState
    has_two_classes: bool
    is_stopped: bool

    def says_class(self, is_against: bool) -> bool:
        """Return whether a rule says which class the network predicts; "not a" does if there is only b."""
        return self.has_two_classes or not is_against


def certify(
    rules: RuleSet,
    network: Any,
    domain: Any,
    *,
    max_boxes: int = 20_000,
    seconds: float = 60.0,
    max_parts: int = 12,
    random_state: int | np.random.RandomState | None = None,
    verbose: int = 0,
) -> Certificate:
    """Prove on which parts of its rules a network always decides as they say; see `RuleSet.certify`.

    Examples
    --------
    >>> import numpy as np
    >>> from clausewise import RuleSet
    >>> from clausewise.networks import ArrayNetwork
    >>> from clausewise.verify import certify
    >>> network = ArrayNetwork([[[1, -1], [-1, 1]]], [[0, 0]], classes=["good", "bad"])
    >>> rules = RuleSet.from_text("IF income > 6 AND debt <= 5 THEN good", ["income", "debt"], default="bad")
    >>> domain = np.random.default_rng(0).uniform(0, 10, (200, 2))
    >>> certificate = certify(rules, network, domain)  # as rules.certify(network, domain)
    >>> certificate[0].status, certificate.certified([[8.0, 2.0], [5.0, 4.8]]).tolist()
    ('proven', [True, False])
    """
    check_parameters(
        _PARAMETERS,
        {
            "max_boxes": max_boxes,
            "seconds": seconds,
            "max_parts": max_parts,
            "random_state": random_state,
            "verbose": verbose,
        },
    )
    if are_labels(network):
        raise TypeError(f"network is a {type(network).__name__} of labels; pass the model itself.")
    clock = Clock.for_seconds(TIME_USED * seconds)
    wrapped = wrap(network)
    known = KnownRows.of(domain, rules.features, "domain")
    boundaries = Domain.of_rows(known.matrix, rules.features)
    if boundaries.n_coordinates > MANY_COLUMNS:
        warnings.warn(
            f"{note_on_columns(boundaries)} This may take {seconds:g} seconds; rules.challenge(network, X) "
            "works with any number of columns.",
            stacklevel=3,  # the caller of `RuleSet.certify`
        )
    random = (
        random_state
        if isinstance(random_state, np.random.RandomState)
        else np.random.RandomState(random_state or 0)
    )
    task = _task(rules, wrapped, known, boundaries, clock, max_boxes, max_parts, random)
    matrix, questions, prover = task.matrix, task.questions, task.prover
    proofs, found = [], []
    is_certified, is_stopped = np.zeros(len(matrix), dtype=bool), task.is_stopped
    with one_blas_thread(), Progress(verbose) as progress:
        progress.started("certify", len(rules))
        for rule in range(len(rules)):
            progress.part_started(f"rule {rule}", 0)
            own = Clock.for_seconds(clock.left / (len(rules) - rule))
            proof, counterexample = _proof(task, rule, own, is_certified)
            is_stopped |= own.is_over or own.has_stopped
            proofs.append(proof)
            found.append(counterexample)
            if len(proof.parts):
                is_certified |= prover.domain.contains(proof.parts, matrix).any(axis=0)
            progress.part_done()
    return Certificate(
        rules,
        tuple(proofs),
        questions.rows(np.concatenate([np.empty((0, matrix.shape[1])), *found])),
        len(known.matrix),
        len(matrix),
        int(is_certified.sum()),
        is_stopped,
        prover.domain,
        matrix,
        task.labels,
        questions.rows(matrix),
        RowProver(rules, prover, questions, task.decisions),
        n_left_out=known.n_left_out,
    )


def _task(
    rules: RuleSet,
    network: Network,
    known: KnownRows,
    domain: Domain,
    clock: Clock,
    max_boxes: int,
    max_parts: int,
    random: np.random.RandomState,
) -> _Task:
    """Read the network, ask it about rows of the domain, and check that it runs as it was read."""
    n_read = min(len(known.matrix), _ROWS_TO_READ)
    few = take_rows(as_rows(rules.features.table(known.X)), np.arange(n_read))
    model = network.plain(few).reading(rules.features.names)
    layers, decisions = decisions_of(model, rules.labels, network.classes.tolist())
    prover = Prover.of(model, layers, domain)
    questions = NetworkQuestions(network, rules, few)
    asking = Clock.for_seconds(_OF_ASKING * clock.left)
    matrix, codes = _followed(known.matrix, questions, asking, random)
    checking = Clock.for_seconds(_OF_ASKING * clock.left)
    check_reading(prover, model, network, decisions, questions, matrix, codes, checking)
    return _Task(
        rules,
        prover,
        decisions,
        matrix,
        codes,
        questions.labels(codes),
        questions,
        max_boxes,
        max_parts,
        random,
        has_two_classes=len(network.classes) == len(decisions) == 2 and None not in decisions,
        is_stopped=asking.has_stopped,
    )


def _followed(
    matrix: Floats, questions: NetworkQuestions, clock: Clock, random: np.random.RandomState
) -> tuple[Floats, Codes]:
    """Return the rows that are followed, of many a random sample, and what the network says about them."""
    # In random order, so that rows that are asked about in time are a random sample, too.
    own = random if len(matrix) > _MAX_ROWS else np.random.RandomState(0)
    order = own.permutation(len(matrix))[:_MAX_ROWS]
    codes = np.concatenate([questions.codes(matrix[order[part]]) for part in clock.batches(len(order))])
    places = np.argsort(order[: len(codes)])
    return matrix[order[places]], codes[places]


def _proof(task: _Task, rule: int, clock: Clock, is_certified: Any) -> tuple[RuleProof, Floats]:
    """Return what can be proven about one rule, and a counterexample as a matrix of one row or none."""
    stored, domain = task.rules.columns, task.prover.domain
    code = int(stored.class_index[rule])
    is_against = task.rules.voting == "weights" and bool(stored.weight[rule] < 0)
    region = domain.region_of(stored, rule)
    none, no_rows = domain.whole().take(slice(0, 0)), np.empty((0, task.matrix.shape[1]))
    label = task.rules.labels[code]
    if region is None:
        return RuleProof(rule, label, is_against, "empty", 0.0, 0.0, 0, np.nan, None, none, 0), no_rows
    inside = domain.contains(region, task.matrix)[0]
    claim = _claim(task, code, is_against)
    if claim is None:
        raise ValueError(
            f"Rule {rule} predicts {label!r}, which is not a class of the network; pass the network that "
            "the rules "
            "imitate."
        )
    half = Clock.for_seconds(clock.left / 2)
    found = task.prover.search(region, claim, max(task.max_boxes // 2, 1), half, task.matrix[inside])
    clock.has_stopped |= half.has_stopped
    differs = (task.codes == code) if is_against else (task.codes != code)
    row, network_label = _counterexample(task, rule, code, is_against, inside & differs, found, clock)
    if not task.says_class(is_against):
        parts = Parts(none, 0)
    elif found.is_proven:
        parts = Parts(region, 0)
    else:
        wanted = task.matrix[inside & ~is_certified]
        n_boxes = task.max_boxes // 2
        parts = grow_parts(task.prover, region, claim, wanted, task.max_parts, n_boxes, clock, task.random)
    is_proven_row = found.is_proven_row
    if len(parts.regions):
        is_proven_row = is_proven_row | domain.contains(parts.regions, task.matrix[inside]).any(axis=0)
    proven = Regions.joined([found.proven, parts.regions])
    if (is_proven_row & differs[inside]).any() or domain.contains(proven, row).any():
        raise misread()
    status: Status = "proven" if found.is_proven else "refuted" if len(row) else "open"
    of_open = domain.shares(found.open, region)
    shares = [
        float(min(domain.shares(part, region).sum() + (of_open * cut_off).sum(), 1.0))
        for part, cut_off in zip(
            (found.proven, found.refuted), claim.sides(*found.planes.shares()), strict=True
        )
    ]
    if found.is_proven:
        shares[0] = 1.0
    return (
        RuleProof(
            rule,
            label,
            is_against,
            status,
            shares[0],
            shares[1],
            int(inside.sum()),
            float(is_proven_row.mean()) if inside.any() else np.nan,
            network_label,
            parts.regions,
            found.n_boxes + parts.n_boxes,
        ),
        row,
    )


def _claim(task: _Task, code: int, is_against: bool) -> Claim | None:
    decision = task.decisions[code]
    return None if decision is None else Claim(decision, is_against)


def _counterexample(
    task: _Task, rule: int, code: int, is_against: bool, contradicts: Any, found: Outcome, clock: Clock
) -> tuple[Floats, Label | None]:
    """Return a row on which the network itself contradicts the rule, preferably a real one, and its label."""
    decode, premise = task.rules.features.decode, task.rules[rule]

    def fires(row: Floats) -> bool:
        return bool(premise.holds([decode(column, float(value)) for column, value in enumerate(row)]))

    for place in np.flatnonzero(contradicts)[:_MAX_ASKED].tolist():
        if fires(task.matrix[place]):
            return task.matrix[place : place + 1], task.labels[place]
    witnesses = found.witnesses[-_MAX_ASKED:]
    for part in clock.batches(len(witnesses)):
        codes, labels = task.questions.answers(witnesses[part])
        confirmed = (codes == code) if is_against else (codes != code)
        for place in np.flatnonzero(confirmed).tolist():
            if fires(witnesses[part][place]):
                return witnesses[part][place][None], labels[place]
    return witnesses[:0], None
