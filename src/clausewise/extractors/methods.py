"""The methods by name, and `extract`: a model and rows in, rules out."""

from typing import Any, Final

from numpy.typing import ArrayLike

from clausewise.extractors.base import RuleExtractor
from clausewise.extractors.deepred import DeepRED
from clausewise.extractors.eclaire import ECLAIRE
from clausewise.extractors.pedagogical import Pedagogical
from clausewise.extractors.rem_d import REMD
from clausewise.extractors.tree_ensemble import TreeEnsembleRules
from clausewise.rules import RuleSet

METHODS: Final[dict[str, type[RuleExtractor]]] = {
    "eclaire": ECLAIRE,
    "rem-d": REMD,
    "deepred": DeepRED,
    "pedagogical": Pedagogical,
    "rem-t": TreeEnsembleRules,
}


def extract(
    model: Any,
    X: Any,
    *,
    method: str = "eclaire",
    y: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    **options: Any,
) -> RuleSet:
    """Extract rules that imitate a trained model.

    Parameters
    ----------
    model : model or Network
        Anything that `clausewise.wrap` takes, or its result.
    X : array or DataFrame of shape (n_rows, n_features)
        Raw rows, best those that the model was trained on.
    method : {"eclaire", "rem-d", "deepred", "pedagogical", "rem-t"}, default "eclaire"
        The method; see `ECLAIRE`, `REMD`, `DeepRED`, `Pedagogical` and `TreeEnsembleRules`.
    y : array-like of shape (n_rows,), optional
        True classes; only "rem-t" learns from them.
    sample_weight : array-like of shape (n_rows,), optional
        How much each row counts.
    **options
        Parameters of the method, such as `min_cases=50` or `verbose=1`.

    Returns
    -------
    RuleSet
        The rules.

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
    """
    if method not in METHODS:
        raise ValueError(f"method is {method!r}; expected one of {', '.join(map(repr, METHODS))}.")
    if model is None:
        raise TypeError("model is None; pass a trained model, or use the method's estimator to train one.")
    extractor = METHODS[method]
    known = extractor._get_param_names()
    unknown = sorted(set(options) - set(known))
    if unknown:
        raise TypeError(f"{method} has no option {unknown[0]!r}; it has {', '.join(known)}.")
    fitted = extractor(model, **options).fit(X, y, sample_weight=sample_weight)
    rules: RuleSet = fitted.rules_
    return rules
