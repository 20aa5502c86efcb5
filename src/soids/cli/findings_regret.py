"""Where the regret of a trial lies, as tables on the screen."""

from collections.abc import Iterator

from rich import box
from rich.table import Table

from soids.cli.findings import written_short
from soids.simulation.losses import Losses


def tables(losses: Losses) -> Iterator[Table]:
    """By rounds, by what was known when they were played, and by actions."""
    yield by_rounds(losses)
    if losses.exploring is not None:
        yield by_purpose(losses)
    yield by_actions(losses)


def blank(title: str, *heads: str) -> Table:
    """A table whose columns hold numbers, but for the first."""
    table = Table(title=title, box=box.SIMPLE, pad_edge=False)
    for place, head in enumerate(heads):
        table.add_column(head, justify="right" if place else "left", no_wrap=True)
    return table


def share(part: float, whole: float) -> str:
    """A part of the regret in per cent.

    >>> share(1.0, 3.0), share(0.0, 0.0)
    ('33%', '')
    """
    return f"{part / whole:.0%}" if whole > 0.0 else ""


def by_rounds(losses: Losses) -> Table:
    """The regret of the first 10 rounds, of those up to 30, 100, 300, ..."""
    explores = losses.exploring is not None
    more = ("exploring rounds", "their regret") if explores else ()
    table = blank("Regret by rounds", "rounds", "regret", "share", "a round", *more)
    for one in losses.stretches:
        cells = [
            f"{one.first} to {one.last}",
            written_short(one.regret),
            share(one.regret, losses.regret),
            written_short(one.regret / (one.last - one.first + 1)),
        ]
        if one.exploring is not None and one.regret_exploring is not None:
            cells += [str(one.exploring), written_short(one.regret_exploring)]
        table.add_row(*cells)
    return table


def by_purpose(losses: Losses) -> Table:
    """The regret of exploring, and of playing the action that seemed best though it was not."""
    heads = ("action played", "rounds", "regret", "share", "information gain")
    table = blank("Regret by purpose", *heads)
    parts = (
        ("exploring: not of the highest posterior mean", losses.exploring),
        ("committed, to a wrong action", losses.mistaken),
        ("committed, to the best action", losses.right),
    )
    for label, part in parts:
        if part is not None:
            table.add_row(
                label,
                str(part.rounds),
                written_short(part.regret),
                share(part.regret, losses.regret),
                f"{part.gain:.3g} nats",
            )
    return table


def by_actions(losses: Losses) -> Table:
    """The actions that cost most in all."""
    table = blank("Regret by actions", "action", "gap", "rounds", "regret", "share")
    for one in losses.actions:
        table.add_row(
            str(one.action),
            written_short(one.gap),
            str(one.played),
            written_short(one.regret),
            share(one.regret, losses.regret),
        )
    if losses.others:
        rest = losses.regret - sum(one.regret for one in losses.actions)
        shown = written_short(rest), share(rest, losses.regret)
        table.add_row(f"{losses.others} other{'s' * (losses.others > 1)}", "", "", *shown)
    table.add_row("the best", "0", str(losses.best_played), "0", share(0.0, losses.regret))
    return table
