"""The methods that are compared, under the names that the paper's tables use."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

from clausewise import ECLAIRE, REMD, DeepRED, Network, Pedagogical, TreeEnsembleRules
from clausewise.extractors import RuleExtractor
from clausewise.induction import CARTInducer

if TYPE_CHECKING:
    from clausewise_experiments.settings import TaskSettings

Kind = Literal["true labels", "pedagogical", "deepred", "rem-d", "eclaire"]

NETWORK: Final = "network"
_COMPACT: Final = "compact "


@dataclass(frozen=True)
class Method:
    """A method of the paper.

    Attributes
    ----------
    kind
        The labels it learns from, and the algorithm.
    inducer
        The rule inducer, the paper's ψ.
    eclectic
        Whether ECLAIRE also learns from the inputs.
    """

    kind: Kind
    inducer: Literal["c5.0", "cart"] = "c5.0"
    eclectic: bool = False

    @property
    def imitates_network(self) -> bool:
        """Whether it aims at fidelity rather than accuracy."""
        return self.kind != "true labels"

    @property
    def is_termwise(self) -> bool:
        """Whether the number of its rules may explode, so that it runs under limits."""
        return self.kind in ("deepred", "rem-d")


METHODS: Final[dict[str, Method]] = {
    "C5.0": Method("true labels"),
    "PedC5.0": Method("pedagogical"),
    "DeepRED*": Method("deepred"),
    "REM-D": Method("rem-d"),
    "ECLAIRE": Method("eclaire"),
    "ECLAIRE*": Method("eclaire", eclectic=True),
    "CART": Method("true labels", "cart"),
    "PedCART": Method("pedagogical", "cart"),
    "DeepRED-CART": Method("deepred", "cart"),
    "REM-D-CART": Method("rem-d", "cart"),
    "ECLAIRE-CART": Method("eclaire", "cart"),
    "ECLAIRE*-CART": Method("eclaire", "cart", eclectic=True),
}
C50_METHODS: Final = tuple(name for name, method in METHODS.items() if method.inducer == "c5.0")
CART_METHODS: Final = tuple(name for name, method in METHODS.items() if method.inducer == "cart")


def compact_name(budget: int) -> str:
    """Return the name of compact rule sets of at most `budget` rules."""
    return f"{_COMPACT}{budget}"


def compact_budget(name: str) -> int | None:
    """Return the number of rules in the name of a compact rule set; None for other methods."""
    return int(name.removeprefix(_COMPACT)) if name.startswith(_COMPACT) else None


def aims_at_fidelity(name: str) -> bool:
    """Return whether a method's settings are chosen by fidelity rather than accuracy."""
    return name not in METHODS or METHODS[name].imitates_network


def estimator(
    name: str,
    min_cases: float | None,
    network: Network,
    task: "TaskSettings",
    n_jobs: int = 1,
    **options: Any,
) -> RuleExtractor:
    """Return a method with the paper's settings: C5.0 winnows, CART follows `task.cart`."""
    budget = compact_budget(name)
    if budget is not None:
        return ECLAIRE(network, max_rules=budget, n_jobs=n_jobs, **options)
    method = METHODS[name]
    given: dict[str, Any] = {"max_rules": None, "voting": "confidence", "n_jobs": n_jobs, **options}
    if method.inducer == "cart":
        assert min_cases is not None
        # Both limit the tree: nodes with fewer rows are not split, and cost-complexity pruning follows.
        given["inducer"] = CARTInducer(min_cases=min_cases, ccp_alpha=task.cart.ccp_alpha)
    else:
        given |= {"inducer": "c5.0", "min_cases": min_cases, "winnow": True}
    if method.is_termwise:
        given |= {
            "max_seconds": task.limits.seconds,
            "max_product_rules": task.limits.rules,
            "max_memory": task.limits.megabytes * 2**20,
        }
    if method.kind == "eclaire":
        if method.inducer == "cart":
            given["balance"] = "balanced" if task.cart.balanced else None
        return ECLAIRE(network, eclectic=method.eclectic, **given)
    of_kind = {
        "true labels": TreeEnsembleRules,
        "pedagogical": Pedagogical,
        "deepred": DeepRED,
        "rem-d": REMD,
    }
    return of_kind[method.kind](network, **given)
