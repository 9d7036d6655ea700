import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.impute import SimpleImputer
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, OrdinalEncoder, StandardScaler

import clausewise
from clausewise.networks.preprocess import InputColumn, trace_inputs

RNG = np.random.default_rng(0)
N_ROWS = 120
FRAME = pd.DataFrame(
    {
        "age": np.where(RNG.random(N_ROWS) < 0.1, np.nan, RNG.normal(40, 10, N_ROWS)),
        "region": RNG.integers(0, 4, N_ROWS),
        "job": RNG.choice(["clerk", "nurse", "smith"], N_ROWS),
        "income": RNG.exponential(1, N_ROWS),
    }
)
LABELS = np.where((FRAME.job == "nurse") | (FRAME.region == 2), "yes", "no")


def encoder(**options):
    return ColumnTransformer(
        [
            ("numbers", make_pipeline(SimpleImputer(), StandardScaler()), ["age", "income"]),
            ("codes", OneHotEncoder(), ["region"]),
            ("words", OrdinalEncoder(), ["job"]),
        ],
        **options,
    )


def fitted(model, X=FRAME):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, LABELS)


@pytest.fixture(scope="module")
def pipeline():
    return fitted(make_pipeline(encoder(), MLPClassifier((6,), max_iter=50, random_state=0)))


def test_a_pipeline_is_read_from_raw_rows(pipeline):
    network = clausewise.wrap(pipeline)
    np.testing.assert_array_equal(network.labels(FRAME), pipeline.predict(FRAME))
    np.testing.assert_allclose(network.probabilities(FRAME), pipeline.predict_proba(FRAME))
    assert network.n_inputs == 7
    assert network.feature_names == tuple(FRAME.columns)
    inside = pipeline[:-1].transform(FRAME)
    model = pipeline[-1]
    (layer,) = network.hidden_layers(FRAME)
    np.testing.assert_allclose(
        layer.matrix, np.maximum(inside @ model.coefs_[0] + model.intercepts_[0], 0), atol=1e-5
    )


def test_features_are_the_raw_columns(pipeline):
    features = clausewise.wrap(pipeline).features(FRAME)
    assert features.names == tuple(FRAME.columns)
    assert features.kinds == ("numeric", "categorical", "categorical", "numeric")
    assert features.categories[1] == (0, 1, 2, 3)


def test_encoded_columns_are_followed_back_to_their_source(pipeline):
    columns = clausewise.wrap(pipeline).input_columns(FRAME)
    assert [column.sources for column in columns] == [("age",), ("income",), *[("region",)] * 4, ("job",)]
    assert [column.is_category for column in columns] == [False, False, *[True] * 5]


@pytest.mark.parametrize("convert", [pl.from_pandas, lambda frame: pa.Table.from_pandas(frame)])
def test_other_tables_go_through_the_same_pipeline(pipeline, convert):
    network = clausewise.wrap(pipeline)
    np.testing.assert_array_equal(network.labels(convert(FRAME)), pipeline.predict(FRAME))
    assert network.features(convert(FRAME)).kinds == ("numeric", "categorical", "categorical", "numeric")


@pytest.mark.parametrize(
    "convert",
    [
        lambda frame: frame,
        lambda frame: frame[["income", "age"]],
        pl.from_pandas,
        lambda frame: pa.Table.from_pandas(frame),
        lambda frame: frame.to_numpy(),
        lambda frame: frame.to_numpy().tolist(),
    ],
    ids=["pandas", "other order", "polars", "pyarrow", "array", "list"],
)
def test_tables_without_preprocessing_are_read_by_column_name(convert):
    numbers = FRAME[["age", "income"]].fillna(40.0)
    model = fitted(MLPClassifier((5,), max_iter=30, random_state=0), numbers)
    network = clausewise.wrap(model)
    np.testing.assert_array_equal(network.labels(convert(numbers)), model.predict(numbers))


def test_a_column_that_is_not_there_is_named():
    numbers = FRAME[["age", "income"]].fillna(40.0)
    network = clausewise.wrap(fitted(MLPClassifier((5,), max_iter=30, random_state=0), numbers))
    with pytest.raises(ValueError, match=r"X has no column 'age' \(1 of 2 columns are missing\)"):
        network.labels(numbers.rename(columns={"age": "years"}))


def test_preprocessing_of_the_caller_goes_before_that_of_a_pipeline():
    numbers = FRAME[["age", "income"]].fillna(40.0).to_numpy()
    model = fitted(make_pipeline(StandardScaler(), MLPClassifier((5,), max_iter=30, random_state=0)), numbers)
    network = clausewise.wrap(model, preprocess=lambda rows: rows / 10)
    np.testing.assert_array_equal(network.labels(numbers * 10), model.predict(numbers))


def test_a_pipeline_in_a_pipeline_is_unfolded():
    numbers = FRAME[["age", "income"]].fillna(40.0).to_numpy()
    inner = Pipeline([("pca", PCA(2)), ("mlp", MLPClassifier((5,), max_iter=30, random_state=0))])
    model = fitted(make_pipeline(StandardScaler(), inner), numbers)
    np.testing.assert_array_equal(clausewise.wrap(model).labels(numbers), model.predict(numbers))


def test_sparse_results_are_made_dense():
    model = make_pipeline(OneHotEncoder(), MLPClassifier((5,), max_iter=30, random_state=0))
    fitted(model, FRAME[["job"]])
    np.testing.assert_array_equal(
        clausewise.wrap(model).labels(FRAME[["job"]]), model.predict(FRAME[["job"]])
    )


NAMES = tuple(FRAME.columns)


def sources(step, X=FRAME):
    traced = trace_inputs(step.fit(X), tuple(X.columns))
    return None if traced is None else [column.sources for column in traced]


def test_what_is_passed_through_and_dropped_is_followed():
    step = ColumnTransformer(
        [("age", "drop", ["age"]), ("job", OrdinalEncoder(), ["job"])], remainder="passthrough"
    )
    assert sources(step) == [("job",), ("region",), ("income",)]


def test_columns_chosen_by_position_slice_mask_or_selector_are_followed():
    step = ColumnTransformer(
        [
            ("position", "passthrough", [3]),
            ("slice", "passthrough", slice("age", "region")),
            ("mask", "passthrough", [True, False, False, False]),
            ("selector", OrdinalEncoder(), make_column_selector(pattern="job")),
        ]
    )
    assert sources(step) == [("income",), ("age",), ("region",), ("age",), ("job",)]


def test_mixed_columns_come_from_all_that_went_in():
    numbers = FRAME[["region", "income"]]
    assert sources(FeatureUnion([("pca", PCA(1)), ("as is", StandardScaler())]), numbers) == [
        ("region", "income"),
        ("region",),
        ("income",),
    ]


def test_a_function_in_parallel_does_not_hide_the_encoder():
    step = ColumnTransformer(
        [
            ("log", make_pipeline(FunctionTransformer(np.log1p), StandardScaler()), ["income"]),
            ("code", OneHotEncoder(), ["region"]),
        ]
    ).fit(FRAME)
    traced = trace_inputs(step, NAMES)
    assert traced == (InputColumn(("income",)), *[InputColumn(("region",), is_category=True)] * 4)


def test_a_plain_function_cannot_be_followed():
    assert trace_inputs(np.log1p, NAMES) is None


def test_what_cannot_transform_is_refused():
    with pytest.raises(
        TypeError, match=r"preprocess is 'scale'; expected .*a fitted transformer .*a function"
    ):
        clausewise.wrap(fitted(MLPClassifier((5,), max_iter=5), FRAME[["income"]]), preprocess="scale")


def test_text_without_an_encoder_is_refused():
    model = fitted(MLPClassifier((5,), max_iter=5), FRAME[["region", "income"]])
    with pytest.raises(ValueError, match=r"reads numbers, but X contains other values.*pass preprocess="):
        clausewise.wrap(model).labels(FRAME[["job", "income"]].to_numpy())


def test_columns_that_preprocessing_drops_are_not_read():
    dropping = ColumnTransformer(
        [("numbers", StandardScaler(), ["income"]), ("codes", OneHotEncoder(), ["job"])]
    )
    network = clausewise.wrap(
        fitted(make_pipeline(dropping, MLPClassifier((3,), max_iter=5, random_state=0)))
    )
    assert network.features(FRAME).names == ("age", "region", "job", "income")
    assert network.reads(FRAME).tolist() == [False, False, True, True]


def test_columns_in_another_order_are_read_by_name():
    selected = encoder().fit(FRAME[["age", "region", "job", "income"]])
    network = clausewise.wrap(
        fitted(MLPClassifier((3,), max_iter=5, random_state=0), selected.transform(FRAME)),
        preprocess=selected,
    )
    other = FRAME.assign(surplus=1.0)[["income", "surplus", "job", "age", "region"]]
    np.testing.assert_array_equal(network.labels(other), network.labels(FRAME))
    assert network.reads(other).tolist() == [True, False, True, True, True]
    assert [column.sources for column in network.input_columns(other)][:2] == [("age",), ("income",)]


def test_columns_that_the_network_does_not_name_are_not_read():
    numbers = FRAME[["region", "income"]]
    network = clausewise.wrap(fitted(MLPClassifier((3,), max_iter=5, random_state=0), numbers))
    assert network.reads(FRAME).tolist() == [False, True, False, True]
    assert network.reads(numbers.to_numpy()).tolist() == [True, True]


def test_all_columns_count_as_read_where_preprocessing_does_not_tell():
    model = fitted(MLPClassifier((3,), max_iter=5, random_state=0), FRAME[["income"]].to_numpy())
    network = clausewise.wrap(model, preprocess=lambda rows: rows[["income"]].to_numpy())
    assert network.reads(FRAME).all()
    assert network.reads(FRAME).dtype == np.bool_
