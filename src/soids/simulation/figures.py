"""What the figures of an experiment show: which policies, against what, with which words."""

import itertools
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from soids.arrays import as_flag
from soids.simulation.reading import as_blocks, as_table, as_text, located, only, only_once
from soids.simulation.trial import Player, Problem
from soids.spelling import meant

KEYS = ("name", "title", "caption", "policies", "x", "bounds", "scale")
SCALES = ("linear", "log")
ROUND = "round"  # the x of curves


@dataclass(frozen=True)
class Figure:
    """One figure of an experiment; its tables show the same policies in the same order."""

    title: str
    name: str = ""  # that sets its files apart from those of the others
    caption: str = ""
    policies: tuple[str, ...] = ()  # entries of the file, in the order of drawing; none means all
    x: str = ROUND  # or the setting, of the bandit or of policies, to plot the regret against
    bounds: bool = False  # whether to draw the rates of the theorems
    scale: str = ""  # of the regret in curves; none means both where one is not enough

    def stem(self, experiment: str) -> str:
        """The name of its files, without their ending."""
        return f"{experiment}-{self.name}" if self.name else experiment

    def shows(self, player: Player) -> bool:
        """Whether a player is in it."""
        return not self.policies or player.entry in self.policies

    def among(self, players: Sequence[Player]) -> list[Player]:
        """Those of the players that it shows, in its order."""
        shown = [player for player in players if self.shows(player)]
        if not self.policies:
            return shown
        return sorted(shown, key=lambda player: self.policies.index(player.entry))


def figures_of(
    blocks: object, title: str, problems: Sequence[Problem], everyone: Sequence[Sequence[Player]],
    late: Collection[str], quick: bool = False,
) -> tuple[Figure, ...]:  # fmt: skip
    """All figures, checked, but those that need the late entries, which are not played.

    With ``quick``, a setting to draw the regret against may have a single value.
    """
    players = [player for found in everyone for player in found]
    entries = list(dict.fromkeys(player.entry for player in players))
    figures = parse_figures(blocks, title, entries)
    for where, figure in figures.items():
        with located(where):
            check_x(figure, problems, everyone, least=1 if quick else 2)
    in_time = [player for player in players if player.entry not in late]
    return tuple(figure for figure in figures.values() if has_content(figure, problems, in_time))


def parse_figures(blocks: object, title: str, entries: Collection[str]) -> dict[str, Figure]:
    """The figures, by their places in the file."""
    found = {}
    for where, block in as_blocks(blocks, "figure"):
        with located(where):
            found[where] = parse_figure(block, title, entries)
    only_once([figure.name for figure in found.values()], "figures", "name")
    if all(figure.policies for figure in found.values()):
        shown = {entry for figure in found.values() for entry in figure.policies}
        for entry in entries:
            if entry not in shown:
                raise ValueError(
                    f"policies.{entry} is in no figure: list it in the policies of one, or leave "
                    "out the policies of one, which then shows all"
                )
    return found


def parse_figure(block: object, title: str, entries: Collection[str]) -> Figure:
    """The figure that a table describes."""
    table = as_table(block, "a figure")
    only(table, KEYS, "a figure")
    name = as_text(table.get("name", ""), "name")
    if not re.fullmatch(r"[A-Za-z0-9_-]*", name):
        raise ValueError(f"name must be letters, digits, - and _, as in a file's, got {name!r}")
    policies = table.get("policies", [])
    if not isinstance(policies, list) or (not policies and "policies" in table):
        raise ValueError(f"policies must be a list of labels of [policies], got {policies!r}")
    for label in policies:
        if label not in entries:
            raise ValueError(f"policies must list labels of [policies]{meant(label, entries)}")
    only_once(policies, "policies", "place")
    scale = as_text(table.get("scale", ""), "scale")
    if scale not in SCALES and "scale" in table:
        raise ValueError(f"scale must be one of {', '.join(SCALES)}{meant(scale, SCALES)}")
    figure = Figure(
        title=as_text(table.get("title", f"{title}: {name}" if name else title), "title"),
        name=name,
        caption=" ".join(as_text(table.get("caption", ""), "caption").split()),
        policies=tuple(policies),
        x=as_text(table.get("x", ROUND), "x"),
        bounds=as_flag(table.get("bounds", False), "bounds"),
        scale=scale,
    )
    for key, curves in (("scale", True), ("bounds", False)):
        if key in table and (figure.x == ROUND) != curves:
            kind = f"curves, with x = {ROUND!r}" if curves else "regret against a setting"
            raise ValueError(f"{key} belongs to a figure of {kind}, got x = {figure.x!r}")
    return figure


def check_x(
    figure: Figure, problems: Sequence[Problem], everyone: Sequence[Sequence[Player]], least: int
) -> None:
    """Refuse a figure that could not be drawn once all is played."""
    if figure.x == ROUND:
        return
    shown = [figure.among(players) for players in everyone]
    lines = values_of(figure.x, problems, shown)
    if not any(lines):
        known = [ROUND, *drawable(problems, shown)]
        raise ValueError(
            f"x must be one of {', '.join(known)} (settings with several values)"
            f"{meant(figure.x, known)}"
        )
    if figure.bounds and sweeps_policies(figure, problems):
        raise ValueError(f"bounds need an x that is a setting of the bandit, got {figure.x!r}")
    for value in itertools.chain.from_iterable(lines):
        if not is_positive(value):
            where = f"{figure.x} is also {value!r}"
            raise ValueError(f"x must be a positive number everywhere, {where}")
    if max(len(set(line)) for line in lines) < least:
        each = " on each problem" if len(lines) > 1 else ""
        raise ValueError(f"x must have at least two values, {figure.x} has one{each}")
    for problem in problems if figure.bounds else ():
        lacking = {"dimension", "sparsity"} - problem.settings.keys()
        if lacking and problem.family != "paper":
            raise ValueError(f"bounds need the {lacking.pop()} in [bandit] {problem.title}")


def values_of(
    name: str, problems: Sequence[Problem], shown: Sequence[Sequence[Player]]
) -> list[list[Any]]:
    """The values of a setting that lines can join: of the problems, or on each of policies."""
    if any(name in problem.all_settings for problem in problems):
        return [[problem.all_settings.get(name, "missing") for problem in problems]]
    return [[p.settings[name] for p in players if name in p.settings] for players in shown]


def drawable(problems: Sequence[Problem], shown: Sequence[Sequence[Player]]) -> list[str]:
    """The settings with at least two values, all of them positive numbers."""
    names = dict.fromkeys(name for problem in problems for name in problem.all_settings)
    names |= dict.fromkeys(name for players in shown for p in players for name in p.settings)
    found = {name: values_of(name, problems, shown) for name in names}
    return [
        name
        for name, lines in found.items()
        if all(map(is_positive, itertools.chain.from_iterable(lines)))
        and max(len(set(line)) for line in lines) > 1
    ]


def is_positive(value: object) -> bool:
    """Whether a value is a positive number."""
    return isinstance(value, int | float) and not isinstance(value, bool) and value > 0


def has_content(figure: Figure, problems: Sequence[Problem], players: Sequence[Player]) -> bool:
    """Whether a figure is drawn with these players only: its first policy must be among them."""
    shown = figure.among(players)
    if not shown or (figure.policies and shown[0].entry != figure.policies[0]):
        return False
    return not sweeps_policies(figure, problems) or any(figure.x in p.settings for p in shown)


def sweeps_policies(figure: Figure, problems: Sequence[Problem]) -> bool:
    """Whether the x of a figure is a setting of policies, and none of the bandits."""
    return figure.x != ROUND and not any(figure.x in p.all_settings for p in problems)
