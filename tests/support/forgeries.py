"""What becomes of forged files, which processes of their own open: the end of one is a finding."""

import json
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

SUPPORT = Path(__file__).parent
TOGETHER = 2500  # cases in one process


class Kind(NamedTuple):
    """A kind of files, and how many of them are forged."""

    script: str
    fine: str  # verdict on a file that is as good as an honest one; others are refused
    sample: int
    whole: int


KINDS = {
    "checkpoints": Kind("forger.py", "plays", 250, 10_000),
    "trial files": Kind("forged_trials.py", "shown", 100, 2000),
}


def verdicts(script: str, first: int, last: int) -> dict[int, tuple[str, str]]:
    """The verdict on each case, and how it was forged; a case may end its process."""
    found, stop = dict[int, tuple[str, str]](), first
    while stop < last:
        until = min(last, stop + TOGETHER)
        words = [sys.executable, str(SUPPORT / script), str(stop), str(until)]
        child = subprocess.run(words, capture_output=True, text=True, check=False)
        lines = [json.loads(line) for line in child.stdout.splitlines()]
        if not lines:
            raise RuntimeError(child.stderr)
        found |= {one["case"]: (one["verdict"], one["how"]) for one in lines if len(one) > 1}
        stop = lines[-1]["case"] + 1
        if child.returncode:
            found[stop - 1] = f"DIED {child.returncode} {child.stderr[-500:]}", ""
    return found
