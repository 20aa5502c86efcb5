"""``soids bound``: what the theorems promise for a problem, and whether that says anything."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

import click
import numpy as np
from rich import box
from rich.table import Table

from soids import rates, theory
from soids.arrays import Floats, as_actions, as_floats
from soids.cli.page import page
from soids.conditions import has_sparse_optimal_actions
from soids.designs import exploratory_design


@dataclass(frozen=True)
class Summary:
    """The theorems at one horizon; what is regret is in the units of the rewards."""

    dimension: int
    sparsity: int
    horizon: int
    c_min: float | None  # of the actions over their size
    c_min_at_most: float | None  # certified
    unit: float  # rewards over it are as the theorems assume
    complexity: float
    rich: float
    poor: float | None
    poor_at_best: float  # if C_min were 1
    additive: float
    bound: float
    regime: str
    theorem3: float | None
    trivial: float
    vacuous: bool
    meaningful_from: int
    rate: float
    rate_branch: str
    crossover: float | None
    rate_crossover: float | None
    t_min: float
    uncapped_from: int
    sparse_optimal_actions: bool | None  # Definition 1; None if not known
    rich_alone: float  # what holds even if that fails, for the data-rich rate alone
    applies: str  # the bound that does: "theorem2" or "rich_alone"


def summarise(
    dimension: int,
    sparsity: int,
    horizon: int,
    c_min: float | None = None,
    c_min_at_most: float | None = None,
    gap: float = theory.WIDEST_GAP,
    unit: float = 1.0,
    sparse_optimal_actions: bool | None = None,
) -> Summary:
    """All of it, where no round costs more than ``gap``."""
    problem = dimension, sparsity
    refuted = sparse_optimal_actions is False
    promise = theory.theorem2(*problem, horizon, c_min)
    alone = theory.rich_alone(*problem, horizon)
    value = alone if refuted else promise.value
    first = (
        theory.rich_alone_from(*problem, gap / unit)
        if refuted
        else theory.meaningful_from(*problem, c_min, gap / unit)
    )
    at_best = theory.theorem2(*problem, horizon, c_min=1.0)
    rich = rates.rich_rate(*problem, horizon)
    poor = 0.0 if c_min is None or refuted else rates.poor_rate(*problem, horizon, c_min)
    rate = max(rich, poor)
    branch = "data-poor" if poor > rich else "data-rich"
    return Summary(
        dimension=dimension,
        sparsity=sparsity,
        horizon=horizon,
        c_min=c_min,
        c_min_at_most=c_min_at_most,
        unit=unit,
        complexity=rates.complexity(*problem, horizon),
        rich=unit * promise.rich,
        poor=None if c_min is None else unit * promise.poor,
        poor_at_best=unit * at_best.poor,
        additive=unit * promise.additive,
        bound=unit * value,
        regime="data-rich" if refuted else promise.regime,
        theorem3=(
            unit * theory.theorem3_worst(*problem, horizon, c_min).value
            if 2 * sparsity <= dimension
            else None
        ),
        trivial=gap * horizon,
        vacuous=unit * value >= gap * horizon,
        meaningful_from=first,
        rate=min(0.5, rate),
        rate_branch=branch if rate <= 0.5 else "cap",
        crossover=None if c_min is None else theory.crossover(*problem, c_min),
        rate_crossover=None if c_min is None else theory.rate_crossover(*problem, c_min),
        t_min=theory.t_min(*problem),
        uncapped_from=theory.uncapped_from(*problem, c_min),
        sparse_optimal_actions=sparse_optimal_actions,
        rich_alone=unit * alone,
        applies="rich_alone" if refuted else "theorem2",
    )


def read_actions(path: Path) -> object:
    """The numbers in a file of NumPy's, or in a text file with one action a line."""
    if path.suffix.lower() == ".npy":
        try:
            with path.open("rb") as file:
                return np.lib.format.read_array(file, allow_pickle=False)
        except ValueError as error:
            raise ValueError(f"actions must come as an array of numbers: {error}") from None
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError("actions must come as .npy or as text, this is neither") from None
    lines = [line for line in text.splitlines() if line.strip()]
    comma = "," if lines and "," in lines[0] else None
    rows = [line.split(comma) for line in lines]
    if rows and not any(is_number(field) for field in rows[0]):
        rows = rows[1:]  # names of the features
    if not rows:
        raise ValueError("actions must hold at least one action, there is no line of numbers")
    for number, row in enumerate(rows, 1):
        wrong = next((field for field in row if not is_number(field)), None)
        if wrong is not None:
            raise ValueError(
                f"action {number} must hold numbers apart by commas or blanks, got "
                f"{wrong.strip()[:30]!r}: fill gaps, drop columns of names"
            )
        if len(row) != len(rows[0]):
            raise ValueError(
                f"action {number} must have {len(rows[0])} features as the first, got {len(row)}"
            )
    return np.array(rows, dtype=np.float64)


def is_number(field: str) -> bool:
    """Whether a field of a text file reads as a number."""
    try:
        float(field)
    except ValueError:
        return False
    return True


def load_actions(path: Path, dimension: int | None) -> Floats:
    """The actions in a file, or an error that the command line reports."""
    try:
        actions = as_floats(read_actions(path), "actions")
        if dimension is None:
            dimension = actions.shape[-1] if actions.ndim else 1
        return as_actions(actions, dimension)
    except (ValueError, OSError, EOFError) as error:
        raise click.BadParameter(f"{path.name}: {error}", param_hint="'--actions'") from None


@click.command()
@click.option("--dimension", type=int, help="Features of an action; may come from the file.")
@click.option("--sparsity", type=int, required=True, help="How many features matter, at most.")
@click.option("--horizon", type=int, required=True, help="Rounds.")
@click.option(
    "--actions", "path", type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Actions, one a row: .npy, or text with commas or blanks and at most one line of names.",
)  # fmt: skip
@click.option("--c-min", type=float, help="C_min of actions in [-1, 1]^d, instead of a file.")
@click.option(
    "--radius", type=float, default=1.0, show_default=True, help="Bound on the l1 norm of theta."
)
@click.option(
    "--noise", type=float, default=1.0, show_default=True, help="Sub-Gaussian scale of the noise."
)
@click.option("--json", "as_json", is_flag=True, help="One flat JSON object instead of a table.")
def bound(
    dimension: int | None,
    sparsity: int,
    horizon: int,
    path: Path | None,
    c_min: float | None,
    radius: float,
    noise: float,
    as_json: bool,
) -> None:
    """What the theorems promise for a problem, and from which horizon on that says anything.

    The theorems assume |theta|_1 <= 1, actions in [-1, 1]^d, noise that is 1-sub-Gaussian, and that
    optimal actions have at most s non-zero features, which is checked if FILE is given. Others are
    brought to these units: actions over B, their largest entry if it exceeds 1, and rewards over
    max(radius B, noise), by which the bounds are multiplied.
    """
    if path is not None and c_min is not None:
        raise click.UsageError("--actions and --c-min exclude each other: C_min follows from FILE")
    size, at_most, sparse = 1.0, None, None
    if path is not None:
        actions = load_actions(path, dimension)
        dimension = actions.shape[1]
        size = max(1.0, float(np.abs(actions).max()))
        design = exploratory_design(actions / size)
        at_most = design.bound
        if design.value > 1e-14 * dimension:  # more than a rounding error of an eigenvalue
            c_min = min(1.0, design.value)
    if dimension is None:
        raise click.UsageError("Missing option '--dimension', or '--actions' to take it from.")
    try:
        unit = theory.reward_unit(radius, size, noise)
        gap = theory.WIDEST_GAP * radius * size
        if path is not None:
            sparse = has_sparse_optimal_actions(actions, sparsity).holds
        summary = summarise(dimension, sparsity, horizon, c_min, at_most, gap, unit, sparse)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    if as_json:
        click.echo(json.dumps(asdict(summary)))
        return
    console = page()
    console.print(tabulate(summary))
    for remark in remarks(summary, radius, size, noise):
        console.print(remark)


def tabulate(summary: Summary) -> Table:
    """The numbers, each with its formula or meaning."""
    table = Table(
        title=f"Regret of SOIDS after {shown(summary.horizon)} rounds, at most",
        box=box.SIMPLE,
        show_header=False,
        pad_edge=False,
    )
    table.add_column()
    table.add_column(justify="right")
    table.add_column()
    refuted = summary.applies == "rich_alone"
    in_force = {} if refuted else {summary.regime: "  [bold]in force[/]"}
    known = "none", "0"  # without a span
    if summary.c_min is not None and summary.poor is not None:
        known = shown(summary.poor), shown(summary.c_min)
    elif summary.c_min_at_most is None:
        known = "unknown", "unknown"
    poor, c_min = known
    certified = (
        ""
        if summary.c_min_at_most is None
        else f"at most {shown(summary.c_min_at_most)}, certified"
    )
    table.add_row("d, s", f"{summary.dimension}, {summary.sparsity}", "")
    table.add_row("C_min", c_min, certified)
    table.add_row("C_T", shown(summary.complexity), "5 + 2 s log(e d T / s)")
    table.add_section()
    table.add_row(
        "Theorem 2: data-rich",
        shown(summary.rich),
        f"27 sqrt(C_T d T){in_force.get('data-rich', '')}",
    )
    table.add_row(
        "           data-poor",
        poor,
        f"30 (C_T s / C_min)^(1/3) T^(2/3){in_force.get('data-poor', '')}",
    )
    if summary.poor is None and summary.c_min_at_most is None:
        table.add_row("           at best", shown(summary.poor_at_best), "if C_min were 1")
    table.add_row("           constant", shown(summary.additive), "2 T_min")
    if refuted:
        table.add_row("           in all", "-", "not proven for these actions, see below")
        alone = f"[bold]{shown(summary.rich_alone)}[/]"
        table.add_row("Data-rich rate alone", alone, "16 sqrt(2/3 C_T d T)  [bold]in force[/]")
    else:
        table.add_row("           in all", f"[bold]{shown(summary.bound)}[/]", "")
    if summary.theorem3 is None:
        table.add_row("Theorem 3", "none", "asks for s <= d / 2")
    else:
        table.add_row("Theorem 3", shown(summary.theorem3), "every ratio at its largest")
    table.add_row("trivial", shown(summary.trivial), "T times the widest gap")
    table.add_section()
    branch = {"cap": "the cap"}.get(summary.rate_branch, f"the {summary.rate_branch} branch")
    table.add_row("learning rate", shown(summary.rate), f"in the last round, {branch}")
    for what, where in (("terms", summary.crossover), ("rates", summary.rate_crossover)):
        if where == 0.0:
            table.add_row(f"{what} are equal", "never", "data-rich from the first round on")
        elif where is not None:
            table.add_row(f"{what} are equal at", shown(where), "data-rich from there on")
    table.add_row("rate needs no cap from", shown(summary.uncapped_from), "")
    table.add_row("T_min", shown(summary.t_min), "the paper's, larger than it need be")
    return table


def remarks(summary: Summary, radius: float, size: float, noise: float) -> list[str]:
    """What the numbers mean, in sentences."""
    trivial, start = shown(summary.trivial), shown(summary.meaningful_from)
    if summary.vacuous:
        meaning = (
            "[bold yellow]Vacuous at this horizon:[/] no policy can lose more than "
            f"{trivial}. The bound says more from T = {start} on."
        )
    else:
        share = summary.bound / summary.trivial
        meaning = (
            f"[bold]The bound says something:[/] it is {share:.0%} of the {trivial} that no policy "
            f"can lose more than. It does from T = {start} on."
        )
    more = []
    if summary.c_min is None and summary.c_min_at_most is None:
        more.append(
            "C_min is not known: give --actions FILE or --c-min NUMBER for the data-poor term."
        )
    elif summary.c_min is None:
        more.append(
            "[yellow]The actions do not span the space, or only just:[/] C_min is 0 but for "
            "rounding, and only the data-rich term remains."
        )
    if size > 1.0:
        more.append(
            f"[yellow]The actions leave \\[-1, 1]^d:[/] divided by {size:g}, and C_min is of these."
        )
    if summary.unit != 1.0:
        more.append(
            f"Regret is in your units, {summary.unit:g} times the theorems'; the learning rate is "
            f"for rewards over {summary.unit:g}."
        )
    if summary.sparse_optimal_actions is False:
        more.append(
            "[yellow]Optimal actions are not all sparse[/] (Definition 1 fails: for some s-sparse "
            "theta every best action has more than s non-zero features), so Theorems 2 and 3 are "
            "not proven here. What is: the bound for the data-rich rate alone."
        )
    rate = "rich" if summary.applies == "rich_alone" else "theorem2"
    assumed = (
        f'Of SOIDS(..., rate="{rate}", eta=0.25), not of its defaults. Assumed: |theta|_1 <= '
        f"{radius:g}, |a| <= {size:g}, noise {noise:g}-sub-Gaussian"
    )
    if summary.sparse_optimal_actions is None:
        assumed += ", optimal actions with at most s non-zero features (not checked)"
    elif summary.sparse_optimal_actions:
        assumed += "; checked: optimal actions have at most s non-zero features"
    return [meaning, *more, assumed + "."]


def shown(number: float) -> str:
    """A number as a person would write it."""
    if isinstance(number, int) and number < 10**15:
        return f"{number:,}"
    return f"{number:,.0f}" if 100.0 <= number < 1e9 else f"{number:.4g}"
