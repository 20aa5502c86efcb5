"""What becomes of forged files of each kind (tests/battery/test_forged_files.py); prints CSV."""

import csv
import sys
from collections import Counter
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests" / "support"))

from forgeries import KINDS, verdicts

COLUMNS = ("kind", "forged", "refused", "used", "ended", "other")


def main() -> None:
    """One row for each kind of files."""
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(COLUMNS)
    for name, kind in KINDS.items():
        found = verdicts(kind.script, 0, kind.whole)
        counts = Counter(verdict.partition(" ")[0] for verdict, _ in found.values())
        fine, ended = (counts.pop("refused", 0), counts.pop(kind.fine, 0)), counts.pop("DIED", 0)
        writer.writerow((name, len(found), *fine, ended, counts.total()))


if __name__ == "__main__":
    main()
