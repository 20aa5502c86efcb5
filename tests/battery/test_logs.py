"""Batteries of logs: damaged ones are refused or read as if they were whole; many writers."""

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest

from soids.logs import Entry, JsonLog, LogWriter, ParquetLog, read_log, write_parquet
from some_logs import log_each, made_log

READERS = {"read_log": read_log, "ParquetLog": ParquetLog}


def as_plain(log):
    """All that a log holds, as values that can be compared."""
    return [[np.array(field).tolist() for field in entry] for entry in log]


@pytest.mark.parametrize("reader", READERS)
def test_every_flipped_bit_of_a_parquet_log_is_refused_or_changes_nothing(reader, tmp_path, cases):
    pytest.importorskip("pyarrow")
    path, rng = tmp_path / "log.parquet", np.random.default_rng(0)
    log = made_log(60).entries
    own = [Entry(f"own {k}", rng.random((3, 3)), k % 3, 0.5, None, time=float(k)) for k in range(9)]
    write_parquet([*log, *own], path, sets={"home": log[0].actions})
    whole = path.read_bytes()
    expected = as_plain(READERS[reader](path))
    refusals = []
    for place in rng.choice(8 * len(whole), cases(200, 4000), replace=False):
        flipped = bytearray(whole)
        flipped[place // 8] ^= 1 << (place % 8)
        path.write_bytes(flipped)
        try:
            assert as_plain(READERS[reader](path)) == expected
        except ValueError as error:
            refusals.append(str(error))
    assert all(refusal.startswith("log.parquet") for refusal in refusals)
    assert len(refusals) > 0.9 * cases(200, 4000)


def test_processes_lose_no_decision_and_log_none_twice(tmp_path, cases):
    """Each of two processes tries to log every id."""
    path, ids = tmp_path / "log.jsonl", [str(k) for k in range(cases(25, 1000))]
    LogWriter(path).close()
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        tries = [pool.submit(log_each, str(path), ids, seed) for seed in range(2)]
        written, refused = np.sum([one.result(timeout=300) for one in tries], axis=0)
    assert written == len(ids)
    assert refused == len(ids)
    assert sorted(entry.id for entry in JsonLog(path)) == sorted(ids)
