"""What a replay found, for people and for programs."""

import csv
import io
import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.markup import escape
from rich.table import Table

from soids.cli.page import framed, page
from soids.files import write_whole
from soids.offpolicy import Estimate, Evaluation, Replayed


def show(
    found: Sequence[Evaluation | Replayed], written: Sequence[Path], confidence: float
) -> None:
    """Print a table, and what the numbers do not say."""
    console = page()
    for one in found:
        if isinstance(one, Evaluation):
            console.print(tabulate(one, confidence))
    several = [one for one in found if isinstance(one, Replayed)]
    if several:
        console.print(tabulate_replays(several, confidence))
    for one in found:
        for remark in remarks(one):
            console.print(remark, markup=False)
    for path in written:
        console.print(f"Written: {path}", markup=False, soft_wrap=True)


def tabulate(found: Evaluation, confidence: float) -> Table:
    """A few rows a policy: one for each estimator."""
    table = framed(f"Mean reward on {found.rounds:,} rounds of {found.log}")
    for name in ("policy", "estimate"):
        table.add_column(name)
    interval = f"{confidence:.0%} interval"
    for name in ("mean reward", interval, "effective size", "largest weight"):
        table.add_column(name, justify="right", no_wrap=name in ("mean reward", interval))
    for report in found.reports:
        seen = report.overlap
        beside = escape(report.label), f"{seen.effective:,.0f}", f"{seen.largest:.3g}"
        for estimate in report.estimates:
            label, effective, largest = beside
            table.add_row(label, estimate.method, *spelled(estimate), effective, largest)
            beside = "", "", ""
        table.add_section()
    return table


def tabulate_replays(found: Sequence[Replayed], confidence: float) -> Table:
    """A row a policy that went on learning."""
    table = framed("Mean reward while learning")
    table.add_column("policy")
    for name in ("mean reward", f"{confidence:.0%} interval", "rounds accepted", "of"):
        table.add_column(name, justify="right")
    for one in found:
        table.add_row(
            escape(one.label), *spelled(one.estimate), f"{one.accepted:,}", f"{one.rounds:,}"
        )
    return table


def spelled(estimate: Estimate) -> tuple[str, str]:
    """An estimate, and its interval if it has one."""
    if estimate.low is None or estimate.high is None:
        return f"{estimate.value:.4g}", "none"
    return f"{estimate.value:.4g}", f"{estimate.low:.4g} to {estimate.high:.4g}"


def remarks(found: Evaluation | Replayed) -> list[str]:
    """What the numbers do not say by themselves."""
    if isinstance(found, Replayed):
        doubt = found.estimate.doubt
        doubted = [f"Not reliable: {found.label}: {doubt}."] if doubt else []
        return doubted + [f"{found.label}: {remark}." for remark in found.remarks]
    said = [f"The mean reward in these rounds was {found.mean_reward:.4g}."]
    if found.trained:
        said.append(f"The first {found.trained:,} rounds were there to learn from.")
    if found.unrewarded:
        said.append(f"{found.unrewarded:,} decisions have no reward and are left out.")
    for report in found.reports:
        for doubt in report.doubts:
            said.append(f"Not reliable: {report.label}: {doubt}.")
        if not report.doubts:
            said += [
                f"No interval: {report.label}, {estimate.method}: {estimate.doubt}."
                for estimate in report.estimates
                if estimate.doubt and estimate.method != "DM"
            ]
        said += [f"{report.label}: {remark}." for remark in report.remarks]
    return said


def described(found: Sequence[Evaluation | Replayed]) -> dict[str, Any]:
    """All numbers, as one object."""
    replays = [
        {**one._asdict(), "estimate": one.estimate._asdict(), "reliable": one.reliable}
        for one in found
        if isinstance(one, Replayed)
    ]
    if replays:
        return {"mode": "rejection", "policies": replays}
    (one,) = (one for one in found if isinstance(one, Evaluation))
    policies = [
        {
            "label": report.label,
            "reliable": report.reliable,
            "estimates": [estimate._asdict() for estimate in report.estimates],
            "overlap": report.overlap._asdict(),
            "doubts": list(report.doubts),
            "remarks": list(report.remarks),
        }
        for report in one.reports
    ]
    return {"mode": "fixed", **one._asdict(), "reports": None, "policies": policies}


def as_plain(value: Any) -> Any:
    """A value as JSON has it, which knows no NaN."""
    if isinstance(value, dict):
        return {name: as_plain(one) for name, one in value.items() if name != "reports"}
    if isinstance(value, list):
        return [as_plain(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def write_findings(out: Path, found: Sequence[Evaluation | Replayed]) -> list[Path]:
    """All numbers as JSON, the estimates as CSV."""
    out.mkdir(parents=True, exist_ok=True)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["policy", *Estimate._fields])
    for one in found:
        pairs = (
            [(one.label, one.estimate)]
            if isinstance(one, Replayed)
            else [(report.label, e) for report in one.reports for e in report.estimates]
        )
        writer.writerows([label, *estimate] for label, estimate in pairs)
    paths = out / "replay.csv", out / "replay.json"
    write_whole(paths[0], text.getvalue().encode())
    write_whole(paths[1], json.dumps(as_plain(described(found)), indent=1).encode())
    return list(paths)
