"""Published policies, and policies of ours, evaluated on the Open Bandit Dataset."""

import math

import numpy as np
import pytest

from realdata import DATA, needs_obd
from soids.logs import OpenBanditLog
from soids.offpolicy import NAMED, Candidate, evaluate

OBD = DATA / "obd"
CAMPAIGNS = [
    (policy, campaign) for policy in ("random", "bts") for campaign in ("all", "men", "women")
]


@needs_obd
@pytest.mark.parametrize(("policy", "campaign"), CAMPAIGNS)
def test_the_logging_policies_of_the_open_bandit_are_worth_their_clicks(policy, campaign):
    found = evaluate(OpenBanditLog(OBD / policy / f"{campaign}.csv.gz"), [NAMED["logged"]])
    estimate = found.reports[0].estimates[0]
    assert found.rounds == 10_000
    assert estimate.value == pytest.approx(found.mean_reward, rel=1e-12)
    assert estimate.low < found.mean_reward < estimate.high


@needs_obd
@pytest.mark.parametrize("campaign", ["all", "men", "women"])
def test_uniform_told_from_either_log_agrees_or_is_refused(campaign):
    """Within 3 standard errors of both; for women one weight of 21,739 leaves 2 rounds."""
    own = evaluate(OpenBanditLog(OBD / "random" / f"{campaign}.csv.gz"), [NAMED["uniform"]])
    other = evaluate(OpenBanditLog(OBD / "bts" / f"{campaign}.csv.gz"), [NAMED["uniform"]])
    report = other.reports[0]
    if campaign == "women":
        assert report.overlap.largest == pytest.approx(1e6 / 46)
        assert report.overlap.effective < 3.0
        assert not report.reliable
        return
    assert report.overlap.effective > 300
    for mine, theirs in zip(own.reports[0].estimates, report.estimates, strict=True):
        if mine.method != "DM":
            assert abs(mine.value - theirs.value) <= 3 * math.hypot(mine.error, theirs.error)


@needs_obd
@pytest.mark.parametrize("campaign", ["all", "men", "women"])
def test_thompsons_policy_told_from_the_random_log_agrees_with_its_clicks(campaign):
    """Its law is taken as its frequencies, item by item, at each position."""
    counts = {}
    for entry in OpenBanditLog(OBD / "bts" / f"{campaign}.csv.gz"):
        position = int(entry.actions[0, -3:].argmax())
        counts.setdefault(position, np.zeros(entry.offered))[entry.chosen] += 1.0
    law = {position: count / count.sum() for position, count in counts.items()}
    theirs = Candidate("bts", lambda rounds: lambda e: law[int(e.actions[0, -3:].argmax())])
    found = evaluate(OpenBanditLog(OBD / "random" / f"{campaign}.csv.gz"), [theirs])
    earned = evaluate(OpenBanditLog(OBD / "bts" / f"{campaign}.csv.gz"), [NAMED["logged"]])
    truth = earned.reports[0].estimates[0]
    for estimate in found.reports[0].estimates[:2]:
        assert abs(estimate.value - truth.value) <= 3 * math.hypot(estimate.error, truth.error)


@needs_obd
def test_a_weight_of_a_million_in_a_real_log_is_handled_and_flagged():
    log = OpenBanditLog(OBD / "bts" / "women.csv.gz")
    rare = min(log, key=lambda entry: entry.propensity)
    assert rare.propensity == 1e-6
    always = Candidate("rare", lambda rounds: lambda entry: np.eye(46)[rare.chosen])
    report = evaluate(log, [always]).reports[0]
    assert report.overlap.largest == pytest.approx(1e6)
    assert not report.reliable
    assert f"line {rare.line}" in report.remarks[0]
    assert all(math.isfinite(estimate.value) for estimate in report.estimates)
    assert all(estimate.low is None for estimate in report.estimates)
