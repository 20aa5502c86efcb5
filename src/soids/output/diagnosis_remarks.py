"""A diagnosis in sentences: what was found, what is proven, and what is not."""

from collections.abc import Iterator

import numpy as np

from soids.simulation.diagnosis import Agreement, Beliefs, Diagnosis
from soids.simulation.findings import SURE, Findings
from soids.simulation.guarantees import Guarantees

UNPROVEN = "not proven for this run"


def on_beliefs(seen: Diagnosis, findings: Findings, same: Agreement) -> Iterator[str]:
    """Whether the trial came out as stored, and what the policy's beliefs were like."""
    yield on_agreement(same, len(seen.trace.chosen))
    beliefs = seen.beliefs
    if beliefs is None:
        yield f"This policy has no posterior; it played {findings.actions} actions."
        return
    if findings.resampled is not None:
        yield (
            f"The effective size was below half in {rounds(findings.thin)}; the particles were "
            f"resampled in {rounds(findings.resampled)}, and took a reward in by several steps in "
            f"{rounds(findings.tempered)}."
        )
    if seen.selects:
        yield on_support(findings)
    yield from on_ratios(seen, beliefs, findings)
    yield on_gains(beliefs)
    if findings.regimes:
        named = {"cap": "its cap of one half"}
        shares = [
            f"{named.get(name, f'the {name} term')} in {rounds(count)}"
            for name, count in findings.regimes.items()
        ]
        yield f"The learning rate was {', '.join(shares)}."


def rounds(count: int | None) -> str:
    """A number of rounds in words: no round, 1 round, 20 rounds."""
    return f"{count or 'no'} round{'s' if count and count > 1 else ''}"


def on_agreement(same: Agreement, horizon: int) -> str:
    """Whether the stored trial came out again, and why it may not have."""
    if same.reproduced:
        return f"Played again: all {horizon} rounds are as stored, to the last bit."
    what = f"choices differ from those stored from round {same.choices_differ_from} on"
    if same.choices_differ_from is None:
        what = "choices are as stored, other numbers are not"
    why = "they were played by other code than what is installed now"
    if same.same_code:
        why = "the code is the same, so the machine or a library differs, or a budget_ms was spent"
    return f"Played again: {what}; {why}."


def on_support(findings: Findings) -> str:
    """Whether, and when, the support was found."""
    found = f"The support was found (inclusion above {SURE}) in round {findings.found}"
    if findings.found is None:
        found = f"The support was never included as a whole (inclusion above {SURE})"
    elif findings.lost:
        found += f", and was in doubt again in {rounds(findings.lost)}"
    wrong = f"{findings.intruders or 'no'} other feature{'s' * (findings.intruders != 1)}"
    return f"{found}; in the end {wrong} seemed to matter."


def on_ratios(seen: Diagnosis, beliefs: Beliefs, findings: Findings) -> Iterator[str]:
    """Whether the ratios kept to their bounds, and what these rest on."""
    if findings.square_excess is None:
        yield "No lemma bounds the information ratio of this policy."
        return
    yield f"The 2-ratio was above its bound 2 d in {rounds(findings.square_excess)}."
    if findings.cubic_excess is None:
        yield "No lemma bounds the 3-ratio of this policy."
    elif not np.isfinite(beliefs.cubic_bound).any():
        yield "The 3-ratio has no bound: the actions do not span the space, so C_min is 0."
    else:
        densest, sparsity = int(beliefs.densest.max()), len(seen.support)
        more = f"more than the sparsity {sparsity} that the paper assumes"
        if densest <= sparsity:
            more = f"no more than the sparsity {sparsity}, as the paper assumes"
        yield (
            f"The 3-ratio was above its bound 54 k R / C_min in {rounds(findings.cubic_excess)}. "
            "R is the largest reward of a particle, over the noise. k is the number of features of "
            f"the densest action that may be best: {densest} here, {more}."
        )


def on_gains(beliefs: Beliefs) -> str:
    """How the true information gain compares with the surrogate one."""
    some, times = beliefs.surrogate_gain > 0.0, ""
    if some.any():
        middle = float(np.median(beliefs.true_gain[some] / beliefs.surrogate_gain[some]))
        times = f"In the median round the true information gain was {middle:.3g} times as large. "
    return (
        "The surrogate information gain was at most the true one, as it must be (Proposition "
        f"SIG-TIG). {times}They differ by half the squared error of the posterior mean on the "
        "actions played."
    )


def on_bounds(found: Guarantees) -> Iterator[str]:
    """What the terms are, what is proven, which assumptions fail, and what would be covered."""
    yield (
        "The terms of Theorem 1 are C_T over the last learning rate, plus twice the surrogate "
        "regret, less 3/32 of the information gain over the learning rate. Theorem 3 goes by the "
        "sums of 2-ratios and of the square roots of 3-ratios."
    )
    if found.unit != 1.0:
        yield f"Regret is in units of the rewards, {found.unit:.4g} times those of the theorems."
    values = [one.value for one in (found.theorem1, found.theorem3) if one is not None]
    if values and min(values) >= found.trivial:
        yield "The bounds are vacuous at this horizon: both are above the trivial one."
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
        yield f"A theorem covers this call{condition}: {found.call}"
