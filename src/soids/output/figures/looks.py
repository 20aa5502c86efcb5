"""How policies look: the same colour and dash in every figure and report."""

from collections.abc import Iterable
from typing import NamedTuple

# Of Okabe and Ito (2008), which people of every colour vision can tell apart; their yellow is too
# pale for a line, and their second blue would pass for a lighter first.
HUES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#4d4d4d", "#8c564b")
MORE = ("#999933", "#882255")  # olive and wine, of Tol (2021), for figures with many families
# What the paper and we compare most often; everything else takes the hues that these leave free.
FIXED = {
    "soids": HUES[0],
    "otcs": HUES[1],
    "estc": HUES[2],
    "linucb": HUES[3],
    "fgts": HUES[4],
    "thompson": HUES[5],
    "sparse": HUES[6],
    "lints": MORE[0],
}
SAME = {"sparseids": "sparse"}  # first words that mean the same policies
DASHES: tuple[tuple[float, ...], ...] = ((), (5, 1.5), (1.5, 1.2), (7, 1.5, 1.5, 1.5), (3, 1))


class Look(NamedTuple):
    """How a policy is drawn, everywhere."""

    colour: str
    dash: tuple[float, ...]  # on, off, ... in widths of the line; empty for a full one


def looks(policies: Iterable[str], among: Iterable[str] = ()) -> dict[str, Look]:
    """A colour and a dash for each label; labels that begin with the same word share a hue.

    Well-known families have the same hue in every figure. The others take what is left, and with
    the labels of all figures in ``among`` they do so alike in each of them.

    >>> found = looks(["SOIDS", "LinUCB, radius 1", "SOIDS, nothing known"])
    >>> found["SOIDS"]
    Look(colour='#0072b2', dash=())
    """
    policies = list(policies)
    families: dict[str, list[str]] = {family_of(policy): [] for policy in among}
    for policy in policies:
        families.setdefault(family_of(policy), []).append(policy)
    found, hues = {}, hues_of(families)
    for family, members in families.items():
        hue, turned = hues[family]
        for rank, policy in enumerate(members):
            dash = DASHES[(turned + rank) % len(DASHES)]
            found[policy] = Look(lighter(hue, 0.6 * rank / len(members)), dash)
    return {policy: found[policy] for policy in policies}


def hues_of(families: Iterable[str]) -> dict[str, tuple[str, int]]:
    """The hue of each family, and how many families had the hue before it."""
    families = list(families)
    taken = [FIXED[family] for family in families if family in FIXED]
    hues = HUES + MORE
    free = [(hue, 0) for hue in hues if hue not in taken]
    again = [(hue, turn) for turn in range(1, len(families) + 1) for hue in hues]
    left = iter(free + again)
    return {family: (FIXED[family], 0) if family in FIXED else next(left) for family in families}


def family_of(policy: str) -> str:
    """The first word of a label."""
    word = "".join(policy.replace(",", " ").replace("(", " ").split()[:1]).lower()
    return SAME.get(word, word)


def lighter(colour: str, share: float) -> str:
    """The same hue, this share of the way to white."""
    channels = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return "#" + "".join(f"{round(c + share * (255 - c)):02x}" for c in channels)
