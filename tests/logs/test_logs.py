"""Logs: written entries are read back, errors name their line, memory stays small."""

import gzip
import json
import subprocess
import sys
import time
import tracemalloc
import warnings

import numpy as np
import pytest

from soids.logs import (
    Entry,
    JsonLog,
    LogError,
    LogWriter,
    format_of,
    read_log,
)
from soids.logs import joining as joining_module
from soids.logs.joining import Joiner, Seen
from soids.logs.records import RepeatedIdError
from some_logs import write_lines

HEADER = {"format": "soids log", "version": 1, "sets": {"home": [[1.0, 0.0], [0.0, 1.0]]}}
DECISION = {"id": "a", "set": "home", "chosen": 1, "propensity": 0.25, "reward": 2.0}


# What is written comes back


def test_what_is_written_comes_back(path):
    with LogWriter(path, sets={"home": np.eye(2)}) as log:
        log.decide("a", actions="home", chosen=0, probabilities=[0.9, 0.1], reward=1.5)
        log.decide(7, actions=[[1, 2], [3, 4], [5, 6]], chosen=2, propensity=0.5, time=12.5)
        log.decide("c", actions=80, chosen=79, propensity=1.0, time="2026-01-01T00:00:00Z")
        log.reward("c", -3.0, time="2026-01-02T00:00:00Z")
        log.reward(7, 0.0)
    first, third, second = JsonLog(path)
    assert (first.id, first.chosen, first.propensity, first.reward) == ("a", 0, 0.9, 1.5)
    assert np.array_equal(first.actions, np.eye(2))
    assert np.array_equal(first.probabilities, [0.9, 0.1])
    assert (second.id, second.time, second.reward, second.line) == ("7", 12.5, 0.0, 3)
    assert second.actions.shape == (3, 2)
    assert (third.actions, third.chosen, third.reward) == (80, 79, -3.0)
    assert third.features.shape == (80, 80)


def test_a_torn_last_line_is_refused_or_skipped(path):
    write_lines(path, HEADER, DECISION, '{"id": "b", "set": "ho')
    with pytest.raises(LogError, match=r"log\.jsonl, line 3: the last line is cut off"):
        list(JsonLog(path))
    with pytest.warns(
        RuntimeWarning, match=r"log\.jsonl, line 3: the last line is cut off and left"
    ):
        assert [entry.id for entry in JsonLog(path, torn="skip")] == ["a"]
    with pytest.raises(ValueError, match="torn must be one of"):
        JsonLog(path, torn="maybe")


def test_a_killed_writer_loses_at_most_its_last_line(path):
    writes = f"""
from soids.logs import LogWriter
log = LogWriter({str(path)!r})
print("open", flush=True)
for i in range(10**9):
    log.decide(i, actions=5, chosen=i % 5, propensity=0.2, reward=1.0)
"""
    with subprocess.Popen([sys.executable, "-c", writes], stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        while path.stat().st_size < 100_000:
            assert process.poll() is None
            time.sleep(0.01)
        process.kill()
    whole = path.read_text().count("\n") - 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        LogWriter(path).close()  # which mends it, if need be
    entries = list(JsonLog(path))
    assert [entry.id for entry in entries] == [str(i) for i in range(whole)]
    assert len(entries) > 100


def test_only_the_last_line_can_be_torn(path):
    write_lines(path, HEADER, '{"id": "b", "set": "ho\n', DECISION)
    with pytest.raises(LogError) as error:
        list(JsonLog(path, torn="skip"))
    assert str(error.value).startswith(
        "log.jsonl, line 2: must be one JSON object, correct or remove the line: "
    )
    assert str(error.value).count("line 2") == 1
    assert "line 1" not in str(error.value)


def test_a_parquet_file_is_recognised(path):
    path.write_bytes(b"PAR1\xff\xfe")
    with pytest.raises(LogError, match=r"is parquet: read it with .*--format parquet"):
        list(JsonLog(path))


def test_gzip_is_detected_by_its_first_bytes(tmp_path):
    plain = write_lines(tmp_path / "log.jsonl", HEADER, DECISION)
    packed = tmp_path / "log"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    assert format_of(packed) == "soids"
    assert [entry.reward for entry in read_log(packed)] == [2.0]


def test_decisions_without_a_reward_come_last(path):
    waiting = {**DECISION, "id": "b", "reward": None}
    write_lines(path, HEADER, waiting, DECISION)
    assert [(entry.id, entry.reward) for entry in JsonLog(path)] == [("a", 2.0), ("b", None)]


def test_the_target_is_a_field_of_any_name(path):
    write_lines(path, HEADER, {**DECISION, "new": 0.5}, {**DECISION, "id": "b", "new": [0.3, 0.7]})
    one, two = JsonLog(path, target="new")
    assert one.target == 0.5
    assert np.array_equal(two.target, [0.3, 0.7])
    assert next(iter(JsonLog(path))).target is None


# What is bad is refused, with its line

BAD = {
    "no propensity": ({"propensity": None}, "propensity (or probabilities) must be there"),
    "propensity 0": ({"propensity": 0}, "propensity must lie in"),
    "propensity above 1": ({"propensity": 1.5}, "propensity must lie in"),
    "negative propensity": ({"propensity": -0.1}, "propensity must lie in"),
    "propensity of 1e-13": ({"propensity": 1e-13}, "propensity must lie in"),
    "text propensity": ({"propensity": "0.5"}, "propensity must be a real number"),
    "propensity that is true": ({"propensity": True}, "propensity must be a real number"),
    "sum": ({"propensity": None, "probabilities": [0.5, 0.4]}, "probabilities must sum to 1"),
    "above 1": ({"probabilities": [-0.5, 1.5]}, "probabilities[0] must be a probability"),
    "chosen 0": ({"propensity": None, "probabilities": [1.0, 0.0]}, "propensity must lie in"),
    "too few": ({"probabilities": [1.0]}, "probabilities must hold one number an action (2)"),
    "two minds": ({"probabilities": [0.5, 0.5]}, "propensity must be probabilities[1]"),
    "NaN reward": ({"reward": float("nan")}, "reward must be finite"),
    "infinite reward": ({"reward": float("inf")}, "reward must be finite"),
    "text reward": ({"reward": "1"}, "reward must be a real number"),
    "unknown set": ({"set": "away"}, "set must be one of the header's (home), got 'away'"),
    "no actions": ({"set": None}, "one of actions, set and count must be there"),
    "two kinds": ({"count": 2}, "one of actions, set and count must be there"),
    "dimension": ({"set": None, "actions": [[1.0]]}, "actions must have dimension 2"),
    "ragged": ({"set": None, "actions": [[1, 2], [3]]}, "actions must be a rectangular array"),
    "NaN action": ({"set": None, "actions": [[1, float("nan")]]}, "must be finite"),
    "chosen": ({"chosen": 2}, "chosen must be in 0..1, got 2"),
    "no choice": ({"chosen": None}, "chosen must be there"),
    "half a choice": ({"chosen": 0.5}, "chosen must be a whole number"),
    "no id": ({"id": None}, "id must be there"),
    "id": ({"id": [1]}, "id must be a text"),
    "time": ({"time": "yesterday"}, "time must be ISO 8601"),
    "target": ({"target": 2.0}, "target must be a probability"),
    "twice": ({"id": "a"}, "id must be new, it was given at 2"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_decision_is_refused_with_its_line(name, path):
    change, message = BAD[name]
    record = {k: v for k, v in {**DECISION, "id": "b", **change}.items() if v is not None}
    write_lines(path, HEADER, DECISION, record, {**DECISION, "id": "c"})
    with pytest.raises(LogError) as error:
        list(JsonLog(path))
    assert str(error.value).startswith("log.jsonl, line 3: ")
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_a_propensity_in_single_precision_agrees_with_its_probabilities(path):
    law = [1 / 3, 2 / 3]
    write_lines(
        path, HEADER, {**DECISION, "probabilities": law, "propensity": float(np.float32(2 / 3))}
    )
    (entry,) = JsonLog(path)
    assert entry.propensity == 2 / 3
    write_lines(path, HEADER, {**DECISION, "probabilities": law, "propensity": 0.6667})
    with pytest.raises(LogError, match=r"propensity must be probabilities\[1\], 0.666667, got"):
        list(JsonLog(path))


FILES = {
    "empty": ("", "line 1: the log must hold a decision"),
    "only a header": (json.dumps(HEADER) + "\n", "the log must hold a decision"),
    "no header": (json.dumps(DECISION) + "\n", "line 1: the header"),
    "wrong version": ('{"format": "soids log", "version": 2}\n', "version must be 1, got 2"),
    "bad set": ('{"format": "soids log", "version": 1, "sets": {"a": []}}\n', "line 1: set 'a'"),
    "sets": ('{"format": "soids log", "version": 1, "sets": 3}\n', "sets must be an object"),
    "a list": (json.dumps(HEADER) + "\n[1, 2]\n", "line 2: must be one JSON object"),
    "deep": (json.dumps(HEADER) + "\n" + "[" * 100_000 + "\n", "line 2: must be one JSON"),
    "unknown reward": (
        json.dumps(HEADER) + '\n{"reward_of": "z", "reward": 1}\n',
        "line 2: reward_of must name a decision logged above, got 'z'",
    ),
    "reward twice": (
        json.dumps(HEADER) + "\n" + json.dumps(DECISION) + '\n{"reward_of": "a", "reward": 1}\n',
        "line 3: decision 'a' has its reward already",
    ),
    "empty reward": (
        json.dumps(HEADER) + '\n{"id": "a", "count": 2, "chosen": 0, "propensity": 1}\n'
        '{"reward_of": "a"}\n',
        "line 3: reward must be there",
    ),
}


@pytest.mark.parametrize("name", FILES)
def test_a_bad_file_is_refused_with_its_line(name, path):
    text, message = FILES[name]
    path.write_text(text)
    with pytest.raises(LogError) as error:
        list(JsonLog(path))
    assert message in str(error.value)
    assert str(error.value).startswith("log.jsonl, line ")
    assert "\n" not in str(error.value)


def test_what_is_not_utf8_is_refused_with_its_line(path):
    path.write_bytes(json.dumps(HEADER).encode() + b'\n{"id": "\xff"}\n')
    with pytest.raises(LogError, match="line 2: must be UTF-8"):
        list(JsonLog(path))


@pytest.mark.parametrize("kept", [0.3, 0.7, 0.99])
def test_a_gzip_that_is_cut_off_is_refused(kept, tmp_path):
    rng = np.random.default_rng(0)
    records = [{**DECISION, "id": str(i), "reward": rng.random()} for i in range(500)]
    plain = write_lines(tmp_path / "plain", HEADER, *records)
    packed = gzip.compress(plain.read_bytes())
    cut = tmp_path / "log.jsonl.gz"
    cut.write_bytes(packed[: int(kept * len(packed))])
    with pytest.raises(LogError, match=r"log\.jsonl\.gz, line \d+: .*cut off.*--torn skip"):
        list(JsonLog(cut))
    with pytest.warns(RuntimeWarning, match="cut off and left out"):
        left = [entry.id for entry in JsonLog(cut, torn="skip")]
    assert left == [str(i) for i in range(len(left))]
    assert len(left) > 0.5 * kept * len(records)
    broken = bytearray(packed)
    broken[len(packed) // 2] ^= 0xFF
    cut.write_bytes(bytes(broken))
    with pytest.raises(LogError, match=r"log\.jsonl\.gz, line \d+: "):
        list(JsonLog(cut))


def test_no_damage_of_a_byte_is_worse_than_a_line_that_is_refused(path):
    whole = write_lines(path, HEADER, DECISION, {**DECISION, "id": "b"}).read_bytes()
    rng = np.random.default_rng(0)
    read, refusals = 0, []
    for place in range(len(whole)):
        for damaged in (whole[:place], whole[:place] + rng.bytes(1) + whole[place + 1 :]):
            path.write_bytes(damaged)
            try:
                read += len(list(JsonLog(path))) > 0
            except LogError as error:
                refusals.append(str(error))
    assert read > 0
    assert all(refusal.startswith("log.jsonl, line ") for refusal in refusals)


def test_a_decision_without_a_reward_fixes_the_dimension_too(path):
    first = {"id": "a", "actions": [[1.0, 2.0]], "chosen": 0, "propensity": 1.0}
    second = {"id": "b", "actions": [[1.0]], "chosen": 0, "propensity": 1.0, "reward": 1.0}
    write_lines(path, {"format": "soids log", "version": 1}, first, second)
    with pytest.raises(LogError, match="line 3: actions must have dimension 2 as before it, got 1"):
        list(JsonLog(path))


# Streaming


def test_ids_are_found_again_across_batches(monkeypatch):
    monkeypatch.setattr(joining_module, "BATCH", 64)
    seen = Seen()
    for line in range(1000):
        seen.add(f"id {line}", line)
    assert seen.knows("id 3")
    assert not seen.knows("id 1000")
    assert len(seen.hashes) == 1 + 15 * 64
    seen.add("id 17", 1000)
    with pytest.raises(RepeatedIdError, match="it was given at 17 already") as error:
        seen.settle()
    assert error.value.line == 1000


def test_an_id_given_twice_is_found_at_the_latest_at_the_end():
    joiner = Joiner()
    for line in range(3):
        joiner.decide(Entry(str(line), 2, 0, 0.5, 1.0, line=line))
    joiner.seen.settle()
    joiner.decide(Entry("1", 2, 0, 0.5, 1.0, line=9))
    with pytest.raises(ValueError, match="it was given at 1 already"):
        joiner.finish()


def test_a_long_log_is_not_held(path):
    """The actions of five hundred decisions would be 4 MB."""
    wide = {"id": "0", "actions": [[0.5] * 50] * 20, "chosen": 3, "propensity": 0.1, "reward": 1}
    line = json.dumps(wide)
    with path.open("w") as file:
        file.write('{"format": "soids log", "version": 1}\n')
        file.writelines(line.replace('"0"', f'"{i}"', 1) + "\n" for i in range(500))
    tracemalloc.start()
    count = sum(1 for _ in JsonLog(path))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert count == 500
    assert peak < 1e6
