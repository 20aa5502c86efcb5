import inspect

from soids import POLICIES
from soids.kernels.moves import sweep
from soids.simulation.warmup import cache_folder, warm_up


def test_every_policy_is_played_and_nothing_is_left_to_compile():
    played = []
    warm_up(played.append)
    assert played == list(POLICIES)
    again = warm_up()
    assert again.kernels == 0
    assert again.folder == cache_folder()


def test_the_folder_holds_the_code_of_the_sampler():
    if cache_folder() is not None:
        assert inspect.getmodule(sweep.sweep_rows.py_func) is sweep
        assert list(cache_folder().rglob("sweep.sweep_rows*.nbi"))
