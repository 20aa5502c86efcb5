"""``soids inspect``: what a policy believed in a trial, seen by playing the trial again."""

import csv
import io
import json
import math
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import numba
import numpy as np
from rich import box
from rich.console import Console
from rich.progress import Progress
from rich.table import Table
from threadpoolctl import threadpool_limits

from soids.arrays import Floats
from soids.cli.shipped import load_experiment
from soids.files import write_whole
from soids.simulation.board import EVERY
from soids.simulation.diagnosis import SURE, Beliefs, Diagnosis, Findings, diagnose, find
from soids.simulation.play import Trace
from soids.simulation.provenance import fingerprint
from soids.simulation.spelling import meant
from soids.simulation.store import UNREADABLE, Outcome, Store, read_outcome
from soids.simulation.trial import Player, Problem, Trial

BARS, PLAIN_BARS = "▁▂▃▄▅▆▇█", ".:-=+*#@"
WIDTH = 40  # of the history of a feature
OTHERS = 3  # features shown that do not matter in truth, at most
MATTERING = 10  # and that do


@click.command()
@click.argument("run", type=click.Path(exists=True, path_type=Path))
@click.option("--policy", metavar="LABEL", help="The policy, if RUN is a folder.")
@click.option("--seed", type=int, help="The seed, if RUN is a folder.")
@click.option("--problem", metavar="TITLE", help="The problem, if RUN is a folder.")
@click.option(
    "--out", type=click.Path(file_okay=False, path_type=Path),
    help="Folder for the figure (PNG, PDF) and the numbers of every round (CSV).",
)  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of a table.")
def inspect(
    run: Path,
    policy: str | None,
    seed: int | None,
    problem: str | None,
    out: Path | None,
    as_json: bool,
) -> None:
    """What a policy believed in a trial: effective size, features, information ratio, rate.

    RUN is the file of a trial (.npz), or the folder of an experiment with --policy, --seed and
    --problem as far as they are needed. The trial is played again, which also shows whether it can
    be reproduced.
    """
    sys.path.insert(0, str(Path.cwd()))  # a policy that is not ours may lie here
    if run.is_dir():
        trial, outcome = pick(run, policy, seed, problem)
    else:
        trial, outcome = load(run)
    seen = replay(trial)
    findings, same = find(seen), agreement(trial, outcome, seen.trace)
    title = f"{trial.player.label} on {trial.problem.title}, seed {trial.seed}"
    try:
        written = [] if out is None else write(out, seen, title)
    except OSError as error:
        raise click.ClickException(f"{error.strerror or error}: {error.filename}") from None
    if as_json:
        click.echo(json.dumps(described(trial, seen, findings, same)))
        return
    console = Console(highlight=False)
    console.print(tabulate(seen, title))
    if seen.beliefs is not None and seen.selects:
        console.print(histories(seen, seen.beliefs, console.options.ascii_only))
    for remark in remarks(seen, findings, same):
        console.print(remark, markup=False)
    for path in written:
        console.print(f"Written: {path}", markup=False, soft_wrap=True)


# The trial


def load(path: Path) -> tuple[Trial, Outcome]:
    """The trial in a file, named by its recipe."""
    try:
        recipe, outcome = read_outcome(path)
        bandit, policy = dict(recipe["bandit"]), dict(recipe["policy"])
        family, name, told = bandit.pop("family"), policy.pop("policy"), policy.pop("told")
        problem = Problem(family, bandit, recipe["horizon"], family)
        return Trial(problem, Player(name, tuple(told), policy, name), recipe["seed"]), outcome
    except (*UNREADABLE, TypeError):
        raise click.BadParameter(
            f"{path} must be the file of a trial (.npz) or a folder that soids run has written",
            param_hint="'RUN'",
        ) from None


def pick(
    folder: Path, policy: str | None, seed: int | None, problem: str | None
) -> tuple[Trial, Outcome]:
    """The one trial of an experiment that the options name."""
    try:
        asked = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        quick, full = bool(asked["quick"]), bool(asked["full"])
    except (OSError, ValueError, KeyError, TypeError):
        raise click.BadParameter(
            f"{folder} must be a folder that soids run has written, or name the file of a trial",
            param_hint="'RUN'",
        ) from None
    trials = load_experiment(folder / "experiment.toml", quick, full).trials()
    trials = narrowed(trials, "--problem", problem, [t.problem.title for t in trials])
    trials = narrowed(trials, "--policy", policy, [t.player.label for t in trials])
    trial = narrowed(trials, "--seed", seed, [t.seed for t in trials])[0]
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
    numba.set_num_threads(1)
    with (
        Progress(console=Console(stderr=True), transient=True) as progress,
        threadpool_limits(1),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore", RuntimeWarning)
        task = progress.add_task("playing again", total=horizon)

        def tell(t: int, _: float) -> None:
            if (t + 1) % EVERY == 0:
                progress.update(task, completed=t + 1)

        try:
            bandit = problem.make(trial.seed)
            policy = trial.player.make(bandit, horizon)
            return diagnose(bandit, policy, horizon, trial.seed, tell)
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


# On the screen


def series(seen: Diagnosis) -> dict[str, Floats | list[str]]:
    """All that is known of a round, by the name that readers see."""
    trace, beliefs = seen.trace, seen.beliefs
    truth = seen.bandit.truth
    feared = "regret, expected" if beliefs is not None else "regret, feared"
    rows: dict[str, Any] = {
        "regret so far": trace.regret.cumsum(),
        feared: seen.paid,
        "information, nats": seen.learned,
        "2-ratio": trace.ratio,
        "probability of choice": trace.probability,
    }
    if beliefs is not None:
        rows |= {
            "at most": beliefs.square_bound,
            "3-ratio": beliefs.cubed,
            "at most ": beliefs.cubic_bound,
            f"effective size, of {seen.particles}": beliefs.effective,
            "after the reward": beliefs.surviving,
            "different parameters": beliefs.distinct,
            "different supports": beliefs.supports,
            f"features, true {truth['sparsity']}": beliefs.features,
            f"l1 norm, true {truth['radius']:.3g}": beliefs.norm,
            f"noise, true {truth['noise']:.3g}": beliefs.noise,
            "mean to truth, l1": beliefs.error,
            "learning rate": trace.rate,
            "term in force": list(beliefs.regime),
        }
        order = ["2-ratio", "at most", "3-ratio", "at most "]
        rest = [name for name in rows if name not in order]
        rows = {name: rows[name] for name in [*rest[:3], *order, *rest[3:]]}
        if not seen.selects:
            del rows["different supports"], rows[f"features, true {truth['sparsity']}"]
    return {name: values for name, values in rows.items() if tells_something(values)}


def tells_something(values: Any) -> bool:
    """Whether a series has anything in it."""
    if isinstance(values, list):
        return any(values)
    return not np.isnan(values).all()


def shown_rounds(horizon: int) -> list[int]:
    """1, 10, 100, ... and the last.

    >>> shown_rounds(2000), shown_rounds(100)
    ([1, 10, 100, 1000, 2000], [1, 10, 100])
    """
    powers = (10**power for power in range(len(str(horizon))))
    return sorted({*(power for power in powers if power < horizon), horizon})


def tabulate(seen: Diagnosis, title: str) -> Table:
    """The rounds 1, 10, 100, ... side by side, and the median over all."""
    rounds = shown_rounds(len(seen.trace.chosen))
    table = Table(title=title, box=box.SIMPLE, pad_edge=False)
    table.add_column("round")
    for number in rounds:
        table.add_column(str(number), justify="right")
    table.add_column("median", justify="right")
    for name, values in series(seen).items():
        cells = [written_short(values[number - 1]) for number in rounds]
        middle = "" if isinstance(values, list) else written_short(middle_of(values))
        table.add_row(name.strip(), *cells, middle)
    return table


def middle_of(values: Floats) -> float:
    """The median of what is a number."""
    return float(np.nanmedian(values))


def written_short(value: Any) -> str:
    """A number as a table shows it."""
    if isinstance(value, str):
        return value
    if math.isnan(value):
        return ""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def histories(seen: Diagnosis, beliefs: Beliefs, plain: bool) -> Table:
    """How the probability that a feature matters went, for those that do and the next best."""
    table = Table(
        title="Probability that a feature matters, over the rounds",
        box=box.SIMPLE, pad_edge=False, show_header=False,
    )  # fmt: skip
    table.add_column(justify="right")
    table.add_column()
    table.add_column(justify="right")
    table.add_column()
    strength = beliefs.inclusion.mean(axis=0)
    others = np.setdiff1d(np.argsort(-strength, kind="stable"), seen.support, assume_unique=True)
    strongest = [j for j in others[:OTHERS] if strength[j] > 0.005]
    for j in [*seen.support[:MATTERING], *strongest]:
        history = beliefs.inclusion[:, j]
        matters = "matters" if j in seen.support else ""
        table.add_row(str(j), bars(history, plain), f"{history[-1]:.2f}", matters)
    hidden = len(seen.support) - MATTERING
    if hidden > 0:
        table.add_row("", f"and {hidden} more that matter", "", "")
    return table


def bars(history: Floats, plain: bool = False) -> str:
    """A history of probabilities in one line.

    >>> bars(np.array([0.0, 0.5, 1.0])), bars(np.array([0.0, 1.0]), plain=True)
    ('▁▅█', '.@')
    """
    ramp = PLAIN_BARS if plain else BARS
    parts = np.array_split(history, min(WIDTH, len(history)))
    return "".join(ramp[min(int(part.mean() * len(ramp)), len(ramp) - 1)] for part in parts)


def remarks(seen: Diagnosis, findings: Findings, same: dict[str, Any]) -> Iterator[str]:
    """What there is to say in plain words."""
    yield reproduced(same, len(seen.trace.chosen))
    if seen.beliefs is None:
        yield f"This policy has no posterior to look into; it played {findings.actions} actions."
        return
    if findings.resampled is not None:
        yield (
            f"The effective size was below half in {times(findings.thin)}; the cloud was resampled "
            f"in {times(findings.resampled)}, and took a reward in by several steps in "
            f"{times(findings.tempered)}."
        )
    if seen.selects:
        yield discovery(seen, findings)
    yield from lemmas(seen, seen.beliefs, findings)
    if findings.regimes:
        shares = ", ".join(f"{name} in {times(n)}" for name, n in findings.regimes.items())
        yield f"The learning rate was {shares}."


def times(count: int | None) -> str:
    """So many rounds.

    >>> times(0), times(1), times(20)
    ('no round', '1 round', '20 rounds')
    """
    return f"{count or 'no'} round{'s' if count and count > 1 else ''}"


def reproduced(same: dict[str, Any], horizon: int) -> str:
    """Whether the stored trial came out again, and why it may not have."""
    if same["reproduced"]:
        return f"Played again: all {horizon} rounds are as stored, to the last bit."
    why = (
        "the code is the same, so the machine or a library is not"
        if same["same_code"]
        else "they were played by other code than what is installed now"
    )
    first = same["choices_differ_from"]
    what = (
        "choices are as stored, other numbers are not"
        if first is None
        else f"choices differ from those stored from round {first} on"
    )
    return f"Played again: {what}; {why}."


def discovery(seen: Diagnosis, findings: Findings) -> str:
    """Whether, and when, what matters was found."""
    if findings.found is None:
        found = f"The support was never held to matter as a whole (inclusion above {SURE})"
    else:
        found = f"The support was found (inclusion above {SURE}) in round {findings.found}"
        if findings.lost:
            found += f", and was in doubt again in {times(findings.lost)}"
    wrong = findings.intruders or "no"
    plural = "" if findings.intruders == 1 else "s"
    return f"{found}; in the end {wrong} other feature{plural} seemed to matter."


def lemmas(seen: Diagnosis, beliefs: Beliefs, findings: Findings) -> Iterator[str]:
    """Whether the ratios kept to their bounds, and what these rest on."""
    if findings.square_excess is None:
        yield "No lemma bounds the information ratio of this policy."
        return
    yield f"The 2-ratio was above its bound 2 d in {times(findings.square_excess)}."
    if findings.cubic_excess is None:
        yield "No lemma bounds the 3-ratio of this policy."
    elif not np.isfinite(beliefs.cubic_bound).any():
        yield "The 3-ratio has no bound: the actions do not span the space, so C_min is 0."
    else:
        densest, sparsity = int(beliefs.densest.max()), len(seen.support)
        sparse = (
            f"k is at most the sparsity {sparsity}, as the paper assumes"
            if densest <= sparsity
            else f"k goes up to {densest}, above the sparsity {sparsity} that the paper assumes"
        )
        yield (
            f"The 3-ratio was above its bound 54 k R / C_min in {times(findings.cubic_excess)}; k "
            f"counts the features of actions that may be best, R is the largest reward believed: "
            f"{sparse}."
        )


# In files and as JSON


def described(
    trial: Trial, seen: Diagnosis, findings: Findings, same: dict[str, Any]
) -> dict[str, Any]:
    """The same for programs."""
    rounds = shown_rounds(len(seen.trace.chosen))
    columns = dict(numbers(seen))
    return {
        "policy": trial.player.label,
        "problem": trial.problem.title,
        "recipe": trial.recipe,
        **same,
        "findings": findings._asdict(),
        "rounds": {
            str(number): {name: as_json(values[number - 1]) for name, values in columns.items()}
            for number in rounds
        },
    }


def numbers(seen: Diagnosis) -> Iterator[tuple[str, Any]]:
    """Every series by its name in the code."""
    yield from seen.trace._asdict().items()
    yield "paid", seen.paid
    yield "learned", seen.learned
    if seen.beliefs is not None:
        yield from seen.beliefs._asdict().items()


def as_json(value: Any) -> Any:
    """A value as JSON has it, which knows neither NaN nor infinity."""
    if isinstance(value, np.ndarray):
        return [as_json(one) for one in value]
    plain = value.item() if isinstance(value, np.generic) else value
    return None if isinstance(plain, float) and not math.isfinite(plain) else plain


def write(out: Path, seen: Diagnosis, title: str) -> list[Path]:
    """The figure in two formats, and the numbers of every round."""
    try:
        from soids.diagnosis_plot import draw, rendered

        figure = draw(seen, title)
    except ImportError:
        raise click.ClickException('figures need matplotlib: pip install "soids[plots]"') from None
    out.mkdir(parents=True, exist_ok=True)
    contents = {
        "diagnosis.png": rendered(figure, "png"),
        "diagnosis.pdf": rendered(figure, "pdf"),
        "diagnosis.csv": as_csv(seen),
    }
    for name, content in contents.items():
        write_whole(out / name, content)
    return [out / name for name in contents]


def as_csv(seen: Diagnosis) -> bytes:
    """One line a round; what is not known is left empty."""
    columns: dict[str, Any] = {}
    for name, values in numbers(seen):
        if np.ndim(values) == 1:
            columns[name] = values
        else:
            columns |= {f"{name}_{j}": column for j, column in enumerate(values.T)}
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["round", *columns])
    plain = [[as_json(value) for value in column] for column in columns.values()]
    writer.writerows([number, *row] for number, row in enumerate(zip(*plain, strict=True), 1))
    return text.getvalue().encode()
