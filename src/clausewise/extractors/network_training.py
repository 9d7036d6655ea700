"""The network to extract rules from: the given one, or one that is trained first."""

import copy
import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.impute import SimpleImputer
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from clausewise.data.features import Features, require_finite
from clausewise.data.table import unmasked
from clausewise.induction.estimator import read_targets
from clausewise.networks import Network, wrap
from clausewise.networks.answers import are_labels, number_model

HIDDEN_LAYERS = (32, 16)
MAX_ITERATIONS = 500


def network_for(
    model: Any, X: Any, y: ArrayLike | None, sample_weight: ArrayLike | None, random_state: int
) -> Network:
    """Return the wrapped model; an unfitted or missing one is first trained on X and y."""
    if are_labels(model):
        raise TypeError(
            f"network is a {type(model).__name__} of labels; this method looks inside, so pass the model "
            "itself. Pedagogical learns rules from labels alone."
        )
    if model is None:
        return _default_network(X, y, sample_weight, random_state)
    if isinstance(model, BaseEstimator) and not _is_fitted(model):
        return _trained(model, X, y, sample_weight, random_state)
    return wrap(model)


def number_network_for(
    model: Any, X: Any, y: ArrayLike | None, sample_weight: ArrayLike | None, random_state: int
) -> Network:
    """Return the wrapped model, whose output is taken for a number unless it is known to be classes."""
    if isinstance(model, BaseEstimator) and not _is_fitted(model):
        network = _trained(model, X, y, sample_weight, random_state)
    else:
        network = number_model(model)
    if not network.may_estimate_numbers(X):
        raise ValueError(
            f"{network!r} predicts classes, for which ECLAIRE and clausewise.extract find rules. For rules "
            "that add numbers, pass a regressor, or clausewise.wrap(model, output='number') if its output is "
            "a number."
        )
    return network


def trained_model(
    model: Any,
    X: Any,
    y: ArrayLike | None,
    sample_weight: ArrayLike | None,
    random_state: int | np.random.RandomState | None,
) -> Network:
    """Return the network that an extractor with this `random_state` would use."""
    is_trained_here = isinstance(model, BaseEstimator) and not _is_fitted(model)
    if not is_trained_here:
        return wrap(model)
    # A copy, since the extractor draws the same seed again.
    random = copy.deepcopy(check_random_state(0 if random_state is None else random_state))
    return network_for(model, X, y, sample_weight, random.randint(2**31))


def _is_fitted(model: BaseEstimator) -> bool:
    try:
        check_is_fitted(model)
    except NotFittedError:
        return False
    return True


def _trained(
    model: BaseEstimator, X: Any, y: ArrayLike | None, sample_weight: ArrayLike | None, random_state: int
) -> Network:
    if y is None:
        raise ValueError(
            f"{type(model).__name__} is not fitted and y is None; fit it first, or pass y to train it."
        )
    last = model.steps[-1] if isinstance(model, Pipeline) else ("", model)
    options: dict[str, Any] = {}
    if sample_weight is not None and has_fit_parameter(last[1], "sample_weight"):
        options[f"{last[0]}__sample_weight" if last[0] else "sample_weight"] = sample_weight
    own = clone(model)
    unset = [name for name, value in own.get_params().items() if _is_seed(name) and value is None]
    return wrap(own.set_params(**dict.fromkeys(unset, random_state)).fit(X, unmasked(y), **options))


def _is_seed(name: str) -> bool:
    return name == "random_state" or name.endswith("__random_state")


def _default_network(
    X: Any, y: ArrayLike | None, sample_weight: ArrayLike | None, random_state: int
) -> Network:
    """Train a small MLPClassifier on standardised numbers and one-hot encoded categories."""
    features = Features.learn(X)
    table = features.encode(X)
    require_finite(table, features)
    classes, codes, weights = read_targets(y, sample_weight, len(table))  # type: ignore[arg-type]
    is_category = features.n_categories >= 0
    transformer = ColumnTransformer(
        [
            ("numbers", _numbers(), np.flatnonzero(~is_category)),
            ("categories", OneHotEncoder(handle_unknown="ignore"), np.flatnonzero(is_category)),
        ],
        sparse_threshold=0.0,
    ).fit(table)
    model = MLPClassifier(HIDDEN_LAYERS, max_iter=MAX_ITERATIONS, random_state=random_state)
    labels: NDArray[Any] = classes.declared[codes]
    options = (
        {} if weights is None or not has_fit_parameter(model, "sample_weight") else {"sample_weight": weights}
    )
    with warnings.catch_warnings():
        # A network that has not quite converged is good enough, since nothing is compared with it.
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(transformer.transform(table), labels, **options)
    return wrap(model, preprocess=[features.encode, transformer])


def _numbers() -> Pipeline:
    return make_pipeline(SimpleImputer(keep_empty_features=True), StandardScaler())
