"""``soids bound``: the bounds of the theorems for a problem, and the call that they cover."""

from pathlib import Path

import click

from soids.arrays import Floats
from soids.cli.page import page
from soids.features.action_files import read_actions
from soids.files import as_json as in_json
from soids.output.bound_table import bound_table, calls, remarks
from soids.output.table import as_console
from soids.theory.summary import Problem, summarise


@click.command()
@click.option("--dimension", type=int, help="Number of features, unless --actions is given.")
@click.option("--sparsity", type=int, required=True, help="Maximum number of features that matter.")
@click.option("--horizon", type=int, required=True, help="Number of rounds.")
@click.option(
    "--actions", "path", type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="File of actions, one a row: .npy, or text with commas or blanks and at most one line of "
    "names.",
)  # fmt: skip
@click.option(
    "--action-bound", type=float,
    help="Bound on the absolute entries of the actions.  [default: 1, or the largest entry in "
    "--actions if that is larger]",
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
    dimension: int | None, sparsity: int, horizon: int, path: Path | None,
    action_bound: float | None, c_min: float | None, radius: float, noise: float, as_json: bool,
) -> None:  # fmt: skip
    """Print the bounds of the theorems for a problem, and the call that they cover.

    The theorems assume |theta|_1 <= 1, actions in [-1, 1]^d, noise that is 1-sub-Gaussian, and that
    optimal actions have at most s non-zero features (Definition 1), which is checked if --actions
    is given. Other problems are brought to these units: actions are divided by their bound B, and
    rewards by max(radius B, noise), by which the bounds are multiplied.
    """
    if path is not None and c_min is not None:
        raise click.UsageError("--actions and --c-min exclude each other: C_min follows from FILE")
    try:
        if path is not None:
            problem = Problem.of_actions(
                loaded(path, dimension), sparsity, horizon,
                radius=radius, noise=noise, action_bound=action_bound,
            )  # fmt: skip
        elif dimension is not None:
            size = 1.0 if action_bound is None else action_bound
            problem = Problem(dimension, sparsity, horizon, radius, noise, size, c_min)
        else:
            raise click.UsageError("Missing option '--dimension', or '--actions' to take it from.")
        found = summarise(problem)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    if as_json:
        click.echo(in_json(found))
        return
    console = page()
    console.print(as_console(bound_table(found)))
    for remark in remarks(found):
        console.print(remark)
    console.print(calls(found), markup=False, soft_wrap=True)


def loaded(path: Path, dimension: int | None) -> Floats:
    """The actions in a file, or an error that names the option."""
    try:
        return read_actions(path, dimension)
    except (ValueError, OSError, EOFError) as error:
        raise click.BadParameter(f"{path.name}: {error}", param_hint="'--actions'") from None
