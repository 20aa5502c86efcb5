"""Logs that are kept in memory: short ones, once they were read to the end."""

from itertools import islice

import pytest

from soids.logs import KeptLog, kept
from some_logs import Listed, made_log


class Counted(Listed):
    """A log that counts how often it is read."""

    readings = 0

    def __iter__(self):
        self.readings += 1
        return iter(self.entries)


@pytest.mark.parametrize(("most", "readings"), [(1e9, 1), (10_000, 3)])
def test_a_short_log_is_read_once_and_a_long_one_again(most, readings, monkeypatch):
    monkeypatch.setattr(kept, "MOST", most)
    source = Counted(made_log(50).entries)
    log = KeptLog(source)
    for _ in range(3):
        assert [entry.id for entry in log] == [entry.id for entry in source.entries]
    assert source.readings == readings
    assert (log.name, log.unit) == ("list", "line")


def test_a_log_that_was_not_read_to_its_end_is_not_kept():
    log = KeptLog(made_log(50))
    assert len(list(islice(log, 10))) == 10
    assert len(list(log)) == len(list(log)) == 50


def test_actions_that_follow_each_other_count_once(monkeypatch):
    entries = made_log(100).entries
    shared = 100 * (kept.ENTRY + entries[0].probabilities.nbytes) + entries[0].actions.nbytes
    monkeypatch.setattr(kept, "MOST", shared)
    source = Counted(entries)
    others = Counted([entry._replace(actions=entry.actions.copy()) for entry in entries])
    for log in (KeptLog(source), KeptLog(others)):
        list(log), list(log)
    assert (source.readings, others.readings) == (1, 2)
