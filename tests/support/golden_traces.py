"""Digests of what every policy did in short runs, for `test_golden_traces.py`.

A restructuring must keep them. After a deliberate change of random numbers or of rounding, in a
commit of its own, write them anew:

    PYTHONPATH=tests/support python tests/support/golden_traces.py
"""

import hashlib
import inspect
import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import rounding  # noqa: F401  before NumPy

# isort: split
import numpy as np
from threadpoolctl import threadpool_info

from members import COVERED, members, name_of
from soids import POLICIES
from soids.bandits import FAMILIES
from soids.policies.policy import Policy
from soids.simulation.feedback import Feedback
from soids.simulation.play import play

STORED = Path(__file__).parent / "golden_traces.json"
DIMENSION = 5
SEEDS = range(3)
ROUNDS = {True: 12, False: 40}  # policies that sample a posterior do as much in fewer rounds
LATE = Feedback(delay="uniform(0, 4)", batch=2, loss=0.2)
WORLDS = {
    "fixed": partial(FAMILIES["hypercube"], DIMENSION, sparsity=1, actions=8),
    "changing": partial(FAMILIES["oh"], dimension=DIMENSION, sparsity=2, actions=6),
    "late": partial(FAMILIES["hypercube"], DIMENSION, sparsity=1, actions=8),
}
FIXED_SET_ONLY = (*COVERED, "popart_elimination")  # they refuse a second action set
KNOWN = {  # to policies that take it
    "fixed": {"sparsity": 1, "radius": 2.0, "noise": 1.0},
    "changing": {"sparsity": 2, "noise": 0.5},
    "late": {},
}


def runs() -> Iterator[tuple[str, str, partial]]:
    """Every policy with each of its posteriors, in every world that it accepts."""
    for member in members():
        make = member.values[0]
        for world in WORLDS:
            if world == "changing" and name_of(make) in FIXED_SET_ONLY:
                continue
            yield member.id, world, make
        if takes_intercept(make):
            yield f"{member.id} intercept", "late", partial(with_intercept, make)


def takes_intercept(make: partial) -> bool:
    """Whether a policy may have an intercept."""
    return "intercept" in inspect.signature(POLICIES[name_of(make)]).parameters


def with_intercept(make: partial, *args: object, **settings: object) -> Policy:
    """A policy whose model has an intercept from the first reward on."""
    policy = make(*args, intercept=True, **settings)
    past = policy.state.past
    past = past._replace(evidence=past.evidence.about_means())
    policy.state = policy.state._replace(past=past)
    return policy


def digest_of(make: partial, world: str) -> str:
    """A digest of choices, probabilities, regrets, ratios and rates for three seeds."""
    digest = hashlib.blake2b(digest_size=12)
    for seed in SEEDS:
        policy = make(DIMENSION, particles=30, **KNOWN[world])
        rounds = ROUNDS[hasattr(policy.rule, "posterior")]
        feedback = LATE if world == "late" else Feedback()
        trace = play(WORLDS[world](seed=seed), policy, rounds, seed, feedback=feedback)
        for column in (trace.chosen, trace.probability, trace.regret, trace.ratio, trace.rate):
            digest.update(np.where(np.isnan(column), np.nan, column).tobytes())  # one kind of NaN
    return digest.hexdigest()


def machine() -> list[str]:
    """What decides the order of sums, besides us."""
    libraries = {
        f"{library['internal_api']} {library['version']} {library.get('architecture', '')}".strip()
        for library in threadpool_info()
        if library["user_api"] == "blas"
    }
    return [f"numpy {np.__version__}", *sorted(libraries)]


def main() -> None:
    """Write the digests of this tree, and print their digest."""
    traces = {f"{member} {world}": digest_of(make, world) for member, world, make in runs()}
    STORED.write_text(json.dumps({"machine": machine(), "traces": traces}, indent=0) + "\n")
    print(hashlib.blake2b(json.dumps(traces).encode(), digest_size=12).hexdigest())


if __name__ == "__main__":
    main()
