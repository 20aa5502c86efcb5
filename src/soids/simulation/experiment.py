"""Experiments as data: a file that one can read aloud, and the trials it asks for.

horizon = 2000
seeds = 30                   # 0 to 29
bandit = { family = "hypercube", dimension = [20, 40], sparsity = 2 }    # a list is a sweep

[policies]
SOIDS = { policy = "soids", told = ["sparsity", "noise"] }
LinUCB = { policy = "linucb", alpha = [1.0, 3.0] }

The tables quick, feedback and figure may follow: docs/running.md and docs/contexts.md have them.
"""

import itertools
import tomllib
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from soids.arrays import as_count, as_flag
from soids.files import read_regular
from soids.simulation.feedback import Feedback
from soids.simulation.figures import Figure, figures_of
from soids.simulation.play import check_verbs
from soids.simulation.reading import (
    as_blocks,
    as_choices,
    as_table,
    as_text,
    check_settings,
    located,
    only,
    only_once,
    sweep,
)  # fmt: skip
from soids.simulation.trial import TELLABLE, Player, Problem, Trial, family_called
from soids.simulation.user_policies import IMPORTS, modules_in
from soids.spelling import meant

Way = tuple[dict[str, Any], list[str]]  # settings of feedback, and those that set it apart
LAST = 2**63 - 1  # seed, as results store them
MOST = 10_000_000  # seeds of one experiment
KEYS = ("title", "horizon", "seeds", "bandit", "policies", "feedback", "quick", "figure")


@dataclass(frozen=True)
class Experiment:
    """All policies on all problems with all seeds."""

    name: str
    title: str
    problems: tuple[Problem, ...]
    players: tuple[tuple[Player, ...], ...]  # for each problem, in the order of the file
    seeds: tuple[int, ...]
    figures: tuple[Figure, ...]  # that show them
    quick: bool = False
    full: bool = False
    text: str = ""  # of its file
    file: Path | None = None  # beside which policies of the user may be

    @property
    def folder(self) -> str:
        """The folder of its file; empty without a file."""
        return "" if self.file is None else str(self.file.parent)

    @property
    def note(self) -> str:
        """What --quick plays, to stand above tables and figures; empty without --quick."""
        if not self.quick:
            return ""
        horizons = {problem.horizon for problem in self.problems}
        rounds = f"T = {horizons.pop():,}, " if len(horizons) == 1 else ""
        return f"{rounds}{len(self.seeds)} seed{'s' if len(self.seeds) > 1 else ''} (--quick)"

    def trials(self) -> list[Trial]:
        """The largest problems first, so that no core waits at the end; then seed by seed, so
        that policies can be compared early.
        """
        pairs = zip(self.problems, self.players, strict=True)
        return [
            Trial(problem, player, seed)
            for problem, players in sorted(pairs, key=lambda pair: -pair[0].size)
            for seed in self.seeds
            for player in players
        ]

    def check(self) -> None:
        """Build every policy once, so that what cannot be played is refused before anything is.

        Warnings of policies are left aside: settings that earn them are what experiments are for.
        """
        place = self.name if self.file is None else self.file.name
        with located(place), modules_in(self.folder), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for problem, players in zip(self.problems, self.players, strict=True):
                with located(f"bandit {problem.title}"):
                    bandit = problem.make(self.seeds[0])
                    next(bandit.rounds(problem.horizon, np.random.default_rng(0)))
                for player in players:
                    with located(f"policies.{player.label}"):
                        player.check()
                        check_verbs(player.make(bandit, problem.horizon))


def read_experiment(
    path: Path, quick: bool = False, full: bool = False, file: Path | None = None
) -> Experiment:
    """The experiment in a file, or in the copy of a file; errors are ``ValueError`` of one line.

    Policies of users are imported only for a file itself: a copy is data.
    """
    try:
        text = read_regular(path).decode("utf-8-sig").replace("\r\n", "\n")
        table = tomllib.loads(text)
    except UnicodeDecodeError:
        raise ValueError(f"{path.name} must be TOML in UTF-8, it is not text") from None
    except RecursionError:
        raise ValueError(f"{path.name} must be TOML with few brackets within brackets") from None
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{path.name} must be TOML: {error}") from None
    is_copy, file = file is not None, file or path.resolve()
    with located(path.name), nullcontext() if is_copy else modules_in(str(file.parent)):
        return replace(parse_experiment(table, file.stem, quick, full), text=text, file=file)


def parse_experiment(
    table: Mapping[str, Any], name: str, quick: bool = False, full: bool = False
) -> Experiment:
    """The experiment that a table describes."""
    only(table, KEYS, "the file", required=("horizon", "seeds", "bandit", "policies"))
    if quick and "quick" not in table:
        raise ValueError("[quick] is missing: it says what --quick plays")
    swift = as_table(table.get("quick", {}), "quick")
    only(swift, ("horizon", "seeds", "bandit"), "quick")
    if quick:  # what it replaces must be right, too
        parse_experiment(table, name, full=full)
        table = {**table, **swift}
    ways = list(parse_feedback(table.get("feedback", {})))
    problems = tuple(parse_problems(table["bandit"], table["horizon"], ways))
    only_once([problem.title for problem in problems], "bandits", "title")
    entries = as_table(table["policies"], "policies")
    if not entries:
        raise ValueError("policies must name at least one policy")
    late = set()  # policies that are played with --full only
    for label, entry in entries.items():
        place = f"policies.{label}"
        if as_flag(as_table(entry, place).get("slow", False), f"{place}: slow") and not full:
            late.add(label)
    if late == set(entries):
        raise ValueError("policies are all slow = true: they are played with --full only")
    everyone = [all_players(entries, problem) for problem in problems]
    title = as_text(table.get("title", name), "title")
    try:
        figures = figures_of(table.get("figure", {}), title, problems, everyone, late, quick)
    except ValueError:  # perhaps only because a setting of a policy is misspelt
        for player in itertools.chain.from_iterable(everyone):
            if not player.is_ours and not IMPORTS.get():
                continue
            with located(f"policies.{player.label}"):
                player.check()
        raise
    in_time = tuple(tuple(p for p in players if p.entry not in late) for players in everyone)
    seeds = parse_seeds(table["seeds"])
    return Experiment(name, title, problems, in_time, seeds, figures, quick, full)


def all_players(entries: Mapping[str, Any], problem: Problem) -> list[Player]:
    """The policies of all entries, the slow ones too, so that they are checked in any case."""
    players: list[Player] = []
    for label, entry in entries.items():
        with located(f"policies.{label}"):
            players += parse_players(label, entry, problem)
    only_once([player.label for player in players], "policies", "label")
    return players


def parse_seeds(value: object) -> tuple[int, ...]:
    """The first seeds from 0 on, those of a range with both its ends, or those in a list."""
    if isinstance(value, dict):
        only(value, ("from", "to"), "seeds", required=("from", "to"))
        first = as_count(value["from"], "seeds.from", 0, LAST)
        last = as_count(value["to"], "seeds.to", first, min(LAST, first + MOST - 1))
        return tuple(range(first, last + 1))
    if not isinstance(value, list):
        return tuple(range(as_count(value, "seeds", 1, MOST)))
    seeds = tuple(as_count(seed, "seeds", 0, LAST) for seed in value)
    if not seeds or len(set(seeds)) < len(seeds):
        raise ValueError(f"seeds must be a number or a list without repetition, got {value!r}")
    return seeds


def parse_problems(blocks: object, horizon: object, ways: Iterable[Way]) -> Iterator[Problem]:
    """Every bandit with every way of feedback, and with a title that sets it apart."""
    several = list(as_blocks(blocks, "bandit"))
    horizons = [as_count(one, "horizon") for one in as_choices(horizon)]
    for where, block in several:
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
                apart = [f"{n} = {v}" for n, v in chosen.items() if isinstance(settings[n], list)]
                if len(horizons) > 1:
                    apart.append(f"horizon = {rounds}")
                if title is not None:
                    apart.insert(0, title)
                elif len(several) > 1 or isinstance(settings["family"], list):
                    apart.insert(0, family)
                for feedback, different in ways:
                    full_title = ", ".join([*(apart or [family]), *different])
                    yield Problem(family, chosen, rounds, full_title, feedback)


def parse_feedback(table: object) -> Iterator[Way]:
    """The ways in which rewards come back."""
    settings = as_table(table, "feedback")
    only(settings, ("delay", "batch", "loss"), "feedback")
    with located("feedback"):
        for chosen in sweep(settings):
            Feedback(**chosen)  # which checks them
            apart = [f"{n} = {v}" for n, v in chosen.items() if isinstance(settings[n], list)]
            yield chosen, apart


def parse_players(label: str, entry: Mapping[str, Any], problem: Problem) -> Iterator[Player]:
    """The policies that an entry stands for on a problem: one for each choice of its lists."""
    settings = {name: value for name, value in entry.items() if name not in ("told", "slow")}
    told = entry.get("told", [])
    if "policy" not in settings:
        raise ValueError("policy is missing")
    if not isinstance(told, list):
        raise ValueError(f"told must be a list of {', '.join(TELLABLE)}, got {told!r}")
    for name in told:
        if name not in TELLABLE:
            raise ValueError(f"told must list {', '.join(TELLABLE)}{meant(name, TELLABLE)}")
        if name in settings:
            raise ValueError(f"{name} must be told or set, not both")
    fixed = {name: depending(value, name, problem) for name, value in settings.items()}
    for chosen in sweep(fixed):
        policy = chosen.pop("policy")
        swept = tuple(name for name in chosen if len(as_choices(fixed[name])) > 1)
        yield Player(policy, tuple(told), chosen, label, swept)


def depending(value: Any, name: str, problem: Problem) -> Any:
    """A setting that may depend on one of the problem's, as { by = "dimension", 20 = 50 }."""
    if not isinstance(value, dict):
        return value
    known, by = {"family": problem.family, **problem.all_settings}, value.get("by")
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
