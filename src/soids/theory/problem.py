"""The problems that the theorems cover, and the units in which a user's problem is one of them."""

from soids.arrays import as_count, as_number

WIDEST_GAP = 2.0  # rewards lie in [-1, 1]


def reward_unit(radius: float, action_bound: float, noise: float) -> float:
    """The unit of rewards in which the theorems apply; bounds are multiplied by it.

    With ``|theta|_1 <= radius``, entries of actions up to ``action_bound`` in size and noise that
    is ``noise``-sub-Gaussian, rewards over this unit and actions over their bound satisfy the
    assumptions, and C_min is that of the actions over their bound.

    >>> reward_unit(radius=10.0, action_bound=1.0, noise=1.0)
    10.0
    """
    as_number(radius, "radius", 0.0, strict=True)
    as_number(action_bound, "action_bound", 0.0, strict=True)
    as_number(noise, "noise", 0.0)
    return max(radius * action_bound, noise)


def require(dimension: int, sparsity: int, horizon: int = 1, c_min: float | None = None) -> None:
    """Check the numbers of a problem; errors name the argument."""
    as_number(as_count(dimension, "dimension"), "dimension")  # as_number for the upper limit
    as_count(sparsity, "sparsity", 1, dimension)
    as_number(as_count(horizon, "horizon"), "horizon")
    if c_min is not None and as_number(c_min, "c_min", 0.0, strict=True) > 1.0:
        raise ValueError(
            f"c_min must be at most 1, the best that actions in [-1, 1]^d allow, got {c_min:g}: "
            "divide the actions by their largest entry first"
        )


def covered_call(
    dimension: int, sparsity: int, radius: float, noise: float, action_bound: float, *,
    theorem: int = 2, sparse: bool | None = None,
) -> str:  # fmt: skip
    """The call of SOIDS that Theorem 2 or 3 covers, as Python.

    If Definition 1 fails (``sparse`` is False), the theorems cover the data-rich rate alone.

    >>> covered_call(100, 10, 10.0, 1.0, 1.0)
    'SOIDS.theorem2(100, 10, radius=10, noise=1, action_bound=1)'
    >>> covered_call(100, 10, 5.0, 1.0, 2.0, sparse=False)
    'SOIDS(100, sparsity=10, radius=5, noise=10, rate="rich", eta=0.25, action_bound=2, \
intercept=False)'
    """
    unit, bound = reward_unit(radius, action_bound, noise), exact(action_bound)
    if sparse is False:
        rate = "rich" if theorem == 2 else "theorem3_rich"
        return (
            f"SOIDS({dimension}, sparsity={sparsity}, radius={exact(unit / action_bound)}, "
            f'noise={exact(unit)}, rate="{rate}", eta=0.25, action_bound={bound}, intercept=False)'
        )
    level = exact(noise if noise > 0.0 else unit)  # policies need a positive noise
    return (
        f"SOIDS.theorem{theorem}({dimension}, {sparsity}, radius={exact(radius)}, noise={level}, "
        f"action_bound={bound})"
    )


def exact(number: float) -> str:
    """A number with all its digits; whole numbers have no decimal point."""
    return repr(float(number)).removesuffix(".0")
