"""The chain form (`benchmarks.chain_form`) as one JAX program: the strongest rival on the device of jaxmodal itself."""

from __future__ import annotations

import functools
from collections.abc import Mapping

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from benchmarks.chain_form import _LOW, FIELDS, ChainForm


def frequencies(
    chain: ChainForm, beams: Mapping[str, np.ndarray], num_modes: int, chunk: int
) -> np.ndarray:
    """Lowest frequencies in rad/s, shape (cells, num_modes), of beams of shape (cells, n), in chunks."""
    cells = beams["length"].shape[0]
    found = []
    for start in range(0, cells, chunk):
        at = np.minimum(np.arange(start, start + chunk), cells - 1)
        part = {name: jnp.asarray(beams[name][at]) for name in FIELDS}
        found.append(_lowest(part, chain, num_modes))
    return np.concatenate([np.asarray(omega) for omega in found])[:cells]


@functools.partial(jax.jit, static_argnames=("chain", "num_modes"))
def _lowest(beams: dict[str, Array], chain: ChainForm, num_modes: int) -> Array:
    mass = jax.vmap(functools.partial(mass_of, chain))(beams)
    largest = jnp.linalg.eigvalsh(mass, symmetrize_input=False)[:, ::-1][:, :num_modes]
    return 1.0 / jnp.sqrt(largest)


def mass_of(chain: ChainForm, beams: dict[str, Array]) -> Array:
    """Mass matrix of one cell for unit stiffness, its lower triangle, as `ChainForm.mass`."""
    size, low = chain.unknowns, sum(_LOW)
    translation, rotation, momenta, tip = map(jnp.asarray, chain._reference)
    links = beams["length"].shape[0]
    matrix = jnp.zeros((links * size, links * size))
    composite = jnp.zeros((3, 3))
    reactions: dict[int, Array] = {}
    for i in reversed(range(links)):
        b = {name: beams[name][i] for name in FIELDS}
        length = b["length"]
        mass, rotary = b["density"] * b["area"] * length, b["density"] * b["second_moment"] * length
        scale = _scales(chain, b)
        turning = scale[0] / length
        block = mass * jnp.outer(scale, scale) * translation + rotary * turning**2 * rotation
        at_tip = (
            tip * scale[None, :low] * jnp.stack([jnp.ones(()), jnp.ones(()), 1.0 / length])[:, None]
        )
        bodies = jnp.diag(jnp.stack([b["tip_mass"], b["tip_mass"], b["tip_inertia"]]))
        beyond = composite + bodies
        carried = beyond @ at_tip
        block = block.at[:low, :low].add(at_tip.T @ carried)
        to_base = jnp.eye(3).at[2, 1].set(length)
        # momentum about the base per unknown, and the composite inertia there
        arms = jnp.stack([mass, mass, mass * length])[:, None]
        momentum = momenta[:3] * arms * scale[None, :low]
        momentum = momentum.at[2].add(momenta[3] * (rotary / length) * scale[:low])
        momentum = momentum + to_base @ carried
        turn = _turn(b["joint_angle"])
        own = i * size
        matrix = matrix.at[own : own + size, own : own + size].set(block)
        for j, reaction in reactions.items():
            rows = slice(j * size, j * size + low)
            matrix = matrix.at[rows, own : own + low].set(reaction.T @ at_tip)
            reactions[j] = turn @ (to_base @ reaction)
        reactions[i] = turn @ momentum
        half, third = mass * length / 2.0, mass * length**2 / 3.0 + rotary
        zero = jnp.zeros(())
        link = jnp.stack(
            [
                jnp.stack([mass, zero, zero]),
                jnp.stack([zero, mass, half]),
                jnp.stack([zero, half, third]),
            ]
        )
        composite = turn @ (to_base @ beyond @ to_base.T + link) @ turn.T
    return matrix


def _scales(chain: ChainForm, b: dict[str, Array]) -> Array:
    """Displacement per unknown."""
    length = b["length"]
    bend = length * jnp.sqrt(length / (b["youngs_modulus"] * b["second_moment"]))
    shear = jnp.sqrt(length / (b["shear_modulus_effective"] * b["area"]))
    axial = jnp.sqrt(length / (b["youngs_modulus"] * b["area"]))
    kind = np.repeat([0, 1, 2], [chain.curvature, chain.shear, chain.axial])[chain._order]
    return jnp.stack([bend, shear, axial])[kind]


def _turn(angle: Array) -> Array:
    c, s, zero, one = jnp.cos(angle), jnp.sin(angle), jnp.zeros(()), jnp.ones(())
    rows = [jnp.stack(r) for r in ([c, -s, zero], [s, c, zero], [zero, zero, one])]
    return jnp.stack(rows)
