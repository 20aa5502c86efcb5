"""How policies look: the same colour and dash in every figure and report."""

from collections.abc import Iterable
from typing import NamedTuple

# Of Okabe and Ito (2008), which people of every colour vision can tell apart; their yellow is too
# pale for a line, and their second blue would pass for a lighter first.
HUES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#4d4d4d", "#8c564b")
MORE = ("#999933", "#882255")  # olive and wine, of Tol (2021), for figures with many families
DASHES: tuple[tuple[float, ...], ...] = ((), (5, 1.5), (1.5, 1.2), (7, 1.5, 1.5, 1.5), (3, 1))


class Look(NamedTuple):
    """How a policy is drawn, everywhere."""

    colour: str
    dash: tuple[float, ...]  # on, off, ... in widths of the line; empty for a full one


def looks(policies: Iterable[str], among: Iterable[str] = ()) -> dict[str, Look]:
    """A colour and a dash for each label; labels that begin with the same word share a hue.

    With the labels of all figures in ``among``, the hues are the same in each of them.

    >>> found = looks(["SOIDS", "LinUCB, radius 1", "SOIDS, nothing known"])
    >>> found["SOIDS"]
    Look(colour='#0072b2', dash=())
    """
    policies = list(policies)
    families: dict[str, list[str]] = {family_of(policy): [] for policy in among}
    for policy in policies:
        families.setdefault(family_of(policy), []).append(policy)
    found, hues = {}, HUES + MORE
    for place, members in enumerate(families.values()):
        for rank, policy in enumerate(members):
            hue = hues[place % len(hues)]
            turn = place // len(hues) + rank  # hues that return have another dash
            found[policy] = Look(
                lighter(hue, 0.6 * rank / len(members)), DASHES[turn % len(DASHES)]
            )
    return {policy: found[policy] for policy in policies}


def family_of(policy: str) -> str:
    """The first word of a label."""
    return "".join(policy.replace(",", " ").replace("(", " ").split()[:1]).lower()


def lighter(colour: str, share: float) -> str:
    """The same hue, this share of the way to white."""
    channels = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return "#" + "".join(f"{round(c + share * (255 - c)):02x}" for c in channels)
