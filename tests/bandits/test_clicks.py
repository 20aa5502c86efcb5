"""The family of shops: rates, clicks, catalogues."""

import numpy as np
import pytest
from scipy.special import expit

from soids.bandits import ClickBandit, clicks


def test_a_product_without_features_is_clicked_at_the_base_rate():
    bandit = ClickBandit(np.array([[0.0, 0.0], [1.0, 0.0]]), [2.0, 0.0], np.log(0.03 / 0.97))
    assert bandit.rates == pytest.approx([0.03, expit(2.0 + np.log(0.03 / 0.97))])
    assert bandit.truth == {"sparsity": 1, "support": [0], "reward_bound": 1.0}


@pytest.mark.parametrize("features", ["uniform", "gaussian", "indicator"])
def test_effects_have_the_sizes_asked_for(features):
    bandit = clicks(3, features=features, sparsity=5, smallest=0.7, largest=0.9)
    sizes = np.abs(bandit.theta[bandit.theta != 0.0])
    assert len(sizes) == 5
    assert sizes.min() >= 0.7
    assert sizes.max() <= 0.9
    assert bandit.products.shape == (50, 30)


def test_clicks_come_at_their_rates():
    bandit = clicks(0, rate=0.3)
    rewards = np.array([v.reward(7) for v in bandit.rounds(4000, np.random.default_rng(0))])
    rate = bandit.rates[7]
    assert set(rewards) == {0.0, 1.0}  # exactly, though a mean and its noise are added
    assert abs(rewards.mean() - rate) < 4.0 * np.sqrt(rate * (1.0 - rate) / 4000)


@pytest.mark.parametrize("catalogue", [None, 80])
def test_a_longer_run_begins_like_a_shorter_one(catalogue):
    bandit = clicks(1, actions=20, catalogue=catalogue)
    short, long = (list(bandit.rounds(n, np.random.default_rng(4))) for n in (5, 9))
    for one, other in zip(short, long, strict=False):
        assert np.array_equal(one.actions, other.actions)
        assert np.array_equal(one.noise, other.noise)
        assert one.regret(int(one.means.argmax())) == 0.0


def test_a_catalogue_shows_some_of_its_products():
    offers = list(clicks(1, actions=20, catalogue=80).rounds(30, np.random.default_rng(0)))
    assert all(offer.actions.shape == (20, 30) for offer in offers)
    assert len({row.tobytes() for offer in offers for row in offer.actions}) > 60


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"rate": 1.0}, "rate must lie between 0 and 1"),
        ({"features": "round"}, "features must be one of"),
        ({"actions": 20, "catalogue": 10}, "catalogue"),
    ],
)
def test_wrong_settings_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        clicks(0, **settings)
