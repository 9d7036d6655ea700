"""Rows of tasks: generated, from files and from OpenML, and clear errors if they are missing."""

import urllib.error
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.utils import Bunch

from clausewise_experiments import DataNotFoundError, data, load_settings, load_task
from clausewise_experiments.data import TaskData, content_checksum, from_openml, read_miniboone
from clausewise_experiments.folds import fold_of, sampled
from clausewise_experiments.settings import FoldSettings


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("CLAUSEWISE_DATA", str(tmp_path))
    return tmp_path


@pytest.fixture
def offline(monkeypatch):
    def refuse(**_):
        raise urllib.error.URLError("no network")

    monkeypatch.setattr(data, "fetch_openml", refuse)


def write_miniboone(path, n_signal, n_background, n_columns=50):
    rows = np.random.default_rng(0).normal(size=(n_signal + n_background, n_columns))
    lines = [f" {n_signal} {n_background}"]
    lines += ["  ".join(f"{number: .6E}" for number in row) for row in rows]
    path.write_text("\n".join(lines) + "\n", encoding="ascii")
    return rows


def test_xor_is_the_exclusive_or_of_its_first_two_columns():
    xor = load_task("xor")
    assert xor.X.shape == (1000, 10)
    assert ((xor.X >= 0) & (xor.X < 1)).all()
    np.testing.assert_array_equal(
        xor.y, np.round(xor.X[:, 0]).astype(int) ^ np.round(xor.X[:, 1]).astype(int)
    )
    assert 0.45 < xor.y.mean() < 0.55
    assert load_task("xor").digest == xor.digest


def test_a_file_of_the_data_folder_is_taken(folder):
    X = np.arange(12.0).reshape(6, 2)
    np.savez(
        folder / "mb_er.npz",
        X=X,
        y=np.array([0, 1] * 3, np.int16),
        feature_names=np.array(["a", "b"]),
        class_names=np.array(["ER-", "ER+"]),
        fold=np.array([0, 1, 2, 3, 4, 0], np.int8),
    )
    loaded = load_task("mb-er")
    np.testing.assert_array_equal(loaded.X, X)
    assert (loaded.feature_names, loaded.class_names) == (("a", "b"), ("ER-", "ER+"))
    assert loaded.fold.tolist() == [0, 1, 2, 3, 4, 0]


def test_a_file_without_an_array_is_refused(folder):
    np.savez(folder / "mb_er.npz", X=np.zeros((2, 2)), y=np.zeros(2))
    with pytest.raises(ValueError, match=r"mb_er\.npz has no array 'feature_names'"):
        load_task("mb-er")


def test_a_missing_file_that_cannot_be_downloaded_says_what_to_do(folder):
    with pytest.raises(DataNotFoundError, match=r"needs the file mb_hist\.npz.*CLAUSEWISE_DATA"):
        load_task("mb-hist")


def test_without_a_file_and_offline_the_message_says_what_to_do(folder, offline):
    with pytest.raises(DataNotFoundError, match=r"MAGIC needs magic\.npz.*1120.*no network.*CLAUSEWISE_DATA"):
        load_task("magic")


def test_miniboone_is_read_from_a_file_of_ucis_form(folder, monkeypatch):
    rows = write_miniboone(folder / "MiniBooNE_PID.txt", 30, 70)
    loaded = read_miniboone(folder / "MiniBooNE_PID.txt")
    assert loaded.X.shape == (100, 50)
    np.testing.assert_allclose(loaded.X, rows, rtol=1e-5)
    assert loaded.class_names == ("background", "signal")
    assert loaded.y.tolist() == [1] * 30 + [0] * 70


def test_miniboone_must_have_the_events_that_the_task_tells(folder):
    write_miniboone(folder / "MiniBooNE_PID.txt", 30, 70)
    with pytest.raises(ValueError, match=r"93565.*but has \{'background': 70, 'signal': 30\}"):
        load_task("miniboone")


def test_a_cut_off_file_of_miniboone_is_noticed(tmp_path):
    path = tmp_path / "MiniBooNE_PID.txt"
    write_miniboone(path, 3, 5)
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:-2]))
    with pytest.raises(ValueError, match=r"announces 3 \+ 5 events but holds 6"):
        read_miniboone(path)
    path.write_text("1.0 2.0 3.0\n")
    with pytest.raises(ValueError, match="expected the numbers of signal and of background"):
        read_miniboone(path)


def test_what_openml_gives_becomes_the_same_rows():
    settings = load_settings("magic").data
    frame = pd.DataFrame({"fLength": [1.5, 2.5, 3.5], "fWidth": [0.5, 0.25, 0.125]})
    loaded = from_openml(Bunch(data=frame, target=pd.Series(["g", "h", "g"], dtype="category")), settings)
    assert loaded.class_names == ("gamma", "hadron")
    assert loaded.y.tolist() == [0, 1, 0]
    np.testing.assert_array_equal(loaded.X, frame.to_numpy())


def test_a_sample_of_openmls_rows_has_the_classes_asked_for():
    settings = replace(load_settings("covtype130k").data, sample={"other": 4, "lodgepole_pine": 3})
    target = pd.Series([str(1 + number % 7) for number in range(70)], dtype="category")
    frame = pd.DataFrame({"Elevation": np.arange(70.0), "Soil": pd.Series(["0", "1"] * 35, dtype="category")})
    loaded = from_openml(Bunch(data=frame, target=target), settings)
    assert loaded.class_names == ("other", "lodgepole_pine")
    assert np.bincount(loaded.y).tolist() == [4, 3]
    assert ((loaded.X[:, 0] % 7 == 1) == (loaded.y == 1)).all()


def test_the_checksum_sees_values_and_classes_but_not_the_order():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 3)), rng.integers(0, 2, 20)
    rows = TaskData(X, y, ("a", "b", "c"), ("0", "1"))
    assert content_checksum(rows.take(rng.permutation(20))) == content_checksum(rows)
    other = X.copy()
    other[3, 1] += 0.01
    assert content_checksum(TaskData(other, y, rows.feature_names, rows.class_names)) != content_checksum(
        rows
    )
    assert content_checksum(TaskData(X, 1 - y, rows.feature_names, rows.class_names)) != content_checksum(
        rows
    )


def test_rows_with_another_checksum_are_refused(folder):
    arrays = {"feature_names": np.array(["a"]), "class_names": np.array(["gamma", "hadron"])}
    np.savez(folder / "magic.npz", X=np.ones((4, 1)), y=np.array([0, 1, 0, 1]), **arrays)
    with pytest.raises(ValueError, match="The rows of MAGIC are not those of the paper"):
        load_task("magic")


def test_folds_are_disjoint_and_held_out_rows_are_training_rows():
    xor = load_task("xor")
    tested = []
    for number in range(5):
        fold = fold_of(xor, FoldSettings("stratified", 42), number)
        assert not set(fold.train) & set(fold.test)
        assert sorted([*fold.kept, *fold.held_out]) == fold.train.tolist()
        assert len(fold.held_out) == 160
        tested += fold.test.tolist()
    assert sorted(tested) == list(range(1000))


def test_published_folds_are_those_of_the_file():
    y, fold = np.array([0, 1] * 20), np.repeat(np.arange(5), 8)
    rows = TaskData(np.zeros((40, 1)), y, ("a",), ("0", "1"), fold)
    assert fold_of(rows, FoldSettings("published"), 3).test.tolist() == list(range(24, 32))
    with pytest.raises(ValueError, match="no array 'fold'"):
        fold_of(replace(rows, fold=None), FoldSettings("published"), 3)


def test_a_sample_has_every_class_often_enough_for_five_folds():
    y = np.repeat([0, 1], [990, 30])
    rows = TaskData(np.arange(1020.0)[:, None], y, ("a",), ("0", "1"))
    small = sampled(rows, 100, seed=0)
    assert np.bincount(small.y).tolist() == [97, 10]
    assert sampled(rows, None, 0) is rows
