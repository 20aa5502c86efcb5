"""Experiments as data: a file that one can read aloud, and the trials it asks for.

title = "Regime change on the hypercube"
horizon = 2000
seeds = 30                   # 0 to 29; a list names them one by one

[bandit]                     # [[bandit]] for several
family = "hypercube"
dimension = [20, 40]         # a list is a sweep
sparsity = 2

[policies]
SOIDS = { policy = "soids", told = ["sparsity", "noise"] }
LinUCB = { policy = "linucb", alpha = [1.0, 3.0] }
ESTC = { policy = "estc", exploration = { by = "dimension", 20 = 50, 40 = 100 } }
Slow = { policy = "soids", posterior = "langevin", slow = true }    # with --full only

[feedback]                   # left out, every reward is known at once
delay = "geometric(20)"
batch = 50
loss = [0.0, 0.1]

[quick]                      # what --quick plays instead
horizon = 100
seeds = 3

[plot]
x = "round"                  # or what is swept, such as "dimension"
bounds = false
"""

import inspect
import itertools
import tomllib
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import date, time
from pathlib import Path
from typing import Any

import numpy as np

from soids.arrays import as_count, as_flag
from soids.simulation.feedback import Feedback
from soids.simulation.play import check_verbs
from soids.simulation.trial import (
    TELLABLE,
    Player,
    Problem,
    Trial,
    family_called,
    policy_called,
)
from soids.spelling import meant

NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


@dataclass(frozen=True)
class Experiment:
    """All policies on all problems with all seeds."""

    name: str
    title: str
    problems: tuple[Problem, ...]
    players: tuple[tuple[Player, ...], ...]  # for each problem, in the order of the file
    seeds: tuple[int, ...]
    x: str = "round"  # what to plot the regret against
    bounds: bool = False  # whether to draw the rates of the theorems
    text: str = ""  # of the file
    quick: bool = False
    full: bool = False

    def trials(self) -> list[Trial]:
        """The largest problems first, so that no core waits at the end; then seed by seed, so
        that policies can be compared early.
        """
        order = sorted(range(len(self.problems)), key=lambda i: -size(self.problems[i]))
        return [
            Trial(self.problems[i], player, seed)
            for i in order
            for seed in self.seeds
            for player in self.players[i]
        ]

    def check(self) -> None:
        """Build every policy once, so that what cannot be played is said before anything is.

        Warnings of policies are left aside: settings that earn them are what experiments are for.
        """
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._build_all()

    def _build_all(self) -> None:
        for problem, players in zip(self.problems, self.players, strict=True):
            with located(f"bandit {problem.title}"):
                bandit = problem.make(self.seeds[0])
                next(bandit.rounds(problem.horizon, np.random.default_rng(0)))
            for player in players:
                with located(f"policies.{player.label}"):
                    make = policy_called(player.policy)
                    with located("told"):
                        check_known(make, player.told, passed=("dimension",))
                    check_settings(make, [*player.settings, *player.told], passed=("dimension",))
                    check_verbs(player.make(bandit, problem.horizon))


@contextmanager
def located(place: str) -> Iterator[None]:
    """Say where in the experiment an error comes from."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from None
    except Exception as error:  # of a policy that may be anyone's
        line = str(error).partition("\n")[0]
        raise ValueError(f"{place}: {type(error).__name__}: {line}") from None


def read_experiment(path: Path, quick: bool = False, full: bool = False) -> Experiment:
    """The experiment in a file; what is wrong with it is a ``ValueError`` of one line."""
    try:
        text = path.read_text(encoding="utf-8")
        table = tomllib.loads(text)
    except UnicodeDecodeError:
        raise ValueError(f"{path.name} must be TOML in UTF-8, it is not text") from None
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{path.name} must be TOML: {error}") from None
    with located(path.name):
        return replace(parse_experiment(table, path.stem, quick, full), text=text)


def parse_experiment(
    table: Mapping[str, Any], name: str, quick: bool = False, full: bool = False
) -> Experiment:
    """The experiment that a table describes."""
    keys = ("title", "horizon", "seeds", "bandit", "policies", "feedback", "quick", "plot")
    only(table, keys, "the file", required=("horizon", "seeds", "bandit", "policies"))
    if quick and "quick" not in table:
        raise ValueError("[quick] is missing: it says what --quick plays")
    swift = as_table(table.get("quick", {}), "quick")
    only(swift, ("horizon", "seeds", "bandit"), "quick")
    if quick:  # what it replaces had better be right, too
        parse_experiment(table, name, full=full)
        table = {**table, **swift}
    plot = as_table(table.get("plot", {}), "plot")
    only(plot, ("x", "bounds"), "plot")
    ways = list(parse_feedback(table.get("feedback", {})))
    problems = tuple(
        replace(problem, feedback=way, title=", ".join([problem.title, *apart]))
        for problem in parse_problems(table["bandit"], table["horizon"])
        for way, apart in ways
    )
    entries = as_table(table["policies"], "policies")
    if not entries:
        raise ValueError("policies must name at least one policy")
    players = tuple(
        tuple(
            player
            for label, entry in entries.items()
            if full or not is_slow(entry, label)
            for player in parse_players(label, entry, problem)
        )
        for problem in problems
    )
    if not players[0]:
        raise ValueError("policies are all slow = true: they are played with --full only")
    for found in players:
        only_once([player.label for player in found], "policies", "label")
    only_once([problem.title for problem in problems], "bandits", "title")
    x, bounds = plot.get("x", "round"), as_flag(plot.get("bounds", False), "plot.bounds")
    for problem in problems:
        check_plot(x, bounds, problem)
    return Experiment(
        name=name,
        title=as_text(table.get("title", name), "title"),
        problems=problems,
        players=players,
        seeds=parse_seeds(table["seeds"]),
        x=x,
        bounds=bounds,
        quick=quick,
        full=full,
    )


def parse_seeds(value: object) -> tuple[int, ...]:
    """So many seeds from 0 on, or those in a list."""
    if not isinstance(value, list):
        return tuple(range(as_count(value, "seeds")))
    seeds = tuple(as_count(seed, "seeds", 0) for seed in value)
    if not seeds or len(set(seeds)) < len(seeds):
        raise ValueError(f"seeds must be a number or a list without repetition, got {value!r}")
    return seeds


def parse_problems(blocks: object, horizon: object) -> Iterator[Problem]:
    """The problems of all blocks of bandits, each with a title that sets it apart."""
    several = blocks if isinstance(blocks, list) else [blocks]
    if not several:
        raise ValueError("bandit must be a table with a family")
    horizons = [as_count(one, "horizon") for one in as_choices(horizon)]
    for number, block in enumerate(several):
        where = "bandit" if len(several) == 1 else f"bandit {number + 1}"
        settings = dict(as_table(block, where))
        title = settings.pop("title", None)
        with located(where):
            if "family" not in settings:
                raise ValueError("family is missing")
            if "horizon" in settings:
                raise ValueError("horizon belongs to the top of the file, not to a bandit")
            if title is not None:
                as_text(title, "title")
            for chosen in sweep({"horizon": horizons, **settings}):
                rounds, family = chosen.pop("horizon"), chosen.pop("family")
                check_settings(family_called(family), chosen, passed=("seed", "horizon"))
                swept = {n: v for n, v in chosen.items() if isinstance(settings[n], list)}
                if len(horizons) > 1:
                    swept["horizon"] = rounds
                if title is None and (len(several) > 1 or isinstance(settings["family"], list)):
                    swept = {"family": family, **swept}
                parts = [] if title is None else [title]
                parts += [v if n == "family" else f"{n} = {v}" for n, v in swept.items()]
                yield Problem(family, chosen, rounds, ", ".join(parts) or family)


def parse_feedback(table: object) -> Iterator[tuple[dict[str, Any], list[str]]]:
    """The ways in which rewards come back, and what sets each apart from the others."""
    settings = as_table(table, "feedback")
    only(settings, ("delay", "batch", "loss"), "feedback")
    with located("feedback"):
        for chosen in sweep(settings):
            Feedback(**chosen)  # which checks them
            apart = [f"{n} = {v}" for n, v in chosen.items() if isinstance(settings[n], list)]
            yield chosen, apart


def parse_players(label: str, entry: Mapping[str, Any], problem: Problem) -> Iterator[Player]:
    """The policies that an entry stands for on a problem: one for each choice of its lists."""
    with located(f"policies.{label}"):
        settings = dict(entry)
        settings.pop("slow", None)
        if "policy" not in settings:
            raise ValueError("policy is missing")
        told = settings.pop("told", [])
        if not isinstance(told, list):
            raise ValueError(f"told must be a list of {', '.join(TELLABLE)}, got {told!r}")
        for name in told:
            if name not in TELLABLE:
                raise ValueError(f"told must list {', '.join(TELLABLE)}{meant(name, TELLABLE)}")
        fixed = {name: depending(value, name, problem) for name, value in settings.items()}
        for chosen in sweep(fixed):
            policy = chosen.pop("policy")
            twice = set(told) & set(chosen)
            if twice:
                raise ValueError(f"{twice.pop()} must be told or set, not both")
            swept = [
                f"{name} = {short(value)}"
                for name, value in chosen.items()
                if len(as_choices(fixed[name])) > 1
            ]
            yield Player(policy, tuple(told), chosen, ", ".join([label, *swept]))


def depending(value: Any, name: str, problem: Problem) -> Any:
    """A setting that may depend on one of the problem's, as { by = "dimension", 20 = 50 }."""
    if not isinstance(value, dict):
        return value
    known = {"horizon": problem.horizon, "family": problem.family, **problem.settings}
    known |= problem.feedback
    by = value.get("by")
    if by is None:
        raise ValueError(
            f"{name} must be a value, or say by which setting of the bandit it goes, as "
            f"{{ by = 'dimension', 20 = 50 }}, got {value!r}; a posterior with settings of its own "
            "is written as 'spike_slab(spread = 0.25)'"
        )
    if by not in known:
        raise ValueError(
            f"{name} must depend on a setting of the bandit, as {{ by = 'dimension', 20 = 50 }}"
            f"{meant(by, known)}"
        )
    if str(known[by]) not in value:
        raise ValueError(f"{name} must say what it is for {by} = {known[by]}")
    return value[str(known[by])]


def check_plot(x: object, bounds: bool, problem: Problem) -> None:
    """Refuse a plot that could not be drawn once all is played."""
    known = {"round": 1, "horizon": problem.horizon, **problem.settings, **problem.feedback}
    if not isinstance(x, str) or x not in known:
        raise ValueError(f"plot.x must be one of {', '.join(known)}{meant(x, known)}")
    value = known[x]
    if not isinstance(value, int | float) or not value > 0:
        raise ValueError(f"plot.x must be a positive number everywhere, {x} is also {value!r}")
    lacking = {"dimension", "sparsity"} - known.keys()
    if bounds and lacking and problem.family != "paper":
        raise ValueError(f"plot.bounds needs the {lacking.pop()} in [bandit] {problem.title}")


def sweep(settings: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Every choice of one value from each list."""
    choices = []
    for name, value in settings.items():
        with located(name):
            choices.append(as_choices(value))
    for values in itertools.product(*choices):
        yield dict(zip(settings, values, strict=True))


def as_choices(value: Any) -> list[Any]:
    """The values of a sweep; what is no list is its own only choice."""
    if value == []:
        raise ValueError("a sweep must hold at least one value, got []")
    choices = value if isinstance(value, list) else [value]
    for one in choices:
        if isinstance(one, date | time) or one != one:
            raise ValueError(f"must be a number, a text, a list or a table, got {one}")
    return choices


def short(value: object) -> str:
    """A value for a label: 1.0 is 1, but what is not round keeps all its digits."""
    return f"{value:g}" if isinstance(value, float) and float(f"{value:g}") == value else str(value)


def only_once(names: list[str], kind: str, what: str) -> None:
    """Refuse what tables and figures could not tell apart."""
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ValueError(f"{kind} must each have a {what} of their own, got {twice!r} twice")


def as_text(value: object, where: str) -> str:
    """A text of the file."""
    if not isinstance(value, str):
        raise ValueError(f"{where} must be a text, got {value!r}")
    return value


def as_table(value: object, where: str) -> Mapping[str, Any]:
    """A table of the file."""
    if not isinstance(value, dict):
        raise ValueError(f"{where} must be a table, got {value!r}")
    return value


def is_slow(entry: object, label: str) -> bool:
    """Whether a policy is played with --full only."""
    table = as_table(entry, f"policies.{label}")
    return as_flag(table.get("slow", False), f"policies.{label}: slow")


def only(
    table: Mapping[str, Any], keys: Iterable[str], where: str, required: Iterable[str] = ()
) -> None:
    """Refuse a table with keys that nobody reads, or without one that it needs."""
    keys = list(keys)
    for key in table:
        if key not in keys:
            raise ValueError(f"{where} has the keys {', '.join(keys)}{meant(key, keys)}")
    for key in required:
        if key not in table:
            raise ValueError(f"{key} is missing")


def check_settings(
    make: Callable[..., Any], names: Collection[str], passed: tuple[str, ...]
) -> None:
    """Refuse settings that a class or function does not take, and the lack of one it needs."""
    check_known(make, names, passed)
    for name, parameter in inspect.signature(make).parameters.items():
        needed = parameter.default is parameter.empty and parameter.kind in NAMED
        if needed and name not in names and name not in passed:
            raise ValueError(f"{name} is missing")


def check_known(make: Callable[..., Any], names: Collection[str], passed: tuple[str, ...]) -> None:
    """Refuse settings that a class or function does not take."""
    parameters = inspect.signature(make).parameters.values()
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        return
    takes = [p.name for p in parameters if p.name not in passed]
    for name in names:
        if name not in takes:
            raise ValueError(f"settings are {', '.join(takes) or 'none'}{meant(name, takes)}")


def size(problem: Problem) -> float:
    """How long a problem may take, roughly."""
    dimension = problem.settings.get("dimension", 1)
    return problem.horizon * float(dimension)
