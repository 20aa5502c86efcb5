"""The evidence: sums over all rewards observed, which do not depend on their order.

Notation
    gram    (d, d)  sum of a a'            moment (d,)  sum of reward * a
    total   (d,)    sum of a               energy       sum of reward**2
    centre  (d,)    mean of a              level        mean of reward

For a model with an intercept, gram, moment and energy are sums of deviations from centre and level:
that integrates an intercept of any size out exactly (docs/intercept.md).

At most ``sets`` distinct action sets are kept. If there are more, a uniform sample of the rounds
represents them: the rounds with the smallest random keys, so that order does not matter either. If
old rounds are discounted, the sets with the smallest counts are dropped instead.
"""

import hashlib
import math
from bisect import bisect
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from soids.arrays import LARGEST, STRIP, Bools, Floats, Table, check_moderate, strip
from soids.gram import ROUNDING, Gram
from soids.kernels.threads import by_rows
from soids.kernels.transposed import is_transposed
from soids.records import CLOSE, LEAST, check_arrays, check_dimension, check_numbers
from soids.tally import Tally

COMPARABLE = (np.float64, np.float32)  # types that are compared without a copy
SETS = 128  # distinct action sets that are kept by default


@dataclass(frozen=True, eq=False)
class Menu:
    """An action set, stored by columns; the actions are a view of them."""

    actions: Floats  # (K, d)

    def __post_init__(self) -> None:
        actions = self.columns.T
        actions.flags.writeable = False
        object.__setattr__(self, "actions", actions)

    @cached_property
    def columns(self) -> Floats:  # (d, K)
        """The actions by feature: a sparse parameter uses only some of the features."""
        columns = self.actions.T
        if columns.flags.c_contiguous and columns.flags.writeable:
            return columns
        return np.array(columns, order="C")

    @cached_property
    def largest(self) -> float:
        """The largest entry of any action, in size."""
        return float(np.abs(self.actions).max())

    @cached_property
    def fingerprint(self) -> str:
        """A digest of the actions."""
        return hashlib.blake2b(self.columns.data, digest_size=16).hexdigest()

    def validate(self) -> None:
        """Refuse what no policy can have been offered."""
        check_arrays(self, actions="K d")
        if not self.actions.size:
            raise ValueError(f"actions must not be empty, got shape {self.actions.shape}")
        check_moderate(self.actions, "actions")

    def same(self, other: "Menu") -> bool:
        """Whether two sets hold the same actions."""
        equal_shape = self.actions.shape == other.actions.shape
        return self is other or (equal_shape and self.fingerprint == other.fingerprint)

    def shows(self, table: Table) -> bool:
        """Whether these are exactly the actions of a table."""
        if table.shape != self.actions.shape:
            return False
        strips = np.zeros(-(-table.shape[0] // STRIP), dtype=np.bool_)
        self._compare(0, 1, table, strips)
        if len(strips) > 1 and strips[0]:
            by_rows(self._compare, STRIP * table.shape[1], len(strips), table, strips)
        return bool(strips.all())

    def _compare(self, start: int, stop: int, table: Table, strips: Bools) -> None:
        """Mark the strips of a table that hold the same actions, up to the first that does not."""
        for i in range(start, stop):
            first = i * STRIP
            rows = strip(table, first)
            if rows.dtype not in COMPARABLE or not rows.flags.c_contiguous:
                rows = rows.astype(np.float64, order="C")
            strips[i] = is_transposed(rows, self.columns[:, first : first + STRIP])
            if not strips[i]:
                return


class Evidence(NamedTuple):
    """Sufficient statistics of all rewards observed, and the counts of the action sets."""

    played: Gram
    moment: Floats  # (d,)
    total: Floats  # (d,)
    energy: float
    rounds: float
    menus: tuple[Menu, ...]  # the distinct action sets that are kept
    counts: tuple[float, ...]  # rounds in which each was on offer
    sets: int = SETS  # maximum number of action sets
    lots: tuple[float, ...] = ()  # the smallest random keys of rounds, in order
    owners: tuple[Menu, ...] = ()  # the action sets of these rounds
    sampled: bool = False  # whether menus and counts are those of these rounds alone
    fading: bool = False  # whether old rounds are discounted
    level: float = 0.0
    centred: bool = False  # whether there is an intercept: gram, moment, energy are about the means
    tally: Tally | None = None  # of rewards that are 0 or 1

    @classmethod
    def empty(cls, dimension: int, sets: int = SETS) -> "Evidence":
        zeros = np.zeros(dimension)
        return cls(Gram.empty(dimension), zeros, zeros, 0.0, 0, (), (), sets)

    def validate(self) -> None:
        """Refuse sums that no rewards have, and action sets that do not fit."""
        d = len(self.played.diagonal)
        check_arrays(self, {"d": d}, moment="d", total="d")
        if self.tally is not None:
            check_dimension(d, tally=[self.tally.actions.shape[1]])
        check_numbers(self, "sets", 1)
        check_numbers(self, "counts", 0.0)
        check_numbers(self, "lots", 0.0, 1.0)
        check_numbers(self, "rounds", 0.0 if self.rounds == 0 else 1.0)
        check_numbers(self, "level", -LARGEST, LARGEST)
        check_numbers(self, "energy", 0.0, 2.0 * LARGEST**2 * self.degrees * (1.0 + CLOSE))
        check_dimension(d, menus=(menu.actions.shape[1] for menu in self.menus + self.owners))
        lengths = len(self.menus), len(self.owners), max(map(len, (self.menus, self.lots)))
        if lengths[:2] != (len(self.counts), len(self.lots)) or lengths[2] > self.sets:
            raise ValueError("menus, counts, owners and lots must belong together")
        if list(self.lots) != sorted(self.lots) or (self.menus and sum(self.counts) < LEAST):
            raise ValueError("lots must be in order, and some count above zero")
        known = self.moment, self.energy, self.total, self.rounds, self.level, self.centred
        self.played.check_sums(*known)

    @property
    def gram(self) -> Floats:  # (d, d)
        """The whole gram, which is large in many dimensions."""
        return self.played.dense()

    @property
    def centre(self) -> Floats:  # (d,)
        """The mean of the actions played."""
        return self.total / self.rounds if self.rounds > 0 else self.total

    @property
    def degrees(self) -> float:
        """The degrees of freedom of the rewards: an intercept takes one."""
        return max(0.0, self.rounds - self.centred)

    def about_means(self) -> "Evidence":
        """The same rewards for a model with an intercept."""
        if self.centred or self.rounds == 0:
            return self._replace(centred=True)
        played = self.played.about(self.centre, self.rounds)
        moment = np.where(played.diagonal > 0.0, self.moment - self.level * self.total, 0.0)
        energy = self.energy - self.rounds * self.level**2
        energy = energy if energy > ROUNDING * self.energy else 0.0
        return self._replace(played=played, moment=moment, energy=energy, centred=True)

    def add(
        self, menu: Menu | None, action: Floats, reward: float, turn: int | None = None
    ) -> "Evidence":
        """The evidence after one more action, chosen from an action set, and its reward.

        ``turn`` is the number of the round, which determines its random key. If the set is None,
        because there were too many to keep it, the sets of other rounds represent it.
        """
        return self.note(action, reward).offering(menu, int(self.rounds) if turn is None else turn)

    def offering(self, menu: Menu | None, turn: int) -> "Evidence":
        """The evidence with the action set of its last round, whose number is ``turn``."""
        after = self
        if menu is None:
            return after if self.sampled or self.fading else after.of_its_sample()
        known = self._place(menu)
        menu = menu if known is None else self.menus[known]
        key = random_key(turn)
        lots, owners = self.lots, self.owners
        if len(lots) < self.sets or key < lots[-1]:
            place = bisect(lots, key)
            lots = (*lots[:place], key, *lots[place:])[: self.sets]
            owners = (*owners[:place], menu, *owners[place:])[: self.sets]
        elif self.sampled:
            return after
        if self.sampled or (known is None and len(self.menus) == self.sets and not self.fading):
            return after._replace(lots=lots, owners=owners).of_its_sample()
        menus, counts = self.menus, list(self.counts)
        if known is not None:
            counts[known] += 1
        else:
            if len(menus) == self.sets:
                least = counts.index(min(counts))
                menus = (*menus[:least], *menus[least + 1 :])
                del counts[least]
            menus, counts = (*menus, menu), [*counts, 1]
        return Evidence(*after[:5], menus, tuple(counts), self.sets, lots, owners, *after[10:])

    def _place(self, menu: Menu) -> int | None:
        """The place of an action set among those that are kept, if it is one of them."""
        if menu in self.menus:  # the very object, as is usual: sets have no other equality
            return self.menus.index(menu)
        return next((i for i, other in enumerate(self.menus) if other.same(menu)), None)

    def of_its_sample(self) -> "Evidence":
        """The same evidence with the action sets of the sampled rounds only."""
        menus = {id(menu): menu for menu in self.owners}
        counts = Counter(map(id, self.owners))
        return self._replace(
            menus=tuple(menus.values()), counts=tuple(counts[i] for i in menus), sampled=True
        )

    def note(self, action: Floats, reward: float) -> "Evidence":
        """The evidence after one more reward, without its action set."""
        played, earned = action, reward
        total, rounds, surprise = self.total + action, self.rounds + 1, reward - self.level
        level = self.level + surprise / rounds
        if self.centred:  # Welford's update: the deviations from the means so far, and their weight
            weight = math.sqrt(self.rounds / rounds)
            action, reward = weight * (action - self.centre), weight * surprise
        return Evidence(  # _replace takes several times as long
            self.played.added(action),
            self.moment + reward * action,
            total,
            self.energy + reward**2,
            rounds,
            self.menus, self.counts, self.sets, self.lots, self.owners, self.sampled, self.fading,
            level,
            self.centred,
            None if self.tally is None else self.tally.add(played, earned),
        )  # fmt: skip

    def note_all(self, actions: Floats, rewards: Floats) -> "Evidence":
        """The evidence after many more rewards (n,) of actions (n, d), without their action sets.

        >>> once = Evidence.empty(1).note_all(np.ones((2, 1)), np.array([1.0, 3.0]))
        >>> once.moment.tolist(), once.energy, once.level
        ([4.0], 10.0, 2.0)
        """
        count, evidence = len(rewards), self
        if count == 1 or not self.played.is_whole:
            for action, reward in zip(actions, rewards.tolist(), strict=True):
                evidence = evidence.note(action, reward)
            return evidence
        rounds, total, level = self.rounds + count, self.total + actions.sum(axis=0), self.level
        tally = None if self.tally is None else self.tally.add_all(actions, rewards)
        if self.centred:  # deviations from the new means, and of those from the old ones
            mean, middle = actions.mean(axis=0), float(rewards.mean())
            weight = math.sqrt(self.rounds * count / rounds)
            actions = np.vstack([actions - mean, weight * (mean - self.centre)])
            rewards = np.append(rewards - middle, weight * (middle - level))
            level += count / rounds * (middle - level)
        else:
            level += float((rewards - level).sum()) / rounds
        return self._replace(
            played=Gram.of(self.gram + actions.T @ actions), moment=self.moment + rewards @ actions,
            total=total, energy=self.energy + float(rewards @ rewards), rounds=rounds, level=level,
            tally=tally,
        )  # fmt: skip

    def faded(self, share: float) -> "Evidence":
        """The evidence with all rounds discounted by the factor ``share``."""
        return self._replace(
            played=Gram.of(share * self.gram), moment=share * self.moment,
            total=share * self.total, energy=share * self.energy, rounds=share * self.rounds,
            counts=tuple(share * count for count in self.counts), fading=True,
            tally=None if self.tally is None else self.tally.scaled(share),
        )  # fmt: skip

    @property
    def offered(self) -> Floats:  # (B,)
        """The rounds that each action set represents: its own, and a share of those dropped."""
        counts = np.array(self.counts, dtype=np.float64)
        return counts * (self.rounds / counts.sum()) if self.menus else counts

    def restricted(self, features: Sequence[int]) -> "Evidence":
        """The evidence on some of the features alone."""
        kept = list(features)
        return self._replace(
            played=Gram.of(self.played.rows(np.array(kept, dtype=np.int64))[:, kept]),
            moment=self.moment[kept],
            total=self.total[kept],
            menus=tuple(Menu(menu.actions[:, kept]) for menu in self.menus),
            lots=(), owners=(),
        )  # fmt: skip

    def scale(self) -> float:
        """An estimate of the parameter's size, as if features were independent.

        >>> Evidence.empty(3).scale()
        1.0
        """
        square = float(self.played.diagonal.sum()) / len(self.moment)
        return (self.energy / square) ** 0.5 if self.energy > 0 and square > 0 else 1.0


def random_key(turn: int) -> float:
    """A pseudo-random number between 0 and 1, which is a function of the round."""
    digest = hashlib.blake2b(turn.to_bytes(8, "little"), digest_size=8).digest()
    return int.from_bytes(digest, "little") / 2.0**64
