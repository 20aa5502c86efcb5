"""Tables, remarks and JSON of replays."""

import json

import numpy as np

from soids import Uniform
from soids.files import as_json
from soids.offpolicy import NAMED, evaluate, replay
from soids.output import replay_tables as tables
from some_logs import made_log

FOUND = evaluate(made_log(300), [NAMED["logged"], NAMED["uniform"]])
FEW = [replay(made_log(200), "uniform", Uniform, np.random.default_rng(0))]


def test_a_policy_has_a_row_for_each_estimate():
    table = tables.replay_table(FOUND, 0.9)
    assert table.title == "Mean reward on 300 rounds of list"
    assert table.heads[3] == "90% interval"
    assert [row[1] if row else None for row in table.rows] == [
        "IPS", "SNIPS", "DM", "DR", None, "IPS", "SNIPS", "DM", "DR",
    ]  # fmt: skip
    assert [row[0] for row in table.rows if row and row[0]] == ["logged", "uniform"]
    assert [row[3] for row in table.rows if row and row[1] == "DM"] == ["none", "none"]


def test_several_policies_are_compared_with_the_first():
    _, apart = tables.printed(FOUND, 0.95)
    assert apart.title == "Difference from logged, in the same rounds"
    assert apart.heads[2:] == ("difference", "95% interval")
    (one,) = FOUND.differences()
    assert [row[:2] for row in apart.rows] == [
        ("uniform", "IPS"), ("", "SNIPS"), ("", "DM"), ("", "DR"),
    ]  # fmt: skip
    assert apart.rows[3][2:] == tables.written(one.estimates[3])
    assert len(tables.printed(FEW, 0.95)) == 1
    assert len(tables.printed(evaluate(made_log(300), [NAMED["logged"]]), 0.95)) == 1


def test_a_policy_that_goes_on_learning_has_one_row():
    (row,) = tables.replay_table(FEW, 0.95).rows
    assert row[0] == "uniform"
    assert row[2:] == ("none", f"{FEW[0].accepted}", "200")
    assert tables.replay_table(FEW, 0.95).title == "Mean reward while learning"
    lost = [FEW[0]._replace(unrewarded=3)]
    assert "(3 decisions without a reward are left out)" in tables.replay_table(lost, 0.95).title
    assert tables.replay_remarks(FEW) == [f"Not reliable: uniform: {FEW[0].estimate.doubt}."]


def test_all_numbers_are_in_the_table_of_estimates_and_in_the_record():
    rows = tables.estimates_table(FOUND).rows
    assert len(rows) == 8
    assert rows[0] == ("logged", *FOUND.reports[0].estimates[0])
    record = json.loads(as_json(tables.replay_record(FOUND)))
    assert list(record) == [
        "mode", "log", "trained", "rounds", "unrewarded", "mean_reward", "confidence",
        "differences", "policies",
    ]  # fmt: skip
    assert list(record["policies"][0]) == [
        "label", "reliable", "estimates", "overlap", "doubts", "remarks",
    ]  # fmt: skip
    assert record["policies"][1]["estimates"][3]["value"] == FOUND.reports[1].estimates[3].value
    (one,) = record["differences"]
    assert (one["label"], one["baseline"]) == ("uniform", "logged")
    rows = tables.differences_table(FOUND).rows
    assert [row[:3] for row in rows][-1] == ("uniform", "logged", "DR")
    assert rows[3][3] == one["estimates"][3]["value"]
    few = json.loads(as_json(tables.replay_record(FEW)))
    assert few["mode"] == "rejection"
    assert few["policies"][0]["estimate"]["low"] is None
    assert few["policies"][0]["reliable"] is False
