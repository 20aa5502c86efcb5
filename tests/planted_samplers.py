"""Bugs that a tired person might write in the samplers; the others are in ``planted.py``."""

from typing import NamedTuple


class Bug(NamedTuple):
    """A line of the package, and what a tired person might have written instead."""

    title: str
    file: str
    right: str
    wrong: str
    kind: str = "sampler"  # whose tests judge


SAMPLER_BUGS = (
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
        "kernels/glide.py",
        "if rest >= floor else 1.0",
        "if own < 0 and rest >= floor else 1.0",
    ),
    Bug(
        "eager features leave as often as others enter",
        "kernels/glide.py",
        "1.0 - math.exp(-max(log_odds, 0.0))",
        "1.0 - math.exp(min(log_odds, 0.0))",
    ),
    Bug(
        "bumps thought narrower than they are",
        "kernels/glide.py",
        "steepest * steepest + usual < (wide",
        "steepest * steepest < (wide",
    ),
    Bug(
        "what a feature's leaving does to the others overlooked",
        "kernels/glide.py",
        "            n -= 1\n            note(active, inverse, centre, n,",
        "            n -= 1\n            note(active, inverse, centre, 0,",
    ),
    Bug(
        "the bump of a glide cut at one end only",
        "kernels/glide.py",
        "    low = -room / (1.0 - rise) if rise < 1.0 else -math.inf",
        "    low = -math.inf",
    ),
    Bug(
        "the bump of a glide cut inside the ball",
        "kernels/glide.py",
        "    high = room / (1.0 + rise) if rise > -1.0 else math.inf",
        "    high = room / (1.0 + max(rise, 0.0))",
    ),
    Bug(
        "no upkeep once there are many rewards",
        "posteriors/smc.py",
        "    return math.ceil(share * len(cloud.thetas) - 1e-9)",
        "    return math.ceil(share * len(cloud.thetas) - 1e-9) if target.rounds <= SETTLED else 0",
    ),
    Bug(
        "no noise beside what is under way",
        "policies/appraisal.py",
        "        if self.lesson.noisy:",
        "        if self.lesson.noisy and not self.variances.size:",
        "contexts",
    ),
    Bug(
        "glides that leave the ball",
        "kernels/glide.py",
        "        if new == old or not length <= radius:",
        "        if new == old or not length <= 1.1 * radius:",
    ),
    Bug(
        "swapped as the bounds say",
        "kernels/sparse.py",
        "    excess += math.log(widths[out] / widths[chosen])\n",
        "",
    ),
    Bug(
        "oneself counted among the others of a glide",
        "kernels/glide.py",
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
        "    if reached <= radius and not turned:",
        "    if reached <= radius:",
    ),
    Bug(
        "values drawn anew about zero",
        "kernels/joint.py",
        "    values = whitened[:n] + normals[:n]",
        "    values = normals[:n].copy()",
    ),
    Bug(
        "values drawn anew as if no feature leant",
        "kernels/sparse.py",
        "whitened = slopes[active] + leans[active]",
        "whitened = slopes[active]",
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
        "gained += all_masses - log_weight(done, partner, partner_lean)",
        "gained += all_masses",
    ),
    Bug(
        "a leap whose partner leans to any side",
        "kernels/leap.py",
        "partner_lean = draw_lean(done, partner, sides[1])",
        "partner_lean = lean if sides[1] < 0.5 else -lean",
    ),
    Bug(
        "a bump is drawn by half of its odds",
        "kernels/sparse.py",
        "share_of(2.0 * lean * theta[active[a]])",
        "share_of(lean * theta[active[a]])",
    ),
    Bug(
        "an exchange forgets the smaller bump",
        "kernels/joint.py",
        "masses[i] *= 1.0 + math.exp(-2.0",
        "masses[i] *= 1.0 + 0.0 * math.exp(-2.0",
    ),
    Bug(
        "a feature that left still leans",
        "kernels/elimination.py",
        "    done.excess[j] -= lean",
        "    done.excess[j] -= 0.0",
    ),
    Bug(
        "two bumps at the price of one",
        "posteriors/prior.py",
        "return scale - (math.log(2.0) + 0.5",
        "return scale - (0.5",
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
)
