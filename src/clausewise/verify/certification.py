"""Proving, or refuting, what each rule says about a network."""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from clausewise.base.parameters import RANDOM_STATE, VERBOSE, check_parameters, number, whole
from clausewise.base.progress import Progress
from clausewise.networks import wrap
from clausewise.networks.answers import are_labels
from clausewise.networks.arrays import one_blas_thread
from clausewise.networks.plain import Floats
from clausewise.rules.ruleset import RuleSet
from clausewise.verify.certificate import Certificate, RuleProof, Status
from clausewise.verify.decisions import Decision, decisions_of
from clausewise.verify.domain import Domain, KnownRows
from clausewise.verify.growing import Parts, grow_parts
from clausewise.verify.questions import NetworkQuestions
from clausewise.verify.row_proofs import RowProver
from clausewise.verify.search import Claim, Clock, Outcome, Prover

# Possible counterexamples that the network itself is asked about.
_MAX_ASKED: Final = 256
# The rest is for what cannot be stopped.
_TIME_USED: Final = 0.95
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
    codes: Any
    questions: NetworkQuestions
    max_boxes: int
    max_parts: int
    random: np.random.RandomState
    has_two_classes: bool

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
    clock = Clock.for_seconds(_TIME_USED * seconds)
    wrapped = wrap(network)
    known = KnownRows.of(domain, rules.features, "domain")
    matrix = known.matrix
    model = wrapped.plain(rules.features.table(known.X)).reading(rules.features.names)
    layers, decisions = decisions_of(model, rules.labels, wrapped.classes.tolist())
    prover = Prover.of(model, layers, Domain.of_rows(matrix, rules.features))
    questions = NetworkQuestions(wrapped, rules, known.X)
    codes, labels = questions.answers(matrix)
    random = (
        random_state
        if isinstance(random_state, np.random.RandomState)
        else np.random.RandomState(random_state or 0)
    )
    has_two_classes = len(wrapped.classes) == len(decisions) == 2 and None not in decisions
    task = _Task(
        rules, prover, decisions, matrix, codes, questions, max_boxes, max_parts, random, has_two_classes
    )
    proofs, found = [], []
    is_certified, is_stopped = np.zeros(len(matrix), dtype=bool), False
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
        len(matrix),
        int(is_certified.sum()),
        is_stopped,
        prover.domain,
        matrix,
        labels,
        questions.rows(matrix),
        RowProver(rules, prover, questions, decisions),
        n_left_out=known.n_left_out,
    )


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
    row, network_code = _counterexample(task, rule, code, is_against, inside, found)
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
            network_code,
            parts.regions,
            found.n_boxes + parts.n_boxes,
        ),
        row,
    )


def _claim(task: _Task, code: int, is_against: bool) -> Claim | None:
    decision = task.decisions[code]
    return None if decision is None else Claim(decision, is_against)


def _counterexample(
    task: _Task, rule: int, code: int, is_against: bool, inside: Any, found: Outcome
) -> tuple[Floats, Any]:
    """Return a row on which the network itself contradicts the rule, preferably a real one, and its label."""
    differs = (task.codes == code) if is_against else (task.codes != code)
    candidates = np.concatenate([task.matrix[inside & differs][:_MAX_ASKED], found.witnesses[-_MAX_ASKED:]])
    decode = task.rules.features.decode
    premise = task.rules[rule]
    if len(candidates):
        codes, labels = task.questions.answers(candidates)
        contradicts = (codes == code) if is_against else (codes != code)
        for place in np.flatnonzero(contradicts).tolist():
            row = candidates[place]
            if premise.holds([decode(column, float(value)) for column, value in enumerate(row)]):
                return row[None], labels[place]
    return candidates[:0], None
