"""Derivatives of frequencies of a planar arm at many postures: by link values, then by design variables."""

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
from jaxmodal.arm.arm import Arm
from jaxmodal.arm.arrays import beam_arrays
from jaxmodal.dynamic_stiffness.beams import Theory, theory_flags
from jaxmodal.eigenspaces.frequency_derivatives import group_gradient, projected_gradients
from jaxmodal.eigenspaces.modal_mass import ModeFields, unpadded_quadrature_size
from jaxmodal.eigenspaces.null_spaces import SLOTS, eigenspace
from jaxmodal.runtime.namespace import mapped, to_host, xp
from jaxmodal.statics.beam_arrays import BeamArrays


def at_postures(own: BeamArrays, name: str, angles: np.ndarray) -> BeamArrays:
    """Return the link values of an arm at some postures of a set, (lanes, n); the set ``own`` keeps its angles."""
    lanes: BeamArrays = jax.tree_util.tree_map(
        lambda x: xp.broadcast_to(x, (len(angles), *x.shape)), own
    )
    if name == OWN:
        return lanes
    turned: dict[str, Any] = {"joint_angle": angles}
    if own.ground_angle is not None:  # springs to the ground do not rotate
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
    """Return `group_gradient` of one frequency per lane, (lanes, n): one by one in NumPy, or in compiled chunks."""
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
    """Return derivatives projected on the m modes of a cluster at one posture, (m, m, n).

    For one direction of change, the eigenvalues of the symmetric matrix are the directional derivatives of coincident
    frequencies. ``close`` frequencies are treated as one root, others as simple roots.
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
    """Return the link values that are present, by name."""
    values = vars(beams).items()
    return {name: value for name, value in values if value is not None and name != "has_shear"}


#: link values that are replaced by the postures of a set
_TURNING = ("joint_angle", "ground_angle")


def pulled_back(gradient: BeamArrays, rates: dict[str, Array], name: str) -> np.ndarray:
    """Return derivatives by the variables, (..., variables), by the chain rule from (..., n) and (n, variables)."""
    total = np.zeros((*gradient.length.shape[:-1], rates["length"].shape[-1]))
    for key, of_variables in rates.items():
        rate = np.asarray(of_variables)
        if rate.any() and not (key in _TURNING and name != OWN):
            total += np.asarray(getattr(gradient, key)) @ rate
    return total


#: number of links differentiated in NumPy (2 to 4 ms each) before a program that is ten times faster is compiled (6 s)
_LINKS_IN_NUMPY = 2000


class PlanarRates:
    """Derivatives of the frequencies of a planar arm by the positions of the variables, in rad/s.

    ``has_programs``: the frequencies of small batches are worth a program where there are many of them.
    """

    has_programs = True

    def __init__(self, problem: Problem, arm: Arm) -> None:
        self._highest, self._links = problem.num_modes, 0
        self.flags = theory_flags(problem.theory)
        space = problem.space
        self._joints = np.array(arm.joints) - 1
        self._loaded = arm.loads is not None

        def named(y: Any, posture: Any = None) -> tuple[dict[str, Any], BeamArrays]:
            arm: Any = space.arm_at(y)
            posed = arm if posture is None else arm.with_posture(posture)
            beams = dataclasses.replace(beam_arrays(posed), has_shear=True)
            return by_name(beams), beams

        # rates and values are always needed together: one program, traced and compiled once
        self._link_rates = jax.jit(jax.jacfwd(named, has_aux=True))

    def _at(self, y: np.ndarray, name: str, angles: np.ndarray) -> tuple[BeamArrays, Any]:
        """Return link values at some postures, and their rates: common to all postures, or a list per posture.

        With loads the rates depend on the posture.
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
        """Return the derivative of the mean of a group of frequencies at each posture, (postures, n).

        Parameters
        ----------
        name, angles
            Name of the set, and joint angles in rad, shape (postures, links).
        omega, multiplicity
            Frequency in rad/s and number of modes of each group, shape (postures,).
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
        """Return derivatives, (m, m, n), projected on the modes of frequencies ``omega``, (m,), at one posture.

        ``close`` frequencies are treated as one root, others as simple roots.
        """
        lane, rates = self._at(y, name, angles[None])
        beams = jax.tree_util.tree_map(lambda x: x[0], lane)
        gradient = projected(self._highest, beams, self.flags, omega, close)
        return pulled_back(gradient, rates[0] if isinstance(rates, list) else rates, name)
