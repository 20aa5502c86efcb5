"""Features: blocks by hand, columns of every kind of table, and an encoder that survives JSON."""

import json
import warnings
from datetime import date

import numpy as np
import pytest
from scipy import sparse

from soids import SOIDS
from soids.features import (
    Encoder,
    disjoint,
    disjoint_names,
    hybrid,
    hybrid_names,
    shared,
    shared_names,
)
from soids.features.columns import read_columns

PATIENTS = {
    "age": [60, 70, None, 50],
    "weight": np.array([50.0, 60.0, 70.0, 80.0]),
    "sex": ["f", "m", "f", None],
    "smokes": [True, False, False, True],
}
NAMES = [
    "age", "age missing", "weight", "sex = f", "sex = m", "sex missing", "smokes = False",
    "smokes = True",
]  # fmt: skip


# From contexts to actions


def test_shared_features_are_the_context_beside_the_arms():
    actions = shared([1.0, 2.0], [[5.0], [6.0], [7.0]])
    assert actions.tolist() == [[1, 2, 5], [1, 2, 6], [1, 2, 7]]
    assert shared_names(["a", "b"], ["p"]) == ["a", "b", "p"]


def test_interactions_are_products_in_the_order_of_their_names():
    context, arms = np.array([2.0, 3.0]), np.array([[5.0, 7.0]])
    names = shared_names(["a", "b"], ["p", "q"], interactions=True)
    values = dict(zip(names, shared(context, arms, interactions=True)[0], strict=True))
    assert values == {
        "a": 2, "b": 3, "p": 5, "q": 7, "a x p": 10, "a x q": 14, "b x p": 15, "b x q": 21,
    }  # fmt: skip


def test_disjoint_features_give_each_arm_a_parameter_of_its_own():
    rng = np.random.default_rng(0)
    context, thetas = rng.standard_normal(4), rng.standard_normal((3, 4))
    assert disjoint(context, 3) @ thetas.ravel() == pytest.approx(thetas @ context)
    assert disjoint_names(["x", "y"], ["low", "high"]) == ["low: x", "low: y", "high: x", "high: y"]


def test_hybrid_features_are_both():
    context, arms = np.array([1.0, 2.0]), np.array([[5.0], [6.0]])
    actions = hybrid(context, arms, interactions=True)
    assert np.array_equal(actions[:, :5], shared(context, arms, interactions=True))
    assert np.array_equal(actions[:, 5:], disjoint(context, 2))
    names = hybrid_names(["a", "b"], ["p"], ["low", "high"], interactions=True)
    assert len(names) == actions.shape[1]
    assert names[4:6] == ["b x p", "low: a"]


@pytest.mark.parametrize("context", [[1.0, 0.0, 2.0], sparse.csr_array([[1.0, 0.0, 2.0]])])
def test_sparse_features_are_the_same_without_their_zeros(context):
    thin, full = disjoint(context, 3, sparse=True), disjoint([1.0, 0.0, 2.0], 3)
    assert thin.nnz == 6
    assert np.array_equal(thin.toarray(), full)
    arms = np.eye(3)
    mixed = hybrid(context, arms, sparse=True)
    assert sparse.issparse(mixed)
    assert np.array_equal(mixed.toarray(), hybrid([1.0, 0.0, 2.0], arms))
    policy = SOIDS(9)
    assert policy.choose(thin, np.random.default_rng(0)).index in range(3)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: disjoint([[1.0]], 2), r"context must have shape \(p,\) .* got \(1, 1\)"),
        (lambda: disjoint([], 2), r"context must have shape \(p,\) .* got \(0,\)"),
        (lambda: disjoint(sparse.eye_array(2), 2), r"context must have shape .* got \(2, 2\)"),
        (lambda: disjoint([np.nan], 2), r"context\[0\] must be finite .*: drop or impute it"),
        (lambda: disjoint([1.0], 0), "arms must be at least 1, got 0"),
        (lambda: shared([1.0], [1.0]), r"arms must have shape \(K, q\).* got \(1,\): give np.eye"),
    ],
)
def test_invalid_contexts_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


# From columns to contexts


def test_numbers_are_standardised_and_missing_ones_become_the_mean_and_an_indicator():
    encoder = Encoder.fit(PATIENTS)
    assert encoder.names == NAMES
    encoded = dict(zip(NAMES, encoder.encode(PATIENTS).T, strict=True))
    unit = np.sqrt(200 / 3)  # the deviation of 60, 70 and 50
    assert encoded["age"] == pytest.approx([0.0, 10 / unit, 0.0, -10 / unit])
    assert encoded["age missing"].tolist() == [0, 0, 1, 0]
    assert encoded["weight"].mean() == pytest.approx(0.0)
    assert encoded["weight"].std() == pytest.approx(1.0)


def test_categories_and_missing_values_have_an_indicator_each():
    encoded = dict(zip(NAMES, Encoder.fit(PATIENTS).encode(PATIENTS).T, strict=True))
    assert encoded["sex = f"].tolist() == [1, 0, 1, 0]
    assert encoded["sex = m"].tolist() == [0, 1, 0, 0]
    assert encoded["sex missing"].tolist() == [0, 0, 0, 1]
    assert encoded["smokes = True"].tolist() == [1, 0, 0, 1]


def test_a_row_is_encoded_as_in_its_table():
    encoder = Encoder.fit(PATIENTS)
    whole = encoder.encode(PATIENTS)
    for i in range(4):
        row = encoder.row({name: values[i] for name, values in PATIENTS.items()} | {"new": 3})
        assert np.array_equal(row, whole[i])


def test_an_unknown_category_is_zeros_or_an_error():
    strange = {"age": 60, "weight": 60.0, "sex": "x", "smokes": True}
    assert Encoder.fit(PATIENTS).row(strange)[3:6].tolist() == [0, 0, 0]
    careful = Encoder.fit(PATIENTS, unknown="error")
    with pytest.raises(ValueError, match=r"column 'sex' must be one of 'f', 'm', None, got 'x'"):
        careful.row(strange)


def test_a_value_missing_only_later_is_the_mean_or_no_category():
    encoder = Encoder.fit({"weight": [1.0, 3.0], "sex": ["f", "m"]})
    assert encoder.names == ["weight", "sex = f", "sex = m"]
    assert encoder.row({"weight": None, "sex": None}).tolist() == [0, 0, 0]
    strict = Encoder.fit({"sex": ["f", "m"]}, unknown="error")
    with pytest.raises(ValueError, match="got None"):
        strict.row({"sex": None})


def test_columns_may_be_named_and_numbers_may_be_categories():
    encoder = Encoder.fit(PATIENTS, categorical=["age"])
    assert encoder.names == ["age = 50", "age = 60", "age = 70", "age missing"]
    both = Encoder.fit(PATIENTS, categorical=["sex"], numeric=["weight"])
    assert both.names == ["weight", "sex = f", "sex = m", "sex missing"]


def test_a_constant_column_is_zero_wherever_it_is_constant():
    encoder = Encoder.fit({"x": [0.1, 0.1, 0.1], "y": [1, 2, 3]})
    assert encoder.encode({"x": [0.1, 0.1, 0.1], "y": [1, 2, 3]})[:, 0] == pytest.approx(0.0)
    assert np.isfinite(encoder.row({"x": 5.0, "y": 1})).all()


def test_the_most_common_category_may_be_left_to_the_intercept():
    encoder = Encoder.fit(PATIENTS, baseline=True, unknown="error")
    assert encoder.names == [
        "age",
        "age missing",
        "weight",
        "sex = m",
        "sex missing",
        "smokes = True",
    ]
    assert encoder.row({"age": 60, "weight": 65, "sex": "f", "smokes": False}).tolist() == [0.0] * 6
    assert Encoder.of(json.loads(json.dumps(encoder.state()))) == encoder
    with pytest.raises(ValueError, match="must be one of 'f', 'm', None, got 'x'"):
        encoder.row({"age": 60, "weight": 65, "sex": "x", "smokes": False})


def test_texts_may_stand_for_missing_values():
    encoder = Encoder.fit({"sex": ["f", "NA", ""]}, missing=("NA", ""))
    assert encoder.names == ["sex = f", "sex missing"]
    assert encoder.row({"sex": "NA"}).tolist() == [0, 1]


def test_an_encoder_comes_back_from_json():
    encoder = Encoder.fit(PATIENTS, unknown="error", missing=("NA",))
    back = Encoder.of(json.loads(json.dumps(encoder.state())))
    assert back == encoder
    assert np.array_equal(back.encode(PATIENTS), encoder.encode(PATIENTS))
    thin = Encoder.fit(sparse.eye_array(3))
    assert Encoder.of(json.loads(json.dumps(thin.state()))) == thin
    for broken in ({}, {"format": 1, "columns": [{}]}, {"format": 2}):
        with pytest.raises(ValueError, match=r"state must be what|format must be in 1\.\.1"):
            Encoder.of(broken)


def test_an_array_has_columns_by_number():
    table = np.array([[1.0, np.nan], [3.0, 4.0]])
    encoder = Encoder.fit(table)
    assert encoder.names == ["0", "1", "1 missing"]
    assert encoder.encode(table).tolist() == [[-1, 0, 1], [1, 0, 0]]
    mixed = np.array([[1, "a"], [2, "b"]], dtype=object)
    assert Encoder.fit(mixed).names == ["0", "1 = a", "1 = b"]


def test_a_sparse_matrix_is_scaled_and_stays_sparse():
    table = sparse.random_array((50, 8), density=0.2, rng=np.random.default_rng(0), format="csr")
    encoder = Encoder.fit(table)
    encoded = encoder.encode(table)
    assert sparse.issparse(encoded)
    assert encoded.nnz == table.nnz
    squares = (encoded.toarray() ** 2).mean(axis=0)
    assert squares == pytest.approx(np.where(table.toarray().any(axis=0), 1.0, 0.0))
    assert encoder.encode(table.toarray()) == pytest.approx(encoded.toarray())
    assert encoder.names == [str(j) for j in range(8)]


def test_entries_of_a_sparse_matrix_that_are_given_twice_count_as_their_sum():
    twice = sparse.csr_array((np.array([1.0, 1.0]), np.array([0, 0]), np.array([0, 2])))
    assert Encoder.fit(twice).columns[0].scale == 2.0
    assert twice.nnz == 2  # nobody's matrix is changed


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_a_data_frame_of_any_library_is_read_like_a_dictionary(library):
    frames = pytest.importorskip(library, reason=f"{library} is not installed")
    plain = {**PATIENTS, "weight": PATIENTS["weight"].tolist()}
    table = frames.table(plain) if library == "pyarrow" else frames.DataFrame(plain)
    encoder = Encoder.fit(table)
    assert encoder.names == NAMES
    assert encoder.encode(table) == pytest.approx(Encoder.fit(PATIENTS).encode(PATIENTS))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Encoder.fit({}), "a table must have at least one column and one row"),
        (lambda: Encoder.fit({"a": []}), "a table must have at least one column and one row"),
        (lambda: Encoder.fit(sparse.csr_array((0, 2))), "at least one column and one row"),
        (lambda: Encoder.fit({"a": [1], "b": [1, 2]}), "columns must be of equal length"),
        (lambda: Encoder.fit({"a": "text"}), "column 'a' must be a list or an array, got 'text'"),
        (lambda: Encoder.fit({"a": [object()]}), "column 'a' must hold numbers, texts or nothing"),
        (lambda: Encoder.fit({"a": [float("inf")]}), "column 'a' must be finite, got inf"),
        (lambda: Encoder.fit(np.array([[np.inf]])), "column '0' must be finite, got inf"),
        (lambda: Encoder.fit({"a": [None]}, numeric=["a"]), "'a' must hold a number, got none"),
        (lambda: Encoder.fit({"a": ["x"]}, numeric=["a"]), "'a' must hold numbers, got 'x'"),
        (lambda: Encoder.fit(PATIENTS, numeric=["ag"]), "column 'ag' is absent, columns are age, "),
        (lambda: Encoder.fit(PATIENTS, unknown="drop"), 'unknown must be "zeros" or "error"'),
        (
            lambda: Encoder.fit(PATIENTS, numeric=["age"], categorical=["age"]),
            "column 'age' must be numeric or categorical, not both",
        ),
        (lambda: Encoder.fit(np.zeros(3)), r"a table must be .* got ndarray of shape \(3,\)"),
        (
            lambda: Encoder.fit(PATIENTS).row({"age": 3}),
            "'weight' is absent, .* are age: give None",
        ),
        (lambda: Encoder.fit({"a": [1, 2]}).row({"a": "x"}), "'a' must hold numbers, got 'x'"),
        (lambda: Encoder.fit({"a": [0, 1]}).row({"a": 1e15}), r"a\[0\] must be finite and at most"),
        (lambda: Encoder.fit(PATIENTS).encode(sparse.eye_array(4)), "fitted to a sparse one"),
        (lambda: Encoder.fit(sparse.eye_array(3)).encode(sparse.eye_array(4)), "must have 3 col"),
    ],
)
def test_what_cannot_be_encoded_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_values_of_numpy_are_plain_values():
    column = read_columns({"a": [np.int64(3), np.str_("x"), np.bool_(True), np.float64("nan")]})[
        "a"
    ]
    assert column.values == [3, "x", True, None]
    assert [type(value) for value in column.values] == [int, str, bool, type(None)]


def test_a_row_is_a_dictionary():
    encoder = Encoder.fit({"age": [61, 75, 48]})
    with pytest.raises(ValueError, match=r"^values must be a dictionary"):
        encoder.row([61])


def test_columns_that_are_not_asked_for_may_hold_anything():
    table = {"age": [60, 70], "when": [date(2020, 1, 1), date(2021, 1, 1)], "sex": ["f", "m"]}
    encoder = Encoder.fit(table, numeric="age", categorical=["sex"])
    assert encoder.names == ["age", "sex = f", "sex = m"]
    assert encoder.encode(table).shape == (2, 3)


def test_a_single_text_for_missing_values_is_one_text():
    assert Encoder.fit({"sex": ["f", "NA", "m"]}, missing="NA").names[-1] == "sex missing"


def test_numbers_as_texts_cause_a_warning():
    with pytest.warns(UserWarning, match="'age' holds numbers as texts, so each of 3 .*float"):
        Encoder.fit({"age": ["61", "75", None, "48.5"], "sex": ["f", "m", "f", "f"]})


def test_numbers_beside_texts_cause_a_warning():
    with pytest.warns(
        UserWarning, match="'age' holds numbers beside 'n/a', so each of 3 .*missing"
    ):
        Encoder.fit({"age": [61, 75, "n/a"]})


@pytest.mark.parametrize("ages", [["61", "75", "old"], ["0", "1", "0"], [61, 75, 48]])
def test_other_columns_cause_no_warning(ages):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Encoder.fit({"age": ages})
        Encoder.fit({"age": ["61", "75", "48"]}, categorical=["age"])


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: disjoint_names("abc", ["x"]), "context must be a list of names, got 'abc'"),
        (lambda: disjoint_names(["a"], "xy"), "labels must be a list of names, got 'xy'"),
        (lambda: disjoint_names(["a"], ["x", "x"]), "labels must differ, got 'x' twice"),
        (lambda: shared_names(["a"], "xy"), "arms must be a list of names, got 'xy'"),
        (lambda: hybrid_names("ab", ["x"], ["y"]), "context must be a list of names, got 'ab'"),
    ],
)
def test_names_that_are_one_text_or_come_twice_are_refused(ask, message):
    with pytest.raises(ValueError, match=message):
        ask()
