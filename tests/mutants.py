"""Break the code on purpose, one bug at a time: do the tests notice?

Every bug is planted in a copy of the package, which the tests of its kind then run
against, with an empty compiler cache. This measures the tests, not the code: nine of ten must be
caught.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from planted import BUGS, Bug

ROOT = Path(__file__).parent.parent

JUDGES = {
    "sampler": (
        "test_kernels_mirror.py", "test_kernels_normal.py", "test_kernels_elimination.py",
        "test_kernels_joint.py", "test_kernels_glide.py", "test_kernels_leap.py",
        "test_kernels_relaxed.py", "test_exactness.py", "test_unknowns.py",
        "test_smc.py", "test_kernels_sparse.py", "test_kernels_paces.py", "test_geweke.py",
        "test_calibration.py", "test_policies.py", "test_refresh.py",
    ),
    "contexts": ("test_appraisal.py", "test_contexts.py"),
    "baseline": (
        "test_ridge.py", "test_lasso.py", "test_empirical_bayes.py", "test_popart.py",
        "test_conversion.py", "test_confidence.py", "test_committing.py", "test_estimation.py",
        "test_linear.py", "test_theory.py", "test_theory_proofs.py", "test_conditions.py",
        "test_designs.py", "test_otcs.py", "test_forecaster.py", "test_kernels_langevin.py",
        "test_langevin.py", "test_smc.py",
    ),
    "diagnosis": ("test_diagnosis.py", "test_guarantees.py", "test_losses.py"),
    "harness": (
        "test_store.py", "test_experiment.py", "test_experiment_figures.py", "test_comparison.py",
        "test_bandits.py", "test_play.py", "test_panels.py", "test_worker.py", "test_engines.py",
        "test_run.py",
    ),
}  # fmt: skip


def caught(bug: Bug) -> bool:
    """Whether some test fails with the bug in place."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        for name in ("src", "tests", "benchmarks"):
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(ROOT / name, copy / name, ignore=ignored)
        shutil.copy(ROOT / "pyproject.toml", copy)
        path = copy / "src" / "soids" / bug.file
        text = path.read_text()
        if text.count(bug.right) != 1:
            raise SystemExit(f"{bug.title}: {bug.file} must hold once: {bug.right!r}")
        path.write_text(text.replace(bug.right, bug.wrong))
        judges = JUDGES[bug.kind]
        result = subprocess.run(
            [sys.executable, "-m", "pytest", "-x", "-q", *(f"tests/{name}" for name in judges)],
            cwd=copy,
            env={**os.environ, "PYTHONPATH": str(copy / "src"), "NUMBA_CACHE_DIR": str(copy / "c")},
            capture_output=True,
            text=True,
            check=False,
        )
    if result.returncode not in (0, 1):
        raise SystemExit(f"{bug.title}: the tests did not run\n{result.stdout}{result.stderr}")
    last = [line for line in result.stdout.splitlines() if line.startswith("FAILED")]
    print(f"{'caught' if last else 'SURVIVED':9} {bug.title}  {''.join(last)[:90]}", flush=True)
    return result.returncode == 1


def main() -> None:
    """Plant all bugs, or those whose titles hold the words given."""
    wanted = [bug for bug in BUGS if all(word in bug.title for word in sys.argv[1:])]
    found = sum(caught(bug) for bug in wanted)
    print(f"{found} of {len(wanted)} bugs caught")
    sys.exit(found < 0.9 * len(wanted))


if __name__ == "__main__":
    main()
