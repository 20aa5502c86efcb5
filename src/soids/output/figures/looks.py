"""How policies look: the same colour and dash in every figure and report."""

from collections.abc import Iterable
from typing import Any, NamedTuple

# From Okabe and Ito (2008), for people of every colour vision; their yellow is too pale for a line,
# and their second blue would pass for a lighter first.
HUES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#4d4d4d", "#8c564b")
MORE = ("#999933", "#882255")  # olive and wine, from Tol (2021), for figures with many families
# The policies that are compared most often; all others take the hues that these leave free.
FAMILIES = ("soids", "otcs", "estc", "linucb", "fgts", "thompson", "sparse", "lints")
FIXED = dict(zip(FAMILIES, HUES + MORE, strict=False))
SAME = {"sparseids": "sparse"}  # first words of labels that mean the same policy
WIDE, THIN = 2.2, 1.5  # the first policy of the file is the one to look at
DASHES: tuple[tuple[float, ...], ...] = ((), (5, 1.5), (1.5, 1.2), (7, 1.5, 1.5, 1.5), (3, 1))


class Look(NamedTuple):
    """The line of a policy, in every figure."""

    colour: str
    dash: tuple[float, ...]  # on, off, ... in widths of the line; empty for a full one


def looks(policies: Iterable[str], among: Iterable[str] = ()) -> dict[str, Look]:
    """A colour and a dash for each label; labels that begin with the same word share a hue.

    Well-known families have the same hue in every figure. The others take the hues that are left;
    with the labels of all figures in ``among`` they take the same ones in each figure.

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


def stroke(known: dict[str, Look], policy: str) -> dict[str, Any]:
    """How Matplotlib draws the line of a policy; the first of them is wider and lies on top."""
    depth, look = list(known).index(policy), known[policy]
    return {
        "color": look.colour, "dashes": look.dash or (None, None),
        "lw": WIDE if depth == 0 else THIN, "zorder": 3.0 - 0.01 * depth,
    }  # fmt: skip


def hues_of(families: Iterable[str]) -> dict[str, tuple[str, int]]:
    """The hue of each family, and the number of families that have the hue before it."""
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
