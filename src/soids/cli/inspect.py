"""``soids inspect``: a trial played again, to see its regret, its beliefs and its bounds."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import Progress

from soids.cli.errors import Unusable, usable
from soids.cli.page import page
from soids.cli.trust import announce, trust_option
from soids.experiments.shipped import played_experiment
from soids.files import as_json, reason, write_whole
from soids.output.diagnosis_remarks import on_beliefs, on_bounds
from soids.output.diagnosis_tables import of_every_round, shown_rounds, tables
from soids.output.figures import save
from soids.output.figures.diagnosis import draw_diagnosis
from soids.output.table import as_console, as_csv
from soids.simulation.board import EVERY
from soids.simulation.diagnosis import Agreement, Diagnosis, agreement, replayed
from soids.simulation.findings import find
from soids.simulation.guarantees import guarantees
from soids.simulation.losses import locate
from soids.simulation.store import Outcome, Store, read_outcome
from soids.simulation.trial import Trial
from soids.simulation.user_policies import holds_results, modules_in
from soids.spelling import meant


@click.command()
@click.argument("run", type=click.Path(exists=True, path_type=Path))
@click.option("--policy", metavar="LABEL", help="Label of the policy, if RUN is a folder.")
@click.option("--seed", type=int, help="Seed of the trial, if RUN is a folder.")
@click.option("--problem", metavar="TITLE", help="Title of the problem, if RUN is a folder.")
@click.option(
    "--out", type=click.Path(file_okay=False, path_type=Path),
    help="Folder for the figure (PNG, PDF) and the numbers of every round (CSV).",
)  # fmt: skip
@click.option("--json", "for_programs", is_flag=True, help="Print one JSON object, not tables.")
@trust_option
def inspect(
    run: Path, policy: str | None, seed: int | None, problem: str | None, out: Path | None,
    for_programs: bool, trust: bool,
) -> None:  # fmt: skip
    """Show where the regret of a trial lies, what the policy believed, and what is proven of it.

    RUN is the file of a trial (.npz), or the folder of an experiment with --policy, --seed and
    --problem as far as they are needed. The trial is played again, which also shows whether it can
    be reproduced. RUN is data: policies that are not of soids are imported with --trust only.
    """
    if run.is_dir():
        trial, outcome = pick(run, policy, seed, problem)
    elif policy is not None or seed is not None or problem is not None:
        raise click.UsageError("--policy, --seed and --problem are for folders: RUN is a file")
    else:
        trial, outcome = load(run)
    if not trial.player.is_ours:
        import_policy(run, trial.player.policy, trust)
    seen = watched(trial)
    same = agreement(trial, outcome, seen.trace)
    title = f"{trial.player.label} on {trial.problem.title}, seed {trial.seed}"
    written = [] if out is None else write(out, seen, title)
    if for_programs:
        click.echo(as_json(described(trial, seen, same)))
        return
    show(page(), seen, same, title)
    for path in written:
        click.echo(f"Written: {path}")


def import_policy(run: Path, policy: str, trust: bool) -> None:
    """Import a policy that is not ours, if it is trusted; it is found until the command ends."""
    if not trust:
        raise Unusable(
            f"{run} asks for the policy {policy!r}, which is code outside of soids: if you trust "
            "it, add --trust"
        )
    home = ""
    for folder in (run.resolve(), *run.resolve().parents):
        if holds_results(str(folder)):
            with usable():
                home = played_experiment(folder).folder
            break
    click.get_current_context().with_resource(modules_in(home))
    announce(policy)


def load(path: Path) -> tuple[Trial, Outcome]:
    """The trial in a file, named by its recipe."""
    try:
        recipe, outcome = read_outcome(path)
        return Trial.of(recipe), outcome
    except (ValueError, OSError) as error:
        why = f"{error}: give the file of a trial (.npz), or a folder that soids run has written"
        raise click.BadParameter(why, param_hint="'RUN'") from None


def pick(
    folder: Path, policy: str | None, seed: int | None, problem: str | None
) -> tuple[Trial, Outcome]:
    """The one trial of an experiment that the options name; they may leave out what is clear."""
    with usable():
        experiment = played_experiment(folder)
    order = {problem.title: place for place, problem in enumerate(experiment.problems)}
    trials = sorted(experiment.trials(), key=lambda trial: order[trial.problem.title])
    asked: list[tuple[str, Any, Callable[[Trial], Any]]] = [
        ("--policy", policy, lambda trial: trial.player.label),
        ("--problem", problem, lambda trial: trial.problem.title),
        ("--seed", seed, lambda trial: trial.seed),
    ]
    asked.sort(key=lambda one: one[1] is None)  # a wrong option is reported before a missing one
    for option, value, of in asked:
        choices = list(dict.fromkeys(of(trial) for trial in trials))
        if value is None and len(choices) == 1:
            continue
        if value not in choices:
            listed = ", ".join(map(repr, choices))
            got = ", got none" if value is None else meant(value, map(str, choices))
            raise click.UsageError(f"{option} must be one of {listed}{got}")
        trials = [trial for trial in trials if of(trial) == value]
    outcome = Store(folder / "trials").read(trials[0])
    if outcome is None:
        raise click.UsageError("this trial has not been played yet: soids run plays it")
    return trials[0], outcome


def watched(trial: Trial) -> Diagnosis:
    """The trial played again, behind a progress bar."""
    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("playing again", total=trial.problem.horizon)

        def tell(t: int, _: float) -> None:
            if (t + 1) % EVERY == 0:
                progress.update(task, completed=t + 1)

        try:
            return replayed(trial, tell)
        except Exception as error:  # of a policy that may be anyone's
            line = f"{type(error).__name__}: {error}".partition("\n")[0]
            raise click.ClickException(f"the trial could not be played again: {line}") from None


def show(console: Console, seen: Diagnosis, same: Agreement, title: str) -> None:
    """Print tables and remarks."""
    losses, bounds = locate(seen), guarantees(seen)
    for table in tables(seen, losses, bounds, title, console.options.ascii_only):
        console.print(as_console(table))
    if bounds is not None:
        console.print(*on_bounds(bounds), sep="\n", end="\n\n", markup=False)
    console.print(*on_beliefs(seen, find(seen), same), sep="\n", markup=False)


def described(trial: Trial, seen: Diagnosis, same: Agreement) -> dict[str, Any]:
    """All findings for programs, and the rounds of the first table."""
    bounds = guarantees(seen)
    return {
        "policy": trial.player.label,
        "problem": trial.problem.title,
        "recipe": trial.recipe,
        **same._asdict(),
        "findings": find(seen),
        "losses": locate(seen),
        "bounds": None if bounds is None else bounds.described(),
        "rounds": {
            number: {name: values[number - 1] for name, values in seen.columns.items()}
            for number in shown_rounds(len(seen.trace.chosen))
        },
    }


def write(out: Path, seen: Diagnosis, title: str) -> list[Path]:
    """The figure in two formats, and the numbers of every round."""
    numbers = out / "diagnosis.csv"
    try:
        out.mkdir(parents=True, exist_ok=True)
        write_whole(numbers, as_csv(of_every_round(seen)).encode())
        return [*save(draw_diagnosis(seen, title), out / "diagnosis"), numbers]
    except OSError as error:
        raise click.ClickException(reason(error)) from None
    except ImportError as error:
        raise click.ClickException(str(error)) from None
