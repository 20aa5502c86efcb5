"""README and docs are as commands wrote them: a changed number anywhere fails here."""

import re
import shutil

import numpy as np
import pytest
from click.testing import CliRunner
from numba import config

import pages
import record
import stored
from layouts import as_markdown
from soids.cli import main
from soids.simulation.results import Panel, Runs
from write import write

PAGES = [str(path.relative_to(pages.ROOT)) for path in pages.pages(pages.ROOT)]
RESULTS = [str(path.relative_to(pages.ROOT)) for path in pages.files(pages.ROOT)]
SAMPLE = 12  # digits of a page that are changed


def other_digit(text, place):
    """The text with another digit in one place."""
    return text[:place] + str((int(text[place]) + 1) % 10) + text[place + 1 :]


def digits(text):
    """Where some of the digits of a text are, evenly spread."""
    places = [match.start() for match in re.finditer(r"[0-9]", text)]
    return places[:: max(1, len(places) // SAMPLE)]


@pytest.fixture(scope="module")
def copied(tmp_path_factory):
    """README and docs, to plant errors in, and what is wrong with them before."""
    root = tmp_path_factory.mktemp("copy")
    shutil.copy(pages.ROOT / "README.md", root)
    shutil.copytree(
        pages.ROOT / "docs", root / "docs", ignore=shutil.ignore_patterns("__pycache__")
    )
    return root, set(pages.problems(root))


def test_every_number_of_readme_and_docs_is_as_it_was_written():
    assert not pages.problems()


def test_what_is_stored_comes_from_commits_that_git_knows():
    assert not pages.unknown_commits(pages.commits(pages.ROOT))


@pytest.mark.parametrize("page", PAGES)
def test_another_digit_on_a_page_is_noticed(page, copied):
    root, _ = copied
    text = (root / page).read_text(encoding="utf-8")
    for place in digits(text):
        wrong = other_digit(text, place)
        there = list(pages.changes(pages.prose(page, text), pages.prose(page, wrong)))
        (root / page).write_text(wrong, encoding="utf-8")
        blocks = pages.wrong_blocks(root / page, pages.results(root))
        (root / page).write_text(text, encoding="utf-8")
        assert there or blocks, f"changed and not noticed: {text[place - 40 : place + 20]!r}"


@pytest.mark.parametrize("page", PAGES)
def test_the_error_names_page_and_remedy(page, copied):
    root, before = copied
    text = (root / page).read_text(encoding="utf-8")
    match = re.search(r"(?<=[^`\w])[a-z]{4,} ", text)
    (root / page).write_text(f"{text[: match.end()]}4711 {text[match.end() :]}", encoding="utf-8")
    (line,) = set(pages.problems(root)) - before
    (root / page).write_text(text, encoding="utf-8")
    assert line.startswith(f"{page}: '4711' in '")
    assert "--accept" in line


@pytest.mark.parametrize("name", RESULTS)
def test_another_digit_in_what_is_stored_is_noticed(name, tmp_path):
    text = (pages.ROOT / name).read_text(encoding="utf-8")
    wrong = tmp_path / name.rpartition("/")[2]
    for place in digits(text):
        wrong.write_text(other_digit(text, place), encoding="utf-8")
        with pytest.raises(ValueError, match=r"docs/record\.py"):
            stored.read(wrong)


ORIGIN = {
    "command": "soids run some", "commit": "0" * 40, "date": "2025-11-18", "seeds": "0 to 9"
}  # fmt: skip
HEADS = "panel,policy,seeds,mean,error,worst,low,high,difference,difference_low,difference_high,ms"
REGRET = f"""{HEADS}
dimension = 20,SOIDS,10,102.4,7.2,140.1,90,115,,,,0.61
dimension = 20,FGTS,9,1130.4,37.2,1259,1000,1200,1028,-3.2,1100,0.5
dimension = 40,SOIDS,10,98.6,0.42,101,98,99,,,,0.7
"""


@pytest.fixture
def small(tmp_path):
    """A repository of one page, one table and one printed output."""
    (tmp_path / "docs" / "results").mkdir(parents=True)
    (tmp_path / "docs" / "page.md").write_text("No numbers.\n")
    text = (
        "Since 2021:\n<!-- table: some -->\n<!-- end: some -->\n"
        "<!-- table: said -->\n<!-- end: said -->\n"
    )
    (tmp_path / "README.md").write_text(text)
    stored.write(tmp_path / "docs" / "results" / "some.csv", ORIGIN, REGRET)
    stored.write(tmp_path / "docs" / "results" / "said.txt", ORIGIN, "$ soids list\nall 42\n")
    return tmp_path


def test_writing_makes_all_right_and_writes_the_same_again(small, capsys):
    assert len(pages.problems(small)) == 3  # two blocks, and the year
    assert not write(small, accept=True)
    assert "2021" in capsys.readouterr().out
    assert not pages.problems(small)
    text = (small / "README.md").read_text()
    assert "102 ± 7 [140]" in text
    assert "all 42" in text
    assert not write(small, accept=True)
    assert (small / "README.md").read_text() == text
    assert not capsys.readouterr().out


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("<!-- end: some -->\n", "", "lacks the other one"),
        ("table: some -->", "table: else -->", "lacks the other one"),
        ("table: some -->", "table: some\nrows = ['SOIDS', 'OTCS']\n-->", "got ['OTCS']"),
        ("table: some -->", "table: some\nrow = ['SOIDS']\n-->", "got ['row']"),
        ("table: some -->", "table: some\nrows = \n-->", "must be TOML"),
        ("table: some -->", "table: some\nlayout = 'nice'\n-->", "got 'nice'"),
        ("table: some -->", "table: some\nrows = 3\n-->", "do not fit"),
        ("table: some -->", "table: some\ncells = ['median']\n-->", "got ['median']"),
    ],
)
def test_a_block_that_cannot_be_written_is_reported_and_left(old, new, complaint, small):
    write(small, accept=True)
    page = small / "README.md"
    wrong = page.read_text().replace(old, new, 1)
    page.write_text(wrong)
    assert any(complaint in line for line in write(small))
    assert page.read_text() == wrong


def test_a_changed_cell_and_a_changed_table_are_reported(small):
    write(small, accept=True)
    page, table = small / "README.md", small / "docs" / "results" / "some.csv"
    page.write_text(page.read_text().replace("102 ± 7", "103 ± 7"))
    (problem,) = pages.problems(small)
    assert "some is not as make docs writes it" in problem
    assert "103 ± 7" in problem
    write(small, accept=True)
    table.write_text(table.read_text().replace("102.4", "103.4"))
    assert all("not as a command wrote it" in problem for problem in pages.problems(small))


def test_a_block_without_its_table_is_reported(small):
    write(small, accept=True)
    (small / "docs" / "results" / "some.csv").unlink()
    (problem,) = pages.problems(small)
    assert "no docs/results/some.csv" in problem


@pytest.mark.parametrize("key", ["command", "commit", "date"])
def test_a_stored_table_says_where_it_comes_from(key, small):
    origin = {name: value for name, value in ORIGIN.items() if name != key}
    stored.write(small / "docs" / "results" / "some.csv", origin, REGRET)
    with pytest.raises(ValueError, match=f"'# {key}: ...'"):
        stored.read(small / "docs" / "results" / "some.csv")


def test_a_table_on_no_page_is_reported(small):
    stored.write(small / "docs" / "results" / "more.csv", ORIGIN, REGRET)
    assert any("more.csv is on no page" in line for line in pages.problems(small))


@pytest.mark.parametrize(
    "number", ["7", "-7", "1,000", "0.5", "1e-5", "²", "½", "twice", "fivefold"]
)
def test_numbers_are_seen_in_digits_signs_and_words(number):
    (found,) = pages.prose("page.md", f"It costs {number} of it.")
    assert found.number == number


@pytest.mark.parametrize(("old", "new"), [("-7", "7"), ("theorem2", "theorem3"), ("0.5", ".5")])
def test_any_part_of_a_number_counts(old, new):
    before, after = (pages.prose("page.md", f"about {text} and more") for text in (old, new))
    assert list(pages.changes(before, after))


def test_a_figure_is_known_by_its_hash(small):
    write(small, accept=True)
    figure = small / "docs" / "some.png"
    figure.write_bytes(b"a picture")
    record.keep_figure(figure, ORIGIN, small)
    assert pages.problems(small) == ["docs/some.png is on no page: remove it or show it"]
    (small / "docs" / "page.md").write_text("![Regret](some.png)\n")
    assert not pages.problems(small)
    figure.write_bytes(b"another picture")
    assert len(pages.problems(small)) == 1
    figure.unlink()
    assert len(pages.problems(small)) == 1


# Layouts


def table(body=REGRET):
    return stored.Stored("some", {**ORIGIN, "reference": "SOIDS"}, body)


def shown(options, body=REGRET):
    """The cells of a table, without the rule and the source."""
    lines = as_markdown(table(body), {**options, "origin": False}).splitlines()
    cells = [line.split("|")[1:-1] for line in lines if "--" not in line]
    return [[cell.strip() for cell in line] for line in cells]


def test_policies_stand_beside_problems():
    assert shown({"head": "policy"}) == [
        ["policy", "d = 20", "d = 40"],
        ["SOIDS", "102 ± 7 [140]", "98.6 ± 0.4 [101.0]"],
        ["FGTS", "1,130 ± 37 [1,259] (9 of 10 seeds)", "–"],
    ]


def test_rows_and_problems_are_chosen_and_named():
    options = {"rows": {"FGTS": "**theirs**"}, "columns": ["dimension = 20"], "head": "."}
    assert shown(options | {"cells": ["mean", "difference", "ms"]}) == [
        [".", "regret", "minus SOIDS [95 %]", "ms"],
        ["**theirs**", "1,130 ± 37 (9 of 10 seeds)", "+1,028 [−3, 1,100]", "0.5"],
    ]


def test_problems_stand_side_by_side_or_below_each_other():
    options = {"cells": ["mean", "worst"], "rows": ["SOIDS"], "head": "."}
    assert shown(options | {"ms": True}) == [
        [".", "d = 20", "d = 20: worst seed", "d = 40", "d = 40: worst seed", "ms"],
        ["SOIDS", "102 ± 7", "140", "98.6 ± 0.4", "101.0", "0.7"],
    ]
    assert shown(options | {"stack": True}) == [
        [".", "regret", "worst seed"],
        ["**d = 20**", "", ""],
        ["SOIDS", "102 ± 7", "140"],
        ["**d = 40**", "", ""],
        ["SOIDS", "98.6 ± 0.4", "101.0"],
    ]


def test_a_table_can_be_turned():
    assert shown({"transpose": True, "cells": ["interval"], "head": "."}) == [
        [".", "SOIDS", "FGTS"],
        ["d = 20", "102 [90, 115]", "1,130 [1,000, 1,200] (9 of 10 seeds)"],
        ["d = 40", "98.6 [98.0, 99.0]", "–"],
    ]


def test_a_sweep_has_a_column_for_each_value():
    body = (
        "price,policy,dimension,mean,low,high,slope,slope_low,slope_high\n"
        "1,A,4,29.1,22,39,0.38,0.35,0.46\n1,A,8,80,57,118,0.38,0.35,0.46\n2,A,4,9,8,10,,,\n"
    )
    assert shown({"head": "."}, body) == [
        [".", "d = 4", "d = 8", "slope"],
        ["**price = 1**", "", "", ""],
        ["A", "29 [22, 39]", "80 [57, 118]", "0.38 [0.35, 0.46]"],
        ["**price = 2**", "", "", ""],
        ["A", "9.0 [8.0, 10.0]", "–", ""],
    ]


def test_plain_columns_are_put_together_by_templates():
    body = "axis,size,ms,error\nd,10000,246.3,\nd,20,0.5512,0.025\nK,5,-1.0,2\n"
    options = {"columns": {"d": "{size}", "ms": "{ms} ± {error:.2f}"}, "where": {"axis": "d"}}
    assert shown(options, body) == [["d", "ms"], ["10,000", ""], ["20", "0.55 ± 0.03"]]
    assert shown({}, body)[-1] == ["K", "5", "−1", "2"]
    assert shown({"columns": {"ms": ["{ms} ± {error}", "{ms}"]}}, body)[1] == ["246"]
    assert shown(options | {"blank": {"ms": {"size": 10}}}, body)[-1] == ["20", ""]


def test_numbers_stand_in_sentences():
    number = {"column": "mean", "panel": "dimension = 20", "policy": "FGTS"}
    options = {"layout": "lines", "lines": ["- It has {a}, or {a:.1f}."], "numbers": {"a": number}}
    assert as_markdown(table(), options | {"origin": False}) == "- It has 1,130, or 1130.4.\n"


@pytest.mark.parametrize(
    ("number", "complaint"),
    [({"column": "no"}, "got \\['no'\\]"), ({"column": "mean"}, "got 3 for")],
)
def test_a_number_in_a_sentence_is_of_one_row(number, complaint):
    with pytest.raises(ValueError, match=complaint):
        as_markdown(table(), {"layout": "lines", "lines": ["{a}"], "numbers": {"a": number}})


def test_the_last_line_says_where_numbers_come_from():
    last = as_markdown(table(), {}).splitlines()[-1]
    assert last == "<sub>seeds 0 to 9; `soids run some`; commit 0000000; 18 November 2025</sub>"


# Recording


def test_a_run_becomes_one_line_for_each_problem_and_policy():
    def runs(final):
        count = len(final)
        return Runs(np.arange(count), np.array([1000]), np.array([final]).T, np.ones(count))

    panel = Panel("dimension = 20", {}, {"A": runs([1.0, 2.0, 3.0]), "B": runs([2.0, 4.0, 6.0])})
    found = stored.Stored("x", {}, record.tidy([panel], "A"))
    ours, theirs = found.rows
    assert (ours["mean"], ours["error"], ours["worst"], ours["difference"]) == (
        "2", "0.57735", "3", "",
    )  # fmt: skip
    assert (theirs["seeds"], theirs["difference"], theirs["ms"]) == ("3", "2", "1")


def test_a_benchmark_is_called_again_by_the_settings_that_are_not_the_defaults():
    settings = {"names": ["dimension"], "quick": True, "settling": 200, "decisions": 30}
    line = record.command_line("python -m benchmarks growth", settings)
    assert line == "python -m benchmarks growth --axis dimension --quick --settling 200"


@pytest.mark.parametrize(
    ("seeds", "words"), [(range(10), "0 to 9"), ([3], "3"), ([1, 2, 5], "1, 2, 5")]
)
def test_seeds_are_said_as_a_range_if_they_are_one(seeds, words):
    assert record.in_words(seeds) == words


# Examples


TUTORIAL = "docs/tutorial.md"  # all its blocks are one program
BLOCK = re.compile(r"```python\n(?P<code>[^`]*)```(\s*```text\n(?P<printed>[^`]*)```)?")
EXAMPLE = re.compile(r"```python\n(?P<code>[^`]*)```\s*```text\n(?P<printed>[^`]*)```")
EXAMPLES = [
    pytest.param(match["code"], match["printed"], id=f"{page}:{match['code'].count(chr(10))} lines")
    for page in PAGES
    if page != TUTORIAL
    for match in EXAMPLE.finditer((pages.ROOT / page).read_text(encoding="utf-8"))
]


@pytest.mark.skipif(config.DISABLE_JIT, reason="would take minutes as plain Python")
@pytest.mark.parametrize(("code", "printed"), EXAMPLES)
def test_an_example_prints_what_the_page_says(code, printed, capsys):
    exec(compile(code, "example", "exec"), {})
    assert capsys.readouterr().out.split() == printed.split()


@pytest.mark.skipif(config.DISABLE_JIT, reason="would take minutes as plain Python")
def test_the_tutorial_is_a_program_that_prints_what_it_says(capsys):
    names = {}
    for block in BLOCK.finditer((pages.ROOT / TUTORIAL).read_text(encoding="utf-8")):
        exec(compile(block["code"], TUTORIAL, "exec"), names)
        assert capsys.readouterr().out.split() == (block["printed"] or "").split()
    assert names["running"].dimension == len(names["names"])


SWEPT = """
horizon = 4
seeds = 2
[bandit]
family = "paper"
dimension = [20, 30]
[policies]
uniform = { policy = "uniform" }
LinUCB = { policy = "linucb", alpha = [1.0, 3.0] }
[figure]
x = "%s"
policies = ["uniform", "LinUCB"]
"""


@pytest.mark.parametrize(
    ("x", "columns", "labels"),
    [
        ("alpha", record.TIDY, {"uniform", "LinUCB, alpha = 1", "LinUCB, alpha = 3"}),
        ("dimension", ("policy", "dimension", "mean"), {"uniform", "LinUCB, alpha = 1"}),
    ],
)
def test_only_a_sweep_of_the_bandit_is_stored_as_one(x, columns, labels, tmp_path, monkeypatch):
    (tmp_path / "swept.toml").write_text(SWEPT % x)
    asked = ["run", str(tmp_path / "swept.toml"), "--out", str(tmp_path / "out"), "--workers", "1"]
    assert CliRunner().invoke(main, asked).exit_code == 0
    kept = []
    monkeypatch.setattr(record, "commit", lambda: "0" * 40)
    monkeypatch.setattr(record, "keep", lambda *what: kept.append(what))
    arguments = ["experiment", str(tmp_path / "out"), "--command", "soids run swept.toml"]
    assert CliRunner().invoke(record.record, arguments).exit_code == 0
    ((name, origin, body),) = kept
    assert name == "swept"
    table = stored.Stored(name, {}, body)
    assert tuple(table.columns)[: len(columns)] == columns
    assert labels <= {row["policy"] for row in table.rows}
    assert origin.get("reference", "uniform") == "uniform"


def test_a_new_number_in_prose_must_be_accepted(small):
    write(small, accept=True)
    page = small / "README.md"
    page.write_text(page.read_text() + "\nIt is 17 times faster.\n")
    for _ in range(2):  # writing once more accepts nothing
        assert any("numbers in prose have changed" in line for line in write(small))
    assert not write(small, accept=True)
    assert not write(small)
