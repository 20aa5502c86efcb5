"""``soids replay``: the mean reward of policies, estimated from the log of another one."""

import re
import time
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
from rich.markup import escape
from rich.progress import Progress, TaskID

from soids.cli.errors import Unusable
from soids.cli.page import page
from soids.cli.trust import announce, trust_option
from soids.files import as_json, reason
from soids.logs import FORMATS, read_log
from soids.logs.jsonlines import TORN
from soids.logs.limits import EXPANSION
from soids.offpolicy.named import MODES, evaluate_named
from soids.offpolicy.overlap import FLOOR
from soids.output import replay_tables as tables
from soids.output.table import Page, as_console
from soids.simulation.reading import check_settings
from soids.simulation.trial import policy_called
from soids.simulation.user_policies import modules_in
from soids.simulation.worker import in_one_line, undisturbed

READING = ("reward", "chosen", "propensity", "actions", "features", "expansion")  # of LOG
UNRELIABLE = 3  # exit code if the log has too little information on some policy
EVERY = 256  # rounds between two looks at the clock
BARE_POINT = re.compile(r"[+-]?(\.\d+|\d+\.)(e[+-]?\d+)?", re.IGNORECASE)  # no numbers in TOML


def once(context: click.Context, parameter: click.Parameter, given: tuple[str, ...]) -> str | None:
    """The value of an option that may be given once."""
    if len(given) > 1:
        raise click.BadParameter(f"must be given once, got {', '.join(given)}")
    return given[0] if given else None


@click.command()
@click.argument("log", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--policy", "policies", multiple=True, metavar="NAME",
    help="Name a policy to evaluate, once or several times: logged (which made the log), uniform, "
    "best-constant, target (whose probabilities are in the log), a policy of soids list, or "
    "module:Class.  [default: logged, uniform]",
)  # fmt: skip
@click.option(
    "--set", "settings", multiple=True, metavar="NAME=VALUE",
    help="Give a setting to all policies that learn, as sparsity=5, or to one, as "
    "soids.sparsity=5.",
)  # fmt: skip
@click.option(
    "--probabilities", metavar="FIELD", multiple=True, callback=once,
    help="Name the field of LOG with the probabilities of the policy target.  [default: target]",
)  # fmt: skip
@click.option(
    "--mode", type=click.Choice(MODES), default="fixed", show_default=True,
    help="With fixed, a policy learns from the first rounds and is evaluated on the rest, as it is "
    "then. With rejection, it goes on learning from the rounds in which it agrees with LOG.",
)  # fmt: skip
@click.option(
    "--train", type=float, default=0.5, show_default=True,
    help="Share of the rounds from which policies learn, if any of them does.",
)  # fmt: skip
@click.option(
    "--format", "form", type=click.Choice(tuple(FORMATS)),
    help="Format of LOG.  [default: detected from its first line]",
)  # fmt: skip
@click.option("--reward", metavar="COLUMN", help="Column of the rewards, if LOG is a table.")
@click.option("--chosen", metavar="COLUMN", help="Column of the chosen actions, in a table.")
@click.option(
    "--propensity", metavar="COLUMN",
    help="Column of the chosen actions' probabilities, in a table; or a column for each action, "
    "separated by commas, in the order of --actions.",
)  # fmt: skip
@click.option(
    "--actions", metavar="ACTIONS",
    help="The actions of a table: their number, all labels separated by commas, or a file of their "
    "features.  [default: those that occur]",
)  # fmt: skip
@click.option(
    "--features", metavar="NAME",
    help="Features of an action: items or context (obd), actions or crossed (dsjson); of a table, "
    "columns of the context separated by commas, or others (all other columns).",
)  # fmt: skip
@click.option(
    "--expansion", type=float,
    help="Number of times its size that a compressed LOG may unpack to (128 MB are always free).  "
    f"[default: {EXPANSION:g}]",
)  # fmt: skip
@click.option(
    "--torn", type=click.Choice(TORN), default="refuse", show_default=True,
    help="Refuse or skip an unfinished last line, as a killed writer leaves it (JSON lines).",
)  # fmt: skip
@click.option(
    "--floor", type=float, default=FLOOR, show_default=True,
    help="Number of effective rounds below which no interval is given. (The setting floor of a "
    "policy is a probability: --set floor=0.01.)",
)  # fmt: skip
@click.option(
    "--confidence", type=float, default=0.95, show_default=True,
    help="Level of the confidence intervals.",
)  # fmt: skip
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True,
    help="Seed of the policies' random numbers.",
)  # fmt: skip
@click.option(
    "--out", type=click.Path(file_okay=False, path_type=Path),
    help="Folder to which the numbers are written, as CSV and JSON.",
)  # fmt: skip
@click.option("--json", "is_json", is_flag=True, help="Print one JSON object instead of a table.")
@trust_option
def replay(
    log: Path, policies: tuple[str, ...], settings: tuple[str, ...], probabilities: str | None,
    form: str | None, torn: str, out: Path | None, is_json: bool, trust: bool, **asked: Any,
) -> None:  # fmt: skip
    """Estimate the mean reward that policies would have had in place of the one that made LOG.

    LOG is a file of soids (JSON lines, also gzip, or parquet), of the Open Bandit Dataset (CSV), of
    VW (dsjson), or any table (CSV, parquet) whose columns are named by --reward, --propensity and
    --chosen. There are four estimates: IPS (unbiased, variable), SNIPS (nearly unbiased,
    less variable), DM (a model alone) and DR (the model, corrected by IPS), with intervals. If the
    log has too little information on a policy, the reason replaces its interval, and the exit code
    is 3. Several policies are compared with the first, by differences in the same rounds.

    \b
    soids replay men.csv.gz --policy logged --policy uniform
    soids replay decisions.jsonl --policy soids --set sparsity=5
    soids replay sales.csv --reward click --chosen item --propensity p
    soids replay decisions.jsonl --policy soids --policy linucb --set linucb.alpha=1
    soids replay decisions.jsonl --policy thompson --mode rejection
    """
    names = policies or ("logged", "uniform" if probabilities is None else "target")
    special = None if torn == TORN[0] else torn
    if trust:
        click.get_current_context().with_resource(modules_in(""))  # modules of the user
        for name in (name for name in names if ":" in name):
            announce(name)
    reading = {name: asked.pop(name) for name in READING}
    try:
        source = read_log(log, form=form, target=probabilities, torn=special, **reading)
        with undisturbed(), progress() as on_round:
            found = evaluate_named(
                source, names, constructor, settings=dict(map(as_setting, settings)),
                on_round=on_round, **asked,
            )  # fmt: skip
        written = [] if out is None else tables.write_replay(out, found)
    except ValueError as error:
        raise Unusable(str(error)) from None
    except (OSError, ImportError) as error:
        why = reason(error) if isinstance(error, OSError) else str(error)
        raise click.ClickException(why) from None
    except Exception as error:
        if not any(":" in name for name in names):
            raise
        raise click.ClickException(f"a policy failed: {in_one_line(error)}") from error
    record = tables.replay_record(found)
    if is_json:
        click.echo(as_json(record))
    else:
        console = page()
        for table in tables.printed(found, asked["confidence"]):
            shown = as_console(table)
            for column in shown.columns[table.labels : table.labels + 2]:
                column.no_wrap = True  # an estimate and its interval
            console.print(shown)
        for line in tables.replay_remarks(found):
            console.print(line, markup=False)
        for path in written:
            console.print(f"Written: {path}", markup=False, soft_wrap=True)
    if not all(policy["reliable"] for policy in record["policies"]):
        raise SystemExit(UNRELIABLE)


def constructor(name: str, settings: Mapping[str, Any]) -> Callable[..., Any]:
    """The constructor of a policy, which takes these settings."""
    family = policy_called(name)
    try:
        check_settings(family, settings, passed=("dimension",))
    except ValueError as error:
        raise ValueError(
            f"{name}: {error}: give settings by --set NAME=VALUE, or --set POLICY.NAME=VALUE if "
            "they are not for all"
        ) from None
    return family


def as_setting(text: str) -> tuple[str, Any]:
    """A setting as in experiment files, where what is not a value is a text."""
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise click.BadParameter(f"must be NAME=VALUE, got {text!r}", param_hint="'--set'")
    try:
        return name.strip(), tomllib.loads(f"value = {value}")["value"]
    except (tomllib.TOMLDecodeError, RecursionError):
        text = value.strip()
        return name.strip(), float(text) if BARE_POINT.fullmatch(text) else text


@contextmanager
def progress() -> Iterator[Callable[[str], None]]:
    """A bar for every stage, on a terminal; the first stage counts the rounds."""
    counts, tasks, looked = dict[str, int](), dict[str, TaskID](), time.monotonic()
    console = Page(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bars:

        def on_round(stage: str) -> None:
            nonlocal looked
            count = counts[stage] = counts.get(stage, 0) + 1
            if count % EVERY == 0 and time.monotonic() - looked > 0.1:
                looked = time.monotonic()
                if stage not in tasks:
                    total = next(iter(counts.values())) if len(counts) > 1 else None
                    tasks[stage] = bars.add_task(escape(stage), total=total)
                bars.update(tasks[stage], completed=count)

        yield on_round
