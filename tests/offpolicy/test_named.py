"""Policies evaluated by their names: settings, random numbers, and what is refused."""

import re

import numpy as np
import pytest

from soids import POLICIES
from soids.offpolicy import evaluate, learned, replay
from soids.offpolicy.named import evaluate_named
from some_logs import made_log

LOG = made_log(300)


def find(name, settings):
    return POLICIES[name]


def ask(names, settings=None, **options):
    return evaluate_named(LOG, names, find, settings=settings or {}, **options)


def streams(count):
    return [np.random.default_rng(one) for one in np.random.SeedSequence(5).spawn(count)]


def test_each_policy_has_random_numbers_of_its_own():
    found = ask(["logged", "thompson", "lints"], seed=5)
    _, *rngs = streams(3)
    ours = [
        learned(name, POLICIES[name], rng)
        for name, rng in zip(["thompson", "lints"], rngs, strict=True)
    ]
    assert found.reports[1:] == evaluate(LOG, ours).reports


def test_policies_that_go_on_learning_are_replayed_one_by_one():
    found = ask(["uniform", "lints"], mode="rejection", seed=5)
    expected = [
        replay(LOG, name, POLICIES[name], rng)
        for name, rng in zip(["uniform", "lints"], streams(2), strict=True)
    ]
    assert repr(found) == repr(expected)


def test_a_setting_is_of_all_policies_or_of_one():
    made = {}

    def kept(name, settings):
        made[name] = dict(settings)
        return POLICIES[name]

    given = {"linucb.norm": 1.0, "floor": 0.1, "linucb.floor": 0.2}
    evaluate_named(LOG, ["lints", "linucb"], kept, settings=given)
    assert made == {"lints": {"floor": 0.1}, "linucb": {"floor": 0.2, "norm": 1.0}}


@pytest.mark.parametrize(
    ("names", "settings", "mode", "message"),
    [
        (["sods"], {}, "fixed", "did you mean 'soids'?"),
        (["logged"], {}, "rejection", "logged learns nothing"),
        (["uniform"], {"floor": 0.1}, "fixed", "--set is for policies that learn"),
        (["lints", "logged"], {"logged.eta": 1.0}, "fixed", "got 'logged'"),
        (["linucb"], {}, "fixed", "linucb: norm must be given"),
    ],
)
def test_what_cannot_be_evaluated_is_said(names, settings, mode, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        ask(names, settings, mode=mode)
