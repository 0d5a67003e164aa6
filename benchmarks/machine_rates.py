"""What one core does at most with float64, measured in this process: operations per second, and bytes of its caches.

Every rate of operations is that of a loop compiled by XLA, over an array that stays in the first-level cache, with so
many of them for each element that loading and storing it does not count. The best of several arrangements and repeats
is kept.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

#: elements of the arrays, and of one that fills a part of the second-level cache
_ELEMENTS, _CACHED = 1024, 32768
#: how often the loop goes over its array in one call
_PASSES = 400
#: operations for each element: chains that do not wait for one another, and their length
_CHAINS = ((2, 64), (4, 32), (8, 16))
_LINKS = 8


def rates(repeats: int = 5, passes: int = _PASSES) -> dict[str, float]:
    """Operations per second by kind, as in `operations.KINDS`, and ``bytes`` per second.

    A fused multiplication and addition is two operations.
    """
    import jax.numpy as jnp
    from jax import lax

    a, b = jnp.float64(0.999), jnp.float64(0.0007)

    def measured(link: Callable[[Any], Any], chains: int, length: int, per_link: float) -> float:
        def element(x: Any) -> Any:
            parts = [x + 0.001 * k for k in range(chains)]
            for _ in range(length):
                parts = [link(p) for p in parts]
            return sum(parts[1:], parts[0]) / chains

        seconds = _seconds(element, _ELEMENTS, repeats, passes)
        return chains * length * per_link * _ELEMENTS * passes / seconds

    def of(link: Callable[[Any], Any]) -> float:
        return max(measured(link, chains, _LINKS, 1.0) for chains in (1, 4))

    moved = _seconds(lambda x: x * a + b, _CACHED, repeats, passes)
    return {
        "add_multiply": max(
            measured(lambda x: x * a + b, chains, length, 2.0) for chains, length in _CHAINS
        ),
        # a sum in every link, as the compiler would cancel a quotient of a quotient
        "divide": of(lambda x: a / (x + b)),
        "square_root": of(jnp.sqrt),
        "exponential": of(lambda x: jnp.exp(-x)),
        "logarithm": of(lambda x: jnp.log(x + 2.0)),
        "select": max(
            measured(lambda x: lax.select(x < b, a - x, x), chains, length, 2.0)
            for chains, length in _CHAINS
        ),
        "bytes": 16.0 * _CACHED * passes / moved,
    }


def _seconds(element: Callable[[Any], Any], size: int, repeats: int, passes: int) -> float:
    """Least seconds of so many passes of a formula over an array."""
    import jax
    import jax.numpy as jnp
    from jax import lax

    @jax.jit
    def run(x: Any) -> Any:
        return lax.fori_loop(0, passes, lambda _, y: element(y), x)

    x = jnp.linspace(0.5, 1.0, size)
    run(x).block_until_ready()
    times = []
    for _ in range(repeats):
        begin = time.process_time()
        run(x).block_until_ready()
        times.append(time.process_time() - begin)
    return min(times)
