"""Files that are written whole: their mode, what killed writers leave, and who else writes."""

import errno
import io
import os
import signal
import stat
import subprocess
import sys
import threading
import zipfile
from pathlib import Path

import pytest

from soids import files, load
from soids.archives import read_arrays
from soids.files import read_regular, write_whole

pytestmark = pytest.mark.skipif(os.name == "nt", reason="needs modes and locks of Unix")

KILLED = """
import os, signal, sys
from pathlib import Path
from soids import files
os.fsync = lambda descriptor: os.kill(os.getpid(), signal.SIGKILL)
files.write_whole(Path(sys.argv[1]), b"never")
"""
WAITING = """
import sys, time
from pathlib import Path
from soids import files
with files.alone(Path(sys.argv[1])) as descriptor:
    print("there", flush=True)
    sys.stdin.read()
"""


def without_locks(*_):
    raise OSError(errno.ENOLCK, "No locks available")


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("before", [0o600, 0o640, 0o755])
def test_a_file_keeps_its_mode(before, tmp_path):
    path = tmp_path / "policy"
    path.write_bytes(b"old")
    path.chmod(before)
    write_whole(path, b"new")
    assert (path.read_bytes(), mode(path)) == (b"new", before)


def test_a_secret_is_never_readable_under_its_temporary_name(tmp_path, monkeypatch):
    path, modes = tmp_path / "policy", []
    path.write_bytes(b"old")
    path.chmod(0o600)
    replace = os.replace

    def watched(source, target):
        modes.append(mode(source))
        replace(source, target)

    monkeypatch.setattr(os, "replace", watched)
    write_whole(path, b"new")
    assert modes == [0o600]


def test_killed_writers_leave_one_file_that_the_next_one_takes_away(tmp_path):
    path = tmp_path / "policy"
    path.write_bytes(b"old")
    for _ in range(3):
        killed = subprocess.run([sys.executable, "-c", KILLED, path], check=False)
        assert killed.returncode == -signal.SIGKILL
        assert len(list(tmp_path.iterdir())) == 2
        assert path.read_bytes() == b"old"
    write_whole(path, b"new")
    assert [(one, one.read_bytes()) for one in tmp_path.iterdir()] == [(path, b"new")]


def test_what_another_process_is_writing_is_waited_for(tmp_path):
    path, beside = tmp_path / "policy", tmp_path / ".policy.part"
    other = subprocess.Popen(
        [sys.executable, "-c", WAITING, beside], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert other.stdout.readline() == b"there\n"
    writer = threading.Thread(target=write_whole, args=(path, b"new"))
    writer.start()
    writer.join(0.3)
    assert writer.is_alive()
    assert beside.exists()
    assert not path.exists()
    other.communicate()
    writer.join(30.0)
    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("kind", ["dangling link", "link", "pipe"])
def test_what_is_no_file_under_the_temporary_name_is_removed(kind, tmp_path):
    path, beside, elsewhere = (tmp_path / name for name in ("policy", ".policy.part", "elsewhere"))
    if kind == "pipe":
        os.mkfifo(beside)
    else:
        beside.symlink_to(elsewhere)
    if kind == "link":
        elsewhere.write_bytes(b"theirs")
    write_whole(path, b"new")
    assert path.read_bytes() == b"new"
    assert not path.is_symlink()
    assert not beside.exists()
    assert kind != "link" or elsewhere.read_bytes() == b"theirs"


@pytest.mark.parametrize("has_locks", [False, True])
def test_writers_at_the_same_time_each_write_whole(has_locks, tmp_path, monkeypatch):
    if not has_locks:
        monkeypatch.setattr(files.fcntl, "flock", without_locks)
    path, contents = tmp_path / "policy", [bytes([n]) * 100_000 for n in range(8)]
    writers = [threading.Thread(target=write_whole, args=(path, one)) for one in contents * 5]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert path.read_bytes() in contents
    assert list(tmp_path.iterdir()) == [path]


def test_the_folder_is_synchronised_after_the_file_has_its_name(tmp_path, monkeypatch):
    path, synced = tmp_path / "policy", []

    def noted(descriptor):
        is_folder = stat.S_ISDIR(os.fstat(descriptor).st_mode)
        synced.append((is_folder, path.exists()))

    monkeypatch.setattr(files.os, "fsync", noted)
    write_whole(path, b"new")
    assert synced == [(False, False), (True, True)]


def test_a_folder_that_cannot_be_synchronised_takes_files(tmp_path, monkeypatch):
    def only_files(descriptor):
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "Invalid argument")

    monkeypatch.setattr(files.os, "fsync", only_files)
    write_whole(tmp_path / "policy", b"new")
    assert (tmp_path / "policy").read_bytes() == b"new"


def test_a_link_out_of_the_folder_is_not_followed(tmp_path):
    (tmp_path / "results").mkdir()
    (tmp_path / "secret").write_bytes(b"mine")
    path = tmp_path / "results" / "report.html"
    path.symlink_to(tmp_path / "secret")
    with pytest.raises(PermissionError, match=r"path must lie in .*results"):
        write_whole(path, b"theirs", tmp_path / "results")
    assert (tmp_path / "secret").read_bytes() == b"mine"


def test_a_pipe_or_a_device_is_refused_instead_of_read(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/zero")):
        with pytest.raises(OSError, match="must be a regular file"):
            read_regular(path)
    with pytest.raises(OSError, match="must be a regular file"):
        load(tmp_path / "pipe")


def test_archives_of_other_compressions_are_refused_before_they_are_unpacked():
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_BZIP2) as archive:
        archive.writestr("thetas.npy", bytes(10**7))
    assert len(content.getvalue()) < 1000
    with pytest.raises(ValueError, match="another method than deflate"):
        read_arrays(content.getvalue(), 10**9)
