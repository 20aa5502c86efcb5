"""Limits on what a small file may take in memory, and ways to lift them."""

import gzip
import json
import tracemalloc

import numpy as np
import pytest

from soids.logs import (
    DsjsonLog,
    JsonLog,
    LogError,
    OpenBanditLog,
    ParquetLog,
    TableLog,
    dsjson,
    limits,
    obd,
    read_log,
    write_parquet,
)
from some_logs import made_log

HEADER = '{"format": "soids log", "version": 1}\n'
DECISION = {"id": "a", "actions": [[0.0] * 100] * 50, "chosen": 0, "propensity": 1.0}


@pytest.fixture
def small_room(monkeypatch):
    """Files may unpack to 100 kB for nothing."""
    monkeypatch.setattr(limits, "FREE", 100_000)


def packed(path, text):
    path.write_bytes(gzip.compress(text.encode()))
    return path


LINES = {
    "many": HEADER + "".join(json.dumps({**DECISION, "id": str(k)}) + "\n" for k in range(100)),
    "one": HEADER + json.dumps({**DECISION, "actions": [[0.0] * 1000] * 400}) + "\n",
    "none": HEADER + " " * 2_000_000,
}


@pytest.mark.parametrize("name", LINES)
@pytest.mark.parametrize("kind", [JsonLog, DsjsonLog])
def test_lines_that_unpack_to_too_much_are_refused_and_a_setting_lifts_the_limit(
    kind, name, tmp_path, small_room
):
    path = packed(tmp_path / "log.jsonl.gz", LINES[name])
    with pytest.raises(LogError, match=r"unpacks to more than . MB, 200 times .*expansion=2000"):
        list(kind(path))
    if name == "many" and kind is JsonLog:
        assert len(list(read_log(path, expansion=1000))) == 100


@pytest.mark.parametrize("form", ["jsonl", "parquet"])
def test_a_log_of_equal_probabilities_is_read(form, tmp_path, small_room):
    """The log of a uniform policy over two hundred actions compresses a hundred times."""
    pytest.importorskip("pyarrow")
    rng, even, lines = np.random.default_rng(0), [1 / 200] * 200, [HEADER]
    for k in range(1000):
        decision = {"id": str(k), "count": 200, "chosen": int(rng.integers(200))}
        lines.append(json.dumps({**decision, "probabilities": even, "reward": rng.random()}) + "\n")
    path = packed(tmp_path / "log.jsonl.gz", "".join(lines))
    if form == "parquet":
        write_parquet(JsonLog(path), tmp_path / "log.parquet")
        path = tmp_path / "log.parquet"
    assert len(list(read_log(path))) == 1000


def test_the_default_limit_is_128_megabytes_or_200_times_the_file(tmp_path):
    path = tmp_path / "log"
    for size, most in ((1000, 128_000_000), (1_000_000, 200_000_000)):
        path.write_bytes(b"x" * size)
        assert limits.room(path, limits.EXPANSION) == most
    with pytest.raises(ValueError, match="expansion must be above 0, got -1"):
        limits.room(path, -1.0)


def test_a_refusal_takes_no_more_memory_than_the_limit(tmp_path, small_room):
    """Twenty megabytes of blanks in one line, from a file of 0.1 MB."""
    path = tmp_path / "log.jsonl.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(HEADER.encode())
        for _ in range(20):
            file.write(b" " * 1_000_000)
    tracemalloc.start()
    with pytest.raises(LogError, match="unpacks to more"):
        list(JsonLog(path))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 3 * limits.room(path, limits.EXPANSION) + 1e6


def test_a_packed_table_has_the_same_limit(tmp_path, small_room):
    pytest.importorskip("pyarrow")
    path = packed(tmp_path / "log.csv.gz", "reward,propensity\n" + "1,0.5\n" * 50_000)
    with pytest.raises(LogError, match="unpacks to more"):
        TableLog(path)
    assert len(list(TableLog(path, expansion=1000))) == 50_000


def test_a_parquet_log_has_the_same_limit(tmp_path, small_room):
    pytest.importorskip("pyarrow")
    path = tmp_path / "log.parquet"
    same = [entry._replace(actions=np.zeros((50, 100))) for entry in made_log(40)]
    same = [entry._replace(probabilities=None, chosen=0) for entry in same]
    write_parquet(same, path)
    assert limits.room(path, limits.EXPANSION) < 40 * 50 * 100 * 8
    with pytest.raises(LogError, match="unpacks to more"):
        list(ParquetLog(path))
    assert len(list(read_log(path, expansion=1000))) == 40


def test_one_text_in_every_row_of_a_parquet_counts_in_every_row(tmp_path, small_room):
    """It is stored once, and would be a text of its own for each row."""
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "log.parquet"
    columns = {"reward": [1.0] * 2000, "propensity": [0.5] * 2000, "who": ["x" * 10_000] * 2000}
    parquet.write_table(pyarrow.table(columns), path)
    with pytest.raises(LogError, match="unpacks to more"):
        TableLog(path)


def test_other_columns_of_a_parquet_log_are_not_read(tmp_path, small_room):
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "log.parquet"
    write_parquet(made_log(20), path)
    table = parquet.read_table(path).append_column("more", pyarrow.array(["x" * 20_000] * 20))
    parquet.write_table(table, path)
    assert len(list(ParquetLog(path))) == 20


def test_sets_of_dsjson_are_limited_and_those_without_a_reward_are_not_kept(path, monkeypatch):
    event = {
        "_label_cost": 0.0, "_label_probability": 1.0, "EventId": "a", "a": [1, 2],
        "c": {"_multi": [{"x": 1}, {"y": 2}]},
    }  # fmt: skip
    path.write_text(json.dumps({**event, "_skipLearn": True}) + "\n")
    (entry,) = DsjsonLog(path)
    assert (entry.actions, entry.reward) == (2, None)
    monkeypatch.setattr(dsjson, "MOST_CELLS", 3)
    with pytest.raises(LogError, match="2 actions of 2 features are more than 3 numbers"):
        list(DsjsonLog(path))


def test_items_of_the_open_bandit_are_limited(tmp_path, monkeypatch):
    monkeypatch.setattr(obd, "MOST_ITEMS", 2)
    (tmp_path / "item_context.csv").write_text("item_id\n0\n1\n2\n")
    path = tmp_path / "men.csv"
    path.write_text("item_id,position,click,propensity_score\n0,1,0,0.5\n")
    with pytest.raises(ValueError, match="must hold at most 2 items, got 3"):
        list(OpenBanditLog(path))


@pytest.mark.parametrize("kind", [JsonLog, DsjsonLog])
@pytest.mark.parametrize("depth", [500, 900, 5000, 100_000])
def test_deep_nesting_is_refused_with_its_line(kind, depth, path):
    deep = '{"x": ' * depth + "1" + "}" * depth
    event = '{"EventId": "a", "c": {"_multi": [%s]}, "actions": %s, "id": "a"}\n'
    path.write_text(HEADER + event % (deep, "[" * depth + "1" + "]" * depth))
    with pytest.raises(LogError, match=r"log\.jsonl, line 2: "):
        list(kind(path))
