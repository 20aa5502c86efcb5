"""Tables of regrets: files of numbers, and what is printed."""

import csv
import io

import pytest

from soids.output import regret_tables as tables
from soids.output.regret_tables import mean_regret
from soids.output.table import as_csv, as_latex, as_markdown
from soids.simulation.results import Panel, Runs
from some_panels import NASTY, odd_panels, part, random_panels, runs


def read(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_numbers_survive_the_csv_bit_for_bit():
    panels = random_panels()
    rows = read(as_csv(tables.regret(panels)))
    assert len(rows) == 3 * 3 * 10
    for row in rows:
        panel = next(p for p in panels if str(p.problem["dimension"]) == row["dimension"])
        assert float(row["regret"]) == panel.runs[row["policy"]].final[int(row["seed"])]


def test_the_csv_does_not_depend_on_the_order_in_which_seeds_came_nor_on_time():
    panels = random_panels()
    shuffled = [
        panel._replace(
            runs={
                policy: Runs(r.seeds[::-1], r.rounds, r.regret[::-1], 2.0 * r.seconds)
                for policy, r in panel.runs.items()
            }
        )
        for panel in panels
    ]
    assert as_csv(tables.regret(shuffled)) == as_csv(tables.regret(panels))
    assert as_csv(tables.times(shuffled)) != as_csv(tables.times(panels))


@pytest.mark.parametrize("case", odd_panels())
def test_every_file_can_be_written_and_read(case):
    panels = odd_panels()[case]
    for text in (
        as_csv(tables.regret(panels)),
        as_csv(tables.times(panels)),
        as_csv(tables.regret_by_round(panels)),
        as_csv(tables.summary(panels)),
        as_csv(tables.comparison([panels])),
        as_csv(tables.sweep(panels, "dimension")),
    ):
        rows = list(csv.reader(io.StringIO(text)))
        assert len({len(row) for row in rows}) == 1
        assert text.endswith("\n")
    assert (
        as_markdown(mean_regret(panels)).count("\n")
        == as_latex(mean_regret(panels)).count("\n") - 4
    )  # rules


def test_a_table_says_mean_error_and_worst():
    panel = Panel("d = 20", {}, {"SOIDS": runs([40.0, 50.0, 60.0]), "other": runs([7.0])})
    assert as_markdown(mean_regret([panel])).splitlines()[2:] == [
        "| SOIDS | 50 ± 6 [60] |",
        "| other | 7.00 (1 of 3 seeds) |",
    ]
    close = Panel("d = 20", {}, {"SOIDS": runs([239.5, 239.7, 239.8])})
    assert "| SOIDS | 239.7 ± 0.1 [239.8] |" in as_markdown(mean_regret([close]))


def test_labels_cannot_break_out_of_a_table():
    panels = random_panels(dimensions=(20,), policies=NASTY)
    for line in as_markdown(mean_regret(panels)).splitlines():
        assert line.replace("\\|", "").count("|") == 3
    body = as_latex(mean_regret(panels))
    assert r"a\_b \& 50 \% \$x\$ \textless{}b\textgreater{}bold" in body
    assert r"\{x\}\textasciicircum{}2 \textasciitilde{} \#1 \textbackslash{}frac" in body
    assert r"{[}first{]} \textbar{} second" in body  # a bracket after \\ would be a length


def test_every_figure_is_compared_with_its_own_first_policy():
    first, second = random_panels(dimensions=(20,)), random_panels(dimensions=(20,))
    second[0] = second[0]._replace(runs=dict(reversed(second[0].runs.items())))
    rows = list(csv.DictReader(io.StringIO(as_csv(tables.comparison([first, second, first])))))
    pairs = [(row["policy"], row["reference"]) for row in rows]
    assert pairs == [
        ("LinUCB", "SOIDS"),
        ("LinUCB, radius 1", "SOIDS"),
        ("LinUCB", "LinUCB, radius 1"),
        ("SOIDS", "LinUCB, radius 1"),
    ]


def test_many_problems_are_printed_as_rows_and_times_are_of_the_last():
    for count, across in ((6, True), (7, False)):
        shown = part(random_panels(dimensions=range(10, 10 * count + 1, 10)), caption="Ours.")
        table = tables.printed(shown)
        heads, names = (
            ["", *(panel.title for panel in shown.panels), "ms"],
            list(shown.panels[0].runs),
        )
        assert table.heads == (heads if across else ["", *names])
        assert [row[0] for row in table.rows] == (names if across else heads[1:])
        assert table.rows[-1][-1] == "2.00"  # 0.1 seconds for 50 rounds
        assert table.title == "t\nmean regret ± standard error [worst seed]"
        assert table.note.startswith("Ours. The times")
