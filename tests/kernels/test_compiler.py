import gc
import importlib.util
import io
import os
import re
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest
from numba import config

import soids
from soids.kernels import compiler
from soids.kernels.compiler import Compilations, copy_compiled, folder_of, private_folder

KERNEL = """
from soids.kernels.compiler import njit

@njit(cache=True)
def twice(x):
    return 2 * x
"""
compiled_only = pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")


@pytest.fixture
def unwritable(tmp_path, monkeypatch):
    """A module whose folder and whose user's home cannot be written, not even by root."""
    file = tmp_path / "package" / "kernel.py"
    file.parent.mkdir()
    file.write_text(KERNEL)
    for name in ("package/__pycache__", "home"):
        (tmp_path / name).write_text("a file where a folder is wanted")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(config, "CACHE_DIR", "")
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    for function in (private_folder, copy_compiled, compiler.warn_once):
        function.cache_clear()
    yield file
    for function in (private_folder, copy_compiled, compiler.warn_once):
        function.cache_clear()


def kernel_of(file):
    """The kernel of a file, imported anew."""
    spec = importlib.util.spec_from_file_location("kernel", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.twice


def test_every_kernel_is_compiled_by_our_compiler():
    for file in Path(soids.__file__).parent.rglob("*.py"):
        if file.name != "compiler.py":
            assert not re.search(r"from numba import .*jit|numba\.n?jit", file.read_text()), file


@compiled_only
def test_compiled_code_is_kept_among_temporary_files_if_nothing_else_can_be_written(unwritable):
    kernel = kernel_of(unwritable)
    assert kernel(3) == 6
    folder = folder_of(kernel)
    assert folder.is_relative_to(private_folder())
    assert private_folder().is_relative_to(unwritable.parents[1] / "temporary")
    assert private_folder().stat().st_mode & 0o077 == 0
    assert [path.suffix for path in sorted(folder.iterdir())] == [".nbc", ".nbi"]
    again = kernel_of(unwritable)
    assert again(4) == 8
    assert sum(again.stats.cache_hits.values()) == 1
    assert config.CACHE_DIR == ""


@compiled_only
def test_without_any_folder_kernels_are_compiled_with_one_warning_that_has_the_remedy(
    unwritable, monkeypatch
):
    monkeypatch.setattr("tempfile.tempdir", str(unwritable.parents[1] / "home"))
    with pytest.warns(RuntimeWarning, match="set NUMBA_CACHE_DIR") as warned:
        kernels = [kernel_of(unwritable) for _ in range(2)]
    assert len(warned) == 1
    assert [kernel(3) for kernel in kernels] == [6, 6]
    assert folder_of(kernels[0]) is None


@compiled_only
def test_a_folder_that_others_can_write_is_refused(unwritable):
    private_folder().chmod(0o777)
    private_folder.cache_clear()
    assert private_folder() is None


@compiled_only
def test_the_folder_that_the_user_names_comes_first(unwritable, monkeypatch, tmp_path):
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path / "named"))
    assert folder_of(kernel_of(unwritable)).is_relative_to(tmp_path / "named")


@compiled_only
def test_code_compiled_at_installation_is_used_where_the_package_cannot_be_written(
    unwritable, tmp_path
):
    beside = unwritable.parent / "__pycache__"
    beside.unlink()
    assert kernel_of(unwritable)(3) == 6  # as soids warmup does when an image is built
    built = {path.name: path.read_bytes() for path in beside.glob("*.nb*")}
    assert len(built) == 2
    copy_compiled.cache_clear()
    copy_compiled(beside, tmp_path / "temporary")
    assert {path.name: path.read_bytes() for path in (tmp_path / "temporary").iterdir()} == built


def test_code_is_copied_with_its_index_or_not_at_all(tmp_path):
    source, target = tmp_path / "source", tmp_path / "target"
    for folder, names in ((source, ("a.nbi", "a.1.nbc", "b.nbi", "b.1.nbc")), (target, ("b.nbi",))):
        folder.mkdir()
        for name in names:
            (folder / name).write_text(folder.name)
    (target / "a.1.nbc").write_text("of an index that is gone")
    copy_compiled(source, target)
    found = {path.name: path.read_text() for path in target.iterdir()}
    assert found == {"a.nbi": "source", "a.1.nbc": "source", "b.nbi": "target"}


def test_an_unwritable_copy_is_no_error(tmp_path):
    (tmp_path / "kernel.nbi").write_text("index")
    copy_compiled(tmp_path, tmp_path / "kernel.nbi")
    copy_compiled(tmp_path, None)
    copy_compiled(tmp_path, tmp_path)
    assert len(list(tmp_path.iterdir())) == 1


def compiling(name, module="soids.kernels.moves.sweep"):
    """The event of a kernel that Numba is about to compile."""
    kernel = SimpleNamespace(__name__=name, py_func=SimpleNamespace(__module__=module))
    return SimpleNamespace(data={"dispatcher": kernel})


@pytest.fixture
def terminal(monkeypatch):
    shown = io.StringIO()
    shown.isatty = lambda: True
    monkeypatch.setattr(compiler, "sys", SimpleNamespace(stderr=shown))
    monkeypatch.setattr(
        "multiprocessing.current_process", lambda: SimpleNamespace(name="MainProcess")
    )
    return shown


def test_a_terminal_shows_one_notice_of_what_takes_long(terminal):
    compilations = Compilations()
    for name in ("raised", "sweep_rows", "sweep_rows"):
        compilations.on_start(compiling(name))
        compilations.on_end(compiling(name))
    assert compilations.count == 3
    assert terminal.getvalue() == compiler.NOTICE.format("")


def compile_all():
    """Compile a long kernel of somebody else, and one of ours."""
    compilations = Compilations()
    for event in (compiling("sweep_rows", "theirs"), compiling("sweep_rows")):
        compilations.on_start(event)
        compilations.on_end(event)


def test_workers_and_threads_show_no_notice(terminal, monkeypatch):
    thread = threading.Thread(target=compile_all)
    thread.start()
    thread.join()
    worker = SimpleNamespace(name="LokyProcess-1")
    monkeypatch.setattr("multiprocessing.current_process", lambda: worker)
    compile_all()
    assert terminal.getvalue() == ""


def test_there_is_no_notice_where_nobody_watches(terminal):
    terminal.isatty = lambda: False
    compile_all()
    assert terminal.getvalue() == ""


def test_the_garbage_collector_is_as_before_after_nested_compilations():
    before, compilations = gc.get_threshold(), Compilations()
    compilations.on_start(compiling("outer"))
    compilations.on_start(compiling("inner"))
    compilations.on_end(compiling("inner"))
    assert gc.get_freeze_count() > 0
    assert gc.get_threshold() == compiler.SELDOM
    compilations.on_end(compiling("outer"))
    assert gc.get_freeze_count() == 0
    assert gc.get_threshold() == before


def test_objects_that_others_froze_stay_frozen():
    gc.freeze()
    try:
        compilations, frozen = Compilations(), gc.get_freeze_count()
        compilations.on_start(compiling("outer"))
        compilations.on_end(compiling("outer"))
        assert gc.get_freeze_count() >= frozen
    finally:
        gc.unfreeze()


def test_settings_of_numba_in_the_working_folder_have_no_effect(tmp_path):
    """They could name a folder of compiled code, and Numba executes what it reads there."""
    (tmp_path / ".numba_config.yaml").write_text("cache_dir: theirs\n")
    code = "from soids.kernels.compiler import config; print(repr(config.CACHE_DIR))"
    environment = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    answer = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    assert answer.stdout.strip() == "''"
