"""Logs in other formats: parquet, the Open Bandit Dataset, VW's dsjson, frames."""

import math

import numpy as np
import pytest

from absent import hide
from soids.logs import (
    DsjsonLog,
    Entry,
    FrameLog,
    LogError,
    OpenBanditLog,
    ParquetLog,
    format_of,
    read_log,
    write_parquet,
)
from soids.offpolicy import NAMED, evaluate
from some_logs import write_lines

# Parquet


def some_entries():
    return [
        Entry("a", np.eye(2), 0, 0.5, 1.0, np.array([0.5, 0.5]), time="2026-01-01", policy="v1"),
        Entry("b", np.array([[1.0, 2.0]]), 0, 1.0, None),
        Entry("c", 3, 2, 0.25, -1.0, None, np.array([0.1, 0.2, 0.7])),
    ]


def test_parquet_entries_are_read_back(tmp_path):
    pytest.importorskip("pyarrow")
    path = tmp_path / "log.parquet"
    write_parquet(some_entries(), path, sets={"home": np.eye(2)})
    assert format_of(path) == "parquet"
    one, three, two = read_log(path)
    assert np.array_equal(one.actions, np.eye(2))
    assert (one.id, one.time, one.policy, one.reward) == ("a", "2026-01-01", "v1", 1.0)
    assert two.reward is None
    assert np.array_equal(two.actions, [[1.0, 2.0]])
    assert (three.actions, three.line) == (3, 3)
    assert np.array_equal(three.target, [0.1, 0.2, 0.7])
    assert not list(tmp_path.glob(".*"))


def test_a_bad_parquet_is_refused_with_its_row(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "log.parquet"
    write_parquet([*some_entries(), some_entries()[0]], path)
    with pytest.raises(LogError, match="row 4: id must be new, it was given at 1"):
        list(ParquetLog(path))
    write_parquet([some_entries()[0]._replace(propensity=0.0, probabilities=None)], path)
    with pytest.raises(LogError, match="row 1: propensity must lie in"):
        list(ParquetLog(path))
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(LogError, match="damaged parquet"):
        list(ParquetLog(path))
    parquet.write_table(pyarrow.table({"reward": [1.0]}), path)
    with pytest.raises(LogError, match="no header of soids"):
        list(ParquetLog(path))


def test_without_pyarrow_the_error_names_the_remedy(tmp_path, monkeypatch):
    hide("pyarrow", monkeypatch)
    (tmp_path / "log.parquet").write_bytes(b"PAR1")
    with pytest.raises(ImportError, match=r"pip install 'soids\[logs\]'"):
        list(read_log(tmp_path / "log.parquet"))


# The Open Bandit Dataset

ITEMS = (
    ",item_id,item_feature_0,item_feature_1\n"
    "0,1,0.5,red\n"
    "1,0,-0.5,blue\n"
    "2,2,0.25,red\n"
)  # fmt: skip
COLUMNS = (
    ",timestamp,item_id,position,click,propensity_score,user_feature_0,"
    "user-item_affinity_0,user-item_affinity_1,user-item_affinity_2\n"
)
ROW = "0,2019-11-24 00:00:17.004101+00:00,2,3,1,0.25,xyz,0.0,7.0,0.0\n"


@pytest.fixture
def obd(tmp_path):
    (tmp_path / "men_item_context.csv").write_text(ITEMS)
    (tmp_path / "men.csv").write_text(COLUMNS + ROW)
    return tmp_path / "men.csv"


def test_items_are_indicators_of_item_and_position(obd):
    assert format_of(obd) == "obd"
    (entry,) = read_log(obd)
    assert (entry.chosen, entry.propensity, entry.reward, entry.line) == (2, 0.25, 1.0, 2)
    assert np.array_equal(entry.actions[:, :3], np.eye(3))
    assert np.array_equal(entry.actions[:, 3:], [[0, 0, 1]] * 3)


def test_context_holds_the_items_own_columns_and_the_users_affinity(obd):
    (entry,) = OpenBanditLog(obd, features="context")
    assert np.array_equal(entry.actions[0], [-0.5, 1, 0, 0.0, 0, 0, 1])  # blue
    assert np.array_equal(entry.actions[1], [0.5, 0, 1, 7.0, 0, 0, 1])  # red
    with pytest.raises(ValueError, match="features must be one of items, context, got 'users'"):
        OpenBanditLog(obd, features="users")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (",0.25,", ",0,", "line 2: propensity must lie in"),
        (",0.25,", ",,", "line 2: propensity_score must be a number"),
        (",2,3,", ",3,3,", "line 2: item_id must be in 0..2, got 3"),
        (",2,3,", ",2,4,", "line 2: position must be in 1..3"),
        (",3,1,", ",3,nan,", "line 2: reward must be finite"),
        (",7.0,0.0\n", "", "line 2: must have 10 fields as the first line, got 8: the file is cut"),
        ("propensity_score", "p", "line 1: columns must include propensity_score"),
        (ROW, "", "line 1: the log must hold a decision"),
    ],
)
def test_bad_rows_of_the_open_bandit_are_refused(old, new, message, obd):
    obd.write_text(obd.read_text().replace(old, new))
    with pytest.raises(LogError) as error:
        list(OpenBanditLog(obd))
    assert message in str(error.value)


def test_items_must_be_there_and_whole(obd):
    items = obd.with_name("men_item_context.csv")
    items.write_text(ITEMS.replace("2,2,", "2,4,"))
    with pytest.raises(ValueError, match="must hold the items 0, 1"):
        list(OpenBanditLog(obd))
    items.unlink()
    with pytest.raises(ValueError, match="must have its items beside it"):
        list(OpenBanditLog(obd))


def test_no_damage_of_a_byte_of_either_file_is_worse_than_a_refusal(obd):
    rng = np.random.default_rng(0)
    for path in (obd, obd.with_name("men_item_context.csv")):
        whole = path.read_bytes()
        refused = 0
        for place in range(len(whole)):
            for damaged in (whole[:place], whole[:place] + rng.bytes(1) + whole[place + 1 :]):
                path.write_bytes(damaged)
                try:
                    list(OpenBanditLog(obd, features="context"))
                except ValueError as error:
                    refused += "\n" not in str(error) and str(error).startswith("men")
        path.write_bytes(whole)
        assert refused > len(whole)


# VW's dsjson

EVENT = {
    "_label_cost": -1.0, "_label_probability": 0.8, "_label_Action": 2, "_labelIndex": 1,
    "Timestamp": "2017-10-12T00:00:34.4380000Z", "Version": "1", "EventId": "e1",
    "a": [2, 1, 3], "p": [0.8, 0.15, 0.05],
    "c": {
        "User": {"age": 30, "city": "Rome", "_secret": 1},
        "_multi": [
            {"_tag": "x", "Item": {"id": "x", "price": 2.5}},
            {"Item": {"id": "y", "new": True}},
            {"Item": {"id": "z"}, "tags": ["hot", "iced"], "size": [4, 5.5]},
        ],
    },
    "VWState": {"m": "N/A"},
}  # fmt: skip


def test_dsjson_is_read_by_the_names_of_its_features(path):
    write_lines(path, EVENT)
    assert format_of(path) == "dsjson"
    log = read_log(path)
    (entry,) = log
    assert (entry.id, entry.chosen, entry.propensity, entry.reward) == ("e1", 1, 0.8, 1.0)
    assert np.array_equal(entry.probabilities, [0.15, 0.8, 0.05])
    columns = log.columns()
    assert list(columns) == [
        "Item.id=x", "Item.price", "Item.id=y", "Item.new", "Item.id=z", "tags=hot", "tags=iced",
        "size[0]", "size[1]",
    ]  # fmt: skip
    assert entry.actions[0, columns["Item.price"]] == 2.5
    assert entry.actions[2, columns["size[1]"]] == 5.5
    assert entry.actions[1].sum() == 2.0


def test_dsjson_crosses_the_context_with_the_actions(path):
    write_lines(path, EVENT)
    log = DsjsonLog(path, features="crossed")
    (entry,) = log
    columns = log.columns()
    assert entry.actions[0, columns["User.age*Item.price"]] == 75.0
    assert entry.actions[1, columns["User.city=Rome*Item.id=y"]] == 1.0
    assert not any("_secret" in name for name in columns)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"_label_probability": 0.0, "p": None}, "propensity must lie in"),
        ({"_label_probability": None, "p": None}, "_label_probability (or p) must be there"),
        ({"_label_probability": 0.5}, "_label_probability must be p[0]"),
        ({"p": [0.8, 0.1, 0.05]}, "p must sum to 1"),
        ({"a": [2, 2, 3]}, "a must list the actions 1..3 once each"),
        ({"a": ["2", 1, 3]}, "a must list the actions 1..3 once each"),
        ({"a": [None, 1, 3]}, "a must list the actions 1..3 once each"),
        ({"a": [[2], 1, 3]}, "a must list the actions 1..3 once each"),
        ({"a": [2.0, 1, 3]}, "a must list the actions 1..3 once each"),
        ({"_label_Action": 1}, "_label_Action must be a[0]"),
        ({"_label_cost": float("nan")}, "_label_cost must be finite"),
        ({"EventId": "e1"}, "id must be new"),
        ({"c": {}}, "c must hold the actions in a list _multi"),
        ({"pdrop": 0.5}, "pdrop must be 0"),
    ],
)
def test_bad_events_of_dsjson_are_refused(change, message, path):
    event = {k: v for k, v in {**EVENT, "EventId": "e2", **change}.items() if v is not None}
    write_lines(path, EVENT, event)
    with pytest.raises(LogError) as error:
        list(DsjsonLog(path))
    assert str(error.value).startswith("log.jsonl, line 2: ")
    assert message in str(error.value)


def test_an_unknown_way_with_torn_lines_is_refused(path):
    with pytest.raises(ValueError, match="torn must be one of refuse, skip, got 'bogus'"):
        DsjsonLog(path, torn="bogus")


def test_events_that_were_not_learned_from_have_no_reward(path):
    write_lines(path, {**EVENT, "_skipLearn": True})
    (entry,) = DsjsonLog(path)
    assert entry.reward is None


# Frames


@pytest.fixture(params=["pandas", "polars"])
def frames(request):
    return pytest.importorskip(request.param).DataFrame


def test_a_frame_is_a_log(frames):
    frame = frames({
        "item": ["b", "a", "b"], "p": [0.5, 0.25, 0.5], "click": [0, 1, 1],
        "pa": [0.5, 0.25, 0.5], "pb": [0.5, 0.75, 0.5], "new": [0.1, 0.2, 0.3],
        "when": ["2026-01-01", "2026-01-02", "2026-01-03"], "who": [7, 8, 9],
    })  # fmt: skip
    log = FrameLog(
        frame, reward="click", propensity="p", chosen="item", actions=["a", "b"],
        probabilities=["pa", "pb"], target="new", id="who", time="when",
    )  # fmt: skip
    entries = list(log)
    assert [entry.chosen for entry in entries] == [1, 0, 1]
    assert [entry.id for entry in entries] == ["7", "8", "9"]
    assert [entry.offered for entry in entries] == [2, 2, 2]
    assert [entry.target for entry in entries] == [0.1, 0.2, 0.3]
    assert np.array_equal(entries[1].probabilities, [0.25, 0.75])
    assert [entry.reward for entry in log] == [0.0, 1.0, 1.0]


def test_a_frame_takes_one_set_or_a_set_a_row(frames):
    frame = frames({"reward": [0.0, 1.0], "propensity": [0.5, 0.5], "arm": [0, 1]})
    one = list(FrameLog(frame, chosen="arm", actions=np.eye(2)))
    assert np.array_equal(one[1].actions, np.eye(2))
    many = list(FrameLog(frame, chosen="arm", actions=np.arange(12.0).reshape(2, 2, 3)))
    assert np.array_equal(many[1].actions, [[6, 7, 8], [9, 10, 11]])
    assert [entry.actions for entry in FrameLog(frame, chosen="arm", actions=5)] == [5, 5]
    assert [entry.actions for entry in FrameLog(frame)] == [None, None]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"reward": ["a", "b"]}, "the frame, row 1: reward must be a real number, got 'a'"),
        ({"propensity": [0.5, 0.0]}, "the frame, row 2: propensity must lie in"),
        ({"propensity": [0.5, 1.5]}, "the frame, row 2: propensity must lie in"),
        ({"arm": [0, 5]}, "the frame, row 2: chosen must be in 0..1, got 5"),
    ],
)
def test_bad_rows_of_a_frame_are_refused(change, message, frames):
    columns = {"reward": [0.0, 1.0], "propensity": [0.5, 0.5], "arm": [0, 1], **change}
    with pytest.raises(LogError) as error:
        list(FrameLog(frames(columns), chosen="arm", actions=2))
    assert message in str(error.value)


def test_a_propensity_in_a_frame_is_that_of_the_chosen_action(frames):
    columns = {"reward": [0.0, 1.0], "propensity": [0.25, 0.75], "arm": [0, 1]}
    laws = {"first": [0.25, 0.25], "second": [0.75, 0.75]}
    given = {"chosen": "arm", "actions": 2, "probabilities": ["first", "second"]}
    entries = list(FrameLog(frames({**columns, **laws}), **given))
    assert [entry.propensity for entry in entries] == [0.25, 0.75]
    wrong = frames({**columns, **laws, "propensity": [0.25, 0.5]})
    with pytest.raises(LogError, match=r"row 2: propensity must be probabilities\[1\], 0\.75"):
        list(FrameLog(wrong, **given))


def test_missing_values_of_a_frame_are_none(frames):
    columns = {"reward": [0.0, 1.0], "propensity": [0.5, 0.5], "who": ["v1", None]}
    assert [entry.policy for entry in FrameLog(frames(columns), policy="who")] == ["v1", ""]
    with pytest.raises(LogError, match="the frame, row 2: chosen must be there, got None"):
        FrameLog(frames(columns), chosen="who")


def test_labels_must_be_of_one_kind():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"reward": [0.0, 1.0], "propensity": [0.5, 0.5], "arm": ["a", 1]})
    with pytest.raises(ValueError, match="chosen must hold labels of one kind"):
        FrameLog(frame, chosen="arm")


def test_a_null_reward_is_missing():
    pandas = pytest.importorskip("pandas")
    rewards = pandas.array([1, None], dtype="Int64")
    frame = pandas.DataFrame({"reward": rewards, "propensity": [0.5, 0.5]})
    assert [entry.reward for entry in FrameLog(frame)] == [1.0, None]


def test_a_reward_that_is_nan_is_missing(frames):
    frame = frames({"reward": [float("nan"), 1.0], "propensity": [0.5, 0.5]})
    assert [(entry.id, entry.reward) for entry in FrameLog(frame)] == [("2", 1.0), ("1", None)]
    assert evaluate(FrameLog(frame), [NAMED["logged"]], floor=1).unrewarded == 1


def test_rewards_may_be_true_or_false(frames):
    frame = frames({"reward": [True, False], "propensity": [0.5, 0.5]})
    assert [entry.reward for entry in FrameLog(frame)] == [1.0, 0.0]


def test_rewards_may_be_a_series_or_an_array(frames):
    frame = frames({"clicks": [0, 3], "propensity": [0.5, 0.5]})
    for rewards in (frame["clicks"] > 1, np.array([False, True]), [0, 1]):
        assert [entry.reward for entry in FrameLog(frame, reward=rewards)] == [0.0, 1.0]
    with pytest.raises(ValueError, match="reward must be a column or hold 2 numbers, got 3"):
        FrameLog(frame, reward=[0, 1, 1])


def test_columns_of_the_context_make_a_block_for_each_action(frames):
    frame = frames({
        "arm": ["b", "a", "b"], "propensity": [0.5] * 3, "reward": [1.0, None, 0.0],
        "age": [30.0, 40.0, 50.0], "sex": ["f", "m", "f"],
    })  # fmt: skip
    log = FrameLog(frame, chosen="arm")
    one, three, two = log.in_context(["age", "sex"])
    row = [1.0, -math.sqrt(1.5), 1.0, 0.0]  # a one, the age, female, male
    assert np.allclose(one.actions, np.kron(np.eye(2), row))
    assert np.allclose(three.actions[1, 4:], [1.0, math.sqrt(1.5), 1.0, 0.0])
    assert (one.chosen, two.actions, two.reward) == (1, 2, None)
    assert [entry.actions for entry in log] == [2, 2, 2]
    with pytest.raises(ValueError, match="must have a column 'size'"):
        log.in_context(["size"])
    with pytest.raises(ValueError, match="columns must be a list of names, got 'size'"):
        log.in_context("size")
    with pytest.raises(ValueError, match="in_context needs the number of actions"):
        FrameLog(frame).in_context(["age"])


def test_only_data_frames_are_accepted():
    with pytest.raises(ValueError, match="frame must be a DataFrame in memory"):
        FrameLog([1, 2, 3])
    polars = pytest.importorskip("polars")
    with pytest.raises(ValueError, match="got LazyFrame"):
        FrameLog(polars.LazyFrame({"reward": [1.0]}))


def test_without_narwhals_the_error_names_the_remedy(monkeypatch):
    hide("narwhals", monkeypatch)
    with pytest.raises(ImportError, match=r"pip install 'soids\[logs\]'"):
        FrameLog(None)


def test_columns_must_exist(frames):
    frame = frames({"reward": [0.0], "propensity": [0.5]})
    with pytest.raises(ValueError, match="must have a column 'arm', it has reward, propensity"):
        FrameLog(frame, chosen="arm")
    with pytest.raises(ValueError, match="chosen must name a column when actions are given"):
        FrameLog(frame, actions=2)


def test_listed_labels_include_actions_that_never_occur(frames):
    frame = frames({"item": ["a", "b"] * 200, "p": [0.5] * 400, "click": [0, 1] * 200})
    columns = {"reward": "click", "propensity": "p", "chosen": "item"}
    occurring, listed = FrameLog(frame, **columns), FrameLog(frame, **columns, actions=[*"abc"])
    assert [next(iter(log)).offered for log in (occurring, listed)] == [2, 3]
    found = evaluate(listed, [NAMED["uniform"]])
    assert "weights average 0.667" in str(found)
    assert not found.reliable
    with pytest.raises(ValueError, match="row 2: chosen must be one of a, c, got 'b'"):
        FrameLog(frame, **columns, actions=["a", "c"])


def test_whole_numbers_are_indices_and_must_have_no_gaps(frames):
    frame = frames({"item": [0, 3, 1], "p": [0.5] * 3, "click": [0, 1, 1]})
    columns = {"reward": "click", "propensity": "p", "chosen": "item"}
    with pytest.raises(ValueError, match=r"indices from 0 on, got 3 of 0\.\.3: .*actions="):
        FrameLog(frame, **columns)
    assert [entry.chosen for entry in FrameLog(frame, **columns, actions=4)] == [0, 3, 1]
