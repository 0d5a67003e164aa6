"""Derivatives of frequencies at many postures of a planar arm: those of its link values, taken on to the variables."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from design_opt.problem.designs import OWN
from design_opt.problem.problem import Problem
from jaxmodal.arm.arm import require_planar
from jaxmodal.arm.arrays import beam_arrays
from jaxmodal.dynamic_stiffness.beams import Theory, theory_flags
from jaxmodal.eigenspaces.frequency_derivatives import group_gradient, projected_gradients
from jaxmodal.eigenspaces.modal_mass import ModeFields, unpadded_quadrature_size
from jaxmodal.eigenspaces.null_spaces import SLOTS, eigenspace
from jaxmodal.runtime.namespace import mapped, to_host, xp
from jaxmodal.statics.beam_arrays import BeamArrays


def at_postures(own: BeamArrays, name: str, angles: np.ndarray) -> BeamArrays:
    """Link values of one arm at some postures of a set, (lanes, n); the set ``own`` takes the design's angles."""
    lanes: BeamArrays = jax.tree_util.tree_map(
        lambda x: xp.broadcast_to(x, (len(angles), *x.shape)), own
    )
    if name == OWN:
        return lanes
    turned: dict[str, Any] = {"joint_angle": angles}
    if own.ground_angle is not None:  # springs to the ground stay where they are
        turned["ground_angle"] = np.cumsum(angles, axis=1)
    return dataclasses.replace(lanes, **turned)


def gradients(
    highest_mode: int,
    lanes: BeamArrays,
    flags: Theory,
    omega: np.ndarray,
    multiplicity: np.ndarray,
    *,
    compiled: bool,
) -> BeamArrays:
    """`group_gradient` of a frequency of each lane, (lanes, n): one by one in NumPy, or in compiled pieces."""
    count, links = lanes.length.shape
    if count == 0:
        return lanes
    points = unpadded_quadrature_size(highest_mode)
    if not compiled:
        return _lanes(points, lanes, flags, omega, multiplicity)
    size = 1 if count == 1 else 4 if links > 12 or count <= 4 else 32
    parts = []
    for start in range(0, count, size):
        at = np.minimum(np.arange(start, start + size), count - 1)
        own, *modes = jax.tree_util.tree_map(lambda x, at=at: x[at], (lanes, omega, multiplicity))
        parts.append(to_host(_piece(points, own, flags, *modes)))
    return jax.tree_util.tree_map(lambda *x: np.concatenate(x)[:count], *parts)


def _lanes(points: int, lanes: BeamArrays, flags: Theory, omega: Any, multiplicity: Any) -> Any:
    def lane(own: BeamArrays, omega: Any, multiplicity: Any) -> BeamArrays:
        return group_gradient(points, own, flags, omega, multiplicity)

    return mapped(lane)(lanes, omega, multiplicity)


_piece = functools.partial(jax.jit, static_argnums=0)(_lanes)


def projected(
    highest_mode: int, beams: BeamArrays, flags: Theory, omega: np.ndarray, close: bool
) -> BeamArrays:
    """Derivative of the stiffness of a cluster of m modes of one posture, projected on its modes, (m, m, n).

    The eigenvalues of these symmetric matrices are, for one direction of change, the directional derivatives of the
    frequencies where these coincide. ``close`` frequencies are one root, others have a null space each.
    """
    points, count, centre = unpadded_quadrature_size(highest_mode), len(omega), np.mean(omega)
    if close:
        space = eigenspace(beams, flags, centre, np.int64(count), points)
        modes = ModeFields(space.inner[:count], space.nodes[:count], space.outer[:count])
    else:
        spaces = mapped(lambda w: eigenspace(beams, flags, w, np.int64(1), points))(omega)
        modes = ModeFields(spaces.inner[:, 0], spaces.nodes[:, 0], spaces.outer[:, 0])
    return projected_gradients(beams, flags, centre, modes)


def by_name(beams: BeamArrays) -> dict[str, Any]:
    """The link values that the arm has, by name."""
    values = vars(beams).items()
    return {name: value for name, value in values if value is not None and name != "has_shear"}


#: link values that the postures of a set replace
_TURNING = ("joint_angle", "ground_angle")


def pulled_back(gradient: BeamArrays, rates: dict[str, Array], name: str) -> np.ndarray:
    """Chain rule from link values, (..., n) and (n, variables), to the variables: (..., variables)."""
    total = np.zeros((*gradient.length.shape[:-1], rates["length"].shape[-1]))
    for key, of_variables in rates.items():
        rate = np.asarray(of_variables)
        if rate.any() and not (key in _TURNING and name != OWN):
            total += np.asarray(getattr(gradient, key)) @ rate
    return total


#: links of arms whose frequency NumPy differentiates, 2 to 4 ms for each link, before the program that does it in a
#: tenth is compiled, 6 s
_LINKS_IN_NUMPY = 2000


class PlanarRates:
    """Derivatives of the frequencies of a planar arm by the positions of the variables, rad/s."""

    def __init__(self, problem: Problem) -> None:
        self._highest, self._links = problem.num_modes, 0
        self.flags = theory_flags(problem.theory)
        space, arm = problem.space, require_planar(problem.arm)
        self._joints = np.array(arm.joints) - 1
        self._loaded = arm.loads is not None

        def named(y: Any, posture: Any = None) -> tuple[dict[str, Any], BeamArrays]:
            arm = require_planar(space.arm_at(y))
            posed = arm if posture is None else arm.with_posture(posture)
            beams = dataclasses.replace(beam_arrays(posed), has_shear=True)
            return by_name(beams), beams

        # rates and values are always wanted together: one program, traced and compiled once
        self._link_rates = jax.jit(jax.jacfwd(named, has_aux=True))

    def _at(self, y: np.ndarray, name: str, angles: np.ndarray) -> tuple[BeamArrays, Any]:
        """Link values at some postures, and their rates: those of all postures, or a list with those of each.

        Loads of the arm press anew in each.
        """
        if not self._loaded or name == OWN:
            rates, own = self._link_rates(jnp.asarray(y))
            return at_postures(to_host(own), name, angles), rates
        rows = [(jnp.asarray(y), jnp.asarray(row)) for row in angles[:, self._joints]]
        each = [self._link_rates(*row) for row in rows]
        own = [to_host(beams) for _, beams in each]
        lanes: BeamArrays = jax.tree_util.tree_map(lambda *x: np.stack(x), *own)
        return lanes, [rates for rates, _ in each]

    def of_groups(
        self,
        y: np.ndarray,
        name: str,
        angles: np.ndarray,
        omega: np.ndarray,
        multiplicity: np.ndarray,
    ) -> np.ndarray:
        """The derivative of the mean of a group of frequencies at each of some postures of a set, (postures, n).

        Parameters
        ----------
        name, angles
            The set, and joint angles in rad, shape (postures, links).
        omega, multiplicity
            The frequency of each group in rad/s, and how many modes it has, shape (postures,).
        """
        if not len(angles):
            return np.zeros((0, len(y)))
        lanes, rates = self._at(y, name, angles)
        self._links += lanes.length.size
        gradient = gradients(
            self._highest,
            lanes,
            self.flags,
            omega,
            np.minimum(multiplicity, SLOTS),
            compiled=self._links > _LINKS_IN_NUMPY,
        )
        if not isinstance(rates, list):
            return pulled_back(gradient, rates, name)
        each = [jax.tree_util.tree_map(lambda x, k=k: x[k], gradient) for k in range(len(rates))]
        return np.stack([pulled_back(*pair, name) for pair in zip(each, rates, strict=True)])

    def of_cluster(
        self, y: np.ndarray, name: str, angles: np.ndarray, omega: np.ndarray, close: bool
    ) -> np.ndarray:
        """Derivatives projected on the modes of frequencies ``omega``, (m,), of one posture, (links,): (m, m, n).

        ``close`` frequencies are one root, others have a mode each.
        """
        lane, rates = self._at(y, name, angles[None])
        beams = jax.tree_util.tree_map(lambda x: x[0], lane)
        gradient = projected(self._highest, beams, self.flags, omega, close)
        return pulled_back(gradient, rates[0] if isinstance(rates, list) else rates, name)
