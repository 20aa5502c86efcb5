"""Files of actions: what is read, and what is refused in which words."""

import re

import numpy as np
import pytest

from soids.features.action_files import read_actions


@pytest.mark.parametrize("header", ["", "a,b\n", "\ufeffa,b\n", "\n"])
@pytest.mark.parametrize("blank", [",", ", ", " ", "\t"])
def test_text_is_read_with_and_without_names(tmp_path, header, blank):
    path = tmp_path / "actions.csv"
    rows = [["1", "0"], ["0", "-1"], ["1e-1", "0.5"]]
    text = header.replace(",", blank) + "\n".join(blank.join(row) for row in rows)
    path.write_text(text, encoding="utf-8")
    assert read_actions(path).tolist() == [[1.0, 0.0], [0.0, -1.0], [0.1, 0.5]]


def test_arrays_of_numpy_are_read(tmp_path):
    path = tmp_path / "actions.NPY"
    with path.open("wb") as file:
        np.save(file, np.eye(3, dtype=np.int8))
    for dimension in (None, 3):
        assert np.array_equal(read_actions(path, dimension), np.eye(3))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", b"", "no line of numbers"),
        ("a.csv", b"x,y\n", "no line of numbers"),
        ("a.csv", b"1,2\n3\n", "action 2 must have 2 features as the first, got 1"),
        (
            "a.csv",
            b"1,2\n3,four\n",
            "action 2 must hold numbers separated by commas or blanks, got 'four'",
        ),
        ("a.csv", b"1,2\n3,nan\n", "actions[1, 1] must be finite"),
        ("a.csv", b"1,2,3\n", "actions must have shape (K, 2), one action a row, got (1, 3)"),
        (
            "a.txt",
            b"once upon a time\nthere were no numbers\n",
            "blanks, got 'there': fill gaps",
        ),
        ("a.npz", b"PK\x03\x04\xff\xfe", "this is neither"),
        ("a.npy", b"", "reading magic string"),
        ("a.npy", b"1,2\n3,4\n", "magic string is not correct"),
        ("a.npy", np.ones((0, 2)), "at least one action"),
        ("a.npy", np.ones(2), "actions must have shape (K, 2)"),
        ("a.npy", np.ones((3, 2), dtype=complex), "real numbers"),
        ("a.npy", np.array([[{}, {}]]), "Object arrays cannot be loaded"),
    ],
)
def test_files_that_hold_no_actions_are_refused(tmp_path, name, content, message):
    path = tmp_path / name
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        np.save(path, content, allow_pickle=True)
    with pytest.raises(ValueError, match=re.escape(message)):
        read_actions(path, 2)


@pytest.mark.parametrize("actions", [np.float64(3.0), np.ones(2), np.ones((0, 2))])
def test_without_a_dimension_the_shape_is_checked_too(tmp_path, actions):
    path = tmp_path / "a.npy"
    np.save(path, actions)
    with pytest.raises(ValueError, match=r"actions must have shape \(K, d\), one action a row"):
        read_actions(path)
