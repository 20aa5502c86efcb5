"""Action sets in any form: of any real type, on disk, sparse, large, changed between rounds."""

from copy import deepcopy

import numpy as np
import pandas
import polars
import pytest
from scipy import sparse

from members import COVERED, members
from soids import SOIDS, LinUCB, SparseLinearBandit, Uniform
from soids.arrays import STRIP, as_actions, copied, is_immutable
from soids.evidence import Menu
from soids.kernels import threads

pytestmark = pytest.mark.filterwarnings(
    "ignore:.*relaxed posterior:RuntimeWarning",
    "ignore:every coefficient is:RuntimeWarning",
)

# Halves and quarters, with zeros: the same numbers in all types but the whole ones.
NUMBERS = np.random.default_rng(0).integers(-4, 5, (12, 4)) / 4.0
SPARSE = ["csr", "csc", "coo", "bsr", "dia", "dok", "lil"]


def on_disk(actions, path):
    """The same actions, memory-mapped."""
    np.save(path, actions)
    return np.load(path, mmap_mode="r")


def as_given(tmp_path):
    """The same actions in every form in which they may come."""
    forms = {
        "list": NUMBERS.tolist(),
        "columns first": np.asfortranarray(NUMBERS),
        "every second": np.repeat(NUMBERS, 2, axis=0)[::2],
        "long": NUMBERS.astype(np.longdouble),
        "float32": NUMBERS.astype(np.float32),
        "float16": NUMBERS.astype(np.float16),
        "big endian": NUMBERS.astype(">f8"),
        "memmap": on_disk(NUMBERS, tmp_path / "double.npy"),
        "memmap float32": on_disk(NUMBERS.astype(np.float32), tmp_path / "single.npy"),
        "repeated entries": sparse.coo_array(
            (
                np.concatenate([NUMBERS.ravel() - 1.0, np.ones(NUMBERS.size)]),
                tuple(np.tile(i, 2) for i in np.indices(NUMBERS.shape).reshape(2, -1)),
            ),
            shape=NUMBERS.shape,
        ),
    }
    for name in SPARSE:
        forms[f"{name} array"] = sparse.csr_array(NUMBERS).asformat(name)
        forms[f"{name} matrix"] = sparse.csr_matrix(NUMBERS.astype(np.float32)).asformat(name)
    return forms


def choices(policy, actions, rounds=6):
    """What a policy does with the actions, in full."""
    rng, seen = np.random.default_rng(0), []
    for _ in range(rounds):
        decision = policy.choose(actions, rng)
        policy.observe(decision, float(decision.action[1]) + rng.standard_normal())
        seen.append((decision.index, decision.action.tolist(), repr(decision.info)))
    return seen


@pytest.mark.parametrize("family", members())
def test_the_form_of_the_actions_changes_no_choice(family, tmp_path):
    expected = choices(family(4), NUMBERS)
    for name, given in as_given(tmp_path).items():
        assert choices(family(4), given) == expected, name


@pytest.mark.parametrize("family", members(*COVERED))  # these actions are larger than one
def test_actions_may_be_whole_numbers(family):
    whole = np.random.default_rng(1).integers(-3, 4, (12, 4))
    expected = choices(family(4), whole.astype(float))
    for given in (whole, whole.astype(np.int8), sparse.csr_array(whole)):
        assert choices(family(4), given) == expected
    flags = whole > 0
    assert choices(family(4), flags) == choices(family(4), flags.astype(float))


def test_an_action_set_is_recognised_in_every_form(tmp_path):
    policy, rng = Uniform(4), np.random.default_rng(0)
    menu = policy.choose(NUMBERS, rng).menu
    for name, given in as_given(tmp_path).items():
        assert policy.choose(given, rng).menu is menu, name


def spoiled(value, where=(5, 2)):
    actions = NUMBERS.copy()
    actions[where] = value
    return actions


@pytest.mark.parametrize(
    ("actions", "message"),
    [
        (spoiled(np.nan).astype(np.float32), r"actions\[5, 2\] must be finite .* got nan: drop or"),
        (spoiled(np.inf).astype(np.float16), r"actions\[5, 2\] must be finite .* got inf: drop or"),
        (sparse.csr_array(spoiled(np.nan)), r"actions\[5, 2\] must be finite .* got nan: drop or"),
        (sparse.coo_array(spoiled(1e30)), r"actions\[5, 2\] must be .* got 1e\+30: rescale it"),
        (np.full((2, 4), 10**15), r"actions\[0, 0\] must be .* got 1000000000000000.0: rescale"),
        (sparse.coo_array(np.ones(4)), r"actions must have shape \(K, 4\), .* got \(4,\)"),
        (sparse.csr_array((3, 5)), r"actions must have shape \(K, 4\), .* got \(3, 5\)"),
        (sparse.csr_matrix((0, 4)), r"actions must hold at least one action, got shape \(0, 4\)"),
        (sparse.csr_array(NUMBERS + 0j), "must hold real numbers, got .* complex128: convert it"),
        (NUMBERS.astype(object), "must hold real numbers, got .* object: convert it to float64"),
        (NUMBERS.astype("M8[s]"), r"must hold real numbers, got .* datetime64\[s\]: convert it"),
    ],
)
def test_wrong_actions_are_refused_in_every_form(actions, message):
    policy, rng = SOIDS(4), np.random.default_rng(0)
    with pytest.raises(ValueError, match=message):
        policy.choose(actions, rng)
    policy.choose(NUMBERS, rng)
    with pytest.raises(ValueError, match=message):  # beside a known menu too
        policy.choose(actions, rng)


def test_a_wrong_number_deep_in_a_large_set_is_found():
    actions = np.zeros((3 * STRIP, 4), dtype=np.float32)
    actions[2 * STRIP + 7, 3] = np.nan
    with pytest.raises(ValueError, match=rf"actions\[{2 * STRIP + 7}, 3\] must be finite"):
        Uniform(4).choose(actions, np.random.default_rng(0))


# Nothing is stale.


@pytest.mark.parametrize("count", [12, STRIP, 3 * STRIP + 5])
@pytest.mark.parametrize("convert", [np.array, np.float32, sparse.csr_array], ids=str)
def test_one_changed_number_is_noticed_wherever_it_is(count, convert, monkeypatch):
    monkeypatch.setattr(threads, "WORTHWHILE", 0)
    rng = np.random.default_rng(0)
    actions = convert(rng.integers(1, 5, (count, 4)) / 4.0)
    policy = Uniform(4)
    menu = policy.choose(actions, rng).menu
    assert policy.choose(actions, rng).menu is menu
    state = policy.state
    for row in {0, count // 2, count - 1}:
        changed = actions.copy()
        changed[row, 3] += 0.25
        other = policy.choose(changed, rng).menu
        policy.state = state
        assert other is not menu
        assert other.actions[row, 3] == changed[row, 3]
        assert menu.actions[row, 3] == actions[row, 3]


def writeable(actions):
    return actions, actions


def read_only_view(actions):
    view = actions.view()
    view.flags.writeable = False
    return view, actions


def frozen_for_a_while(actions):
    actions.flags.writeable = False
    return actions, actions


def frozen_after_a_view_was_taken(actions):
    view = actions[:]
    actions.flags.writeable = False
    return actions, view


@pytest.mark.parametrize(
    "hold", [writeable, read_only_view, frozen_for_a_while, frozen_after_a_view_was_taken]
)
def test_the_owner_of_an_array_may_change_it_between_rounds(hold):
    given, owned = hold(NUMBERS.copy())
    policy, rng = LinUCB(4, alpha=1.0), np.random.default_rng(0)
    before = policy.choose(given, rng)
    if hold is frozen_for_a_while:
        owned.flags.writeable = True
    owned[before.index, 0] += 0.5
    if hold is frozen_for_a_while:
        owned.flags.writeable = False
    after = policy.choose(given, rng)
    assert after.menu is not before.menu
    assert after.menu.actions[before.index, 0] == before.action[0] + 0.5


def test_a_file_may_change_beneath_its_map(tmp_path):
    given = on_disk(NUMBERS, tmp_path / "actions.npy")
    policy, rng = LinUCB(4, alpha=1.0), np.random.default_rng(0)
    before = policy.choose(given, rng)
    written = np.load(tmp_path / "actions.npy", mmap_mode="r+")
    written[3, 2] = 7.0
    written.flush()
    assert policy.choose(given, rng).menu.actions[3, 2] == 7.0
    assert before.menu.actions[3, 2] == NUMBERS[3, 2]


def test_immutable_actions_are_not_compared_again(monkeypatch):
    actions, rng = SparseLinearBandit(NUMBERS, np.ones(4)).actions, np.random.default_rng(0)
    assert is_immutable(actions)
    with pytest.raises(ValueError, match="WRITEABLE"):
        actions.flags.writeable = True
    policy = Uniform(4)
    menu = policy.choose(actions, rng).menu
    monkeypatch.setattr(Menu, "shows", lambda *_: pytest.fail("looked at again"))
    assert policy.choose(actions, rng).menu is menu
    with pytest.raises(ValueError, match="rng must be"):
        policy.choose(actions, 0)


@pytest.mark.parametrize(
    "value", [NUMBERS, NUMBERS.tolist(), np.frombuffer(bytearray(32)), sparse.csr_array(NUMBERS)]
)
def test_all_other_arrays_may_change(value):
    assert not is_immutable(value)


def test_alternating_action_sets_are_both_recognised():
    policy, rng = LinUCB(4, alpha=1.0), np.random.default_rng(0)
    first, second = as_actions(NUMBERS, 4), as_actions(-NUMBERS, 4)
    for actions in (first, second) * 3:
        decision = policy.choose(actions, rng)
        assert np.array_equal(decision.menu.actions, actions)
        policy.observe(decision, 1.0)
    assert policy.evidence.counts == (3, 3)


# What is held.


@pytest.mark.parametrize("form", [np.array, np.float32, sparse.csc_array])
def test_an_action_set_is_stored_once(form):
    menu = Uniform(4).choose(form(NUMBERS), np.random.default_rng(0)).menu
    assert np.shares_memory(menu.actions, menu.columns)
    assert menu.columns.flags.c_contiguous
    assert menu.actions.dtype == np.float64
    assert not menu.actions.flags.writeable
    assert np.array_equal(menu.actions, NUMBERS)


@pytest.mark.parametrize("order", ["C", "F"])
def test_a_copy_equals_its_table_in_every_strip(order):
    table = np.random.default_rng(0).random((2 * STRIP + 3, 5), dtype=np.float32)
    copy = copied(table, order)
    assert np.array_equal(copy, table)
    assert copy.flags[f"{order}_CONTIGUOUS"]


def test_a_copy_of_a_policy_is_independent():
    policy, rng = LinUCB(4, alpha=1.0), np.random.default_rng(0)
    actions = as_actions(NUMBERS, 4)
    policy.observe(policy.choose(actions, rng), 1.0)
    twin = deepcopy(policy)
    assert twin.choose(actions, rng).index == policy.choose(actions, rng).index


@pytest.mark.parametrize("kind", ["bool", "boolean", "Int64", "Float64", "float32", "object"])
def test_a_frame_may_have_columns_of_different_types(kind):
    frame = pandas.DataFrame({"dose": [0.5, 1.5], "other": pandas.Series([1, 0]).astype(kind)})
    assert as_actions(frame, 2).tolist() == [[0.5, 1.0], [1.5, 0.0]]


@pytest.mark.parametrize(
    ("frame", "kind"),
    [
        (pandas.DataFrame({"dose": [0.5], "name": ["low"]}), "str"),
        (pandas.DataFrame({"dose": [0.5], "name": pandas.Series(["1.5"], dtype=object)}), "object"),
        (pandas.DataFrame({"dose": [0.5], "name": pandas.to_datetime(["2026-01-01"])}), "datetime"),
        (polars.DataFrame({"dose": [0.5], "name": ["low"]}), "String"),
    ],
)
def test_a_column_of_a_frame_that_holds_no_numbers_is_named(frame, kind):
    with pytest.raises(ValueError, match=f"^column 'name' of actions must .* type {kind}.*64$"):
        as_actions(frame, 2)


def test_a_missing_number_in_a_frame_is_named_by_its_place():
    column = pandas.array([1, None], dtype="Int64")
    frame = pandas.DataFrame({"dose": [0.5, 1.5], "other": column, "flag": [True, False]})
    with pytest.raises(ValueError, match=r"actions.*1, 1.* must be finite .* got nan: drop or imp"):
        as_actions(frame, 3)
