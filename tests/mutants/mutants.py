"""Plant bugs in the code on purpose, one at a time: do the tests notice?

Each bug is planted in a copy of the project, and the tests of its kind run until one fails, those
of the nearest modules first. This measures the tests: they must catch nine of ten bugs. Before the
first bug of a kind, its tests run on the right code: they must pass, and they compile the kernels,
so that a bug needs to compile only the modules that import the broken one.

    python tests/mutants/mutants.py               all bugs; a stopped run goes on where it was
    python tests/mutants/mutants.py glide ball    the bugs whose titles hold all of these words
    python tests/mutants/mutants.py --check       only whether every bug has its place in the code
    python tests/mutants/mutants.py --csv         also print the results as CSV

Progress is printed to the standard error. The copy and the results are in results/mutants, until
the code or the tests change.
"""

import csv
import hashlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from imports import importers
from planted import BUGS, Bug

ROOT = Path(__file__).parents[2]
HERE = ROOT / "results" / "mutants"
COPY, COMPILED, RESULTS = HERE / "copy", HERE / "compiled", HERE / "mutants.csv"
COPIED = ("src", "tests", "benchmarks", "docs", "README.md", "pyproject.toml")
LIMIT = 900.0  # seconds after which a test counts as caught in an endless loop

JUDGES = {
    "sampler": (
        "kernels/test_truncated_normal.py", "kernels/test_cholesky.py", "kernels/moves",
        "posteriors/test_exactness.py", "posteriors/test_unknowns.py", "posteriors/test_smc.py",
        "posteriors/test_geweke.py", "posteriors/test_calibration.py",
        "posteriors/test_refresh.py", "policies/test_soids.py",
    ),
    "contexts": ("policies/test_appraisal.py", "policies/test_contexts.py"),
    "baseline": (
        "regression", "theory", "designs", "policies/test_linucb.py",
        "policies/test_frequentist_ids.py", "policies/test_explore_then_commit.py",
        "policies/test_e2d.py", "policies/test_lints.py", "policies/test_otcs.py",
        "kernels/moves/test_langevin.py", "posteriors/test_langevin.py", "posteriors/test_smc.py",
    ),
    "diagnosis": (
        "simulation/test_diagnosis.py", "simulation/test_guarantees.py",
        "simulation/test_losses.py",
    ),
    "harness": (
        "simulation/test_store.py", "simulation/test_experiment.py",
        "simulation/test_experiment_figures.py", "simulation/test_statistics.py",
        "simulation/test_sweeps.py",
        "simulation/test_play.py", "simulation/test_results.py", "simulation/test_worker.py",
        "simulation/test_engines.py", "bandits", "cli/test_run.py",
    ),
}  # fmt: skip


class Result(NamedTuple):
    """What the tests made of a bug."""

    bug: str
    module: str
    verdict: str  # caught, SURVIVED, or NOT RUN if pytest itself failed
    test: str  # the one that failed
    seconds: str


# Finding bugs and tests in the tree as it is


def problems(root: Path = ROOT) -> list[str]:
    """Bugs whose text does not occur exactly once in the package, and tests that are not there."""
    wrong = []
    for bug in BUGS:
        places = [f"{path.relative_to(root)} ({count})" for path, count in places_of(bug, root)]
        if sum(count for _, count in places_of(bug, root)) != 1:
            found = ", ".join(places) or "nowhere"
            wrong.append(f"{bug.title}: must occur once in src, found {found}: {bug.right!r}")
    for name in sorted({name for names in JUDGES.values() for name in names}):
        if not tests_at(root / "tests" / name):
            wrong.append(f"{name}: must be a test file or a folder of them in tests")
    return wrong


def places_of(bug: Bug, root: Path) -> list[tuple[Path, int]]:
    """The modules that hold the text of a bug, and how often."""
    counts = {path: path.read_text().count(bug.right) for path in (root / "src").rglob("*.py")}
    return [(path, count) for path, count in sorted(counts.items()) if count]


def judges(kind: str) -> list[Path]:
    """The tests of a kind in the copy."""
    return [test for name in JUDGES[kind] for test in tests_at(COPY / "tests" / name)]


def tests_at(path: Path) -> list[Path]:
    """A test file, or all in a folder."""
    return [path] if path.is_file() else sorted(path.rglob("test_*.py"))


# The copy


def prepare() -> None:
    """Copy the project, unless there is a copy of this very code."""
    digest = hashlib.sha256()
    files = [path for name in COPIED for path in [ROOT / name, *(ROOT / name).rglob("*.py")]]
    for path in sorted(path for path in files if path.is_file()):
        digest.update(str(path.relative_to(ROOT)).encode() + path.read_bytes())
    code = HERE / "code"
    if code.is_file() and code.read_text() == digest.hexdigest():
        return
    shutil.rmtree(HERE, ignore_errors=True)
    COPY.mkdir(parents=True)
    for name in COPIED:
        if (ROOT / name).is_dir():
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(ROOT / name, COPY / name, ignore=ignored)
        else:
            shutil.copy2(ROOT / name, COPY / name)
    code.write_text(digest.hexdigest())


@contextmanager
def planted(bug: Bug, module: Path) -> Iterator[None]:
    """The copy with a bug in it; the file is as new afterwards, so compiled code stays valid."""
    right, times = module.read_bytes(), module.stat()
    module.write_bytes(right.replace(bug.right.encode(), bug.wrong.encode()))
    try:
        yield
    finally:
        module.write_bytes(right)
        os.utime(module, ns=(times.st_atime_ns, times.st_mtime_ns))


def pytest(tests: list[Path], compiled: Path) -> subprocess.CompletedProcess[str]:
    """Run tests in the copy until one fails."""
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *map(str, tests)],
        cwd=COPY,
        env={
            "NUMBA_NUM_THREADS": "2",
            **os.environ,
            "PYTHONPATH": str(COPY / "src"),
            "NUMBA_CACHE_DIR": str(compiled),
        },
        capture_output=True,
        text=True,
        check=False,
        timeout=LIMIT,
    )


# Running


def rehearse(kind: str) -> None:
    """Run the tests of a kind without a bug, once: they must pass."""
    passed = HERE / f"{kind}.passed"
    if passed.is_file():
        return
    began = time.monotonic()
    result = pytest(judges(kind), COMPILED)
    if result.returncode != 0:
        raise SystemExit(f"{kind}: the tests must pass without a bug\n{result.stdout[-3000:]}")
    passed.touch()
    report(f"{'passed':9} all tests of {kind} without a bug, {time.monotonic() - began:.0f} s")


def judge(bug: Bug) -> Result:
    """Plant a bug and run the tests of its kind, the nearest to its module first."""
    ((module, _),) = places_of(bug, COPY)
    distances = importers(module, [COPY / "src", COPY / "tests"])
    tests = sorted(judges(bug.kind), key=lambda test: distances.get(test, len(distances)))
    stale = [f"{path.stem}.*" for path in distances]
    own = HERE / "own"
    shutil.rmtree(own, ignore_errors=True)
    shutil.copytree(COMPILED, own, ignore=shutil.ignore_patterns(*stale))
    began = time.monotonic()
    try:
        with planted(bug, module):
            result = pytest(tests, own)
        lines = result.stdout.splitlines()
        failed = [line for line in lines if line.startswith(("FAILED", "ERROR"))]
        verdict = {0: "SURVIVED", 1: "caught"}.get(result.returncode, "NOT RUN")
        test = failed[0].split(" - ")[0].partition(" ")[2] if failed else ""
        if verdict == "NOT RUN":
            report(f"{bug.title}: pytest failed\n{result.stdout[-3000:]}{result.stderr[-3000:]}")
    except subprocess.TimeoutExpired:
        verdict, test = "caught", "an endless loop"
    place = str(module.relative_to(COPY / "src"))
    return Result(bug.title, place, verdict, test, f"{time.monotonic() - began:.0f}")


def known_results() -> dict[str, Result]:
    """The results of bugs that were judged already."""
    if not RESULTS.is_file():
        return {}
    with RESULTS.open(newline="") as file:
        return {row["bug"]: Result(**row) for row in csv.DictReader(file)}


def keep(result: Result) -> None:
    """Add a result to those that are kept."""
    new = not RESULTS.is_file()
    with RESULTS.open("a", newline="") as file:
        csv.writer(file).writerows([Result._fields, result] if new else [result])


def report(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def main() -> None:
    """Judge all bugs, or those whose titles hold the words given."""
    flags = {argument for argument in sys.argv[1:] if argument.startswith("--")}
    words = [argument for argument in sys.argv[1:] if argument not in flags]
    if unknown := flags - {"--check", "--csv"}:
        raise SystemExit(f"unknown option {', '.join(sorted(unknown))}, known: --check, --csv")
    if wrong := problems():
        raise SystemExit("\n".join(wrong))
    wanted = [bug for bug in BUGS if all(word in bug.title for word in words)]
    if "--check" in flags:
        return
    prepare()
    known = known_results()
    for bug in wanted:
        if bug.title not in known:
            rehearse(bug.kind)
            known[bug.title] = judge(bug)
            keep(known[bug.title])
            one = known[bug.title]
            report(f"{one.verdict:9} {one.bug}, {one.seconds} s  {one.test}")
    found = [known[bug.title] for bug in wanted]
    caught = sum(one.verdict == "caught" for one in found)
    report(f"{caught} of {len(found)} bugs caught")
    if "--csv" in flags:
        csv.writer(sys.stdout, lineterminator="\n").writerows([Result._fields, *found])
    sys.exit(caught < 0.9 * len(found) or any(one.verdict == "NOT RUN" for one in found))


if __name__ == "__main__":
    main()
