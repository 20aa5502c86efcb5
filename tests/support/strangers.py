"""Policies that are not ours, and some that behave badly; experiments name them module:Class."""

import os
import signal
import time
from contextlib import suppress
from pathlib import Path


class Stubborn:
    """Always the same action; all that a policy of others must have."""

    def __init__(self, dimension, index=0):
        self.index = index

    def choose(self, actions, rng):
        return self.index

    def observe(self, decision, reward):
        assert decision == self.index


class Mute:
    """Chooses, and does not listen."""

    def choose(self, actions, rng):
        return 0


class Unmakable(Stubborn):
    """Cannot even be made."""

    def __init__(self, dimension, sparsity, noise):
        raise ZeroDivisionError("oh")


class Raising(Stubborn):
    """Gives up in its second round."""

    def observe(self, decision, reward):
        if self.index:
            raise ArithmeticError("lost\nmy way")
        self.index = 1


class Leaving(Stubborn):
    """Ends the program."""

    def observe(self, decision, reward):
        raise SystemExit(3)


class Deadly(Stubborn):
    """Kills its worker, as running out of memory would: once for each file that says so."""

    def __init__(self, dimension, once):
        super().__init__(dimension)
        self.once = Path(once)

    def observe(self, decision, reward):
        with suppress(FileNotFoundError):  # of several workers one gets the file, and dies
            self.once.unlink()
            os.kill(os.getpid(), signal.SIGKILL)


class Doomed(Stubborn):
    """Kills its worker every time."""

    def observe(self, decision, reward):
        os.kill(os.getpid(), signal.SIGKILL)


class Slow(Stubborn):
    """Takes its time."""

    def observe(self, decision, reward):
        time.sleep(0.02)
