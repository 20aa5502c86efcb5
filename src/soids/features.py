"""Features of actions from a context that describes the situation.

Notation
    context  (p,)  what is known of the situation: the patient, the visitor, the request
    arms     K     things that can be done
"""

import numpy as np

from soids.arrays import Floats, as_count


def disjoint(context: Floats, arms: int) -> Floats:  # (K, K p)
    """The context in a block of its own for each arm: every arm has a parameter of its own.

    >>> disjoint(np.array([1.0, 2.0]), 2).tolist()
    [[1.0, 2.0, 0.0, 0.0], [0.0, 0.0, 1.0, 2.0]]
    """
    actions = np.zeros((as_count(arms, "arms"), arms, len(context)))
    actions[range(arms), range(arms)] = context
    return actions.reshape(arms, -1)
