"""Forged files, with right checksums: each is refused by name, or is as good as an honest one.

They are opened in processes of their own, so that the end of one is a finding. No case may end its
process, take minutes, raise anything but ValueError, take much memory, or play badly.
"""

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

SUPPORT = Path(__file__).parents[1] / "support"
TOGETHER = 2500  # cases in one process


def verdicts(script, first, last):
    """What became of each case; a case that ends its process is one of them."""
    found, stop = {}, first
    while stop < last:
        until = min(last, stop + TOGETHER)
        words = [sys.executable, SUPPORT / script, str(stop), str(until)]
        child = subprocess.run(words, capture_output=True, text=True, check=False)
        lines = [json.loads(line) for line in child.stdout.splitlines()]
        found |= {line["case"]: (line["verdict"], line["how"]) for line in lines if len(line) > 1}
        assert lines, child.stderr
        stop = lines[-1]["case"] + 1
        if child.returncode:
            found[lines[-1]["case"]] = f"DIED {child.returncode} {child.stderr[-500:]}", ""
    return found


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs limits as of Linux")
@pytest.mark.parametrize(
    ("script", "fine", "sample", "whole"),
    [
        ("forger.py", {"refused", "plays"}, 250, 10_000),
        ("forged_trials.py", {"refused", "shown"}, 100, 2000),
    ],
)
def test_a_forged_file_is_refused_or_does_no_harm(script, fine, sample, whole, cases):
    number = cases(sample, whole)
    found = verdicts(script, 0, number)
    assert len(found) == number
    wrong = {case: one for case, one in found.items() if one[0] not in fine}
    assert not wrong, f"{len(wrong)} of {number}: {dict(list(wrong.items())[:5])}"
    kinds = Counter(verdict for verdict, _ in found.values())
    assert min(kinds[kind] for kind in fine) > 0.02 * number, "the forger has become blunt"
