"""Tables, remarks and JSON of what a replayed log says of policies."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from soids.files import as_json, write_whole
from soids.offpolicy import Estimate, Evaluation, Replayed
from soids.offpolicy.evaluation import left_out
from soids.output.table import Table, as_csv

Found = Evaluation | Sequence[Replayed]  # of policies that are fixed, or that go on learning


def printed(found: Found, confidence: float) -> list[Table]:
    """The estimates of each policy, and their differences from the first if there are several."""
    tables = [replay_table(found, confidence)]
    if isinstance(found, Evaluation) and len(found.reports) > 1:
        tables.append(differences_of(found))
    return tables


def replay_table(found: Found, confidence: float) -> Table:
    """The estimates of each policy, with their intervals."""
    interval = f"{confidence:.0%} interval"
    if not isinstance(found, Evaluation):
        return Table(
            ("policy", "mean reward", interval, "rounds accepted", "of"),
            [(one.label, *written(one.estimate), f"{one.accepted:,}", f"{one.rounds:,}")
             for one in found],
            title=f"Mean reward while learning{left_out(found[0].unrewarded)}",
        )  # fmt: skip
    rows: list[Sequence[object]] = []
    for report in found.reports:
        if rows:
            rows.append(())  # separates policies
        seen = report.overlap
        beside = report.label, f"{seen.effective:,.0f}", f"{seen.largest:.3g}"
        for estimate in report.estimates:
            label, effective, largest = beside
            rows.append((label, estimate.method, *written(estimate), effective, largest))
            beside = "", "", ""
    heads = ("policy", "estimate", "mean reward", interval, "effective size", "largest weight")
    return Table(heads, rows, found.title, labels=2)


def differences_of(found: Evaluation) -> Table:
    """How much more each policy earns than the first one, with paired intervals."""
    rows: list[Sequence[object]] = []
    for one in found.differences():
        if rows:
            rows.append(())  # separates policies
        names = [one.label, *[""] * (len(one.estimates) - 1)]
        rows += [
            (name, estimate.method, *written(estimate))
            for name, estimate in zip(names, one.estimates, strict=True)
        ]
    heads = ("policy", "estimate", "difference", f"{found.confidence:.0%} interval")
    title = f"Difference from {found.reports[0].label}, in the same rounds"
    return Table(heads, rows, title, labels=2)


def written(estimate: Estimate) -> tuple[str, str]:
    """An estimate and its interval."""
    if estimate.low is None or estimate.high is None:
        return f"{estimate.value:.4g}", "none"
    return f"{estimate.value:.4g}", f"{estimate.low:.4g} to {estimate.high:.4g}"


def replay_remarks(found: Found) -> list[str]:
    """Sentences on the rounds, and on each policy without an interval."""
    said: list[str] = []
    if not isinstance(found, Evaluation):
        for one in found:
            if one.estimate.doubt:
                said.append(f"Not reliable: {one.label}: {one.estimate.doubt}.")
            said += [f"{one.label}: {remark}." for remark in one.remarks]
        return said
    said.append(f"The mean reward in these rounds was {found.mean_reward:.4g}.")
    if found.trained:
        said.append(f"The first {found.trained:,} rounds were there to learn from.")
    for report in found.reports:
        said += [f"Not reliable: {report.label}: {doubt}." for doubt in report.doubts] or [
            f"No interval: {report.label}, {estimate.method}: {estimate.doubt}."
            for estimate in report.estimates
            if estimate.doubt and estimate.method != "DM"
        ]
        said += [f"{report.label}: {remark}." for remark in report.remarks]
    return said


def estimates_table(found: Found) -> Table:
    """Every estimate with all its fields, for CSV."""
    if isinstance(found, Evaluation):
        rows = [(report.label, *one) for report in found.reports for one in report.estimates]
    else:
        rows = [(one.label, *one.estimate) for one in found]
    return Table(("policy", *Estimate._fields), rows)


def differences_table(found: Evaluation) -> Table:
    """Every difference with all its fields, for CSV."""
    rows = [
        (one.label, one.baseline, *part) for one in found.differences() for part in one.estimates
    ]
    return Table(("policy", "baseline", *Estimate._fields), rows)


def replay_record(found: Found) -> dict[str, Any]:
    """All numbers as one object, for JSON."""
    if not isinstance(found, Evaluation):
        policies = [{**one._asdict(), "reliable": one.reliable} for one in found]
        return {"mode": "rejection", "policies": policies}
    record = {"mode": "fixed", **found._asdict(), "differences": found.differences()}
    del record["reports"], record["kept"]
    record["policies"] = [
        {"label": report.label, "reliable": report.reliable, **report._asdict()}
        for report in found.reports
    ]
    return record


def write_replay(folder: Path, found: Found) -> list[Path]:
    """Write all numbers as JSON and the estimates as CSV; returns the paths."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / "replay.csv", folder / "replay.json"]
    write_whole(paths[0], as_csv(estimates_table(found)).encode())
    write_whole(paths[1], as_json(replay_record(found), indent=1).encode())
    if isinstance(found, Evaluation) and len(found.reports) > 1:
        paths.append(folder / "differences.csv")
        write_whole(paths[2], as_csv(differences_table(found)).encode())
    return paths
