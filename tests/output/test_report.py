import base64
import gzip
import html
import json
import re
import sys
from html.parser import HTMLParser

import pytest

from soids.output import report
from soids.output.report import render
from soids.simulation.statistics import Difference
from some_panels import NASTY, odd_panels, part, random_panels, runs, stepped_panels

pytest.importorskip("plotly")
pytest.importorskip("jinja2")

VERSIONS = {"python": "3.11.7", "soids": "0.1.0"}
SETTINGS = 'title = "a < b & c"\nhorizon = 50\n'
EMPTY = {"meta", "line", "link", "br"}


class Page(HTMLParser):
    """The text of a page, its attributes, and whether its tags fit together."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.words, self.attributes = [], [], []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.attributes += [(tag, name, value) for name, value in attributes]
        if tag not in EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, text):
        if not {"script", "style"} & set(self.open):
            self.words.append(text)

    @property
    def text(self):
        return "".join(self.words)


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(report, "packed_plotly", lambda: "PLOTLY")


def rendered(panels, title="t", **figure):
    return render([part(panels, **figure)], title, SETTINGS, VERSIONS)


def several():
    """A page of two figures: curves of two policies, and a sweep of policies of other names."""
    first = random_panels(policies=("SOIDS", "LinUCB"))
    parts = [
        part(first, title="The <first>", caption="Ours: 25 steps & more.", scale="linear"),
        part(stepped_panels(), title="Steps", x="steps", policies=("exact", "Langevin")),
    ]
    return render(parts, "Two figures", SETTINGS, VERSIONS)


def numbers(page, figure=0):
    return json.loads(re.search(r'id="data">(.*?)</script>', page, re.DOTALL)[1])[figure]


@pytest.mark.parametrize("case", odd_panels())
@pytest.mark.parametrize("x", ["round", "dimension"])
def test_whatever_was_played_can_be_reported(case, x):
    page = rendered(odd_panels()[case], case, x=x, bounds=True)
    assert case in Page(page).text
    assert "nan" not in Page(page).text
    json.dumps(numbers(page), allow_nan=False)


def test_the_note_on_what_was_played_is_at_the_top():
    noted = part(random_panels())._replace(note="T = 7, 2 seeds (--quick)")
    words = Page(render([noted], "Some title", SETTINGS, VERSIONS)).text
    assert words.index("Some title") < words.index("T = 7, 2 seeds (--quick)")
    assert words.index("T = 7, 2 seeds (--quick)") < words.index("Regret is the expected")
    assert "--quick" not in Page(rendered(random_panels())).text


@pytest.mark.parametrize("final", [[1.0, 130.0], [1.0, 90.0, 2.0]])
def test_no_interval_of_a_regret_reaches_below_zero(final):
    panels = random_panels(dimensions=(20, 40), policies=("SOIDS",))
    for panel in panels:
        panel.runs["SOIDS"] = runs(final)
    page = rendered(panels, x="dimension")
    (cell,) = set(re.findall(r"<small>(\[.*?\])</small>", page))
    assert cell.startswith("[0, ")
    drawn = numbers(page)
    assert drawn["panels"][0]["finals"][0]["interval"][0] == 0.0
    assert drawn["sweeps"][0]["lines"][0]["low"] == [0.0, 0.0]


def test_labels_titles_and_settings_are_text_and_nothing_else():
    page = rendered(random_panels(policies=NASTY), "</title><script>alert(1)</script>")
    words = Page(page).text
    assert "<script>alert(1)</script>" in words
    assert SETTINGS in words
    for label in NASTY:
        assert label in words
        assert html.escape(label, quote=False) in [
            policy["label"] for policy in numbers(page)["policies"]
        ]
    assert "<b>bold" not in page
    assert page.count("<script") == 3


def test_the_page_asks_for_nothing_from_elsewhere(monkeypatch):
    monkeypatch.undo()
    page = rendered(random_panels())
    linked = [value for _, name, value in Page(page).attributes if name in ("src", "href")]
    assert linked
    assert all(value.startswith("#") for value in linked)
    assert page.count("plotly.js v") == 0  # it is there once, and compressed
    packed = re.search(r'id="plotly">(.*?)</script>', page, re.DOTALL)[1]
    assert b"plotly.js v" in gzip.decompress(base64.b64decode(packed))[:2000]
    assert len(page) < 2_500_000


def test_every_link_on_the_page_leads_somewhere():
    for text in (rendered(random_panels(), x="dimension"), several()):
        page = Page(text)
        names = [value for _, name, value in page.attributes if name == "id"]
        assert len(set(names)) == len(names)
        for _, name, value in page.attributes:
            if name == "href":
                assert value.removeprefix("#") in names


def test_tables_can_be_scrolled_by_keyboard_and_read_aloud():
    page = rendered(random_panels())
    assert page.count("<table>") == 4
    assert page.count('class="scroll" tabindex="0" role="region" aria-label=') == 4
    assert page.count("<caption>") == 4
    assert page.count('scope="row"') == 3 + 2 + 3 + 3


def test_the_same_panels_give_the_same_page():
    assert rendered(random_panels()) == rendered(random_panels())


def test_differences_are_marked_only_where_zero_is_excluded():
    panels = random_panels(dimensions=(20,), policies=("SOIDS", "LinUCB"))
    panels[0].runs["even"] = runs(panels[0].runs["SOIDS"].final + [1.0, -1.0] * 5)
    page = rendered(panels)
    rows = {
        label: cells
        for label, cells in re.findall(r'<tr><th scope="row">(.*?)</th>(.*?)</tr>', page)
        if "less on" in cells
    }
    assert set(rows) == {"LinUCB", "even"}
    assert 'class="worse">▲ +' in rows["LinUCB"]
    assert "class" not in rows["even"]
    assert "▲" not in rows["even"]


def test_an_end_of_an_interval_that_excludes_zero_does_not_look_like_zero():
    found = report.difference_cell(
        Difference("p", "A", "B", 10, 31.0, 0.3, 61.0, 1, 0, "more regret")
    )
    assert found.main == "▲ +31.0 [+0.3, +61.0]"


def test_each_figure_has_its_title_its_caption_its_tables_and_its_reference():
    page = several()
    words = Page(page).text
    assert words.index("The <first>") < words.index("Ours: 25 steps & more.")
    assert words.index("Differences from SOIDS") < words.index("Differences from exact")
    assert page.count("<table>") == 8
    assert numbers(page)["scale"] == "linear"
    assert [one["plain"] for one in numbers(page)["policies"]] == ["SOIDS", "LinUCB"]
    assert [one["plain"] for one in numbers(page, 1)["policies"]] == ["exact", "Langevin"]
    colours = [one["light"] for i in range(2) for one in numbers(page, i)["policies"]]
    assert len(set(colours)) == 4  # hues are shared out over the page, not over each figure


def test_a_listed_order_is_kept_and_any_other_is_by_regret():
    panels = random_panels(policies=("SOIDS", "LinUCB"))
    for panel in panels:
        panel.runs["floor"] = runs([0.1] * 10)
    for listed, first in ((("SOIDS", "LinUCB", "floor"), "SOIDS"), ((), "floor")):
        page = rendered(panels, policies=listed)
        assert numbers(page)["policies"][0]["plain"] == first
        assert ("by its mean rank" in page) == (not listed)


def test_a_policy_without_the_setting_is_drawn_level():
    assert "A level line with its band" in Page(several()).text
    assert "A level line" not in Page(rendered(random_panels(), x="dimension")).text
    sweeps = numbers(several(), 1)["sweeps"]
    assert [sweep["title"] for sweep in sweeps] == ["dimension = 20", "dimension = 40"]
    for sweep in sweeps:
        level, falling = sweep["lines"]
        assert (level["level"], level["slope"]) == (True, None)
        assert not falling["level"]
        assert len(set(level["mean"])) == 1
        assert falling["mean"][0] > falling["mean"][-1]


def test_the_numbers_drawn_are_those_of_the_panels():
    panels = random_panels()
    panel = numbers(rendered(panels))["panels"][1]
    final = panels[1].runs["SOIDS"].final
    (drawn,) = [found for found in panel["finals"] if found["policy"] == 0]
    assert drawn["regret"] == pytest.approx(final, rel=1e-4)
    assert drawn["seeds"] == list(range(10))
    (curve,) = [found for found in panel["curves"] if found["policy"] == 0]
    assert curve["mean"][-1] == pytest.approx(final.mean(), rel=1e-4)


@pytest.mark.parametrize("missing", ["jinja2", "plotly.offline"])
def test_without_its_libraries_the_remedy_is_said(missing, monkeypatch):
    monkeypatch.undo()
    report.packed_plotly.cache_clear()
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(ImportError, match=r"pip install \"soids\[plot\]\""):
        rendered(random_panels())
