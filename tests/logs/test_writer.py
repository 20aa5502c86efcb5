"""The writer of logs: what it writes can be read, whatever happens meanwhile."""

import gzip
import io
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pytest

from soids.logs import JsonLog, LogError, LogWriter


def test_a_log_is_continued(path):
    for name in ("a", "b"):
        with LogWriter(path, sets={"home": np.eye(2)}) as log:
            log.decide(name, actions="home", chosen=0, propensity=0.5, reward=1.0)
    assert [entry.id for entry in JsonLog(path)] == ["a", "b"]
    with pytest.raises(ValueError, match="another header"):
        LogWriter(path, sets={"home": np.eye(3)})


def test_a_continued_log_keeps_its_header(path):
    with LogWriter(path, sets={"home": np.eye(2)}) as log:
        log.decide("a", actions="home", chosen=0, propensity=0.5, reward=1.0)
    with LogWriter(path) as log:
        log.decide("b", actions="home", chosen=1, propensity=0.5, reward=1.0)
        with pytest.raises(ValueError, match="dimension 2"):
            log.decide("c", actions=np.eye(3), chosen=0, propensity=0.5)
    assert [entry.chosen for entry in JsonLog(path)] == [0, 1]


@pytest.mark.parametrize("left", [1, 20, 200_000])
def test_an_unfinished_line_is_removed(path, left):
    with LogWriter(path) as log:
        log.decide("a", actions=2, chosen=0, propensity=0.5, reward=1.0)
    before = path.read_bytes()
    unfinished = b'{"id": "b", "count": 2, "chosen": 1, "propensity": 0.5, "reward": 1}'
    path.write_bytes(before + (unfinished + b" " * left)[: max(left, 68)])
    with pytest.warns(RuntimeWarning, match="bytes of an unfinished line: removed"):
        LogWriter(path).close()
    assert path.read_bytes() == before
    with LogWriter(path) as log:
        log.decide("b", actions=2, chosen=0, propensity=0.5)


@pytest.mark.parametrize("content", [b"no log\nunfinished", b"unfinished", b'{"a": 1}\n{"b'])
def test_a_file_of_another_kind_is_not_changed(path, content):
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"log\.jsonl"):
        LogWriter(path)
    assert path.read_bytes() == content


def test_a_line_is_there_as_soon_as_it_is_written(path):
    log = LogWriter(path)
    log.decide("a", actions=2, chosen=0, propensity=0.5, reward=1.0)
    assert len(list(JsonLog(path))) == 1
    log.close()


def test_invalid_entries_are_not_written(path):
    with LogWriter(path, sets={"home": np.eye(2)}) as log:
        log.decide("a", actions="home", chosen=0, propensity=0.5, reward=1.0)
        before = path.read_bytes()
        for bad in (
            {"propensity": 0.0},
            {"propensity": 0.5, "reward": float("nan")},
            {"probabilities": [0.5, 0.6]},
            {},
        ):
            with pytest.raises(ValueError, match="must"):
                log.decide("b", actions="home", chosen=0, **bad)
        with pytest.raises(ValueError, match="dimension 2"):
            log.decide("b", actions=np.eye(3), chosen=0, propensity=0.5)
        with pytest.raises(ValueError, match="id must be new, 'a' was logged already"):
            log.decide("a", actions="home", chosen=0, propensity=0.5)
        with pytest.raises(ValueError, match="reward_of must name a decision logged above"):
            log.reward("z", 1.0)
        with pytest.raises(ValueError, match="'a' has its reward already"):
            log.reward("a", 1.0)
        for chosen in (1.7, 1.0, "1", True):
            with pytest.raises(ValueError, match="chosen must be a whole number"):
                log.decide("b", actions="home", chosen=chosen, propensity=0.5)
    assert path.read_bytes() == before


def test_a_continuing_writer_refuses_repeated_ids_and_rewards(path):
    LogWriter(path).close()  # a header alone
    with LogWriter(path) as log:
        log.decide("a", actions=np.eye(2), chosen=0, propensity=0.5)
        log.decide("b", actions=2, chosen=0, propensity=0.5, reward=1.0)
    with LogWriter(path) as log:
        for name in ("a", "b"):
            with pytest.raises(ValueError, match="id must be new"):
                log.decide(name, actions=2, chosen=0, propensity=0.5)
        with pytest.raises(ValueError, match="dimension 2 as before it"):
            log.decide("c", actions=np.eye(3), chosen=0, propensity=0.5)
        with pytest.raises(ValueError, match="'b' has its reward already"):
            log.reward("b", 1.0)
        log.reward("a", 2.0)
    assert [(entry.id, entry.reward) for entry in JsonLog(path)] == [("b", 1.0), ("a", 2.0)]
    line = path.read_text().splitlines(keepends=True)[2]
    path.write_text(path.read_text() + line)
    with pytest.raises(LogError, match="line 5: id must be new, it was given at 3"):
        LogWriter(path)
    path.write_bytes(gzip.compress(b"x"))
    with pytest.raises(ValueError, match="is gzip: unpack it"):
        LogWriter(path)


def test_numbers_of_any_kind_are_written(path):
    single = np.array([0.1, 0.2, 0.7], dtype=np.float32)
    with LogWriter(path) as log:
        log.decide(
            np.int64(7), actions=np.int64(3), chosen=np.int32(2), propensity=single[2],
            probabilities=tuple(single), reward=np.float32(0.5), time=np.float64(2.0),
            target=(0.5, np.float32(0.25), 0.25),
        )  # fmt: skip
        rows = [np.array([1, 2]), (np.float32(0.5), 4)]
        log.decide("b", actions=rows, chosen=0, propensity=np.float32(0.5), target=np.float32(0.5))
        log.reward(np.str_("b"), np.int64(1))
    one, two = JsonLog(path)
    assert (one.id, one.actions, one.chosen, one.reward, one.time) == ("7", 3, 2, 0.5, 2.0)
    assert np.array_equal(one.target, [0.5, 0.25, 0.25])
    assert np.array_equal(one.probabilities, single.astype(np.float64))
    assert np.array_equal(two.actions, [[1.0, 2.0], [0.5, 4.0]])
    assert (two.propensity, two.target, two.reward) == (0.5, 0.5, 1.0)


class Full(io.FileIO):
    """A file on a disk that has room for a few more bytes."""

    def write(self, line):
        return super().write(line[:9])


class Failing(Full):
    """The same, on a disk that says so."""

    def write(self, line):
        super().write(line)
        raise OSError("no space left")


@pytest.mark.parametrize("disk", [Full, Failing])
def test_a_line_that_does_not_fit_is_removed(disk, path):
    log = LogWriter(path)
    log.decide("a", actions=2, chosen=0, propensity=0.5, reward=1.0)
    log.decide("b", actions=2, chosen=0, propensity=0.5)
    before, roomy = path.read_bytes(), log.file
    log.file = disk(path, "ab")
    with pytest.raises(OSError, match=r"is the disk full|no space left"):
        log.decide("c", actions=np.eye(5), chosen=0, propensity=0.5)
    with pytest.raises(OSError, match=r"is the disk full|no space left"):
        log.reward("b", 1.0)
    assert path.read_bytes() == before
    log.file.close()
    log.file = roomy
    log.reward("b", 1.0)
    log.decide("c", actions=np.eye(2), chosen=0, propensity=0.5, reward=0.0)
    log.close()
    assert [entry.id for entry in JsonLog(path)] == ["a", "b", "c"]


def test_no_line_follows_a_torn_line_that_cannot_be_removed(path, monkeypatch):
    def refuse(*_):
        raise OSError("cannot be cut")

    log = LogWriter(path)
    log.file.close()
    log.file = Full(path, "ab")
    monkeypatch.setattr(os, "ftruncate", refuse)
    for message, error in (("is the disk full", OSError), ("is closed", ValueError)):
        with pytest.raises(error, match=message):
            log.decide("a", actions=2, chosen=0, propensity=0.5)


def test_a_child_that_was_forked_meanwhile_does_not_keep_the_log(path):
    log = LogWriter(path)
    child = subprocess.Popen(["sleep", "60"], pass_fds=[log.file.fileno()])
    try:
        log.close()
        LogWriter(path).close()
    finally:
        child.kill()
        child.wait()


def test_a_log_has_one_writer_at_a_time(path):
    first = LogWriter(path)
    with pytest.raises(BlockingIOError, match=r"log\.jsonl has a LogWriter already"):
        LogWriter(path)
    first.decide("a", actions=2, chosen=0, propensity=0.5, reward=1.0)
    first.close()
    with LogWriter(path) as second:
        second.decide("b", actions=2, chosen=0, propensity=0.5, reward=1.0)
    assert len(list(JsonLog(path))) == 2


def test_a_file_of_another_kind_is_not_continued(tmp_path):
    file = tmp_path / "w.py"
    file.write_text("import this\n")
    with pytest.raises(LogError, match=r"w\.py, line 1: this is no log of soids"):
        LogWriter(file)
    assert file.read_text() == "import this\n"


# Threads and processes


@pytest.fixture
def switching():
    """Threads take turns as often as possible."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(usual)


def test_threads_may_share_a_writer(path, switching):
    """Four threads try to log the same id at the same time, and then its reward."""
    ids, barrier = [str(k) for k in range(300)], Barrier(4)

    def tried(write):
        """How many writes were made, and the errors of the others."""
        written, errors = 0, []
        for name in ids:
            barrier.wait(timeout=60)
            try:
                write(name)
                written += 1
            except ValueError as error:
                errors.append(str(error))
        return written, errors

    def decide(name):
        log.decide(name, actions=np.eye(2), chosen=0, propensity=0.5)

    with LogWriter(path) as log, ThreadPoolExecutor(4) as pool:
        for write, words in (
            (decide, "id must be new"),
            (lambda name: log.reward(name, 1.0), "has its reward already: log it once"),
        ):
            counts, errors = zip(*pool.map(tried, [write] * 4), strict=True)
            assert sum(counts) == len(ids)
            assert all(words in error for some in errors for error in some)
    assert sorted(entry.id for entry in JsonLog(path)) == sorted(ids)
    assert all(entry.reward == 1.0 for entry in JsonLog(path))


FORKED = """
import os, sys
from soids.logs import LogWriter

log = LogWriter(sys.argv[1])
log.decide("a", actions=2, chosen=0, propensity=0.5)
child = os.fork()
if not child:
    try:
        log.decide("a", actions=2, chosen=0, propensity=0.5)
    except ValueError as error:
        print(error, flush=True)
    log.close()
    os._exit(0)
os.waitpid(child, 0)
try:
    LogWriter(sys.argv[1])
except BlockingIOError:
    print("still locked", flush=True)
log.decide("b", actions=2, chosen=0, propensity=0.5)
log.close()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_a_forked_process_neither_writes_nor_unlocks(path):
    asked = [sys.executable, "-c", FORKED, str(path)]
    said = subprocess.run(asked, capture_output=True, text=True, check=True, timeout=60).stdout
    first, second = said.splitlines()
    assert first.startswith("log.jsonl was opened by process")
    assert first.endswith("give each process a LogWriter and a file of its own")
    assert second == "still locked"
    assert [entry.id for entry in JsonLog(path)] == ["a", "b"]


def test_rewards_may_be_true_or_false(path):
    with LogWriter(path) as log:
        log.decide("a", actions=2, chosen=0, propensity=0.5, reward=np.True_)
        log.decide("b", actions=2, chosen=0, propensity=0.5)
        log.reward("b", False)
    assert [entry.reward for entry in JsonLog(path)] == [1.0, 0.0]
    path.write_text(path.read_text().replace("1.0", "true").replace("0.0", "false"))
    assert [entry.reward for entry in JsonLog(path)] == [1.0, 0.0]
