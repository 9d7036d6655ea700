"""The methods by name, the choice of one, and `extract`: a model and rows in, rules out."""

from difflib import get_close_matches
from typing import Any, Final

from numpy.typing import ArrayLike

from clausewise.extractors.base import RuleExtractor
from clausewise.extractors.deepred import DeepRED
from clausewise.extractors.eclaire import ECLAIRE
from clausewise.extractors.held_out import HeldOut, check_tolerance
from clausewise.extractors.network_training import trained_model
from clausewise.extractors.pedagogical import Pedagogical
from clausewise.extractors.rem_d import REMD
from clausewise.extractors.rule_regressor import RuleRegressor
from clausewise.extractors.tree_ensemble import TreeEnsembleRules
from clausewise.induction.estimator import TableEstimator
from clausewise.networks import Network
from clausewise.networks.answers import are_labels, are_numbers, rows_to_learn_from
from clausewise.networks.ensembles import has_trees
from clausewise.partitions import is_partitioned, partitioned
from clausewise.partitions.label_column import labels_in
from clausewise.rules import RegressionRules, RuleSet

METHODS: Final[dict[str, type[RuleExtractor]]] = {
    "eclaire": ECLAIRE,
    "rem-d": REMD,
    "deepred": DeepRED,
    "pedagogical": Pedagogical,
    "rem-t": TreeEnsembleRules,
}
AUTO: Final = "auto"
"""The name of the choice of a method by the kind of the model."""
_FEW_ROWS: Final = 10_000  # of partitions, to see what kind of answers a model gives
REGRESSION: Final = "regression"
"""The name of the method for numbers, `RuleRegressor`."""
ESTIMATORS: Final[dict[str, type[TableEstimator]]] = {**METHODS, REGRESSION: RuleRegressor}
"""The methods for classes and for numbers."""


def chosen_method(network: Network, X: Any) -> str:
    """Return the name of the method for a network, by its output and by what is inside it."""
    if network.estimates_numbers(X):
        return REGRESSION
    if network.has_hidden_layers(X):
        return "eclaire"
    return "rem-t" if has_trees(network) else "pedagogical"


def extract(
    model: Any,
    X: Any,
    *,
    method: str = "auto",
    y: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    holdout: float | None = None,
    groups: ArrayLike | None = None,
    tolerance: float | None = None,
    **options: Any,
) -> "RuleSet | RegressionRules":
    """Extract rules that imitate a trained model.

    Parameters
    ----------
    model : model, function or Network
        Anything that `clausewise.wrap` takes, or its result: a neural network, anything with `predict` or
        `predict_proba`, a booster, a function from rows to labels or probabilities; or the labels, or the
        numbers, of the rows. For rows that need not fit into memory, it may be the name of the column that
        holds these.
    X : array or DataFrame of shape (n_rows, n_features)
        Raw rows, best those that the model was trained on. Rows that need not fit into memory are taken, too:
        the path of a file or folder, a LazyFrame, or a frame of Dask, Ray or Spark; see
        `clausewise.partitioned`.
    method : {"auto", "eclaire", "rem-d", "deepred", "pedagogical", "rem-t", "regression"}, default "auto"
        "auto" is "regression" for a model that returns numbers, "eclaire" for a network with hidden layers,
        "rem-t" for a model of trees, which starts from its own trees, and "pedagogical" for any other model,
        of which only labels and probabilities are known. See `RuleRegressor`, `ECLAIRE`, `REMD`, `DeepRED`,
        `Pedagogical` and `TreeEnsembleRules`. Of a function, or of a network that ends in a linear layer,
        it is not known that it returns numbers: pass method="regression".
    y : array-like of shape (n_rows,), optional
        True classes, or numbers; only "rem-t" learns from them, if it is not given trees. A model that is not
        fitted yet is trained on them.
    sample_weight : array-like of shape (n_rows,), optional
        How much each row counts.
    holdout : float, optional
        The fraction of rows to hold out, drawn at random (`random_state`). Rules are learnt from the others,
        and carry a guarantee that is counted on these (`RuleSet.guarantee`). It is about rows like those of
        `X`; it is about new rows only if the model was not trained on the held-out ones.
    groups : array-like of shape (n_rows,), optional
        With `holdout`: what each row belongs to, such as a customer. Groups are held out as a whole.
    tolerance : float, optional
        With `holdout` and for numbers: the largest difference between rules and model that counts as
        agreement.
    **options
        Parameters of the method, such as `min_cases=50` or `verbose=1`.

    Returns
    -------
    RuleSet or RegressionRules
        The rules; those of "regression" add numbers.

    Examples
    --------
    >>> import clausewise
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neural_network import MLPClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> network = MLPClassifier((16, 8), max_iter=2000, random_state=0).fit(X, y)
    >>> rules = clausewise.extract(network, X, min_cases=5)
    >>> len(rules) < 20
    True

    With a guarantee, counted on held-out rows:

    >>> rules = clausewise.extract(network, X, holdout=0.3)
    >>> rules.guaranteed.n_rows
    45
    """
    if method != AUTO and method not in ESTIMATORS:
        raise ValueError(
            f"method is {method!r}; expected one of {', '.join(map(repr, [AUTO, *ESTIMATORS]))}."
        )
    if model is None:
        raise TypeError("model is None; pass a trained model, or use the method's estimator to train one.")
    if is_partitioned(X):
        if holdout is not None or groups is not None or tolerance is not None:
            raise ValueError(
                "holdout, groups and tolerance are for tables in memory; count a guarantee on a table of "
                "fresh rows with rules.guarantee(X_fresh, model)."
            )
        X = partitioned(X)
        few = X.head(_FEW_ROWS)
        if method == AUTO:
            if isinstance(model, str):
                is_numeric = model in (X.names or ()) and are_numbers(labels_in(few, model))
                method = REGRESSION if is_numeric else "pedagogical"
            else:
                model = trained_model(model, few, None, None, None)
                method = chosen_method(model, few)
    held_out = None
    if holdout is not None:
        held_out = HeldOut.of(model, X, holdout, groups, sample_weight, options.get("random_state"))
        model, X, y = held_out.model, held_out.X, held_out.learnt(y)
    elif groups is not None or tolerance is not None:
        raise ValueError("groups and tolerance are for held-out rows; pass holdout, such as holdout=0.2.")
    if method == AUTO and are_labels(model):
        method = REGRESSION if are_numbers(model) else "pedagogical"
    elif method == AUTO:
        X = rows_to_learn_from(model, X)
        model = trained_model(model, X, y, sample_weight, options.get("random_state"))
        method = chosen_method(model, X)
    if held_out is not None:
        check_tolerance(tolerance, for_numbers=method == REGRESSION)
    extractor = ESTIMATORS[method]
    known = extractor._get_param_names()
    unknown = sorted(set(options) - set(known))
    if unknown:
        close = get_close_matches(unknown[0], known, n=1)
        hint = f"did you mean {close[0]!r}? It" if close else "it"
        raise TypeError(f"{method} has no option {unknown[0]!r}; {hint} has {', '.join(known)}.")
    fitted = extractor(model, **options).fit(X, y, sample_weight=sample_weight)
    rules: RuleSet | RegressionRules = fitted.rules_
    if held_out is None:
        return rules
    return held_out.guaranteed(rules, fitted.network_, tolerance, options.get("output"))
