"""Models that are only asked for their predictions: any estimator, booster or function."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from clausewise.data.labels import Label, class_meant, plain_label
from clausewise.networks.fitted_rows import rows_as_fitted
from clausewise.networks.inputs import InputKey
from clausewise.networks.locks import lock_of
from clausewise.networks.network import Network
from clausewise.networks.preprocess import Preprocess, first_step, rows_of
from clausewise.networks.protocol import OUTPUT, OutputForm, Structure

# Rows that are asked at once to find the labels of a model that does not list its classes.
_ROWS_TO_LEARN_FROM = 16_384


class UnsupportedModelError(TypeError):
    """The model is of a type that `wrap` does not support."""


@dataclass(frozen=True, eq=False)
class Answer:
    """The predictions of a model for some rows; at least one of the two is given.

    Attributes
    ----------
    labels : ndarray of shape (n_rows,) or None
        The label that the model gives to each row.
    scores : ndarray or None
        Numbers, with the meaning `Predictor.form`: as a rule one column of probabilities per class.
    """

    labels: NDArray[Any] | None
    scores: NDArray[Any] | None = None


class Predictor(Protocol):
    """A fitted model that can be asked for its predictions.

    Attributes
    ----------
    model : object
        The model itself.
    title : str
        A short description: "scikit-learn RandomForestClassifier".
    n_inputs : int or None
        Number of columns that it was fitted to, if known.
    classes : sequence or None
        Its classes, in the order of its probabilities; None if only its predictions show them.
    feature_names : sequence of str or None
        Names of the columns that it was fitted to; None if it was fitted to an array, or if unknown.
    form : OutputForm or None
        The meaning of the scores of an answer without labels.
    """

    model: Any
    title: str
    n_inputs: int | None
    classes: Sequence[Any] | None
    feature_names: Sequence[str] | None
    form: OutputForm | None

    def rows(self, rows: Any) -> Any:
        """Return rows in the form in which the model was fitted."""
        ...

    def ask(self, rows: Any) -> Answer:
        """Return the model's predictions for rows in this form; several threads may ask at once."""
        ...


class PredictorBackend:
    """The adapter for a `Predictor`: a network without tensors inside."""

    def __init__(self, predictor: Predictor) -> None:
        self.predictor = predictor
        self.title = predictor.title
        self.n_inputs = predictor.n_inputs
        self.classes: Sequence[Any] | None = predictor.classes
        self.feature_names = predictor.feature_names
        self.dtype = np.dtype(np.float64)
        # A model that lists no classes may give further labels to further rows.
        self._lists_classes = predictor.classes is not None
        # Probabilities are of no use if it is unknown which classes they belong to.
        self._uses_scores = True

    def inspect(self, rows: Any) -> Structure | None:
        """Return the structure, which takes an answer to find."""
        if rows is None:
            return None
        output = self._output(answer := self._answer(rows))
        n_columns = 1 if output.ndim == 1 else int(output.shape[1])
        form: OutputForm | None = self.predictor.form
        if answer.labels is not None:
            form = "labels" if answer.scores is None else "predictions"
        return Structure((), n_columns, form)

    def evaluate(self, rows: Any, names: Sequence[str]) -> list[NDArray[Any]]:
        """Return the output; there is no other tensor."""
        assert all(name == OUTPUT for name in names)
        output = self._output(self._answer(rows))
        return [output for _ in names]

    def learn_classes(self, batches: Iterator[Any]) -> None:
        """Find the classes of a model that does not list them: the labels of these rows, sorted."""
        if self._lists_classes:
            return
        found: set[Label] = set()
        for rows in batches:
            answer = self._answer(rows)
            if answer.labels is None:
                return
            if answer.scores is not None:
                self._lists_classes = _are_positions(answer.labels, answer.scores)
                self._uses_scores = self._lists_classes
            if self._lists_classes and answer.scores is not None:
                self.classes = list(range(answer.scores.shape[1]))
                return
            found.update(plain_label(label) for label in np.unique(answer.labels))
        self.classes = sorted(found, key=lambda label: (isinstance(label, str), label))

    def _answer(self, rows: Any) -> Answer:
        answer = self.predictor.ask(rows)
        return answer if self._uses_scores or answer.labels is None else Answer(answer.labels)

    def _output(self, answer: Answer) -> NDArray[Any]:
        if answer.labels is None:
            assert answer.scores is not None
            return answer.scores
        codes = self._codes(answer.labels)
        if answer.scores is None:
            return codes
        return np.column_stack([codes, np.asarray(answer.scores, dtype=np.float64)])

    def _codes(self, labels: NDArray[Any]) -> NDArray[np.int32]:
        """Return labels as positions in the classes."""
        distinct, places = np.unique(labels, return_inverse=True)
        with lock_of(self):
            codes = [self._code(plain_label(label)) for label in distinct]
        return np.array(codes, dtype=np.int32)[places.reshape(-1)]

    def _code(self, label: Label) -> int:
        known = self.classes or ()
        code = class_meant(label, known) if known else None
        if code is not None:
            return code
        if self._lists_classes:
            listed = ", ".join(map(str, known[:8]))
            raise ValueError(
                f"{self.title} predicted {label!r}, which is not one of its classes ({listed}); pass all of "
                "them as classes=."
            )
        self.classes = [*known, label]
        return len(known)


def _are_positions(labels: NDArray[Any], scores: NDArray[Any]) -> bool:
    """Return whether labels are the positions 0, 1, … of the columns of scores."""
    return (
        scores.ndim == 2 and labels.dtype.kind in "iu" and bool(np.isin(labels, range(scores.shape[1])).all())
    )


class PredictorNetwork(Network):
    """A model that is only asked for its predictions, as a network without hidden layers."""

    _backend: PredictorBackend

    @property
    def model(self) -> Any:
        """The model itself, without the steps before it."""
        return self._backend.predictor.model

    @property
    def is_function(self) -> bool:
        """Whether this is a function, perhaps a remote service, of which it is unknown what a call costs."""
        return not (hasattr(self.model, "predict") or hasattr(self.model, "predict_proba"))

    @property
    def preprocess(self) -> Preprocess:
        """The steps before the model."""
        return self._preprocess

    def _see(self, X: Any, n_rows: int) -> None:
        if self._row_shape is None:
            starts = range(0, n_rows, _ROWS_TO_LEARN_FROM)
            parts = (slice(start, min(start + _ROWS_TO_LEARN_FROM, n_rows)) for start in starts)
            self._backend.learn_classes(self._inputs(X, part) for part in parts)
        super()._see(X, n_rows)

    def _read_rows(self, X: Any, rows: slice) -> Any:
        """Return these rows in the form in which the model, or its first step, was fitted."""
        part = rows_of(X, rows)
        if self._transform is None:
            return self._backend.predictor.rows(part)
        first = first_step(self._preprocess)
        names, n_inputs = (getattr(first, f"{name}_in_", None) for name in ("feature_names", "n_features"))
        return self._backend.predictor.rows(self._transform(rows_as_fitted(part, names, n_inputs)))

    def _check_finite(self, inputs: Any, first_row: int, key: InputKey | None = None) -> None:
        """Leave missing values to the model."""
