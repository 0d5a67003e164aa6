"""Other rivals: a p-element with SciPy's eigh, a determinant scan, and a fine mesh with eigsh.

The strongest, the chain form, is in `chain_form`. BLAS must be pinned to one thread before NumPy is
imported (OPENBLAS_NUM_THREADS=1, as `batch` does): more threads slow problems of this size.
"""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import scipy.linalg
import scipy.sparse
import scipy.sparse.linalg
from numpy.polynomial import legendre

import jaxmodal as jm
from benchmarks.chain_form import FIELDS, Beams
from jaxmodal.arm.arm import Arm
from jaxmodal.arm.arrays import beam_arrays
from jaxmodal.arm.parameters import set_parameters


def cell_beams(arm: Arm, parameters: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Beam quantities of every cell, arrays of shape (cells, n): what the rivals start from."""

    def one(values: tuple[jax.Array, ...]) -> dict[str, jax.Array]:
        beams = beam_arrays(set_parameters(arm, dict(zip(parameters, values, strict=True))))
        return {name: getattr(beams, name) for name in FIELDS}

    beams = jax.jit(jax.vmap(one))(tuple(jnp.asarray(v) for v in parameters.values()))
    return {name: np.asarray(value) for name, value in beams.items()}


class PElement:
    """Displacement elements, as in a textbook: p-hierarchic u, v, psi; one `eigh` per cell.

    Each link is cut into ``elements`` equal elements of degree ``p`` with two nodes and bubbles;
    the joints turn the nodal displacements. With ``sparse`` the system goes to `eigsh`.
    """

    def __init__(self, p: int = 11, elements: int = 1, sparse: bool = False) -> None:
        self.p, self.elements, self.sparse = p, elements, sparse
        points, weights = legendre.leggauss(p + 1)
        self._weights = weights / 2
        # hat functions, then integrated Legendre polynomials, which vanish at both nodes
        identity = np.eye(p)
        bubbles = [
            legendre.legint(identity[k], lbnd=-1.0) * np.sqrt(2 * k + 1) for k in range(1, p)
        ]
        functions = [np.array([0.5, -0.5]), np.array([0.5, 0.5]), *bubbles]
        self._shape = np.stack([legendre.legval(points, f) for f in functions], axis=1)
        # one point fewer for the shear of the rotation, against locking; the rest stays exact
        fewer, fewer_weights = legendre.leggauss(p)
        reduced = np.stack([legendre.legval(fewer, f) for f in functions], axis=1)
        self._reduced = (reduced.T * (fewer_weights / 2)) @ reduced
        self._slope = 2 * np.stack(
            [legendre.legval(points, legendre.legder(f)) for f in functions], axis=1
        )

    def frequencies(self, beams: Beams, num_modes: int = 10) -> np.ndarray:
        """Lowest frequencies in rad/s, shape (cells, num_modes), of beams of shape (cells, n)."""
        cells = range(beams["length"].shape[0])
        return np.stack([self._one({k: beams[k][i] for k in FIELDS}, num_modes) for i in cells])

    def _one(self, beams: Beams, num_modes: int) -> np.ndarray:
        stiffness, mass = self._assembled(beams)
        if self.sparse:
            k, m = stiffness.tocsc(), mass.tocsc()
            squares = scipy.sparse.linalg.eigsh(
                k, num_modes, m, sigma=0.0, return_eigenvectors=False
            )
            return np.asarray(np.sqrt(np.sort(squares)))
        inverse = scipy.linalg.eigh(
            mass,
            stiffness,
            eigvals_only=True,
            overwrite_a=True,
            overwrite_b=True,
            check_finite=False,
            subset_by_index=(mass.shape[0] - num_modes, mass.shape[0] - 1),
            driver="gvx",
        )
        return np.asarray(inverse[::-1] ** -0.5)

    def _element(self, b: dict[str, float], length: float) -> tuple[np.ndarray, np.ndarray]:
        """Stiffness and mass over (u, v, psi), the two nodes and then the bubbles of each."""
        n, d = self._shape, self._slope
        w = self._weights * length
        m = (n.T * w) @ n
        ss, sn = (d.T * w) @ d / length**2, (d.T * w) @ n / length
        zero = np.zeros_like(m)
        ea, ei = b["youngs_modulus"] * b["area"], b["youngs_modulus"] * b["second_moment"]
        ga = b["shear_modulus_effective"] * b["area"]
        stiffness = np.block(
            [
                [ea * ss, zero, zero],
                [zero, ga * ss, -ga * sn],
                [zero, -ga * sn.T, ei * ss + ga * length * self._reduced],
            ]
        )
        ra, ri = b["density"] * b["area"], b["density"] * b["second_moment"]
        mass = np.block([[ra * m, zero, zero], [zero, ra * m, zero], [zero, zero, ri * m]])
        size = self.p + 1
        nodes = [0, size, 2 * size, 1, size + 1, 2 * size + 1]
        order = nodes + [i for i in range(3 * size) if i not in nodes]
        return stiffness[np.ix_(order, order)], mass[np.ix_(order, order)]

    def _assembled(self, beams: Beams) -> tuple[Any, Any]:
        """Global stiffness and mass without the clamped node: nodes first, then bubbles."""
        links = beams["length"].size
        bubbles = 3 * (self.p - 1)
        count = links * self.elements
        size = 3 * count + bubbles * count
        found: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
        angle = 0.0
        bodies = np.zeros(size)
        for link in range(links):
            b = {name: float(beams[name][link]) for name in FIELDS}
            angle += b["joint_angle"]
            c, s = np.cos(angle), np.sin(angle)
            turn = np.eye(6 + bubbles)
            for node in (0, 3):
                turn[node : node + 2, node : node + 2] = [[c, s], [-s, c]]
            k, m = (turn.T @ x @ turn for x in self._element(b, b["length"] / self.elements))
            for e in range(link * self.elements, (link + 1) * self.elements):
                inner = 3 * count + bubbles * e
                where = np.r_[3 * e - 3 : 3 * e + 3, inner : inner + bubbles]
                keep = where >= 0
                found.append((where[keep], k[np.ix_(keep, keep)], m[np.ix_(keep, keep)]))
            last = 3 * (link + 1) * self.elements - 3
            bodies[last : last + 3] += [b["tip_mass"], b["tip_mass"], b["tip_inertia"]]
        if self.sparse:
            rows = np.concatenate([np.repeat(w, w.size) for w, _, _ in found])
            columns = np.concatenate([np.tile(w, w.size) for w, _, _ in found])
            stiffness, mass = (
                scipy.sparse.coo_matrix(
                    (np.concatenate([f[i].ravel() for f in found]), (rows, columns)), (size, size)
                )
                for i in (1, 2)
            )
            return stiffness, mass + scipy.sparse.diags(bodies)
        stiffness, mass = np.zeros((2, size, size))
        for where, k, m in found:
            at = np.ix_(where, where)
            stiffness[at] += k
            mass[at] += m
        mass[np.arange(size), np.arange(size)] += bodies
        return stiffness, mass


@functools.partial(jax.jit, static_argnames="addresses")
def _matrices(
    arm: Arm, addresses: tuple[str, ...], values: tuple[jax.Array, ...], omega: jax.Array
) -> jax.Array:
    varied = set_parameters(arm, dict(zip(addresses, values, strict=True)))
    return jax.vmap(lambda w: jm.characteristic_matrix(varied, w))(omega)


class DeterminantScan:
    """Signs of the characteristic determinant on a grid, all matrices at once, then bisection.

    The grid has ``points`` frequencies, even in sqrt(omega) up to ``top`` (rad/s). Roots that
    coincide, or fall into one interval in pairs, are lost, and NaN stands for what is not found.
    """

    def __init__(self, arm: Arm, top: float, points: int = 2000) -> None:
        self.arm = arm
        self.grid = np.linspace(np.sqrt(top) / points, np.sqrt(top), points) ** 2

    def _values(
        self, names: tuple[str, ...], values: tuple[jax.Array, ...], omega: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        matrices = np.asarray(_matrices(self.arm, names, values, jnp.asarray(omega)))
        sign, log = np.linalg.slogdet(matrices)
        return sign, log

    def frequencies(self, parameters: dict[str, np.ndarray], num_modes: int = 10) -> np.ndarray:
        """Lowest frequencies in rad/s found, shape (cells, num_modes)."""
        names = tuple(parameters)
        columns = zip(*parameters.values(), strict=True)
        return np.stack([self._one(names, column, num_modes) for column in columns])

    def _one(self, names: tuple[str, ...], column: tuple[float, ...], num_modes: int) -> np.ndarray:
        values = tuple(jnp.asarray(x) for x in column)
        sign, _ = self._values(names, values, self.grid)
        at = np.flatnonzero(sign[:-1] != sign[1:])[:num_modes]
        found = np.full(num_modes, np.nan)
        low, high = found.copy(), found.copy()
        low[: at.size], high[: at.size] = self.grid[at], self.grid[at + 1]
        low[at.size :], high[at.size :] = self.grid[0], self.grid[1]
        sign_low, log_low = self._values(names, values, low)
        _, log_high = self._values(names, values, high)
        # regula falsi with the Illinois rule; logs keep the determinant in range
        last = np.zeros(num_modes)
        for _ in range(12):
            trial = high - (high - low) / (1.0 + np.exp(log_low - log_high))
            s, log = self._values(names, values, trial)
            left = s == sign_low
            side = np.where(left, -1.0, 1.0)
            halved = np.where(side == last, np.log(0.5), 0.0)
            low, high = np.where(left, trial, low), np.where(left, high, trial)
            log_low = np.where(left, log, log_low + halved)
            log_high = np.where(left, log_high + halved, log)
            last = side
        root = high - (high - low) / (1.0 + np.exp(log_low - log_high))
        found[: at.size] = root[: at.size]
        return found
