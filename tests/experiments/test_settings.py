"""Task files agree with the paper's appendix, and reducing a task changes only what it should."""

import pytest

from clausewise_experiments.methods import METHODS, compact_budget, compact_name
from clausewise_experiments.settings import (
    QUICK,
    CartSettings,
    Limits,
    Scale,
    digest,
    grid,
    load_settings,
    task_names,
    thinned,
)
from clausewise_experiments.tables import paper_rows


def test_every_task_of_the_paper_has_a_file():
    assert task_names() == ["xor", "mb-er", "mb-hist", "magic", "miniboone", "letters", "covtype130k"]


@pytest.mark.parametrize(
    ("name", "hidden", "activation", "epochs", "batch_size"),
    [
        ("xor", (64, 32, 16), "tanh", 150, 16),
        ("mb-er", (128, 16), "tanh", 150, 16),
        ("mb-hist", (128, 16), "tanh", 150, 16),
        ("magic", (64, 32, 16), "relu", 200, 32),
        ("miniboone", (128, 64, 32, 16, 8), "elu", 30, 16),
        ("letters", (128, 64), "elu", 150, 32),
    ],
)
def test_networks_are_those_of_the_appendix(name, hidden, activation, epochs, batch_size):
    network = load_settings(name).network
    assert (network.hidden, network.activation) == (hidden, activation)
    assert (network.epochs, network.batch_size) == (epochs, batch_size)


@pytest.mark.parametrize(
    ("name", "method", "first", "last", "n_values"),
    [
        ("xor", "ECLAIRE", 2, 15, 14),
        ("xor", "REM-D", 25, 35, 11),
        ("mb-er", "DeepRED*", 5, 15, 3),
        ("magic", "ECLAIRE", 50, 200, 7),
        ("magic", "REM-D", 500, 1000, 11),
        ("magic", "C5.0", 5, 50, 10),
        ("miniboone", "ECLAIRE", 0.0005, 0.0015, 11),
        ("miniboone", "REM-D", 0.02, 0.1, 17),
        ("letters", "ECLAIRE*", 5, 15, 11),
        ("letters", "REM-D", 0.25, 0.5, 6),
        ("letters", "ECLAIRE-CART", 0.0001, 0.0051, 11),
        ("letters", "REM-D-CART", 0.1, 0.3, 5),
    ],
)
def test_values_of_min_cases_are_those_of_the_appendix(name, method, first, last, n_values):
    values = load_settings(name).min_cases[method]
    assert (values[0], values[-1], len(values)) == (first, last, n_values)


def test_every_value_that_the_paper_reports_is_searched():
    by_title = {load_settings(name).title: load_settings(name) for name in task_names()}
    for (title, method), row in paper_rows().items():
        if method in METHODS:
            value = float(row.min_cases.removesuffix("N"))
            assert value in by_title[title].min_cases[method], (title, method)


def test_a_grid_holds_both_ends_and_round_numbers():
    assert grid({"first": 0.1, "last": 0.3, "step": 0.05}) == (0.1, 0.15, 0.2, 0.25, 0.3)
    assert grid([3, 5]) == (3, 5)
    with pytest.raises(ValueError, match="no value"):
        grid({"first": 5, "last": 2, "step": 1})


def test_thinned_values_keep_both_ends():
    assert thinned(range(2, 16), 3) == (2, 8, 15)
    assert thinned((1, 2), 3) == (1, 2)
    assert thinned((1, 2, 3), 1) == (1,)


def test_a_reduced_task_differs_only_in_what_was_asked_for():
    task = load_settings("magic")
    assert task.reduced(Scale(limits=task.limits)) == task
    quick = task.reduced(QUICK)
    assert (quick.network.epochs, quick.n_folds_run, quick.max_rows) == (20, 2, 500)
    assert quick.min_cases["ECLAIRE"] == (50, 200)
    assert quick.network.hidden == task.network.hidden
    few = task.reduced(Scale(max_termwise_values=3))
    assert few.min_cases["REM-D"] == (500, 750, 1000)
    assert few.min_cases["ECLAIRE"] == task.min_cases["ECLAIRE"]


def test_published_networks_are_taken_only_where_there_are_some():
    assert load_settings("mb-er").reduced(Scale(published=True)).network.use_published
    assert not load_settings("xor").reduced(Scale(published=True)).network.use_published


def test_an_unknown_task_is_named_with_those_that_there_are():
    with pytest.raises(ValueError, match="no task 'iris'; there are xor, mb-er"):
        load_settings("iris")


OWN_TASK = (
    'title = "own"\n[data]\nsource = "xor"\n[folds]\nkind = "stratified"\n[network]\nhidden = [4]\n'
    'activation = "tanh"\nepochs = 1\nbatch_size = 8\nscaling = "none"\n'
)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('[min_cases]\n"C6.0" = [2]\n', r"min_cases names the method 'C6\.0'"),
        ("[min_cases]\n[cart]\nccp_alpha = -1.0\n", r"ccp_alpha is -1\.0; expected a number of 0 or more"),
        ("[min_cases]\n[cart]\nalpha = 0.1\n", "unexpected keyword argument 'alpha'"),
        ("[min_cases]\n[carts]\nccp_alpha = 0.1\n", "it has 'carts'; there are architectures, cart, compact"),
    ],
)
def test_a_task_file_with_something_unknown_is_refused(tmp_path, content, message):
    path = tmp_path / "own.toml"
    path.write_text(OWN_TASK + content, encoding="utf-8")
    with pytest.raises(ValueError, match=rf"own\.toml cannot be used: .*{message}"):
        load_settings(path)


def test_a_task_file_may_say_how_cart_is_used(tmp_path):
    path = tmp_path / "own.toml"
    path.write_text(OWN_TASK + "[min_cases]\n[cart]\nccp_alpha = 0.01\nbalanced = false\n", encoding="utf-8")
    assert load_settings(path).cart == CartSettings(0.01, balanced=False)


def test_a_digest_tells_settings_apart():
    assert digest([1, Limits()]) == digest([1, Limits()])
    assert digest([1, Limits()]) != digest([1, Limits(seconds=1)])


def test_the_budget_is_in_the_name_of_a_compact_rule_set():
    assert compact_budget(compact_name(16)) == 16
    assert compact_budget("ECLAIRE") is None
