"""Reading labels: which class a label means, and what happens to unknown labels."""

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier

from clausewise.data.labels import LabelError, describe_unknown, read_labels, require_no_missing


@pytest.mark.parametrize(
    ("labels", "classes", "unknown"),
    [
        (["0", "1", "2", "2.0"], (0, 1), (2,)),
        (["0.5", "1e1"], (0.5, 1.5), (10.0,)),
        ([0, 1, 2], ("0", "1"), ("2",)),
        (["no", "maybe"], ("no", "yes"), ("maybe",)),
    ],
)
def test_unknown_labels_without_types_are_read_as_the_kind_of_the_classes(labels, classes, unknown):
    read = read_labels(labels, classes, len(labels), "y", allow_unknown=True)
    assert read.unknown == unknown
    assert read.values.tolist() == [(*classes, *unknown)[code] for code in read.codes]
    assert read.codes[-1] == len(classes)


def test_labels_without_types_still_mean_the_classes_that_they_can_mean():
    read = read_labels(["1.0", "0", "1"], (0, 1), 3, "y")
    np.testing.assert_array_equal(read.codes, [1, 0, 1])
    assert read.unknown == ()


@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        (["0", "perhaps"], (0, 1)),
        (["1", "inf"], (0, 1)),
        (["true", "2"], (False, True)),
        (["3", "4"], (0, 1)),
    ],
)
def test_labels_that_cannot_be_of_the_classes_kind_are_refused(labels, classes):
    with pytest.raises(LabelError, match=r"y holds .*, which (is|are) not among the classes"):
        read_labels(labels, classes, 2, "y", allow_unknown=True)


@pytest.mark.parametrize(("n_unknown", "end"), [(7, "7, 8"), (8, "8, 9"), (9, "8, 9 and 1 more")])
def test_up_to_eight_unknown_labels_are_listed(n_unknown, end):
    text = describe_unknown(list(range(2, 2 + n_unknown)), (0, 1), "y")
    assert text.startswith("y holds 2, 3, 4, 5, 6, 7")
    assert text.endswith(f"{end}, which are not among the classes 0, 1")


def test_many_unknown_labels_are_listed_in_part():
    text = describe_unknown(list(range(2, 20)), (0, 1), "y")
    assert text == "y holds 2, 3, 4, 5, 6, 7, 8, 9 and 10 more, which are not among the classes 0, 1"


def test_a_model_in_place_of_labels_is_named():
    with pytest.raises(LabelError, match="y is a DummyClassifier; pass labels here, and a model as network="):
        read_labels(DummyClassifier(), (0, 1), 3, "y")


@pytest.mark.parametrize("labels", [[1.0, np.nan], ["a", None], ["a", np.nan]])
def test_missing_labels_are_counted(labels):
    array = np.array(labels, dtype=None if isinstance(labels[0], float) else object)
    with pytest.raises(LabelError, match="y has 1 missing label;"):
        read_labels(array, (1, 2), 2, "y")
    with pytest.raises(LabelError, match="y has 1 missing label;"):
        require_no_missing(array, "y")
    require_no_missing(array[:1], "y")
