"""Remarks on a diagnosis: what was found, and what is proven, in sentences."""

import pytest

from soids import E2D, FGTS, SOIDS, SparseLinearBandit, paper_instance
from soids.output.diagnosis_remarks import on_beliefs, on_bounds
from soids.simulation.diagnosis import Agreement, diagnose
from soids.simulation.findings import find
from soids.simulation.guarantees import guarantees

SAME = Agreement(reproduced=True, choices_differ_from=None, same_code=True)


def test_remarks_say_what_was_found():
    bandit = paper_instance(10, seed=0)
    seen = diagnose(bandit, SOIDS(10), 20, seed=0)
    found = find(seen)._replace(thin=1, resampled=2, tempered=0, found=8, lost=3, intruders=1)
    text = " ".join(on_beliefs(seen, found, SAME))
    assert "below half in 1 round; the particles were resampled in 2 rounds" in text
    assert "by several steps in no round" in text
    assert "in round 8, and was in doubt again in 3 rounds; in the end 1 other feature se" in text
    assert "10 here, more than the sparsity 1 that the paper assumes" in text
    lost = " ".join(on_beliefs(seen, found._replace(found=None), SAME))
    assert "never included as a whole" in lost
    flat = SparseLinearBandit([[1.0, 0.0], [-1.0, 0.0]], [1.0, 0.0], 0.5)
    for policy, remark in (
        (E2D(2), "No lemma bounds the information ratio of this policy."),
        (FGTS(2), "No lemma bounds the 3-ratio of this policy."),
        (SOIDS(2), "the actions do not span the space, so C_min is 0."),
    ):
        seen = diagnose(flat, policy, 5, seed=0)
        assert remark in " ".join(on_beliefs(seen, find(seen), SAME))


@pytest.mark.parametrize(
    ("found", "remark"),
    [
        ({"unmet1": [], "unmet3": []}, "All that Theorem 1 assumes holds for this run. All that T"),
        ({"unmet1": [], "unmet3": ["a"]}, "for this run. Theorem 3 is not proven for this run: a."),
        ({"unmet1": ["a"], "unmet3": ["b"]}, "run: a. Theorem 3 is not proven for this run: b. A "),
        (
            {"unmet1": ["a", "b"], "unmet3": ["a"]},
            "Theorems 1 and 3 are not proven for this run: a. Theorem 1 further lacks: b. A theor",
        ),
        ({"unit": 10.0}, "Regret is in units of the rewards, 10 times those of the theorems."),
        ({"trivial": 1.0}, "The bounds are vacuous at this horizon: both are above the trivial on"),
        ({"call": "SOIDS(...)", "sparse": True}, "A theorem covers this call: SOIDS(...)"),
        ({"call": "SOIDS(...)", "sparse": False}, "A theorem covers this call: SOIDS(...)"),
        ({"call": "SOIDS()", "sparse": None}, "covers this call, if Definition 1 holds: SOIDS()"),
        ({"call": None}, "optimal actions must be sparse, Definition 1 fails for these actions."),
    ],
)
def test_what_is_proven_is_said_in_sentences(found, remark):
    bandit = paper_instance(10, seed=0)
    bounds = guarantees(diagnose(bandit, SOIDS(10, noise=1.0), 5, seed=0))._replace(trivial=1e9)
    bounds = bounds._replace(**found)
    text = " ".join(on_bounds(bounds))
    assert remark in text
    assert ("vacuous" in text) == ("trivial" in found)
    covered = bool(bounds.unmet1 and bounds.unmet3 and bounds.call)
    assert text.count("A theorem covers") == covered
