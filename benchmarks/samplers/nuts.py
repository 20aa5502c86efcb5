"""The No-U-Turn samplers of NumPyro and BlackJAX, compiled, on the relaxed posterior.

The time of compilation is left out. Chains run one after the other, each adapted by itself with the
defaults of its library, because vectorised chains wait for the longest trajectory among them.
"""

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from benchmarks.samplers.chains import FOUR, WATCHED, Chains, Walk
from benchmarks.samplers.density import relaxed_log_density
from soids.arrays import Floats
from soids.posteriors.target import Target

WARM_UP = 500  # iterations that adapt the step size and the mass matrix


class Nuts(NamedTuple):
    """A library's sampler, with states of its own type."""

    adapted: Callable[[Any, Any], Any]  # key, theta -> state
    stepped: Callable[[Any, Any], Any]  # key, state -> state
    theta: Callable[[Any], Any]  # state -> theta


def numpyro_nuts(log_density: Callable[[Any], Any]) -> Nuts:
    """The sampler of NumPyro."""
    import jax
    from numpyro.infer import NUTS

    kernel = NUTS(potential_fn=lambda theta: -log_density(theta))

    def adapted(key: Any, theta: Any) -> Any:
        state = kernel.init(key, WARM_UP, theta, (), {})
        return jax.lax.fori_loop(0, WARM_UP, lambda _, state: kernel.sample(state, (), {}), state)

    return Nuts(adapted, lambda _, state: kernel.sample(state, (), {}), lambda state: state.z)


def blackjax_nuts(log_density: Callable[[Any], Any]) -> Nuts:
    """The sampler of BlackJAX with its window adaptation."""
    import blackjax

    def adapted(key: Any, theta: Any) -> Any:
        adaptation = blackjax.window_adaptation(blackjax.nuts, log_density)
        return tuple(adaptation.run(key, theta, WARM_UP)[0])

    def stepped(key: Any, state: Any) -> Any:
        place, parameters = state
        return blackjax.nuts(log_density, **parameters).step(key, place)[0], parameters

    return Nuts(adapted, stepped, lambda state: state[0].position)


def walk(
    library: Callable[[Callable[[Any], Any]], Nuts],
    target: Target,
    starts: Floats,  # (4 * groups, d)
    rng: np.random.Generator,
) -> Walk:
    """Adapted chains of a library's sampler."""
    import jax

    jax.config.update("jax_enable_x64", True)
    jnp = jax.numpy
    on_device = target._replace(
        moment=jnp.asarray(target.moment), drift=jnp.asarray(target.drift),
        columns=jnp.asarray(target.columns),
    )  # fmt: skip
    gram = jnp.asarray(target.gram.dense())
    nuts = library(lambda theta: relaxed_log_density(theta, on_device, gram, jnp))
    watched = jnp.asarray(target.columns[:, :WATCHED].T)

    def drawn(key: Any, state: Any, draws: int) -> Any:
        def once(state: Any, key: Any) -> Any:
            state = nuts.stepped(key, state)
            return state, watched @ nuts.theta(state)

        return jax.lax.scan(once, state, jax.random.split(key, draws))

    def timed(task: Callable[..., Any], *arguments: Any) -> tuple[Any, float]:
        began = time.process_time()
        done = jax.block_until_ready(task(*arguments))
        return done, time.process_time() - began

    key = jax.random.key(int(rng.integers(2**32)))
    keys = jax.random.split(key, len(starts))
    adapt = jax.jit(nuts.adapted).lower(keys[0], starts[0]).compile()
    adapted = [timed(adapt, *pair) for pair in zip(keys, starts, strict=True)]
    states = [state for state, _ in adapted]

    def more(draws: int) -> Chains:
        keys = jax.random.split(jax.random.key(int(rng.integers(2**32))), len(states))
        draw = jax.jit(drawn, static_argnums=2).lower(keys[0], states[0], draws).compile()
        rewards, seconds = [], []
        for chain, key in enumerate(keys):
            (states[chain], seen), spent = timed(draw, key, states[chain])
            rewards.append(np.asarray(seen))
            seconds.append(spent)
        return Chains(np.stack(rewards, 1), np.zeros((draws, len(states))), by_group(seconds))

    return Walk(by_group([spent for _, spent in adapted]), more)


def by_group(seconds: list[float]) -> Floats:  # (groups,)
    """The time of each group of four chains."""
    total: Floats = np.reshape(seconds, (-1, FOUR)).sum(axis=1)
    return total
