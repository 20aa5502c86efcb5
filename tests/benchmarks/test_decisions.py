"""Regret and time beside a reference: the numbers, the table, the figure and the command."""

import csv
import math

import numpy as np
import pytest
from click.testing import CliRunner
from matplotlib.text import Text

from absent import hide
from benchmarks.decisions import command
from benchmarks.decisions.command import EXPERIMENTS, decisions, tabulated
from benchmarks.decisions.figure import draw_decisions, separated
from benchmarks.decisions.playable import of_dimensions, without_absent
from benchmarks.decisions.standings import Standing, cells, decisions_csv, standings
from realdata import DATA, needs_genotypes
from soids.bandits.data import PLACE
from soids.simulation.experiment import read_experiment
from soids.simulation.results import Panel, Runs

SEEDS = np.arange(8)


def runs(regrets: list[float], seconds: list[float], seeds: object = SEEDS) -> Runs:
    last = np.array(regrets, dtype=float)[:, None]
    return Runs(np.array(seeds), np.array([1000]), last, np.array(seconds, dtype=float))


OURS = runs([40, 42, 44, 46, 48, 50, 52, 54], [2.0] * 8)
PANEL = Panel(
    "dimension = 20",
    {"family": "paper", "dimension": 20, "horizon": 1000},
    {
        "SOIDS": OURS,
        "Peer": runs([140, 141, 145, 146, 149, 150, 151, 157], [8, 10, 12, 10, 10, 10, 10, 6]),
        "Partly": runs([45.0, 49.0], [1.0, 1.0], [2, 5]),
        "Absent": runs([], [], []),
    },
)


def standing(policy: str) -> Standing:
    (found,) = (one for one in standings(PANEL) if one.policy == policy)
    return found


def test_regret_and_time_are_compared_seed_by_seed():
    peer = standing("Peer")
    assert peer.regret == pytest.approx(147.375)
    assert peer.worst == 157.0
    assert peer.difference == pytest.approx(147.375 - 47.0)
    assert 95.0 < peer.difference_low < peer.difference < peer.difference_high < 105.0
    assert peer.verdict == "more regret"
    assert peer.milliseconds == 10.0
    assert (peer.times_low, peer.times, peer.times_high) == (3.0, 5.0, 6.0)


def test_a_policy_is_compared_on_the_seeds_it_shares():
    partly = standing("Partly")
    assert partly.seeds == 2
    assert partly.difference == pytest.approx((45 - 44 + 49 - 50) / 2)
    assert partly.times == 0.5


def test_the_least_regret_stands_first_and_the_absent_nowhere():
    assert [one.policy for one in standings(PANEL)] == ["SOIDS", "Partly", "Peer"]


def test_the_reference_is_no_rival_of_itself():
    ours = standing("SOIDS")
    assert (ours.difference, ours.times, ours.verdict) == (0.0, 1.0, "")
    assert cells(ours, "SOIDS")[3:] == ["", "2.00", "1"]


def test_a_row_says_all_in_few_digits():
    row = cells(standing("Peer"), "SOIDS")
    assert row[:3] == ["Peer", "147 [143, 152]", "157"]
    assert row[3].startswith("100 [")
    assert row[4:] == ["10.00", "5 (3–6)"]


def test_a_single_seed_is_printed_in_as_few_digits():
    one = PANEL._replace(runs={"SOIDS": runs([140.0], [2.0], [0])})
    assert cells(standings(one)[0], "SOIDS")[1:3] == ["140", "140"]


def test_the_table_names_the_reference():
    assert "(median of the seeds, smallest–largest): from SOIDS." in str(tabulated(PANEL).caption)


def test_numbers_can_be_read_back():
    rows = list(csv.DictReader(decisions_csv([PANEL]).splitlines()))
    assert [row["policy"] for row in rows] == ["SOIDS", "Partly", "Peer"]
    assert float(rows[2]["regret"]) == standing("Peer").regret


@pytest.mark.parametrize("heights", [[0.5] * 6, [0.0, 0.0, 1.0, 1.0], [0.2, 0.21, 0.22, 0.9]])
def test_labels_keep_their_distance_and_stay_inside(heights):
    places = separated(np.array(heights), 0.1)
    assert (np.diff(places) >= 0.1 - 1e-12).all()
    assert places.min() >= 0.0
    assert places.max() <= 1.0 + 1e-12


def test_no_label_of_the_figure_lies_on_another():
    many = {f"Peer number {n}": runs([100 + n % 3] * 8, [1.0 + n] * 8) for n in range(16)}
    panel = PANEL._replace(runs={"SOIDS": OURS, **many})
    figure = draw_decisions([panel, panel, panel], "All of them")
    figure.draw_without_rendering()
    for axes in figure.axes[:3]:
        boxes = [Text.get_window_extent(label) for label in axes.texts]  # without their lines
        assert len(boxes) == 17
        for place, box in enumerate(boxes):
            assert not any(box.overlaps(other) for other in boxes[place + 1 :])
            assert figure.bbox.contains(box.x1, box.y1)


def test_the_reference_stands_out():
    figure = draw_decisions([PANEL])
    bold = [label.get_text() for label in figure.axes[0].texts if label.get_weight() == "bold"]
    assert [text.split("  ")[0] for text in bold] == ["SOIDS"]


def test_points_that_share_a_hue_differ_in_shape():
    many = {f"Peer{n}": runs([100 + n] * 8, [1.0 + n] * 8) for n in range(10)}  # hues are seven
    figure = draw_decisions([PANEL._replace(runs={"SOIDS": OURS, **many})])
    points = [line for line in figure.axes[0].lines if line.get_marker() != "None"]
    assert len({(point.get_color(), point.get_marker()) for point in points}) == len(points) == 11


def test_a_regret_of_zero_can_be_drawn():
    panel = PANEL._replace(runs={"SOIDS": OURS, "Lucky": runs([0.0] * 8, [1.0] * 8)})
    low, high = draw_decisions([panel]).axes[0].get_ylim()
    assert 0.0 < low < high


def test_peers_that_are_not_installed_are_left_out_and_named(monkeypatch):
    for library in ("coba", "river", "bayesianbandits", "vowpalwabbit"):
        hide(library, monkeypatch)
    part, reasons = without_absent(read_experiment(EXPERIMENTS["peers"]))
    assert [reason.split()[0] for reason in reasons] == [
        "bayesianbandits", "coba", "river", "vowpalwabbit",
    ]  # fmt: skip
    policies = {player.policy for players in part.players for player in players}
    assert "benchmarks.peers.numpy_linucb:LinUCB" in policies
    assert not any("from_" in policy for policy in policies)


@pytest.mark.parametrize("quick", [False, True])
@pytest.mark.parametrize("name", ["peers", pytest.param("genotypes", marks=needs_genotypes)])
def test_every_experiment_can_be_played(name, quick, monkeypatch):
    monkeypatch.setenv(PLACE, str(DATA))
    part, _ = without_absent(read_experiment(EXPERIMENTS[name], quick, full=True))
    part.check()


def test_a_part_has_the_problems_of_some_dimensions():
    part = of_dimensions(read_experiment(EXPERIMENTS["peers"]), {20, 100})
    assert [problem.settings["dimension"] for problem in part.problems] == [20, 100]
    assert len(part.players) == 2


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("peers", "SOIDS, spike_slab(spread = 0.25), Shannon gain"),
        ("genotypes", "SOIDS, our defaults"),
    ],
)
def test_soids_is_the_reference(name, label):
    for players in read_experiment(EXPERIMENTS[name]).players:
        assert players[0].label == label
        assert players[0].told == ("sparsity", "radius", "noise")


@pytest.fixture
def small(monkeypatch, tmp_path):
    """Shipped experiments that take a second."""
    files = {}
    for name, bandit in {
        "peers": 'family = "paper"\ndimension = [20, 40]',
        "genotypes": 'family = "genotypes"',
    }.items():
        files[name] = tmp_path / f"{name}.toml"
        files[name].write_text(
            f"horizon = 4\nseeds = 2\n[bandit]\n{bandit}\n[policies]\n"
            'SOIDS = { policy = "uniform" }\n'
            'Peer = { policy = "benchmarks.peers.numpy_linucb:LinUCB", radius = 2.0 }\n'
            'Lost = { policy = "benchmarks.peers.from_nowhere:Learner" }\n'
        )
    monkeypatch.setattr(command, "EXPERIMENTS", files)
    return tmp_path / "out"


def test_the_command_plays_what_it_can_and_writes_table_numbers_and_figure(small, monkeypatch):
    monkeypatch.delenv(PLACE, raising=False)
    asked = ["--out", str(small), "--workers", "1"]
    done = CliRunner().invoke(decisions, [*asked, "--dimension", "20"])
    assert done.exit_code == 0, done.output
    assert "Without a peer: No module named 'benchmarks.peers.from_nowhere'." in done.output
    assert "dimension = 20" in done.output
    assert "dimension = 40" not in done.output
    rows = list(csv.DictReader((small / "peers/decisions.csv").read_text().splitlines()))
    assert {row["policy"] for row in rows} == {"SOIDS", "Peer"}
    assert all(float(row["milliseconds"]) > 0.0 for row in rows)
    assert (small / "peers/decisions.png").stat().st_size > 10_000
    whole = CliRunner().invoke(decisions, asked)  # the rest of the paper's, and no genotypes
    assert whole.exit_code == 0, whole.output
    assert "4 of 8 trials are there already" in whole.output
    assert "Without the genotypes: the data of" in whole.output
    assert not (small / "genotypes").exists()


@needs_genotypes
def test_the_command_plays_genotypes_where_the_data_are(small, monkeypatch):
    monkeypatch.setenv(PLACE, "")
    asked = ["--out", str(small), "--workers", "1", "--dimension", "1001"]
    lost = CliRunner().invoke(decisions, asked)
    assert lost.exit_code == 2
    assert "name their folder by --data" in lost.output
    done = CliRunner().invoke(decisions, [*asked, "--data", str(DATA)])
    assert done.exit_code == 0, done.output
    rows = list(csv.DictReader((small / "genotypes/decisions.csv").read_text().splitlines()))
    assert [row["seeds"] for row in rows] == ["2", "2"]
    assert not (small / "peers").exists()
    assert not any(math.isnan(float(row["times"])) for row in rows)
