"""Numba's compiler, with a cache for compiled code wherever one can be written."""

from functools import partial

import numba

njit = partial(numba.njit, no_cfunc_wrapper=True)
