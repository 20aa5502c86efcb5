"""``soids replay``: what a policy would have earned, told from the log of another one."""

import json
import time
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.progress import Progress

from soids.cli.errors import Unusable
from soids.cli.replay_findings import as_plain, described, show, write_findings
from soids.files import reason
from soids.logs import FORMATS, Log, format_of, read_log
from soids.logs.jsonlines import TORN
from soids.offpolicy import NAMED, Candidate, Evaluation, Replayed, evaluate, learned
from soids.offpolicy import replay as replayed
from soids.offpolicy.overlap import FLOOR
from soids.policies import POLICIES
from soids.simulation.reading import check_settings
from soids.simulation.trial import policy_called
from soids.simulation.user_policies import modules_in
from soids.simulation.worker import undisturbed
from soids.spelling import meant

UNRELIABLE = 3  # exit code when something was asked that the log cannot tell
EVERY = 256  # rounds between two looks at the clock


class Asked(NamedTuple):
    """How to replay, as the command line says it."""

    policies: tuple[str, ...]
    settings: dict[str, Any]
    mode: str
    train: float
    confidence: float
    floor: float
    seed: int


@click.command()
@click.argument("log", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--policy", "policies", multiple=True, metavar="NAME",
    help="Whom to evaluate, again and again: logged (who made the log), uniform, best-constant, "
    "target (whose probabilities the log has), a policy of soids list, or module:Class.  "
    "[default: logged, uniform]",
)  # fmt: skip
@click.option(
    "--set", "settings", multiple=True, metavar="NAME=VALUE",
    help="A setting of the policies that learn, as sparsity=5, or of one, as soids.sparsity=5.",
)  # fmt: skip
@click.option(
    "--probabilities", metavar="FIELD",
    help="The field of LOG with the probabilities of the policy called target.  [default: target]",
)  # fmt: skip
@click.option(
    "--mode", type=click.Choice(("fixed", "rejection")), default="fixed", show_default=True,
    help="fixed: a policy learns from the first rounds, then stays as it is and is evaluated on "
    "the rest. rejection: it goes on learning, from the rounds in which it agrees with LOG.",
)  # fmt: skip
@click.option(
    "--train", type=float, default=0.5, show_default=True,
    help="Share of the rounds to learn from, if someone learns.",
)  # fmt: skip
@click.option(
    "--format", "form", type=click.Choice(tuple(FORMATS)), help="Of LOG.  [default: as it looks]"
)
@click.option(
    "--features", metavar="NAME",
    help="What an action is: items or context (obd), actions or crossed (dsjson).",
)  # fmt: skip
@click.option(
    "--torn", type=click.Choice(TORN), default="refuse", show_default=True,
    help="A last line that was cut off, as a killed writer leaves it (JSON lines).",
)  # fmt: skip
@click.option(
    "--floor", type=float, default=FLOOR, show_default=True,
    help="Effective rounds below which no interval is given.",
)  # fmt: skip
@click.option("--confidence", type=float, default=0.95, show_default=True, help="Of the intervals.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@click.option(
    "--out", type=click.Path(file_okay=False, path_type=Path),
    help="Folder for the numbers (CSV, JSON).",
)  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of a table.")
def replay(
    log: Path,
    form: str | None,
    features: str | None,
    torn: str,
    probabilities: str | None,
    settings: tuple[str, ...],
    out: Path | None,
    as_json: bool,
    **asked: Any,
) -> None:
    """What a policy would have earned in place of the one that made LOG.

    LOG is a file of soids (JSON lines, also gzip, or parquet), of the Open Bandit Dataset (CSV) or
    of VW (dsjson). Four estimates stand side by side: IPS (unbiased, variable), SNIPS (nearly
    unbiased, less variable), DM (a model alone) and DR (the model, corrected by IPS), with
    intervals, unless the log has too little to say of the policy. Then no interval is given, the
    reason is, and the command ends with exit code 3.

    \b
    soids replay men.csv.gz --policy logged --policy uniform
    soids replay decisions.jsonl --policy soids --set sparsity=5
    soids replay decisions.jsonl --policy soids --policy linucb --set linucb.alpha=1
    soids replay decisions.jsonl --policy thompson --mode rejection
    """
    click.get_current_context().with_resource(modules_in(""))  # policies of the user
    usual = ("logged", "uniform" if probabilities is None else "target")
    wish = Asked(asked.pop("policies") or usual, dict(map(as_setting, settings)), **asked)
    if settings and wish.mode == "fixed" and all(name in NAMED for name in wish.policies):
        raise click.UsageError("--set is for policies that learn: name one by --policy")
    try:
        source = find_log(log, form, features, torn, probabilities)
        with Watch() as watch, undisturbed():
            found = carry_out(source, wish, watch)
        written = [] if out is None else write_findings(out, found)
    except ValueError as error:
        raise Unusable(str(error)) from None
    except OSError as error:
        raise click.ClickException(reason(error)) from None
    except ImportError as error:
        raise click.ClickException(str(error)) from None
    if as_json:
        click.echo(json.dumps(as_plain(described(found))))
    else:
        show(found, written, wish.confidence)
    if not all(one.reliable for one in found):
        raise SystemExit(UNRELIABLE)


# The work


def find_log(
    path: Path, form: str | None, features: str | None, torn: str, probabilities: str | None
) -> Log:
    """The log in a file, read as the options say."""
    form = format_of(path) if form is None else form
    settings: dict[str, object] = {}
    for option, value, forms in (
        ("features", features, ("obd", "dsjson")),
        ("torn", torn if torn != TORN[0] else None, ("soids", "dsjson")),
        ("target", probabilities, ("soids", "parquet")),
    ):
        if value is not None and form not in forms:
            flag = "--probabilities" if option == "target" else f"--{option}"
            raise ValueError(f"{flag} is for logs of {' and '.join(forms)}, this one is {form}")
        if value is not None:
            settings[option] = value
    return read_log(path, form=form, **settings)


def carry_out(log: Log, asked: Asked, watch: "Watch") -> Sequence[Evaluation | Replayed]:
    """Evaluate all policies in the way that is asked for."""
    names = [*NAMED, *POLICIES]
    for name in asked.policies:
        if name not in names and ":" not in name:
            raise ValueError(f"--policy must be module:Class or one of {', '.join(names)}"
                             f"{meant(name, names)}")  # fmt: skip
    learners = [name for name in asked.policies if name not in NAMED or name in POLICIES]
    for key in asked.settings:
        owner, dot, _ = key.rpartition(".")
        if dot and owner not in learners:
            raise ValueError(f"--set POLICY.NAME must be of a policy that is asked for and learns "
                             f"({', '.join(learners)}){meant(owner, learners)}")  # fmt: skip
    streams = np.random.SeedSequence(asked.seed).spawn(len(asked.policies))
    minds = [np.random.default_rng(stream) for stream in streams]
    if asked.mode == "rejection":
        for name in asked.policies:
            if name in NAMED and name not in POLICIES:
                raise ValueError(f"{name} learns nothing: evaluate it by --mode fixed")
        return [
            replayed(
                log, name, maker(name, asked), mind,
                confidence=asked.confidence, floor=asked.floor, on_round=watch,
            )
            for name, mind in zip(asked.policies, minds, strict=True)
        ]  # fmt: skip
    candidates = [
        candidate(name, asked, mind) for name, mind in zip(asked.policies, minds, strict=True)
    ]
    return [
        evaluate(
            log, candidates, train=asked.train, confidence=asked.confidence, floor=asked.floor,
            on_round=watch,
        )
    ]  # fmt: skip


def candidate(name: str, asked: Asked, mind: np.random.Generator) -> Candidate:
    """Whom a name means; those that are the same without learning need none."""
    if name in NAMED:
        return NAMED[name]
    return learned(name, maker(name, asked), mind)


def maker(name: str, asked: Asked) -> Callable[[int], Any]:
    """How to make a policy for a dimension, with the settings of all and its own."""
    family = policy_called(name)
    owned = [(*key.rpartition("."), value) for key, value in asked.settings.items()]
    settings = {key: value for owner, _, key, value in owned if owner == ""}
    settings |= {key: value for owner, _, key, value in owned if owner == name}
    try:
        check_settings(family, settings, passed=("dimension",))
    except ValueError as error:
        raise ValueError(
            f"{name}: {error}: give settings by --set NAME=VALUE, or --set POLICY.NAME=VALUE if "
            "they are not for all"
        ) from None

    def make(dimension: int) -> Any:
        try:
            return family(dimension, **settings)
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from None

    return make


def as_setting(text: str) -> tuple[str, Any]:
    """A setting as it is written in experiment files; what is no value there is a text."""
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise click.BadParameter(f"must be NAME=VALUE, got {text!r}", param_hint="'--set'")
    try:
        return name.strip(), tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        return name.strip(), value.strip()


class Watch:
    """A bar for every stage, on a terminal; the log is counted in the first."""

    def __init__(self) -> None:
        self.bars = Progress(console=Console(stderr=True), transient=True)
        self.counts: dict[str, int] = {}
        self.tasks: dict[str, Any] = {}
        self.looked = time.monotonic()

    def __enter__(self) -> "Watch":
        if self.bars.console.is_terminal:
            self.bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self.bars.console.is_terminal:
            self.bars.stop()

    def __call__(self, stage: str) -> None:
        count = self.counts[stage] = self.counts.get(stage, 0) + 1
        if count % EVERY == 0 and time.monotonic() - self.looked > 0.1:
            self.looked = time.monotonic()
            if stage not in self.tasks:
                first = next(iter(self.counts))
                total = None if stage == first else self.counts[first]
                self.tasks[stage] = self.bars.add_task(escape(stage), total=total)
            self.bars.update(self.tasks[stage], completed=count)
