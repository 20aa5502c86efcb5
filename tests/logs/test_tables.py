"""Any table as a log: its columns are named, its format is found."""

import gzip

import numpy as np
import pytest

from soids.logs import LogError, TableLog, format_of, read_log

pytest.importorskip("pyarrow")

CSV = (
    "day,age,item,p,click,pa,pb,new\n"
    "1,30,b,0.5,1,0.5,0.5,0.2\n"
    "2,40,a,0.25,,0.25,0.75,0.3\n"
    "3,50,b,0.5,0,0.5,0.5,0.4\n"
)
NAMED = {"reward": "click", "propensity": "p", "chosen": "item"}


@pytest.fixture(params=["csv", "csv with a mark", "csv.gz", "parquet"])
def table(request, tmp_path):
    """The same table in several kinds of file."""
    path = tmp_path / f"sales.{request.param.split()[0]}"
    if request.param == "parquet":
        import pyarrow.csv
        import pyarrow.parquet

        (tmp_path / "plain").write_text(CSV)
        pyarrow.parquet.write_table(pyarrow.csv.read_csv(tmp_path / "plain"), path)
    elif request.param == "csv.gz":
        path.write_bytes(gzip.compress(CSV.encode()))
    else:
        path.write_text(CSV, encoding="utf-8-sig" if "mark" in request.param else "utf-8")
    return path


def test_a_table_is_read_by_the_names_of_its_columns(table):
    one, three, two = read_log(table, **NAMED, target="new")
    assert [entry.chosen for entry in (one, two, three)] == [1, 0, 1]
    assert [entry.reward for entry in (one, two, three)] == [1.0, None, 0.0]
    assert [entry.propensity for entry in (one, two, three)] == [0.5, 0.25, 0.5]
    assert [entry.target for entry in (one, two, three)] == [0.2, 0.3, 0.4]
    assert (one.offered, one.line, read_log(table, **NAMED).name) == (2, 1, table.name)


def test_columns_may_hold_a_probability_for_each_action(table):
    named = {**NAMED, "propensity": "pa,pb", "target": "pb,pa"}
    _, _, two = read_log(table, **named, actions="a,b")
    assert two.probabilities.tolist() == [0.25, 0.75]
    assert two.target.tolist() == [0.75, 0.25]
    assert (two.chosen, two.propensity) == (0, 0.25)
    _, _, two = read_log(table, **{**named, "propensity": "pb,pa"}, actions="b,a")
    assert (two.chosen, two.propensity) == (1, 0.25)


@pytest.mark.parametrize("several", [{"propensity": "pb,pa"}, {"target": "pb,pa"}])
def test_columns_for_labels_of_no_known_order_are_refused(table, several):
    with pytest.raises(ValueError, match="actions must list all labels, in the order of the col"):
        read_log(table, **{**NAMED, **several})


def test_whole_numbers_may_be_labels(tmp_path):
    path = tmp_path / "arms.csv"
    path.write_text("arm,reward,propensity\n7,1,0.5\n3,0,0.5\n")
    log = read_log(path, chosen="arm", actions="3,5,7")
    assert [(entry.chosen, entry.offered) for entry in log] == [(2, 3), (0, 3)]
    with pytest.raises(ValueError, match=r"row 1: chosen must be one of 3, 5, got '7'"):
        read_log(path, chosen="arm", actions="3,5")


def test_columns_of_the_context_are_named_or_all_others(table):
    one, *_ = read_log(table, **NAMED, features="age")
    assert np.allclose(one.actions, np.kron(np.eye(2), [1.0, -np.sqrt(1.5)]))
    one, *_ = read_log(table, **NAMED, features="others")
    assert one.actions.shape == (2, 2 * (1 + len(["day", "age", "pa", "pb", "new"])))


def test_actions_are_a_number_labels_or_a_file_of_features(table, tmp_path):
    (tmp_path / "items.txt").write_text("1 2\n3 4\n5 6\n")
    assert next(iter(read_log(table, **NAMED, actions="a,b,c"))).offered == 3
    by_index = {**NAMED, "chosen": "day"}
    assert next(iter(read_log(table, **by_index, actions="4"))).offered == 4
    items = read_log(table, **by_index, actions=str(tmp_path / "items.txt"))
    with pytest.raises(LogError, match=r"sales\.\S+, row 3: chosen must be in 0\.\.2, got 3"):
        list(items)
    with pytest.raises(ValueError, match="separated by commas or a file of features, got 'x'"):
        read_log(table, **NAMED, actions="x")


def test_without_names_the_message_lists_the_columns_and_the_options(table):
    assert format_of(table) in ("table", "parquet")
    with pytest.raises(ValueError, match="--reward, --propensity, --chosen") as error:
        list(read_log(table))
    assert "day, age, item, p, click, pa, pb, new: say what they are" in str(error.value)


def test_a_csv_is_of_the_open_bandit_only_if_it_has_its_columns(tmp_path):
    path = tmp_path / "men.csv"
    path.write_text("item_id,position,click,propensity_score\n0,1,1,0.5\n")
    assert format_of(path) == "obd"
    (entry,) = read_log(path, reward="click", propensity="propensity_score")
    assert (entry.reward, entry.propensity, entry.actions) == (1.0, 0.5, None)
    path.write_text("item_id,position,click,propensity\n0,1,1,0.5\n")
    assert format_of(path) == "table"
    path.write_text('"item_id","position","click","propensity_score"\r\n0,1,1,0.5\r\n')
    assert format_of(path) == "obd"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", b"reward,propensity\n1,0.5,3\n"), ("b.csv", b""), ("c.parquet", b"PAR1 PAR1"),
        ("d.csv.gz", gzip.compress(CSV.encode())[:-9]), ("e.csv", b"reward,propensity\n\xff,1\n"),
        ("f.csv", b"reward,propensity\n"), ("g.csv.gz", b"\x1f\x8b\x08\x00garbage"),
        ("h.csv", b"item_id,position\rclick,propensity_score\n0,1,1,0.5\n"),
    ],
)  # fmt: skip
def test_a_damaged_table_is_refused_by_its_name(name, content, tmp_path):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=name):
        list(TableLog(tmp_path / name))
    with pytest.raises(ValueError, match=name):
        list(read_log(tmp_path / name))
