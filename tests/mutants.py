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
from typing import NamedTuple

ROOT = Path(__file__).parent.parent


class Bug(NamedTuple):
    """A line of the package, and what a tired person might have written instead."""

    title: str
    file: str
    right: str
    wrong: str
    kind: str = "sampler"  # whose tests judge


BUGS = (
    Bug(
        "wrong sign of the tilt",
        "kernels/draws.py",
        "pull[j] += tilts[menu] * columns",
        "pull[j] -= tilts[menu] * columns",
    ),
    Bug(
        "a spike that moves is not told to the slabs",
        "kernels/relaxed.py",
        "done.centre[a] -= step * done.shadow[a, j]",
        "done.centre[a] -= 0.0 * done.shadow[a, j]",
    ),
    Bug(
        "an arm is weighed without the spikes",
        "kernels/relaxed.py",
        "scores += tilt * rewards[m, first:last]",
        "scores += 0.0 * rewards[m, first:last]",
    ),
    Bug(
        "eta forgotten",
        "posteriors/smc.py",
        "powers = target.eta / cloud.variances",
        "powers = 1.0 / cloud.variances",
    ),
    Bug(
        "standard deviation for variance",
        "posteriors/spike_slab.py",
        "slab_precision=1.0 / variance",
        "slab_precision=1.0 / variance**0.5",
    ),
    Bug(
        "off by one in t",
        "posteriors/target.py",
        "tilts = rate * evidence.offered if",
        "tilts = rate * (evidence.offered - 1) if",
    ),
    Bug(
        "stale maximum",
        "kernels/rewards.py",
        "    rewards[:] = 0.0\n    whole",
        "    whole",
    ),
    Bug(
        "missing prior odds",
        "posteriors/prior.py",
        "ratios * (k + 1) ** 2 / (dimension - k)",
        "ratios * (k + 1) / (dimension - k)",
    ),
    Bug(
        "weight of the true target forgotten",
        "posteriors/smc.py",
        "log_truth = best - soft",
        "log_truth = 0.0 * best",
    ),
    Bug(
        "played actions left out of the gaps",
        "posteriors/target.py",
        "rate * evidence.total",
        "0.0 * evidence.total",
    ),
    Bug(
        "radius of one feature more",
        "posteriors/draws.py",
        "sizes = np.count_nonzero(thetas, axis=1)\n    least",
        "sizes = np.count_nonzero(thetas, axis=1) + 1\n    least",
    ),
    Bug(
        "noise learned twice as fast",
        "posteriors/draws.py",
        "rng.standard_gamma(shape + 0.5 * rounds",
        "rng.standard_gamma(shape + rounds",
    ),
    Bug(
        "atom forgotten in the glide",
        "kernels/joint.py",
        "        if rest >= floor and low <= 0.0 <= high:",
        "        if own < 0 and rest >= floor and low <= 0.0 <= high:",
    ),
    Bug(
        "oneself counted among the others of a glide",
        "kernels/joint.py",
        "u *= (rest / FREE) ** 2",
        "u *= (n / FREE) ** 2",
    ),
    Bug(
        "too sure that a feature stays",
        "kernels/normal.py",
        "precision * value / 6.0",
        "precision * value / 60.0",
    ),
    Bug(
        "kept values counted twice",
        "kernels/sparse.py",
        "u / (REDRAWN * share)",
        "u / share",
    ),
    Bug(
        "what was eliminated forgotten",
        "kernels/elimination.py",
        "spread[i] += row[i] * row[i] / variance",
        "spread[i] += row[i] * row[i]",
    ),
    Bug(
        "mirrored across a change of sign",
        "kernels/mirror.py",
        " and (reflected * signs > 0.0).all():",
        ":",
    ),
    Bug(
        "mirrored about the wrong length",
        "kernels/mirror.py",
        "image + length - 2.0 * middle",
        "image + length - middle",
    ),
    Bug(
        "old arm's pull kept after rearm",
        "kernels/sparse.py",
        "slopes += tilt * columns[:, first + chosen]",
        "slopes += tilt * columns[:, arms[menu]]",
    ),
    Bug(
        "a leap that forgets how likely its way back is",
        "kernels/leap.py",
        "gained += total - log_weight(done, partner)",
        "gained += total",
    ),
    Bug(
        "a leap by the order in which features came",
        "kernels/leap.py",
        "entered.sort()",
        "entered",
    ),
    Bug(
        "slab left out of the elimination",
        "kernels/elimination.py",
        "whole[i] = power * diagonal[i] + slab_precision",
        "whole[i] = power * diagonal[i]",
    ),
    Bug(
        "one context for all",
        "policies/posterior.py",
        "known[id(menu)] = regret[first:last], gain[first:last]",
        "known[id(menu)] = regret[: last - first], gain[: last - first]",
        kind="contexts",
    ),
    Bug(
        "norm bound without its ridge",
        "regression/ridge.py",
        "math.sqrt(penalty) * norm",
        "norm",
        kind="baseline",
    ),
    Bug(
        "scikit-learn's factor of two",
        "regression/lasso.py",
        "alpha = 0.5 * penalty",
        "alpha = penalty",
        kind="baseline",
    ),
    Bug(
        "half a confidence width",
        "regression/conversion.py",
        "2.0 / (eta * (1.0 - eta))",
        "1.0 / (eta * (1.0 - eta))",
        kind="baseline",
    ),
    Bug(
        "evidence lost in resampling",
        "posteriors/smc.py",
        "log_mass=cloud.log_mass + gained",
        "log_mass=cloud.log_mass",
        kind="baseline",
    ),
    Bug(
        "pilot forgotten",
        "regression/popart.py",
        "start + samples.pulls * residuals",
        "samples.pulls * residuals",
        kind="baseline",
    ),
    Bug(
        "information punished",
        "policies/estimation.py",
        "regret - gamma * nats",
        "regret + gamma * nats",
        kind="baseline",
    ),
    Bug(
        "rounds left out of empirical Bayes",
        "regression/empirical_bayes.py",
        "noise = (evidence.rounds - determined + 2.0 * shape)",
        "noise = (len(spectrum) - determined + 2.0 * shape)",
        kind="baseline",
    ),
    Bug(
        "reward for prediction",
        "policies/otcs.py",
        "prediction = self.forecaster.predict(settled.action)",
        "prediction = value",
        kind="baseline",
    ),
    Bug(
        "hasty elimination",
        "policies/elimination.py",
        "- 2.0 * self._accuracy",
        "- 0.02 * self._accuracy",
        kind="baseline",
    ),
    Bug(
        "late phase rewards counted twice",
        "policies/committing.py",
        "< phase.due:",
        "< phase.due + 1:",
        kind="baseline",
    ),
    Bug(
        "false certificate",
        "designs/__init__.py",
        "smallest**2 / answer.bound)",
        "smallest**2 / answer.total)",
        kind="baseline",
    ),
    Bug(
        "drift uphill",
        "kernels/langevin.py",
        "- slope.drift[j] -",
        "+ slope.drift[j] -",
        kind="baseline",
    ),
    Bug(
        "dimension for sparsity in a bound",
        "theory.py",
        "30.0 * (cost * sparsity / c_min)",
        "30.0 * (cost * dimension / c_min)",
        kind="baseline",
    ),
    Bug(
        "witness of the wrong side",
        "conditions.py",
        "(thetas @ dense.T).max(axis=1) > (thetas @ sparse.T)",
        "(thetas @ dense.T).min(axis=1) > (thetas @ sparse.T)",
        kind="baseline",
    ),
    Bug(
        "outcomes of another recipe are taken",
        "simulation/store.py",
        "return outcome if recipe == trial.recipe else None",
        "return outcome",
        kind="harness",
    ),
    Bug(
        "seeds share their luck",
        "simulation/worker.py",
        "trace = play(bandit, policy, problem.horizon, trial.seed, tell, feedback=feedback)",
        "trace = play(bandit, policy, problem.horizon, 0, tell, feedback=feedback)",
        kind="harness",
    ),
    Bug(
        "told what was not asked for",
        "simulation/trial.py",
        "told = {name: truth[name] for name in self.told}",
        "told = {name: truth[name] for name in self.told[:1]}",
        kind="harness",
    ),
    Bug(
        "what was told left out of a trial's key",
        "simulation/trial.py",
        'del recipe["seed"]',
        'del recipe["seed"], recipe["policy"]["told"]',
        kind="harness",
    ),
    Bug(
        "differences not paired",
        "simulation/comparison.py",
        "paired = ours.final[here] - theirs.final[there]",
        "paired = ours.final[here] - theirs.final[there[::-1]]",
        kind="harness",
    ),
    Bug(
        "levels not widened",
        "simulation/comparison.py",
        "reach * math.sqrt(count / (count - 1))",
        "1.96",
        kind="harness",
    ),
    Bug(
        "suspects forgotten",
        "simulation/engines.py",
        "suspects.extend(playing.values())",
        "suspects.extend([])",
        kind="harness",
    ),
    Bug(
        "workers outlive their master",
        "simulation/engines.py",
        "pool.shutdown(kill_workers=True)",
        "pool.shutdown(wait=False)",
        kind="harness",
    ),
    Bug(
        "a column too many in the curves",
        "simulation/panels.py",
        "outcome.trace.regret.cumsum()[rounds - 1]",
        "outcome.trace.regret.cumsum()[rounds - 2]",
        kind="harness",
    ),
    Bug(
        "heavy tails too wide",
        "bandits/bandit.py",
        "math.sqrt((self.degrees - 2.0) / self.degrees)",
        "1.0",
        kind="harness",
    ),
)
JUDGES = {
    "sampler": (
        "test_kernels_mirror.py", "test_kernels_normal.py", "test_kernels_elimination.py",
        "test_kernels_joint.py", "test_kernels_leap.py", "test_kernels_relaxed.py",
        "test_exactness.py", "test_unknowns.py",
        "test_smc.py", "test_kernels_sparse.py", "test_geweke.py", "test_calibration.py",
        "test_policies.py",
    ),
    "contexts": ("test_contexts.py",),
    "baseline": (
        "test_ridge.py", "test_lasso.py", "test_empirical_bayes.py", "test_popart.py",
        "test_conversion.py", "test_confidence.py", "test_committing.py", "test_estimation.py",
        "test_linear.py", "test_theory.py", "test_conditions.py", "test_designs.py",
        "test_otcs.py", "test_forecaster.py", "test_kernels_langevin.py", "test_langevin.py",
        "test_smc.py",
    ),
    "harness": (
        "test_store.py", "test_experiment.py", "test_comparison.py", "test_bandits.py",
        "test_play.py", "test_panels.py", "test_worker.py", "test_engines.py", "test_run.py",
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
