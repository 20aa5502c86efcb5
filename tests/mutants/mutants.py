"""Plant bugs in the code on purpose, one at a time: do the tests notice?

Each bug is planted in a copy of the project, and the tests of its kind run until one fails, those
of the nearest modules first. This measures the tests: they must catch nine of ten bugs. The tests
of kernels run as plain Python, so that a broken kernel need not be compiled first. Before the first
bug all tests run on the right code: they must pass, and they compile the kernels for all copies.

    python tests/mutants/mutants.py               all bugs; a stopped run goes on where it was
    python tests/mutants/mutants.py glide ball    the bugs whose titles hold all of these words
    python tests/mutants/mutants.py --check       only whether every bug has its place in the code
    python tests/mutants/mutants.py --csv         also print the results as CSV

Progress is printed to the standard error. The copies and the results are in results/mutants, until
the code or the tests change. docs/mutants.md shows the results (`docs/record.py script mutants`).
"""

import csv
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import NamedTuple

from imports import importers
from planted import BUGS, Bug

ROOT = Path(__file__).parents[2]
HERE = ROOT / "results" / "mutants"
COPY, PASSED, RESULTS = HERE / "copy", HERE / "passed", HERE / "mutants.csv"
COPIED = ("src", "tests", "benchmarks", "docs", "README.md", "pyproject.toml")
KERNELS = Path("tests", "kernels")
TOGETHER = 2  # bugs at a time
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
    test: str  # the first one that failed
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
    """The tests of a kind, as paths in the tree."""
    found = [test for name in JUDGES[kind] for test in tests_at(ROOT / "tests" / name)]
    return [test.relative_to(ROOT) for test in found]


def tests_at(path: Path) -> list[Path]:
    """A test file, or all in a folder."""
    return [path] if path.is_file() else sorted(path.rglob("test_*.py"))


# The copies


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


def plant(bug: Bug, module: Path, stale: set[str], tree: Path) -> None:
    """Make a tree of links to the files of the copy, with a bug in one module.

    Compiled code of the stale modules, which import that one, is left out; all other stays valid.
    """

    def ignored(folder: str, names: list[str]) -> list[str]:
        is_compiled = Path(folder).name == "__pycache__"
        return [name for name in names if is_compiled and name.partition(".")[0] in stale]

    shutil.copytree(COPY, tree, copy_function=os.link, ignore=ignored, dirs_exist_ok=True)
    broken = tree / module
    text = broken.read_text().replace(bug.right, bug.wrong)
    broken.unlink()  # else the copy would be written to, which shares the file
    broken.write_text(text)


def pytest(tests: list[Path], tree: Path, *options: str, plain: bool = False) -> tuple[int, str]:
    """Run tests in a tree until one fails; returns the exit code of pytest, and what it says."""
    environment = {"NUMBA_NUM_THREADS": "2", **os.environ, "PYTHONPATH": str(tree / "src")}
    environment |= {"NUMBA_DISABLE_JIT": "1"} if plain else {}
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *options]
    answer = subprocess.run(
        [*command, *map(str, tests)], cwd=tree, env=environment, capture_output=True, text=True,
        check=False, timeout=None if options else LIMIT,
    )  # fmt: skip
    return answer.returncode, answer.stdout + answer.stderr


# Running


def rehearse(tests: list[Path]) -> None:
    """Run tests without a bug, unless they did before: they must pass."""
    passed = set(PASSED.read_text().splitlines()) if PASSED.is_file() else set()
    missing = [test for test in tests if str(test) not in passed]
    if not missing:
        return
    began = time.monotonic()
    for plain in (True, False):
        some = [test for test in missing if test.is_relative_to(KERNELS) or not plain]
        code, said = (
            pytest(some, COPY, f"--numprocesses={TOGETHER}", plain=plain) if some else (0, "")
        )
        if code != 0:
            raise SystemExit(f"the tests must pass without a bug\n{said[-3000:]}")
    PASSED.write_text("\n".join(sorted(passed | set(map(str, tests)))))
    report(f"{'passed':9} {len(missing)} test files, {time.monotonic() - began:.0f} s")


def judge(bug: Bug) -> Result:
    """Plant a bug and run the tests of its kind, the nearest to its module first.

    Before that, if the bug is in a kernel, the kernels' tests run as plain Python.
    """
    ((module, _),) = places_of(bug, COPY)
    distances = importers(module, [COPY / "src", COPY / "tests"])
    nearest = sorted(judges(bug.kind), key=lambda test: distances.get(COPY / test, len(distances)))
    of_kernels = [test for test in nearest if test.is_relative_to(KERNELS)]
    place, began = module.relative_to(COPY), time.monotonic()
    verdict, test, is_kernel = "SURVIVED", "", place.is_relative_to("src/soids/kernels")
    with tempfile.TemporaryDirectory(dir=HERE) as folder:
        tree = Path(folder)
        plant(bug, place, {path.stem for path in distances}, tree)
        try:
            for tests, plain in ((of_kernels if is_kernel else [], True), (nearest, False)):
                code, said = pytest(tests, tree, plain=plain) if tests else (0, "")
                if code != 0:
                    verdict, test = "caught", first_failure(said)
                    if code != 1:
                        verdict = "NOT RUN"
                        report(f"{bug.title}: pytest failed\n{said[-3000:]}")
                    break
        except subprocess.TimeoutExpired:
            verdict, test = "caught", "an endless loop"
    seconds = f"{time.monotonic() - began:.0f}"
    return Result(bug.title, str(place.relative_to("src")), verdict, test, seconds)


def first_failure(said: str) -> str:
    """The test that failed, without its parameters, as the path in tests and the name."""
    failed = [line for line in said.splitlines() if line.startswith(("FAILED", "ERROR"))]
    name = failed[0].split(" - ")[0].partition(" ")[2] if failed else ""
    return name.partition("[")[0].removeprefix("tests/")


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


def judge_all(bugs: list[Bug]) -> dict[str, Result]:
    """The results of all bugs, by title; new ones are kept as soon as they are known."""
    known = known_results()
    missing = [bug for bug in bugs if bug.title not in known]
    rehearse(list(dict.fromkeys(test for bug in missing for test in judges(bug.kind))))
    with ThreadPoolExecutor(TOGETHER) as workers:
        for judged in as_completed([workers.submit(judge, bug) for bug in missing]):
            one = judged.result()
            known[one.bug] = one
            keep(one)
            report(f"{one.verdict:9} {one.bug}, {one.seconds} s  {one.test}")
    return known


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
    known = judge_all(wanted)
    found = [known[bug.title] for bug in wanted]
    caught = sum(one.verdict == "caught" for one in found)
    report(f"{caught} of {len(found)} bugs caught")
    if "--csv" in flags:
        seconds = sum(int(one.seconds) for one in found)
        last = Result("all of them", "", f"{caught} of {len(found)} caught", "", str(seconds))
        csv.writer(sys.stdout, lineterminator="\n").writerows([Result._fields, *found, last])
    sys.exit(caught < 0.9 * len(found) or any(one.verdict == "NOT RUN" for one in found))


if __name__ == "__main__":
    main()
