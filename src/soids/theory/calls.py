"""The call that builds the policy of the theorems, in a user's own units."""

from soids.theory.problem import reward_unit


def covered_call(
    dimension: int,
    sparsity: int,
    radius: float,
    noise: float,
    action_bound: float,
    *,
    theorem: int = 2,
    sparse: bool | None = None,
) -> str:
    """The call of SOIDS that Theorem 2 or 3 covers, as Python.

    If Definition 1 fails (``sparse`` is False), the theorems cover the data-rich rate alone.

    >>> covered_call(100, 10, 10.0, 1.0, 1.0)
    'SOIDS.theorem2(100, 10, radius=10, noise=1, action_bound=1)'
    >>> covered_call(100, 10, 5.0, 1.0, 2.0, sparse=False)
    'SOIDS(100, sparsity=10, radius=5, noise=10, rate="rich", eta=0.25, action_bound=2)'
    """
    unit = reward_unit(radius, action_bound, noise)
    if sparse is not False:
        level = noise if noise > 0.0 else unit  # policies need a positive noise
        return (
            f"SOIDS.theorem{theorem}({dimension}, {sparsity}, radius={exact(radius)}, "
            f"noise={exact(level)}, action_bound={exact(action_bound)})"
        )
    rate = "rich" if theorem == 2 else "theorem3_rich"
    return (
        f"SOIDS({dimension}, sparsity={sparsity}, radius={exact(unit / action_bound)}, "
        f'noise={exact(unit)}, rate="{rate}", eta=0.25, action_bound={exact(action_bound)})'
    )


def exact(number: float) -> str:
    """A number with all its digits; whole numbers have no decimal point.

    >>> exact(10.0), exact(0.1)
    ('10', '0.1')
    """
    number = float(number)
    return str(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)
