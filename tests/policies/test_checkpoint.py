"""A policy on disk: it goes on bit for bit, and nothing else is ever taken for one."""

import hashlib
import io
import json
import os
from pathlib import Path

import numpy as np
import pytest

from members import members
from soids import SOIDS, Thompson, load, save
from soids.logs import read_log
from soids.policies.checkpoint import MAGIC
from soids.policies.policy import Policy
from soids.policies.posterior_rule import PosteriorRule
from soids.posteriors import Gaussian, Relaxed, SpikeSlab, Subset

pytestmark = pytest.mark.filterwarnings(
    "ignore:.*relaxed posterior:RuntimeWarning",
    "ignore:every coefficient is:RuntimeWarning",
)

ACTIONS = np.random.default_rng(0).uniform(-1, 1, (6, 3))
MENUS = [ACTIONS, ACTIONS[:4], -ACTIONS]


def menus_for(policy):
    """Several sets of actions, or one for a policy that refuses others."""
    return [ACTIONS] * 3 if getattr(policy.rule, "action_bound", None) is not None else MENUS


def reward_of(decision):
    return float(2.0 * decision.action[1] + 0.3 * np.sin(decision.round))


def shown(decision):
    return repr(decision), decision.action.tolist(), decision.probabilities.tolist()


def play_on(policy, rng, pending=(), rounds=4):
    """Everything that can be seen of the policy from here on."""
    before = policy.choose(ACTIONS, rng)
    seen = [shown(before)]
    for decision in (*pending, before):
        policy.observe(decision, reward_of(decision))
    for t in range(rounds):
        decision = policy.choose(menus_for(policy)[t % 3], rng)
        seen.append(shown(decision))
        policy.observe(decision, reward_of(decision))
    if not isinstance(policy.rule, PosteriorRule):
        return seen
    return seen, policy.inclusion().tolist(), str(policy.explain(decision))


def just_made(policy, rng):
    return []


def chosen(policy, rng):
    return [policy.choose(ACTIONS, rng)]


def observed(policy, rng):
    for _ in range(5):
        decision = policy.choose(ACTIONS, rng)
        policy.observe(decision, reward_of(decision))
    return []


def chosen_again(policy, rng):
    observed(policy, rng)
    return [policy.choose(ACTIONS, rng)]


def delayed(policy, rng):
    """Several menus, rewards of some, the belief older than the evidence."""
    decisions = [policy.choose(menu, rng) for menu in menus_for(policy) * 2]
    for decision in decisions[1::2]:
        policy.observe(decision, reward_of(decision))
    return decisions[0::2]


def on_a_new_menu(policy, rng):
    observed(policy, rng)
    return [policy.choose(menus_for(policy)[1], rng)]


@pytest.mark.parametrize("family", members())
@pytest.mark.parametrize(
    "moment", [just_made, chosen, observed, chosen_again, delayed, on_a_new_menu]
)
def test_a_loaded_policy_goes_on_bit_for_bit(family, moment, tmp_path):
    policy, rng = family(3), np.random.default_rng(0)
    pending = moment(policy, rng)
    save(policy, tmp_path / "policy")
    state = rng.bit_generator.state
    lived = play_on(policy, rng, pending)
    rng.bit_generator.state = state
    assert play_on(load(tmp_path / "policy"), rng, pending) == lived


def test_a_surprise_is_believed_in_the_same_steps(tmp_path):
    policy, rng = SOIDS(3, noise=0.3), np.random.default_rng(0)
    (decision,) = chosen_again(policy, rng)
    save(policy, tmp_path / "policy")
    seen = []
    for one in (policy, load(tmp_path / "policy")):
        one.observe(decision, 5.0)
        seen.append(one.inclusion().tolist())
    assert seen[0] == seen[1]


@pytest.mark.parametrize("family", [SOIDS, Thompson])
@pytest.mark.parametrize("moment", [observed, delayed])
def test_saving_changes_nothing_and_saves_the_same_again(family, moment, tmp_path):
    policy = family(3)
    moment(policy, np.random.default_rng(0))
    state = policy.state
    save(policy, tmp_path / "first")
    assert policy.state is state
    restored = load(tmp_path / "first")
    for name in ("rate", "ratios", "root_ratios"):
        assert getattr(restored.state.mind, name) == getattr(state.mind, name)
    assert np.array_equal(restored.law(ACTIONS), policy.law(ACTIONS))
    assert restored.state.has_thought
    save(restored, tmp_path / "second")
    assert (tmp_path / "first").read_bytes() == (tmp_path / "second").read_bytes()


@pytest.mark.parametrize(
    "given",
    [
        {"posterior": "spike_slab", "sparsity": 2, "radius": 3.0, "noise": 0.5},
        {"posterior": Subset(3, sparsity=1, radius=2.0)},
        {"posterior": SpikeSlab(3, slab_variance=4.0)},
        {"posterior": "spike_slab(slab_variance = 4.0)"},
        {"posterior": Relaxed(3, spike_scale=0.2)},
        {"posterior": Gaussian(3, noise=0.5)},
    ],
    ids=str,
)
def test_settings_survive(given, tmp_path):
    settings = {
        **given, "rate": 0.125, "eta": 0.25, "gain": "conditional", "particles": 20, "sweeps": 2
    }  # fmt: skip
    save(Thompson(3, **settings), tmp_path / "policy")
    policy = load(tmp_path / "policy")
    assert type(policy.rule) is Thompson.rule
    assert {name: getattr(policy.rule, name) for name in settings} == settings
    assert policy.rule.model == Thompson(3, **settings).rule.model


@pytest.mark.parametrize(
    "settings", [{"rate": np.float32(0.25)}, {"posterior": Subset(3, sparsity=np.int64(1))}]
)
def test_settings_may_be_numbers_of_numpy(settings, tmp_path):
    save(SOIDS(3, **settings), tmp_path / "policy")
    load(tmp_path / "policy")


def test_a_decision_is_observed_once_whether_before_or_after_the_restart(tmp_path):
    policy, rng = SOIDS(3), np.random.default_rng(0)
    early, late = policy.choose(ACTIONS, rng), policy.choose(ACTIONS, rng)
    policy.observe(early, 1.0)
    save(policy, tmp_path / "policy")
    restarted = load(tmp_path / "policy")
    with pytest.raises(ValueError, match="round 1 has its reward already"):
        restarted.observe(early, 1.0)
    restarted.observe(late, 1.0)
    assert restarted.evidence.rounds == 2


def test_decisions_that_wait_for_their_reward_are_found_again(tmp_path):
    policy, rng = SOIDS(3), np.random.default_rng(0)
    decisions = [policy.choose(menu, rng) for menu in (*MENUS, ACTIONS)]
    policy.observe(decisions[1], 1.0)
    save(policy, tmp_path / "policy")
    restarted = load(tmp_path / "policy")
    assert [found.round for found in restarted.pending] == [1, 3, 4]
    for found in restarted.pending:
        lost = decisions[found.round - 1]
        assert (found.index, found.probability) == (lost.index, lost.probability)
        np.testing.assert_array_equal(found.action, lost.action)
        assert restarted.state.past.pending.menu(found).same(lost.menu)
    restarted.observe(restarted.pending, [1.0, 2.0, 3.0])
    assert restarted.evidence.rounds == 4


def test_a_link_stays_a_link_and_what_is_no_file_stays_what_it_is(tmp_path):
    policy, link = SOIDS(3), tmp_path / "latest"
    (tmp_path / "first").write_bytes(b"old")
    link.symlink_to(tmp_path / "first")
    save(policy, link)
    assert link.is_symlink()
    assert load(tmp_path / "first").dimension == 3
    for other in (tmp_path, tmp_path / ".", "/dev/null"):
        with pytest.raises(FileExistsError, match="path must be a file or a new one"):
            save(policy, other)


def test_a_folder_that_does_not_exist_is_named(tmp_path):
    path = tmp_path / "nowhere" / "policy"
    with pytest.raises(FileNotFoundError, match=r"must lie in a folder that exists, got .*nowhere"):
        save(SOIDS(3), path)


@pytest.mark.skipif(os.name == "nt", reason="needs a umask")
def test_a_file_may_be_read_by_whom_the_umask_allows(tmp_path):
    before = os.umask(0o027)
    try:
        save(SOIDS(3), tmp_path / "policy")
    finally:
        os.umask(before)
    assert (tmp_path / "policy").stat().st_mode & 0o777 == 0o640


@pytest.fixture
def saved(tmp_path):
    policy = SOIDS(3)
    observed(policy, np.random.default_rng(0))
    save(policy, tmp_path / "policy")
    return tmp_path / "policy"


@pytest.mark.parametrize("share", [0.0, 0.001, 0.3, 0.999])
def test_a_truncated_file_is_refused(saved, share):
    content = saved.read_bytes()
    saved.write_bytes(content[: int(share * len(content))])
    with pytest.raises(ValueError, match="path must be"):
        load(saved)


def test_a_file_with_any_byte_changed_is_refused(saved):
    content = saved.read_bytes()
    for where in np.linspace(0, len(content) - 1, 100).astype(int):
        saved.write_bytes(content[:where] + bytes([content[where] ^ 1]) + content[where + 1 :])
        with pytest.raises(ValueError, match=r"path must be .*policy"):
            load(saved)


@pytest.mark.parametrize("content", [b"", b"soids", b"PK\x03\x04", b"soids policy 1\n" + bytes(99)])
def test_a_file_of_another_kind_is_refused(saved, content):
    saved.write_bytes(content)
    with pytest.raises(
        ValueError, match=r"path must be a file written by soids\.save, got '.*policy'"
    ):
        load(saved)


def sealed(body):
    """An envelope that passes the checksum."""
    return MAGIC + hashlib.sha256(body).digest() + body


def archive(**arrays):
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


class Bomb:
    def __reduce__(self):
        return pytest.fail, ("a pickle was opened",)


def test_a_pickle_in_a_valid_envelope_is_refused_unopened(saved):
    saved.write_bytes(sealed(archive(description=np.array([Bomb()], dtype=object))))
    with pytest.raises(ValueError, match="pickle"):
        load(saved)


def text(description):
    return np.frombuffer(json.dumps(description).encode(), dtype=np.uint8)


@pytest.mark.parametrize(
    "body",
    [
        b"not an archive",
        archive(description=np.frombuffer(b"{", dtype=np.uint8)),
        pytest.param(b"", id="nothing"),
        pytest.param(archive(), id="no arrays"),
        pytest.param(archive(description=text({})), id="no keys"),
        pytest.param(archive(description=text([])), id="a list"),
        pytest.param(
            archive(description=text({"family": "SOIDS", "settings": {}})), id="no settings"
        ),
    ],
)
def test_nonsense_in_a_valid_envelope_is_refused(saved, body):
    saved.write_bytes(sealed(body))
    with pytest.raises(ValueError, match=r"."):
        load(saved)


@pytest.mark.parametrize(
    "name",
    ["subprocess:Popen", "soids.files:write_whole", "soids.policies.policy:Policy",
     "soids.policies.policy:nothing", "soids.nowhere:Mind", "soids.policies.policy"],
)  # fmt: skip
def test_only_records_of_ours_are_made_of_what_a_file_says(saved, name):
    with np.load(io.BytesIO(saved.read_bytes()[len(MAGIC) + 32 :])) as stored:
        arrays = dict(stored)
    description = json.loads(arrays["description"].tobytes())
    description["mind"] = {"record": name, "fields": {}}
    saved.write_bytes(sealed(archive(**(arrays | {"description": text(description)}))))
    with pytest.raises(ValueError, match=r"path must hold a policy, .* does not: "):
        load(saved)


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_write_that_fails_leaves_the_old_file(saved, monkeypatch, step):
    before = saved.read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, step, full)
    with pytest.raises(OSError, match="No space left"):
        save(Thompson(3), saved)
    assert saved.read_bytes() == before
    assert list(saved.parent.iterdir()) == [saved]


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        (SOIDS(3, rate=lambda progress: 0.1), "rate must be a name, a number .* got <function"),
        (
            SOIDS(3, posterior=type("Own", (), {"update": print})()),
            "posterior must be .* one of soids' own to be saved",
        ),
        (
            Policy(type("OwnRule", (SOIDS.rule,), {})(3)),
            "policy must be one that POLICIES lists to be saved, got Own",
        ),
        ("policy", "policy must be one of ours to be saved, got 'policy'"),
    ],
    ids=["a function", "a posterior of one's own", "a policy of one's own", "no policy"],
)
def test_what_cannot_be_saved_is_refused_before_the_file_is_touched(policy, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        save(policy, tmp_path / "policy")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "given",
    [{"sweeps": 10**400}, {"particles": 10**9}, {"posterior": "langevin(steps = 1000000)"}],
    ids=["sweeps", "particles", "steps"],
)
def test_a_file_that_asks_for_hours_of_work_needs_trust(given, tmp_path):
    save(Thompson(3, **given), tmp_path / "policy")
    with pytest.raises(ValueError, match=r"policy.* is more than .* load\(path, trust=True\)"):
        load(tmp_path / "policy")
    assert load(tmp_path / "policy", trust=True).rule == Thompson(3, **given).rule


@pytest.mark.parametrize("kind", [str, Path])
def test_a_path_is_text_or_a_path(kind, tmp_path):
    save(SOIDS(3), kind(tmp_path / "policy"))
    assert isinstance(load(kind(tmp_path / "policy")).rule, SOIDS.rule)


@pytest.mark.parametrize("read", [load, read_log])
def test_a_path_that_leads_to_no_file_is_named(read, tmp_path):
    what = f"path must be that of a {'log' if read is read_log else 'file written by soids.save'}"
    with pytest.raises(FileNotFoundError, match=f"{what}, there is no file '.*nofile'$"):
        read(tmp_path / "nofile")
    with pytest.raises(IsADirectoryError, match=f"{what}, got the folder '"):
        read(tmp_path)
    with pytest.raises(ValueError, match=f"{what}, got None$"):
        read(None)
