"""What the uniform policy earns on the Open Bandit logs, estimated from the logs of another policy.

Prints CSV for docs/replay.md: for each campaign the clicks per thousand rounds in the log of the
uniform policy itself, and those that the log of Thompson sampling says it would get. The folder
``obd`` of the data lies where SOIDS_DATA says.
"""

import csv
import os
import sys
from pathlib import Path

from soids.bandits.data import PLACE
from soids.logs import read_log
from soids.offpolicy import NAMED, Estimate, evaluate

CAMPAIGNS = ("all", "men", "women")
METHODS = ("IPS", "SNIPS", "DR")
COLUMNS = ("campaign", "earned", *(name.lower() for name in METHODS), "effective", "largest")


def in_words(estimate: Estimate) -> str:
    """Clicks per thousand rounds with their interval, or that none can be given."""
    if estimate.low is None or estimate.high is None:
        return "refused"
    return f"{1e3 * estimate.value:.1f} [{1e3 * estimate.low:.1f}, {1e3 * estimate.high:.1f}]"


def row(campaign: str, folder: Path) -> list[object]:
    """One campaign."""
    own = evaluate(read_log(folder / "random" / f"{campaign}.csv.gz"), [NAMED["logged"]])
    other = evaluate(read_log(folder / "bts" / f"{campaign}.csv.gz"), [NAMED["uniform"]])
    earned, report = own.reports[0].estimates[0], other.reports[0]
    by_method = {one.method: one for one in report.estimates}
    overlap = report.overlap
    words = [in_words(by_method[name]) if name in by_method else "" for name in METHODS]
    return [campaign, in_words(earned), *words, round(overlap.effective, 1), round(overlap.largest)]


def main() -> None:
    """Print the table."""
    folder = Path(os.environ[PLACE]) / "obd"
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(row(campaign, folder) for campaign in CAMPAIGNS)


if __name__ == "__main__":
    main()
