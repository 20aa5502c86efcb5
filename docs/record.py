"""Store what was measured under docs/results, with the command, the commit and the date.

python docs/record.py experiment results/regimes --figure results/regimes/regimes.png
python docs/record.py bench results/growth/growth-points.csv --figure results/growth/growth.png
python docs/record.py script coverage "python docs/coverage.py"           # it prints CSV
python docs/record.py output designs "python -m benchmarks designs"       # what a command prints
python docs/record.py drawn "python docs/pictures.py" docs/envelope.png docs/runaway.png

Afterwards make docs writes the pages. Code that is not committed, or that is newer than what was
measured, is refused.
"""

import datetime
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

import pages
import stored
from soids.experiments.shipped import SHIPPED, played_experiment, shipped
from soids.output import regret_tables
from soids.output.publish import lacking
from soids.output.table import as_csv
from soids.simulation.experiment import Experiment
from soids.simulation.provenance import fingerprint, versions
from soids.simulation.results import Panel, gather, versions_of
from soids.simulation.statistics import compare, reference_of, summarise
from soids.simulation.store import Store

sys.path.append(str(pages.ROOT))  # the benchmarks are at the top of the repository

from benchmarks.__main__ import NAME as BENCHMARKS
from benchmarks.__main__ import main as benchmarks
from benchmarks.decisions.command import EXPERIMENTS

CODE = ("src", "benchmarks", "docs/*.py", "pyproject.toml", "requirements.lock")
VERBS = {  # of experiments that have a command of their own
    "figure1": "reproduce figure1",
    "baselines": "reproduce baselines",
}
TIDY = (
    "panel", "policy", "seeds", "mean", "error", "worst", "low", "high", "median",
    "difference", "difference_low", "difference_high", "ms",
)  # fmt: skip

name_option = click.option("--name", help="Name of the table.  [default: that of the source]")
command_option = click.option(
    "--command", "said", help="Command that measured it.  [default: found out from the source]"
)
existing = click.Path(exists=True, path_type=Path)
figure_option = click.option(
    "--figure", "figures", multiple=True, type=existing, metavar="FILE",
    help="Picture to copy into docs, too; may be repeated.",
)  # fmt: skip


@click.group()
def record() -> None:
    """Store what was measured under docs/results, for make docs to write into the pages."""


@record.command("experiment")
@click.argument("folder", type=existing)
@name_option
@command_option
@figure_option
@click.option("--reference", help="Policy that others are compared with.  [default: the first]")
def of_experiment(
    folder: Path,
    name: str | None,
    said: str | None,
    figures: tuple[Path, ...],
    reference: str | None,
) -> None:
    """Store the regrets in FOLDER, where soids run or soids reproduce has put its results.

    If the first figure of the experiment shows regret against a setting of the bandit, that is what
    is stored.
    """
    experiment = played_experiment(folder)
    store = Store(folder / "trials")
    panels = gather(experiment, store)
    refuse(experiment.quick, f"{folder} holds the small version: run it without --quick")
    missing = lacking(experiment, panels)
    refuse(bool(missing), f"{folder}: {missing}soids run goes on with it")
    outcomes = {trial: store.read(trial) for trial in experiment.trials()}
    other = {
        trial.player.label
        for trial, outcome in outcomes.items()
        if outcome is None or outcome.code != fingerprint(trial.player.policy)
    }
    refuse(bool(other), f"{', '.join(sorted(other))} were played by other code: use --fresh")
    newest = max(store.path(trial).stat().st_mtime for trial in outcomes)
    origin = {
        "command": said or command_of(experiment),
        "commit": commit(),
        "date": day(newest),
        "seeds": in_words(experiment.seeds),
        "versions": spoken(versions_of(panels)),
    }
    name = name or experiment.name.replace("/", "_")
    setting = experiment.figures[0].x
    if setting in panels[0].problem:
        keep(name, origin, swept(panels, setting))
    else:
        reference = reference or reference_of(panels)
        keep(name, {**origin, "reference": reference}, tidy(panels, reference))
    for path in figures:
        keep_figure(path, origin)


def tidy(panels: list[Panel], reference: str) -> str:
    """One line for every problem and policy: its regret, and how it differs from the reference."""
    rows = []
    for panel in panels:
        others = {one.policy: one for one in compare(panel, reference)}
        for one in summarise(panel):
            beside = others.get(one.policy)
            difference = (beside.mean, beside.low, beside.high) if beside else (None,) * 3
            rows.append(
                (
                    one.panel, one.policy, one.seeds, one.mean, one.error, one.worst, one.low,
                    one.high, one.median, *difference, one.milliseconds,
                )
            )  # fmt: skip
    return stored.as_csv(TIDY, rows)


def swept(panels: list[Panel], setting: str) -> str:
    """Regret against a setting; numbers are as short as elsewhere."""
    table = stored.Stored("", {}, as_csv(regret_tables.sweep(panels, setting)))
    rows = [[shorter(row[column]) for column in table.columns] for row in table.rows]
    return stored.as_csv(table.columns, rows)


def shorter(text: str) -> object:
    """A field, as a number if it is one with a point."""
    try:
        number = float(text)
    except ValueError:
        return text
    return int(number) if number.is_integer() else number


def command_of(experiment: Experiment) -> str:
    """The command that plays an experiment of the package, of the benchmarks or of docs."""
    name, flag = experiment.name, " --full" if experiment.full else ""
    ours = pages.ROOT / "docs" / f"{name}.toml"
    others = {**{Path(stem).name: path for stem, path in shipped().items()}, **EXPERIMENTS}
    path = shipped().get(name) or others.get(name, ours)
    known = path.is_file() and path.read_text(encoding="utf-8") == experiment.text
    refuse(not known, f"{name} is no experiment of ours as it was run: name the --command")
    if path == ours:
        return f"soids run docs/{name}.toml{flag}"
    if path in EXPERIMENTS.values():
        return f"{BENCHMARKS} decisions{flag}"
    played = str(path.relative_to(SHIPPED).with_suffix(""))
    return f"soids {VERBS.get(played, f'run {played}')}{flag}"


def in_words(seeds: Sequence[int]) -> str:
    """Seeds as a range, if they are one."""
    first, last = min(seeds), max(seeds)
    if sorted(seeds) == list(range(first, last + 1)):
        return f"{first} to {last}" if last > first else str(first)
    return ", ".join(map(str, sorted(seeds)))


@record.command("bench")
@click.argument("file", type=existing)
@name_option
@command_option
@figure_option
def of_bench(file: Path, name: str | None, said: str | None, figures: tuple[Path, ...]) -> None:
    """Store FILE, a CSV that a benchmark has written with --out."""
    bench = file.stem.partition("-")[0]
    measured = file.stat().st_mtime
    changed = float(pages.git(pages.ROOT, "log", "-1", "--format=%ct", "--", *CODE[:2]))
    refuse(measured < changed, f"{file} is older than the last commit of the code: measure again")
    beside = file.with_name(f"{bench}.json")
    facts = json.loads(beside.read_text(encoding="utf-8")) if beside.is_file() else {}
    refuse(not facts and not said, f"there is no {beside}: name the --command")
    origin = {
        "command": said or command_line(facts["command"], facts["settings"]),
        "commit": commit(),
        "date": day(measured),
        "versions": spoken(facts.get("versions", versions())),
    }
    keep(name or file.stem, origin, file.read_text(encoding="utf-8"))
    for path in figures:
        keep_figure(path, origin)


def command_line(path: str, settings: dict[str, Any]) -> str:
    """The command of a benchmark with those of its settings that are not the defaults."""
    command = benchmarks.commands[path.removeprefix(f"{BENCHMARKS} ")]
    line = [path]
    context = click.Context(command)
    for parameter in command.params:
        usual, value = parameter.get_default(context), settings.get(parameter.name or "")
        if value is None or value in (usual, []) or list_of(value) == list_of(usual):
            continue
        option = parameter.opts[-1]
        if value is True:
            line.append(option)
        else:
            line += [f"{option} {shlex.quote(str(one))}" for one in list_of(value)]
    return " ".join(line)


def list_of(value: object) -> list[object]:
    """A value, or several, as a list."""
    return list(value) if isinstance(value, list | tuple) else [value]


@record.command("script")
@click.argument("name")
@click.argument("command")
def of_script(name: str, command: str) -> None:
    """Run COMMAND from the top of the repository; store the CSV that it prints as NAME."""
    head, today = commit(), day()
    text = run(command, pages.ROOT)
    table = stored.Stored(name, {}, text)
    refuse(
        not table.rows or any(None in row or None in row.values() for row in table.rows),
        f"{command} must print CSV, a line of heads and lines of as many fields",
    )
    refuse(commit() != head, "the code changed meanwhile: run it again")
    keep(name, {"command": command, "commit": head, "date": today, **libraries()}, text)


@record.command("output")
@click.argument("name")
@click.argument("commands", nargs=-1, required=True)
@click.option("--columns", type=click.IntRange(min=40), default=100, show_default=True)
def of_output(name: str, commands: tuple[str, ...], columns: int) -> None:
    """Run COMMANDS one after the other in a new folder; store what they print as NAME.

    In the folder there are links to benchmarks and docs, and nothing else.
    """
    with tempfile.TemporaryDirectory() as empty:
        for folder in ("benchmarks", "docs"):  # where scripts are
            Path(empty, folder).symlink_to(pages.ROOT / folder)
        text = "".join(f"$ {command}\n{run(command, Path(empty), columns)}" for command in commands)
    lines = [line.rstrip() for line in text.splitlines()]
    origin = {"command": "; ".join(commands), "commit": commit(), "date": day(), **libraries()}
    keep(name, origin, "\n".join(lines) + "\n", ".txt")


@record.command("drawn")
@click.argument("command")
@click.argument("figures", nargs=-1, required=True, type=click.Path(path_type=Path))
def of_drawn(command: str, figures: tuple[Path, ...]) -> None:
    """Run COMMAND, which draws FIGURES in docs, and record them."""
    for path in figures:
        refuse(path.resolve().parent != pages.ROOT / "docs", f"{path} must be a file in docs")
    origin = {"command": command, "commit": commit(), "date": day()}
    run(command, pages.ROOT)
    for path in figures:
        keep_figure(path, origin)


# Storing


def run(command: str, folder: Path, columns: int = 100) -> str:
    """What a command prints; soids and python are those that run this."""
    beside = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    answer = subprocess.run(
        command, shell=True, cwd=folder, stdout=subprocess.PIPE, text=True,
        env={**os.environ, "PATH": beside, "COLUMNS": str(columns)},
    )  # fmt: skip
    refuse(answer.returncode != 0, f"{command} failed with exit code {answer.returncode}")
    return answer.stdout


def keep(name: str, origin: dict[str, str], body: str, suffix: str = ".csv") -> None:
    """Write a file under docs/results."""
    path = pages.results(pages.ROOT) / f"{name}{suffix}"
    stored.write(path, origin, body)
    click.echo(f"stored: {path.relative_to(pages.ROOT)}; make docs writes it into the pages")


def keep_figure(path: Path, origin: dict[str, str], root: Path = pages.ROOT) -> None:
    """Copy a figure into docs, and write down what it is."""
    name = path.name
    target = root / "docs" / name
    if path.resolve() != target.resolve():
        shutil.copyfile(path, target)
    known = pages.figures(root)
    known[name] = {"file": name, "sha256": pages.sha256(target), **origin}
    columns = ("file", "sha256", *stored.NEEDED)
    rows = [[row[column] for column in columns] for _, row in sorted(known.items())]
    listed = pages.results(root) / pages.FIGURES
    listed.write_text(stored.as_csv(columns, rows), encoding="utf-8")
    click.echo(f"stored: docs/{name}")


def commit() -> str:
    """The commit that is checked out, if no code differs from it."""
    changed = pages.git(pages.ROOT, "status", "--porcelain", "--", *CODE)
    refuse(bool(changed), f"commit the code first, these files differ:\n{changed}")
    return pages.git(pages.ROOT, "rev-parse", "HEAD")


def day(seconds: float | None = None) -> str:
    """Today, or the day of a moment."""
    moment = (
        datetime.datetime.now() if seconds is None else datetime.datetime.fromtimestamp(seconds)
    )
    return moment.date().isoformat()


def libraries() -> dict[str, str]:
    """The versions of what is installed."""
    return {"versions": spoken(versions())}


def spoken(found: dict[str, str]) -> str:
    """Versions in one line."""
    return ", ".join(f"{library} {version}" for library, version in found.items())


def refuse(wrong: bool, reason: str) -> None:
    """Stop with a reason."""
    if wrong:
        raise click.ClickException(reason)


if __name__ == "__main__":
    record()
