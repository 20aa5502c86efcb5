"""``soids bound``: the bounds of the theorems for a problem, and the call that they cover."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

import click
import numpy as np
from rich import box
from rich.table import Table

from soids import rates, theory
from soids.arrays import as_number
from soids.cli.action_files import load_actions
from soids.cli.page import page
from soids.designs import exploratory_design
from soids.theory.sparse_optimal_action import has_sparse_optimal_actions


@dataclass(frozen=True)
class Problem:
    """What is known of a user's problem, in the user's units."""

    dimension: int
    sparsity: int
    horizon: int
    radius: float = 1.0
    noise: float = 1.0
    action_bound: float = 1.0
    c_min: float | None = None  # of the actions divided by their bound
    c_min_at_most: float | None = None  # certified
    sparse: bool | None = None  # Definition 1; None if not known

    @property
    def unit(self) -> float:
        """What rewards are divided by, and bounds multiplied."""
        return theory.reward_unit(self.radius, self.action_bound, self.noise)

    @property
    def gap(self) -> float:
        """What a round costs at most."""
        return theory.WIDEST_GAP * self.radius * self.action_bound

    def call(self, theorem: int) -> str:
        """The policy that a theorem covers."""
        return theory.covered_call(
            self.dimension, self.sparsity, self.radius, self.noise, self.action_bound,
            theorem=theorem, sparse=self.sparse,
        )  # fmt: skip


@dataclass(frozen=True)
class Summary:
    """The theorems at one horizon; regret is in the units of the rewards."""

    dimension: int
    sparsity: int
    horizon: int
    action_bound: float
    c_min: float | None  # of the actions divided by their bound
    c_min_at_most: float | None  # certified
    unit: float  # rewards divided by it are as the theorems assume
    complexity: float
    rich: float
    poor: float | None
    poor_at_best: float  # if C_min were 1
    additive: float
    bound: float
    regime: str
    theorem3: float | None  # of its data-rich half where Definition 1 fails
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
    call: str  # the policy that this bound covers
    theorem3_call: str | None  # the policy that Theorem 3 covers


def summarise(known: Problem) -> Summary:
    """The theorems for a problem."""
    problem, horizon, c_min = (known.dimension, known.sparsity), known.horizon, known.c_min
    refuted, unit, gap = known.sparse is False, known.unit, known.gap
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
    third = 2 * known.sparsity <= known.dimension
    worst = theory.theorem3_worst(*problem, horizon, None if refuted else c_min) if third else None
    return Summary(
        dimension=known.dimension,
        sparsity=known.sparsity,
        horizon=horizon,
        action_bound=known.action_bound,
        c_min=c_min,
        c_min_at_most=known.c_min_at_most,
        unit=unit,
        complexity=rates.complexity(*problem, horizon),
        rich=unit * promise.rich,
        poor=None if c_min is None else unit * promise.poor,
        poor_at_best=unit * at_best.poor,
        additive=unit * promise.additive,
        bound=unit * value,
        regime="data-rich" if refuted else promise.regime,
        theorem3=None if worst is None else unit * worst.value,
        trivial=gap * horizon,
        vacuous=unit * value >= gap * horizon,
        meaningful_from=first,
        rate=min(0.5, rate),
        rate_branch=branch if rate <= 0.5 else "cap",
        crossover=None if c_min is None else theory.crossover(*problem, c_min),
        rate_crossover=None if c_min is None else theory.rate_crossover(*problem, c_min),
        t_min=theory.t_min(*problem),
        uncapped_from=theory.uncapped_from(*problem, c_min),
        sparse_optimal_actions=known.sparse,
        rich_alone=unit * alone,
        applies="rich_alone" if refuted else "theorem2",
        call=known.call(2),
        theorem3_call=known.call(3) if third else None,
    )


@click.command()
@click.option("--dimension", type=int, help="Number of features; may come from --actions.")
@click.option("--sparsity", type=int, required=True, help="Most features that matter.")
@click.option("--horizon", type=int, required=True, help="Number of rounds.")
@click.option(
    "--actions", "path", type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Actions, one a row: .npy, or text with commas or blanks and at most one line of names.",
)  # fmt: skip
@click.option(
    "--action-bound", type=float,
    help="Bound on the entries of actions in size.  [default: 1, or the largest entry in --actions "
    "if that is larger]",
)  # fmt: skip
@click.option(
    "--c-min", type=float, help="C_min of the actions divided by their bound, instead of --actions."
)
@click.option(
    "--radius", type=float, default=1.0, show_default=True, help="Bound on the l1 norm of theta."
)
@click.option(
    "--noise", type=float, default=1.0, show_default=True, help="Sub-Gaussian scale of the noise."
)
@click.option("--json", "as_json", is_flag=True, help="Print one flat JSON object, not a table.")
def bound(
    dimension: int | None,
    sparsity: int,
    horizon: int,
    path: Path | None,
    action_bound: float | None,
    c_min: float | None,
    radius: float,
    noise: float,
    as_json: bool,
) -> None:
    """Print the bounds of the theorems for a problem, and the call that they cover.

    The theorems assume |theta|_1 <= 1, actions in [-1, 1]^d, noise that is 1-sub-Gaussian, and that
    optimal actions have at most s non-zero features (Definition 1), which is checked if --actions
    is given. Other problems are brought to these units: actions are divided by their bound B, and
    rewards by max(radius B, noise), by which the bounds are multiplied.
    """
    if path is not None and c_min is not None:
        raise click.UsageError("--actions and --c-min exclude each other: C_min follows from FILE")
    at_most, actions = None, None
    if path is not None:
        actions = load_actions(path, dimension)
        dimension, largest = actions.shape[1], float(np.abs(actions).max())
        action_bound = max(1.0, largest) if action_bound is None else action_bound
        if action_bound < largest:
            raise click.UsageError(
                f"--action-bound must be at least the largest entry of the actions, {largest:g}, "
                f"got {action_bound:g}"
            )
    action_bound = 1.0 if action_bound is None else action_bound
    if dimension is None:
        raise click.UsageError("Missing option '--dimension', or '--actions' to take it from.")
    try:
        as_number(action_bound, "action_bound", 0.0, strict=True)
        sparse = None
        if actions is not None:
            design = exploratory_design(actions / action_bound)
            at_most = min(1.0, design.bound)
            if design.value > 1e-14 * dimension:  # more than a rounding error of an eigenvalue
                c_min = min(1.0, design.value)
            sparse = has_sparse_optimal_actions(actions, sparsity).holds
        problem = Problem(
            dimension, sparsity, horizon, radius, noise, action_bound, c_min, at_most, sparse
        )
        summary = summarise(problem)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    if as_json:
        click.echo(json.dumps(asdict(summary)))
        return
    console = page()
    console.print(tabulate(summary))
    for remark in remarks(summary, problem):
        console.print(remark)
    for line in calls(summary):
        console.print(line, markup=False, soft_wrap=True)


def tabulate(summary: Summary) -> Table:
    """The numbers, each with its formula or meaning."""
    table = Table(
        title=f"Bounds on the expected regret after {shown(summary.horizon)} rounds",
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
        half = ", its data-rich half" if refuted else ""
        largest = f"every ratio at its largest{half}"
        table.add_row("Theorem 3", shown(summary.theorem3), largest)
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


def remarks(summary: Summary, problem: Problem) -> list[str]:
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
    if summary.action_bound != 1.0:
        more.append(
            f"C_min is that of the actions divided by their bound, {summary.action_bound:g}."
        )
    if summary.unit != 1.0:
        more.append(
            f"Regret is in your units, {summary.unit:g} times the theorems'; the learning rate is "
            f"for rewards divided by {summary.unit:g}."
        )
    if summary.sparse_optimal_actions is False:
        more.append(
            "[yellow]Optimal actions are not all sparse[/] (Definition 1 fails: for some s-sparse "
            "theta every best action has more than s non-zero features), so Theorems 2 and 3 are "
            "not proven here. Their data-rich halves are, for the data-rich rates alone."
        )
    assumed = (
        f"Assumed: |theta|_1 <= {problem.radius:g}, |a| <= {problem.action_bound:g}, noise "
        f"{problem.noise:g}-sub-Gaussian"
    )
    if summary.sparse_optimal_actions is None:
        assumed += ", optimal actions with at most s non-zero features (not checked)"
    elif summary.sparse_optimal_actions:
        assumed += "; checked: optimal actions have at most s non-zero features"
    return [meaning, *more, assumed + "."]


def calls(summary: Summary) -> list[str]:
    """The policies that the bounds are about, ready to be copied."""
    half = "'s data-rich half" if summary.applies == "rich_alone" else ""
    lines = ["", f"Theorem 2{half} covers:", f"    {summary.call}"]
    if summary.theorem3_call is not None:
        lines += [f"Theorem 3{half} covers:", f"    {summary.theorem3_call}"]
    return lines


def shown(number: float) -> str:
    """A number as a person would write it."""
    if isinstance(number, int) and number < 10**15:
        return f"{number:,}"
    return f"{number:,.0f}" if 100.0 <= number < 1e9 else f"{number:.4g}"
