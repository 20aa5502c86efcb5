"""Whether rewards have a base level that no sparse parameter explains."""

import math
import os

from soids.arrays import Floats
from soids.evidence import Evidence

CLEAR = 0.1  # noise variance, as a share of the rewards' variance
ODDS = float(os.environ.get("LEVEL_ODDS", "3"))
STEPS = 50


def level_shows(evidence: Evidence) -> bool:
    t, mean, level = evidence.rounds, evidence.centre, evidence.level
    if t <= 1.0:
        return evidence.centred
    if t > 16 and int(8 * math.log2(t)) == int(8 * math.log2(t - 1)):
        return evidence.centred
    if evidence.centred:
        evidence = evidence.about_zero()
    energy = evidence.energy - t * level**2
    moment = evidence.moment - t * level * mean
    trace = float(evidence.played.diagonal.sum()) - t * float(mean @ mean)
    if trace <= 1e-9 * t * float(mean @ mean) or energy <= 0:
        return False
    penalty = CLEAR * trace / t
    times = lambda v: evidence.played.times(v) - t * (mean @ v) * mean + penalty * v
    pull = solved(times, mean)
    explained = float(moment @ solved(times, moment))
    df = t - 1.0
    variance = max(energy - explained, 1e-12 * energy) / df * (1.0 / t + float(mean @ pull))
    t2 = (level - float(moment @ pull)) ** 2 / variance
    g = (evidence.energy / t) / variance
    log_bf = -0.5 * math.log1p(g) + 0.5 * (df + 1) * (math.log1p(t2 / df) - math.log1p(t2 / df / (1 + g)))
    return log_bf > math.log(ODDS)


def solved(times, target: Floats) -> Floats:
    x = 0.0 * target
    left = target.copy()
    along, size = left, float(left @ left)
    first = size
    for _ in range(STEPS):
        if size <= 1e-12 * first:
            break
        image = times(along)
        step = size / float(along @ image)
        x = x + step * along
        left = left - step * image
        size, before = float(left @ left), size
        along = left + size / before * along
    return x
