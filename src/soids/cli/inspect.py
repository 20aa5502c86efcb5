"""``soids inspect``: a trial played again, to see its regret, its beliefs and its bounds."""

import csv
import io
import json
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np
from rich.console import Console
from rich.progress import Progress

from soids.cli import findings_bounds, findings_regret
from soids.cli.errors import usable
from soids.cli.findings import histories, remarks, shown_rounds, tabulate
from soids.cli.page import page
from soids.experiments.shipped import MANIFEST, played_experiment
from soids.files import UNREADABLE, reason, write_whole
from soids.output.figures import save
from soids.output.figures.diagnosis import draw_diagnosis
from soids.simulation.board import EVERY
from soids.simulation.diagnosis import Diagnosis, diagnose
from soids.simulation.experiment import Experiment
from soids.simulation.feedback import Feedback
from soids.simulation.findings import Findings, find
from soids.simulation.guarantees import Guarantees, guarantees
from soids.simulation.losses import Losses, locate
from soids.simulation.play import Trace
from soids.simulation.provenance import fingerprint
from soids.simulation.store import Outcome, Store, read_outcome
from soids.simulation.trial import Trial
from soids.simulation.user_policies import modules_in
from soids.simulation.worker import undisturbed
from soids.spelling import meant
from soids.theory import Bound, Tally


@click.command()
@click.argument("run", type=click.Path(exists=True, path_type=Path))
@click.option("--policy", metavar="LABEL", help="Label of the policy, if RUN is a folder.")
@click.option("--seed", type=int, help="Seed of the trial, if RUN is a folder.")
@click.option("--problem", metavar="TITLE", help="Title of the problem, if RUN is a folder.")
@click.option(
    "--out", type=click.Path(file_okay=False, path_type=Path),
    help="Folder for the figure (PNG, PDF) and the numbers of every round (CSV).",
)  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of tables.")
def inspect(
    run: Path,
    policy: str | None,
    seed: int | None,
    problem: str | None,
    out: Path | None,
    as_json: bool,
) -> None:
    """Show where the regret of a trial lies, what the policy believed, and what is proven of it.

    RUN is the file of a trial (.npz), or the folder of an experiment with --policy, --seed and
    --problem as far as they are needed. The trial is played again, which also shows whether it can
    be reproduced.
    """
    find_policies_in("")
    if run.is_dir():
        trial, outcome = pick(run, policy, seed, problem)
    elif policy is not None or seed is not None or problem is not None:
        raise click.UsageError("--policy, --seed and --problem are for folders: RUN is a file")
    else:
        trial, outcome = load(run)
    seen = replay(trial)
    same = agreement(trial, outcome, seen.trace)
    report = Report(seen, find(seen), locate(seen), guarantees(seen))
    title = f"{trial.player.label} on {trial.problem.title}, seed {trial.seed}"
    try:
        written = [] if out is None else write(out, seen, title)
    except OSError as error:
        raise click.ClickException(reason(error)) from None
    except ImportError as error:
        raise click.ClickException(str(error)) from None
    if as_json:
        click.echo(json.dumps(described(trial, report, same)))
        return
    console = page()
    show(console, report, title, same)
    for path in written:
        console.print(f"Written: {path}", markup=False, soft_wrap=True)


class Report(NamedTuple):
    """A trial that was watched, and all that is said of it."""

    seen: Diagnosis
    findings: Findings
    losses: Losses
    bounds: Guarantees | None  # None for a policy without a posterior


def show(console: Console, report: Report, title: str, same: dict[str, Any]) -> None:
    """The report on a screen."""
    seen, bounds = report.seen, report.bounds
    console.print(tabulate(seen, title))
    if seen.beliefs is not None and seen.selects:
        console.print(histories(seen, seen.beliefs, console.options.ascii_only))
    for table in findings_regret.tables(report.losses):
        console.print(table)
    if bounds is not None:
        console.print(
            findings_bounds.tabulate(bounds, report.findings.regret, len(seen.trace.chosen))
        )
        for remark in findings_bounds.remarks(bounds):
            console.print(remark, markup=False)
        console.print()
    for remark in remarks(seen, report.findings, same):
        console.print(remark, markup=False)


# The trial


def played(folder: Path) -> Experiment:
    """The experiment that was run into a folder."""
    with usable():
        return played_experiment(folder)


def find_policies_in(folder: str) -> None:
    """Let modules of the user be found in a folder until the command ends."""
    click.get_current_context().with_resource(modules_in(folder))


def load(path: Path) -> tuple[Trial, Outcome]:
    """The trial in a file, named by its recipe."""
    for folder in path.resolve().parents:
        if (folder / MANIFEST).exists():
            find_policies_in(played(folder).folder)
    try:
        recipe, outcome = read_outcome(path)
        return Trial.of(recipe), outcome
    except UNREADABLE:
        raise click.BadParameter(
            f"{path} must be the file of a trial (.npz) or a folder that soids run has written",
            param_hint="'RUN'",
        ) from None


def pick(
    folder: Path, policy: str | None, seed: int | None, problem: str | None
) -> tuple[Trial, Outcome]:
    """The one trial of an experiment that the options name."""
    experiment = played(folder)
    find_policies_in(experiment.folder)
    order = {problem.title: place for place, problem in enumerate(experiment.problems)}
    trials = sorted(experiment.trials(), key=lambda trial: order[trial.problem.title])
    asked: list[tuple[str, Any, Callable[[Trial], Any]]] = [
        ("--policy", policy, lambda trial: trial.player.label),
        ("--problem", problem, lambda trial: trial.problem.title),
        ("--seed", seed, lambda trial: trial.seed),
    ]
    asked.sort(key=lambda one: one[1] is None)  # what is wrong is said before what is left out
    for option, value, of in asked:
        trials = narrowed(trials, option, value, [of(trial) for trial in trials])
    trial = trials[0]
    outcome = Store(folder / "trials").read(trial)
    if outcome is None:
        raise click.UsageError("this trial has not been played yet: soids run plays it")
    return trial, outcome


def narrowed(trials: list[Trial], option: str, value: Any, values: list[Any]) -> list[Trial]:
    """The trials that have the value of an option; it may be left out if all have the same."""
    choices = list(dict.fromkeys(values))
    if value is None and len(choices) == 1:
        return trials
    if value not in choices:
        spoken = ", ".join(repr(choice) for choice in choices)
        got = ", got none" if value is None else meant(value, map(str, choices))
        raise click.UsageError(f"{option} must be one of {spoken}{got}")
    return [trial for trial, own in zip(trials, values, strict=True) if own == value]


def replay(trial: Trial) -> Diagnosis:
    """Play the trial again as a worker does, and watch."""
    problem, horizon = trial.problem, trial.problem.horizon
    with Progress(console=Console(stderr=True), transient=True) as progress, undisturbed():
        task = progress.add_task("playing again", total=horizon)

        def tell(t: int, _: float) -> None:
            if (t + 1) % EVERY == 0:
                progress.update(task, completed=t + 1)

        try:
            bandit = problem.make(trial.seed)
            policy = trial.player.make(bandit, horizon)
            feedback = Feedback(**problem.feedback)
            return diagnose(bandit, policy, horizon, trial.seed, tell, feedback=feedback)
        except Exception as error:  # of a policy that may be anyone's
            line = f"{type(error).__name__}: {error}".partition("\n")[0]
            raise click.ClickException(f"the trial could not be played again: {line}") from None


def agreement(trial: Trial, outcome: Outcome, trace: Trace) -> dict[str, Any]:
    """Whether the stored trial came out again, else the round from which it did not."""
    stored = outcome.trace
    same = all(np.array_equal(*pair, equal_nan=True) for pair in zip(stored, trace, strict=True))
    length = min(len(stored.chosen), len(trace.chosen))
    apart = stored.chosen[:length] != trace.chosen[:length]
    return {
        "reproduced": same,
        "choices_differ_from": int(apart.argmax()) + 1 if apart.any() else None,
        "same_code": outcome.code == fingerprint(trial.player.policy),
    }


# In files and as JSON


def described(trial: Trial, report: Report, same: dict[str, Any]) -> dict[str, Any]:
    """The same for programs."""
    seen = report.seen
    rounds = shown_rounds(len(seen.trace.chosen))
    return {
        "policy": trial.player.label,
        "problem": trial.problem.title,
        "recipe": trial.recipe,
        **same,
        "findings": report.findings._asdict(),
        "losses": as_record(report.losses),
        "bounds": None if report.bounds is None else as_record(report.bounds),
        "rounds": {
            str(number): {name: as_plain(values[number - 1]) for name, values in columns(seen)}
            for number in rounds
        },
    }


def as_record(value: Any) -> Any:
    """A record as JSON has it, with what it computes of itself; infinite numbers are None."""
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        more = {"value": value.value} if isinstance(value, Bound | Tally) else {}
        return {name: as_record(one) for name, one in (value._asdict() | more).items()}
    return [as_record(one) for one in value] if isinstance(value, list) else as_plain(value)


def columns(seen: Diagnosis) -> Iterator[tuple[str, Any]]:
    """Every series by its name in the code."""
    yield from seen.trace._asdict().items()
    yield "surrogate_regret", seen.surrogate_regret
    yield "information_gain", seen.information_gain
    if seen.beliefs is not None:
        yield from seen.beliefs._asdict().items()


def as_plain(value: Any) -> Any:
    """A value as JSON has it, which has neither NaN nor infinity."""
    if isinstance(value, np.ndarray):
        return [as_plain(one) for one in value]
    plain = value.item() if isinstance(value, np.generic) else value
    return None if isinstance(plain, float) and not math.isfinite(plain) else plain


def write(out: Path, seen: Diagnosis, title: str) -> list[Path]:
    """The figure in two formats, and the numbers of every round."""
    out.mkdir(parents=True, exist_ok=True)
    numbers = out / "diagnosis.csv"
    write_whole(numbers, as_csv(seen))
    return [*save(draw_diagnosis(seen, title), out / "diagnosis"), numbers]


def as_csv(seen: Diagnosis) -> bytes:
    """One line a round; what is no finite number is left empty."""
    flat: dict[str, Any] = {}
    for name, values in columns(seen):
        if np.ndim(values) == 1:
            flat[name] = values
        else:
            flat |= {f"{name}_{j}": column for j, column in enumerate(values.T)}
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["round", *flat])
    plain = [[as_plain(value) for value in column] for column in flat.values()]
    writer.writerows([number, *row] for number, row in enumerate(zip(*plain, strict=True), 1))
    return text.getvalue().encode()
