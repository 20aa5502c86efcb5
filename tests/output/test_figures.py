import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from soids.output.figures import draw_curves, draw_part, draw_sweep, save
from soids.output.figures.looks import looks
from soids.output.figures.sweep import separated
from some_panels import NASTY, odd_panels, part, random_panels, stepped_panels

matplotlib = pytest.importorskip("matplotlib")


def labels(figure):
    return [text.get_text() for text in figure.legends[0].get_texts()]


@pytest.mark.parametrize("case", odd_panels())
def test_whatever_was_played_can_be_drawn(case):
    panels = odd_panels()[case]
    draw_curves(part(panels, title=case)).draw_without_rendering()
    draw_sweep(part(panels, title=case, x="dimension", bounds=True)).draw_without_rendering()


def test_the_same_panels_give_the_same_files(tmp_path):
    first = save(draw_curves(part(random_panels())), tmp_path / "a.b")
    assert [path.name for path in first] == ["a.b.png", "a.b.pdf"]
    matplotlib.rcParams["font.size"] = 20.0  # a user's settings are not ours
    try:
        second = save(draw_curves(part(random_panels())), tmp_path / "b")
    finally:
        matplotlib.rcdefaults()
    for one, other in zip(first, second, strict=True):
        assert one.read_bytes() == other.read_bytes()


def test_fonts_are_in_the_pdf_as_truetype_and_dates_are_not(tmp_path):
    pdf = save(draw_curves(part(random_panels())), tmp_path / "f")[1].read_bytes()
    assert b"/FontFile2" in pdf
    assert b"/Type3" not in pdf
    assert b"CreationDate" not in pdf


def test_lines_are_means_and_bands_standard_deviations():
    panels = random_panels(policies=("SOIDS", "other"), dimensions=(20,), horizon=10)
    axes = draw_curves(part(panels)).axes[0]
    runs = panels[0].runs["SOIDS"]
    assert axes.lines[0].get_ydata() == pytest.approx(runs.regret.mean(axis=0))
    band = axes.collections[0].get_paths()[0].vertices
    top = runs.regret.mean(axis=0)[-1] + runs.regret.std(axis=0, ddof=1)[-1]
    assert band[band[:, 0] == 10.0, 1].max() == pytest.approx(top)


def test_the_legend_lists_policies_as_their_lines_end():
    assert labels(draw_curves(part(random_panels()))) == ["LinUCB, radius 1", "LinUCB", "SOIDS"]


def test_regrets_that_differ_by_orders_get_a_logarithmic_row():
    far, near = part(random_panels()), part(random_panels(policies=("SOIDS", "LinUCB")))
    assert [axes.get_yscale() for axes in draw_curves(far).axes] == ["linear"] * 3 + ["log"] * 3
    assert {axes.get_yscale() for axes in draw_curves(near).axes} == {"linear"}


def test_a_scale_that_is_asked_for_is_the_only_one():
    for scale in ("linear", "log"):
        figure = draw_curves(part(random_panels(), scale=scale))
        assert [axes.get_yscale() for axes in figure.axes] == [scale] * 3


def test_a_figure_follows_its_file():
    panels = random_panels()
    listed = ("SOIDS", "LinUCB", "LinUCB, radius 1")
    words = "Some settings are ours: " + "many words " * 30
    plain = draw_part(part(panels), [])
    asked = part(panels, policies=listed, scale="linear", caption=words)
    figure = draw_part(asked, [asked])
    assert labels(figure) == list(listed)
    assert labels(plain) == list(listed[::-1])
    assert {axes.get_yscale() for axes in figure.axes} == {"linear"}
    texts = " ".join(text.get_text() for text in figure.texts)
    assert words.strip() in texts
    figure.draw_without_rendering()
    lowest = min(text.get_window_extent().y0 for text in figure.texts)
    highest = max(t.get_window_extent().y1 for t in figure.texts if "words" in t.get_text())
    assert lowest >= 0.0
    assert highest <= min(axes.get_tightbbox().y0 for axes in figure.axes)


def test_a_note_stands_below_the_title_of_curves_and_sweeps():
    for x in ("round", "dimension"):
        shown = part(random_panels(), x=x)
        plain, noted = (draw_part(one, []) for one in (shown, shown._replace(note="T = 7")))
        words, more = (" ".join(t.get_text() for t in one.texts[1:]) for one in (plain, noted))
        assert more == f"T = 7. {words}"


def test_a_policy_has_its_hue_in_every_figure():
    both = [part(random_panels(policies=some)) for some in (("SOIDS", "OTCS"), ("FGTS", "OTCS"))]
    colours = [draw_part(one, both).axes[0].lines[1].get_color() for one in both]
    assert colours[0] == colours[1]
    hues = looks(["FGTS", "OTCS"], among=["SOIDS", "OTCS", "FGTS"])
    assert hues["OTCS"] == looks(["SOIDS", "OTCS"])["OTCS"]


def test_well_known_policies_have_their_hue_in_figures_of_every_experiment():
    labels = ["OTCS", "Thompson, support known", "PopArt", "sparse IDS", "FGTS", "E2D"]
    alone = {label: looks([label])[label] for label in labels[:2] + labels[3:5]}
    for order in (labels, labels[::-1]):
        found = looks(order)
        assert {label: found[label] for label in alone} == alone
        assert len({look.colour for look in found.values()}) == len(labels)
    assert looks(["SparseIDS"])["SparseIDS"] == alone["sparse IDS"]
    four = looks(["SOIDS, exact sampler", "OTCS", "ESTC", "LinUCB"])  # the paper's figure
    assert [look.colour for look in four.values()] == ["#0072b2", "#d55e00", "#009e73", "#cc79a7"]


def test_families_without_a_hue_of_their_own_share_all_of_them_before_one_returns():
    found = looks(["SOIDS", "LinTS", *"ABCDEFGHIJ"])
    hues = [look.colour for look in found.values()]
    assert len(set(hues[:9])) == 9
    assert len(set(found.values())) == 12


def test_a_policy_without_the_setting_is_a_level_line_with_its_band():
    figure = draw_sweep(part(stepped_panels(), x="steps", policies=("exact", "Langevin")))
    assert labels(figure) == ["exact", "Langevin"]
    for axes, dimension in zip(figure.axes, (20, 40), strict=True):
        (across,) = [line for line in axes.lines if list(line.get_xdata()) == [0, 1]]
        assert list(across.get_ydata()) == pytest.approx([dimension] * 2)
        assert len(axes.texts) == 1  # a level line has no slope
        band = axes.patches[0].get_extents().transformed(axes.transData.inverted())
        assert band.y0 < dimension < band.y1


def test_logarithmic_panels_share_their_scale():
    logs = draw_curves(part(random_panels())).axes[3:]
    assert len({axes.get_ylim() for axes in logs}) == 1


def test_policies_of_a_family_share_a_hue_and_no_two_look_alike():
    names = [f"{family}{ending}" for family in "ABCDEFGHIJ" for ending in ("", ", one", " (two)")]
    found = looks(names)
    assert len(set(found.values())) == len(names)
    for family in "ABCDEFGHIJ":
        base = [int(found[family].colour[i : i + 2], 16) for i in (1, 3, 5)]
        for ending in (", one", " (two)"):
            other = [int(found[family + ending].colour[i : i + 2], 16) for i in (1, 3, 5)]
            shares = [(o - b) / (255 - b) for b, o in zip(base, other, strict=True) if b < 200]
            assert max(shares) - min(shares) < 0.05  # on the way to white, all channels alike


def test_a_label_is_written_as_it_is():
    assert labels(draw_curves(part(random_panels(policies=NASTY[:2]))))[::-1] == list(NASTY[:2])


def test_a_sweep_shows_slopes_and_rates():
    figure = draw_sweep(part(random_panels(), x="dimension", bounds=True))
    assert labels(figure)[-2:] == ["√(s d T)", "(s T)^(2/3)"]
    assert len(figure.axes[0].texts) == 3
    assert figure.axes[0].get_xscale() == figure.axes[0].get_yscale() == "log"


def test_labels_of_slopes_keep_their_order_and_the_gap():
    heights = np.random.default_rng(0).random(12)
    moved = separated(heights, 0.05)
    assert np.argsort(moved).tolist() == np.argsort(heights).tolist()
    assert np.diff(np.sort(moved)).min() > 0.05 - 1e-9
    assert math.isclose(moved.sum(), heights.sum())


def test_nothing_to_draw_is_said():
    panels = random_panels()
    for panel in panels:
        panel.runs.clear()
    with pytest.raises(ValueError, match="nothing to draw yet"):
        draw_curves(part(panels))


def test_a_folder_that_is_not_there_is_said_and_nothing_is_left_behind(tmp_path):
    with pytest.raises(FileNotFoundError, match="folder that exists"):
        save(draw_curves(part(random_panels())), tmp_path / "nowhere" / "f")
    assert list(tmp_path.iterdir()) == []


def test_without_matplotlib_the_remedy_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"pip install \"soids\[plot\]\""):
        draw_curves(part(random_panels()))


def test_importing_loads_no_library_to_draw_with_and_drawing_no_global_state():
    program = (
        "import sys, soids.output.publish\n"
        "assert not {'matplotlib', 'plotly', 'jinja2'} & set(sys.modules)\n"
        "from some_panels import part, random_panels\n"
        "soids.output.figures.draw_curves(part(random_panels()))\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
    )
    folder = Path(__file__).parents[1] / "support"
    done = subprocess.run([sys.executable, "-c", program], cwd=folder, capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
