"""No restructuring changes a run: digests of short runs of every policy are as stored."""

import json

import pytest

from golden_traces import STORED, digest_of, machine, runs
from rounding import VARIABLES

GOLDEN = json.loads(STORED.read_text())
RUNS = [pytest.param(make, world, id=f"{member} {world}") for member, world, make in runs()]


def test_every_run_has_a_digest_and_no_digest_is_left_over():
    assert sorted(GOLDEN["traces"]) == sorted(run.id for run in RUNS)


@pytest.mark.skipif(
    machine() != GOLDEN["machine"],
    reason=f"sums round in another way here than with {GOLDEN['machine']}: install these versions "
    f"(requirements-dev.lock) and set {' '.join(map('='.join, VARIABLES.items()))}",
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of short explorations
@pytest.mark.parametrize(("make", "world"), RUNS)
def test_the_run_is_the_one_that_was_stored(make, world, request):
    stored = GOLDEN["traces"][request.node.callspec.id]
    assert digest_of(make, world) == stored
