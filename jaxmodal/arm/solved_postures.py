"""Results of NumPy for arms that may be traced, posture by posture, with derivatives by address for JAX."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np

from jaxmodal.arm.serial_arms import SerialArm
from jaxmodal.runtime.array_types import Floats
from jaxmodal.runtime.callbacks import in_numpy

#: of an arm's structure, its values and addresses of some of them: a value (...), and its derivatives (..., addresses)
Solve: TypeAlias = Callable[[Any, tuple[float, ...], Sequence[str]], tuple[Floats, Floats]]


def at_postures(arm: SerialArm, postures: Any, shape: tuple[int, ...], solve: Solve) -> jax.Array:
    """Return the results (P, ...) of ``solve`` for an arm that may be traced, in each of P postures.

    Parameters
    ----------
    postures
        Positions of the joints of all links, (P, links), rad or m, which are not differentiated; None for the arm's
        own.
    shape
        Of what is found in one posture.
    solve
        What finds it; `built` makes an arm of what it is given. Differentiable once, by every value of the arm.
    """
    paths, structure = jax.tree_util.tree_flatten_with_path(arm)
    places = {_address(path): k for k, (path, _) in enumerate(paths)}
    positions = (f"link{i}.{arm.position_of(i)}" for i in range(1, arm.num_links + 1))
    turning = [] if postures is None else [places[position] for position in positions]
    plain = [None if isinstance(x, jax.core.Tracer) else np.float64(x) for _, x in paths]
    for k in turning:
        plain[k] = np.float64(0.0)
    varied = [k for k, value in enumerate(plain) if value is None]
    names = [name for name, k in places.items() if plain[k] is None]
    rows = 1 if postures is None else len(postures)

    def solved(arrays: Sequence[Any], gradient: bool) -> tuple[Floats, list[Floats]]:
        values, given = arrays
        leaves: list[Any] = list(plain)
        for k, value in zip(varied, values, strict=True):
            leaves[k] = value
        found = []
        for row in given if turning else [()]:
            for k, position in zip(turning, row, strict=True):
                leaves[k] = position
            found.append(solve(structure, tuple(map(float, leaves)), names if gradient else ()))
        return np.stack([x for x, _ in found]), [np.stack([x for _, x in found])]

    values = jnp.asarray([paths[k][1] for k in varied], jnp.float64)
    given = jnp.asarray(() if postures is None else postures, jnp.float64)
    answer: jax.Array = in_numpy(solved, (rows, *shape), [values], [given])
    return answer


def built(structure: Any, values: Sequence[float]) -> Any:
    """The arm of a structure and values, which are not looked at."""
    return jax.tree_util.tree_unflatten(structure, map(np.float64, values))


def _address(path: Sequence[Any]) -> str:
    """The address of a leaf of an arm."""
    parts: list[str] = []
    for key in path:
        if isinstance(key, jax.tree_util.SequenceKey):
            parts[-1] = f"{parts[-1].removesuffix('s')}{key.idx + 1}"
        else:
            parts.append(key.name)
    return ".".join(parts)
