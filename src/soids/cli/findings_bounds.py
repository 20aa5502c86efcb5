"""The theorems on a trial that was played, as a table and remarks on the screen."""

from collections.abc import Iterator

from rich import box
from rich.table import Table

from soids.cli.findings import written_short
from soids.simulation.guarantees import Guarantees
from soids.theory import Bound, Tally

UNPROVEN = "not proven for this run"


def tabulate(found: Guarantees, regret: float, horizon: int) -> Table:
    """The bounds beside the regret, each with its terms and whether it is proven."""
    table = Table(
        title="Bounds on the expected regret, from what happened in this run",
        box=box.SIMPLE, pad_edge=False, show_header=False,
    )  # fmt: skip
    table.add_column(no_wrap=True)
    table.add_column(justify="right")
    table.add_column()
    table.add_column()
    table.add_row("regret of this run", written_short(regret), "", "")
    rows: tuple[tuple[str, Tally | Bound | None, str, list[str]], ...] = (
        ("Theorem 1", found.theorem1, sums(found.theorem1), found.unmet1),
        ("  by the true gain", found.theorem1_true, sums(found.theorem1_true), found.unmet1),
        ("Theorem 3", found.theorem3, ratios(found), found.unmet3),
    )
    for name, bound, terms, fails in rows:
        if bound is None:
            table.add_row(name, "none", "", terms)
        else:
            state = UNPROVEN if fails else "proven"
            table.add_row(name, written_short(bound.value), state, terms)
    most = f"{horizon:,} rounds, gaps of at most {written_short(found.widest)}"
    table.add_row("trivial", written_short(found.trivial), "", most)
    return table


def sums(tally: Tally | None) -> str:
    """The terms of Theorem 1."""
    if tally is None:
        return "a learning rate is zero"
    terms = [written_short(term) for term in tally]
    return f"{terms[0]} + {terms[1]} - {terms[2]}" + (f" + {terms[3]}" if tally.additive else "")


def ratios(found: Guarantees) -> str:
    """The sums that Theorem 3 depends on."""
    if found.theorem3 is None:
        return "a learning rate is zero, or s > d / 2"
    square, roots = written_short(found.ratios), written_short(found.root_ratios)
    return f"{found.theorem3.regime}; ratios {square}, roots {roots}"


def remarks(found: Guarantees) -> Iterator[str]:
    """What the terms are, what is proven, which assumptions fail, and what would be covered."""
    yield (
        "Theorem 1: C_T over the last learning rate, plus twice the surrogate regret, less 3/32 of "
        "the information gain over the learning rate. Theorem 3: by the sums of 2-ratios and of "
        "the square roots of 3-ratios."
    )
    if found.unit != 1.0:
        yield f"Regret is in units of the rewards, {found.unit:.4g} times those of the theorems."
    values = [one.value for one in (found.theorem1, found.theorem3) if one is not None]
    if values and min(values) >= found.trivial:
        yield "Vacuous at this horizon: both bounds are above the trivial one."
    shared = [reason for reason in found.unmet1 if reason in found.unmet3]
    if shared:
        yield f"Theorems 1 and 3 are {UNPROVEN}: {'; '.join(shared)}."
    for theorem, fails in (("1", found.unmet1), ("3", found.unmet3)):
        own = [reason for reason in fails if reason not in shared]
        if not fails:
            yield f"All that Theorem {theorem} assumes holds for this run."
        elif own:
            verb = "further lacks" if shared else f"is {UNPROVEN}"
            yield f"Theorem {theorem} {verb}: {'; '.join(own)}."
    if found.unmet1 and found.unmet3 and found.call is not None:
        condition = ", if Definition 1 holds" if found.sparse is None else ""
        yield f"Covered by a theorem{condition}: {found.call}"
