"""Bugs in the samplers for ``mutants.py``; the others are in ``planted.py``."""

from typing import NamedTuple


class Bug(NamedTuple):
    """A text that occurs once in the package, and a wrong text in its place."""

    title: str
    right: str
    wrong: str
    kind: str = "sampler"  # a key of JUDGES in mutants.py: the tests that must notice


SAMPLER_BUGS = (
    Bug(
        "wrong sign of the tilt",
        "pull[j] += tilts[menu] * columns",
        "pull[j] -= tilts[menu] * columns",
    ),
    Bug(
        "slabs do not follow a spike that moves",
        "done.centre[a] -= step * done.shadow[a, j]",
        "done.centre[a] -= 0.0 * done.shadow[a, j]",
    ),
    Bug(
        "an arm is weighed without the spikes",
        "law.scores + tilt * rewards[m, first:last]",
        "law.scores + 0.0 * rewards[m, first:last]",
    ),
    Bug(
        "eta forgotten",
        "powers = target.eta / system.variances",
        "powers = 1.0 / system.variances",
    ),
    Bug(
        "standard deviation for variance",
        "slab = Slab(1.0 / (self.slab_variance or",
        "slab = Slab(1.0 / math.sqrt(self.slab_variance or",
    ),
    Bug(
        "off by one in t",
        "tilts = rate * evidence.offered if",
        "tilts = rate * (evidence.offered - 1) if",
    ),
    Bug(
        "stale maximum",
        "    rewards[:] = 0.0\n    whole",
        "    whole",
    ),
    Bug(
        "missing prior odds",
        "self.ratios * (k * growth(k))",
        "self.ratios * growth(k)",
    ),
    Bug(
        "weight of the true target forgotten",
        "log_correction = best - soft",
        "log_correction = 0.0 * best",
    ),
    Bug(
        "played actions left out of the gaps",
        "rate * evidence.total, tilts",
        "0.0 * evidence.total, tilts",
    ),
    Bug(
        "radius of one feature more",
        "sizes, lengths = sizes_and_lengths(thetas)\n    return sizes,",
        "sizes, lengths = sizes_and_lengths(thetas)\n    return sizes + 1,",
    ),
    Bug(
        "noise learned twice as fast",
        "rng.standard_gamma(shape + 0.5 * rounds",
        "rng.standard_gamma(shape + rounds",
    ),
    Bug(
        "atom forgotten in the glide",
        "if rest >= prior.smallest else 1.0",
        "if own < 0 and rest >= prior.smallest else 1.0",
    ),
    Bug(
        "eager features leave as often as others enter",
        "1.0 - math.exp(-max(log_odds, 0.0))",
        "1.0 - math.exp(min(log_odds, 0.0))",
    ),
    Bug(
        "bumps thought narrower than they are",
        "steepest * steepest + usual < (wide",
        "steepest * steepest < (wide",
    ),
    Bug(
        "what a feature's leaving does to the others overlooked",
        "            n -= 1\n            note(active, inverse, centre, n,",
        "            n -= 1\n            note(active, inverse, centre, 0,",
    ),
    Bug(
        "the bump of a glide cut at one end only",
        "    low = -room / (1.0 - rise) if rise < 1.0 else -math.inf",
        "    low = -math.inf",
    ),
    Bug(
        "the bump of a glide cut inside the ball",
        "    high = room / (1.0 + rise) if rise > -1.0 else math.inf",
        "    high = room / (1.0 + max(rise, 0.0))",
    ),
    Bug(
        "no upkeep once there are many rewards",
        "return math.ceil(share * len(system.thetas) - 1e-9)",
        "return math.ceil(share * len(system.thetas)) if target.rounds <= SETTLED else 0",
    ),
    Bug(
        "no noise beside pending rewards",
        "        if self.definition.noisy:",
        "        if self.definition.noisy and self.directions is None:",
        "contexts",
    ),
    Bug(
        "glides that leave the ball",
        "        if new == old or not length <= radius:",
        "        if new == old or not length <= 1.1 * radius:",
    ),
    Bug(
        "swapped as the bounds say",
        "excess += math.log(widths[out] / widths[chosen]) + own_odds",
        "excess += own_odds",
    ),
    Bug(
        "oneself counted among the others of a glide",
        "u *= (rest / FREE) ** 2",
        "u *= (n / FREE) ** 2",
    ),
    Bug(
        "too sure that a feature stays",
        "precision * value / 6.0",
        "precision * value / 60.0",
    ),
    Bug(
        "kept values counted twice",
        "u / (REDRAWN * share)",
        "u / share",
    ),
    Bug(
        "what was eliminated forgotten",
        "precisions[i] += row[i] * row[i] / variance",
        "precisions[i] += row[i] * row[i]",
    ),
    Bug(
        "mirrored across a change of sign",
        "    if reached <= radius and not turned:",
        "    if reached <= radius:",
    ),
    Bug(
        "values drawn anew about zero",
        "    values = whitened + numbers.normals[: active.size]",
        "    values = numbers.normals[: active.size].copy()",
    ),
    Bug(
        "values drawn anew as if no feature leant",
        "whitened = slopes[active] + leans[active]",
        "whitened = slopes[active]",
    ),
    Bug(
        "mirrored about the wrong length",
        "image + length - 2.0 * middle",
        "image + length - middle",
    ),
    Bug(
        "old arm's pull kept after rearm",
        "slopes += tilt * columns[:, first + chosen]",
        "slopes += tilt * columns[:, arms[menu]]",
    ),
    Bug(
        "a leap that forgets how likely its way back is",
        "gained += all_masses - candidates.log_weight(done, partner, partner_lean)",
        "gained += all_masses",
    ),
    Bug(
        "a leap whose partner leans to any side",
        "partner_lean = candidates.draw_lean(done, partner, sides[1])",
        "partner_lean = lean if sides[1] < 0.5 else -lean",
    ),
    Bug(
        "a bump is drawn by half of its odds",
        "share_of(2.0 * lean * theta[active[a]])",
        "share_of(lean * theta[active[a]])",
    ),
    Bug(
        "an exchange forgets the smaller bump",
        "masses[i] *= 1.0 + math.exp(-2.0",
        "masses[i] *= 1.0 + 0.0 * math.exp(-2.0",
    ),
    Bug(
        "a feature that left still leans",
        "    done.slopes[j] -= lean",
        "    done.slopes[j] -= 0.0",
    ),
    Bug(
        "two bumps at the price of one",
        "scale -= math.log(2.0) + 0.5",
        "scale -= 0.5",
    ),
    Bug(
        "a leap by the order in which features came",
        "entered = support(marks)",
        "entered = np.append(done.active[: n - 1], partner)",
    ),
    Bug(
        "slab left out of the elimination",
        "power * gram.diagonal + slab, slopes",
        "power * gram.diagonal, slopes",
    ),
)
