"""No configuration hangs, fails with another error than ValueError, or gives no distribution."""

import json
import subprocess
import sys

import extremes

AT_ONCE = 500  # configurations in one process


def troubles(first: int, count: int) -> list[str]:
    """What went wrong with some configurations, played in a process that a hang cannot stop."""
    found, last = [], first + count
    while first < last:
        command = [sys.executable, extremes.__file__, str(first), str(last - first)]
        played = subprocess.run(command, capture_output=True, text=True, check=False)
        lines = [json.loads(line) for line in played.stdout.splitlines()]
        found += [f"seed {one['seed']}: {one['trouble']}" for one in lines if "trouble" in one]
        if played.returncode == 0:
            return found
        stopped = lines[-1]["seed"] if lines else first  # a hang, or the process died
        found.append(f"seed {stopped}: {played.stderr[-2000:]}")
        first = stopped + 1
    return found


def test_no_configuration_hangs_or_fails_but_at_the_door(cases):
    count = cases(sample=50, whole=10_000)
    found = []
    for first in range(0, count, AT_ONCE):
        found += troubles(first, min(AT_ONCE, count - first))
    assert not found, "\n".join(found)


def test_a_hang_is_a_failure_that_names_its_seed(monkeypatch, tmp_path):
    endless = tmp_path / "endless.py"
    endless.write_text(
        "import faulthandler, json, sys\n"
        "first, count = map(int, sys.argv[1:])\n"
        "for seed in range(first, first + count):\n"
        "    print(json.dumps({'seed': seed}), flush=True)\n"
        "    faulthandler.dump_traceback_later(0.2, exit=True)\n"
        "    while seed == 8: pass\n"
        "    faulthandler.cancel_dump_traceback_later()\n"
    )
    monkeypatch.setattr(extremes, "__file__", str(endless))
    (found,) = troubles(7, 4)
    assert found.startswith("seed 8: Timeout")


def test_configurations_differ_and_most_are_played():
    made = [extremes.configuration(seed) for seed in range(100)]
    assert len({one.policy for one in made}) > 20
    assert repr(made[3]) == repr(extremes.configuration(3))
