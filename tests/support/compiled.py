"""Kernels beside the plain Python that they are compiled from."""

from copy import deepcopy

import numpy as np


def plain(kernel):
    """The function that a kernel is compiled from."""
    return getattr(kernel, "py_func", kernel)


def outcome(kernel, *arguments):
    """All that a kernel returns and writes, in one row."""
    arguments = deepcopy(arguments)
    parts = flat((kernel(*arguments), *arguments))
    return np.concatenate([np.ravel(part).astype(float) for part in parts])


def flat(part):
    """The numbers and arrays of nested tuples, one after the other."""
    if isinstance(part, tuple):
        return [one for inner in part for one in flat(inner)]
    return [] if part is None else [part]


def assert_compiled_equals_plain(kernel, *arguments, rtol=1e-11, atol=0.0):
    """A kernel returns and writes the same as its plain Python, up to rounding."""
    compiled, interpreted = outcome(kernel, *arguments), outcome(plain(kernel), *arguments)
    np.testing.assert_allclose(compiled, interpreted, rtol=rtol, atol=atol)
