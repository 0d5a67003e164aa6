"""Small motions about a state or along a motion: matrices, frequencies and state space."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxmodal.arm.arguments import finite
from jaxmodal.arm.kinds import ByKind
from jaxmodal.dynamics.integration.histories import coordinates_of
from jaxmodal.dynamics.mechanics import equations, free_bases
from jaxmodal.dynamics.mechanics.free_bases import require_pose
from jaxmodal.dynamics.mechanics.kinematics_in_space import summed_inertia
from jaxmodal.dynamics.mechanics.massless import (
    NO_MASS,
    frequencies_with_massless,
    massless,
    suspect,
)
from jaxmodal.dynamics.model import FlexibleModel, one_of, require_model, require_motor_inertia
from jaxmodal.dynamics.model_in_space import SpatialFlexibleArm
from jaxmodal.runtime.errors import ArmError
from jaxmodal.runtime.namespace import Array
from jaxmodal.runtime.optional import require_control
from jaxmodal.runtime.tables import ShowsTables, Table

if TYPE_CHECKING:
    import xarray

JOINTS = ("free", "locked")
#: eigenvalues of the stiffness, scaled by its diagonal, count as 0 if they are negative by less than this (rounding);
#: the scaling treats diagonal entries below this share of the largest squared frequency as that share
_ROUNDING = 1e-12


class Linearisation(NamedTuple):
    """System M x'' + D x' + K x = G u for small deviations x of the k coordinates that move.

    Attributes
    ----------
    mass, damping, stiffness : Array, shape (k, k), or (T, k, k) along a motion
        M, and the derivatives D and K of all forces with respect to rates and to coordinates. With rates or
        accelerations, or if gravity acts on foreshortening links, K can differ from the stiffness of the arm at rest.
    inputs : Array, shape (k, n)
        G: distribution of the motor torques; zero with locked joints.
    names : tuple of str
        Names of the coordinates: ``theta1``, ``link1.mode1``, ``motor1`` and so on.
    tip : Array, shape (d, k) or (T, d, k), or None
        Derivative of the tip position; with None the tip is not an output.
    times : Array, shape (T,), or None
        Times of the motion, s.
    summed : Array, shape (k,) or (T, k), or None
        Sum of the absolute contributions to the diagonal of M, which shows whether a mass is only rounding; None: the
        diagonal itself is used.
    """

    mass: Array
    damping: Array
    stiffness: Array
    inputs: Array
    names: tuple[str, ...]
    tip: Array | None = None
    times: Array | None = None
    summed: Array | None = None

    def tables(self) -> list[Table]:
        """Return a table of the coordinates, with the frequencies if the state is stable."""
        try:
            hertz = np.atleast_2d(self.natural_frequencies()) / (2.0 * np.pi)
            low, high = hertz.min(axis=0), hertz.max(axis=0)
            notes: tuple[str, ...] = ()
        except ArmError as error:
            low = high = np.zeros(0)
            notes = (str(error),)
        rows = [
            [str(k + 1), f"{a:.5g}" if self.times is None else f"{a:.5g} to {b:.5g}"]
            for k, (a, b) in enumerate(zip(low.tolist(), high.tolist(), strict=True))
        ]
        where = "" if self.times is None else f" along a motion, {len(self.times)} times"
        title = f"linearisation, {len(self.names)} coordinates{where}"
        notes = (*notes, f"coordinates: {', '.join(self.names)}")
        return [Table(title, ("mode", "undamped frequency [Hz]"), rows, notes)]

    def __str__(self) -> str:
        return ShowsTables.__str__(self)  # type: ignore[arg-type]  # a named tuple has no other bases

    def __repr__(self) -> str:
        return ShowsTables.__repr__(self)  # type: ignore[arg-type]

    def _repr_html_(self) -> str:
        return ShowsTables._repr_html_(self)  # type: ignore[arg-type]

    def natural_frequencies(self) -> np.ndarray:
        """Return the undamped angular frequencies, ascending, rad/s, shape (k,) or (T, k); 0 for free joints.

        Elastic coordinates without mass, as between springs in series, follow statically: their frequency is inf. Along
        a motion these are the frequencies of the arm frozen at each time.

        Raises
        ------
        ArmError
            If a squared frequency is negative beyond rounding, so that the state is unstable; or if the mass matrix is
            not positive definite, as can happen with ``inertia_order = 'first'``.
        """
        mass, stiffness, own = _without_rigid_motions(
            np.asarray(self.mass), np.asarray(self.stiffness)
        )
        without = len(self.names) - own.size
        summed = None if self.summed is None else np.asarray(self.summed)[..., own]
        if np.any(massless(mass, summed)):
            found = frequencies_with_massless(mass, stiffness, summed)
            return np.concatenate([np.zeros((*found.shape[:-1], without)), found], axis=-1)
        factor = _cholesky(mass)
        half = np.linalg.solve(factor, 0.5 * (stiffness + stiffness.mT))
        squares = np.linalg.eigvalsh(np.linalg.solve(factor, half.mT))
        # squared frequencies have as many negative signs as eigenvalues of the stiffness under any scaling (Sylvester);
        # of the scaled stiffness small ones are resolved that high modes would hide in ``squares``
        largest = np.abs(squares).max(initial=0.0, axis=-1, keepdims=True)
        floor = _ROUNDING * largest * np.diagonal(mass, axis1=-2, axis2=-1)
        sizes = np.maximum(np.abs(np.diagonal(stiffness, axis1=-2, axis2=-1)), floor)
        scale = 1.0 / np.sqrt(np.where(sizes > 0.0, sizes, 1.0))
        scaled = 0.5 * (stiffness + stiffness.mT) * scale[..., :, None] * scale[..., None, :]
        if np.any(np.linalg.eigvalsh(scaled) < -_ROUNDING):
            raise ArmError(
                f"the state is not stable: a squared frequency is {squares.min():.6g} rad^2/s^2; must be 0 or more; "
                "use state_space and numpy.linalg.eigvals for an unstable state."
            )
        found = np.sqrt(np.maximum(squares, 0.0))
        return np.concatenate([np.zeros((*found.shape[:-1], without)), found], axis=-1)

    def _of_first_order(self) -> np.ndarray:
        """Return A of z' = A z with coordinates and rates as z, shape (2 k, 2 k) or (T, 2 k, 2 k)."""
        mass, size = np.asarray(self.mass), len(self.names)
        if np.any(massless(mass, self.summed)):
            raise ArmError(
                "mass: something that gives way has none, as what stands between springs in a row; must be positive "
                "definite: give it a body (of an elastic base the stator of link 1); natural_frequencies needs none."
            )
        _cholesky(mass)
        below = [
            np.linalg.solve(mass, -np.asarray(part)) for part in (self.stiffness, self.damping)
        ]
        upper = np.concatenate([np.zeros((size, size)), np.eye(size)], axis=1)
        upper = np.broadcast_to(upper, (*mass.shape[:-2], *upper.shape))
        return np.concatenate([upper, np.concatenate(below, axis=-1)], axis=-2)

    def eigenvalues(self) -> np.ndarray:
        """Return the eigenvalues s of the small motions x e^(s t), 1/s, shape (2 k,) or (T, 2 k).

        They are sorted by imaginary part, then by real part.

        Forces of the rates are included, such as gyroscopic forces: the imaginary parts are the angular frequencies of
        a spinning arm, and a real part above 0 beyond rounding means that the motion grows.

        Raises
        ------
        ArmError
            If the mass matrix is not positive definite.
        """
        found = np.linalg.eigvals(self._of_first_order())
        return np.take_along_axis(found, np.argsort(found.imag + 1j * found.real, axis=-1), axis=-1)

    def state_space(self) -> xarray.Dataset:
        """Return the system z' = A z + B u, y = C z + D u as named matrices.

        Returns
        -------
        xarray.Dataset
            ``A`` (2 k, 2 k), ``B`` (2 k, n), ``C`` (p, 2 k) and ``D`` (p, n); along a motion, all except D have a
            leading axis ``time``. The states z are the coordinates and their rates, the inputs u are torques in N m,
            and the outputs y are the angles of the moving joints and motors, rad, and the tip position ``tip.x``,
            ``tip.y`` and, in space, ``tip.z``, m. All are deviations.

        Raises
        ------
        ArmError
            If the mass matrix is not positive definite.
        """
        import xarray

        matrix = self._of_first_order()
        mass, size = np.asarray(self.mass), len(self.names)
        given = np.asarray(self.inputs)
        inputs = np.linalg.solve(mass, np.broadcast_to(given, (*mass.shape[:-2], *given.shape)))
        angles = [k for k, name in enumerate(self.names) if "." not in name]
        outputs = [self.names[k] for k in angles]
        seen = np.broadcast_to(np.eye(size)[angles], (*mass.shape[:-2], len(angles), size))
        if self.tip is not None:
            seen = np.concatenate([seen, np.asarray(self.tip)], axis=-2)
            outputs += [f"tip.{axis}" for axis in "xyz"[: self.tip.shape[-2]]]
        seen = np.concatenate([seen, np.zeros_like(seen)], axis=-1)
        states = [*self.names, *(f"{name}.rate" for name in self.names)]
        torques = [f"torque{i}" for i in range(1, given.shape[1] + 1)]
        coords: dict[str, Any] = {"state": states, "of": states}
        coords |= {"input": torques, "output": outputs}
        before: tuple[str, ...] = ()
        if self.times is not None:
            before, coords["time"] = ("time",), ("time", np.asarray(self.times), {"units": "s"})
        return xarray.Dataset(
            {
                "A": ((*before, "state", "of"), matrix),
                "B": (
                    (*before, "state", "input"),
                    np.concatenate([np.zeros_like(inputs), inputs], axis=-2),
                ),
                "C": ((*before, "output", "of"), seen),
                "D": (("output", "input"), np.zeros((len(outputs), len(torques)))),
            },
            coords,
        )

    def to_control(self) -> Any:
        """Return python-control's ``StateSpace`` of `state_space`; needs ``jaxmodal[control]``.

        Names are the same as in `state_space`, with ``_`` in place of full stops, which python-control does not allow.

        Raises
        ------
        ArmError
            If this holds several systems along a motion, or the mass matrix is not positive definite.
        ImportError
            If python-control is not installed.
        """
        control = require_control()
        if self.times is not None:
            raise ArmError(
                f"to_control: this holds {len(self.times)} systems along a motion; must be one: linearise about the "
                "state at one time, or use the matrices of state_space."
            )
        space = self.state_space()
        labels = {
            f"{name}s": [str(label).replace(".", "_") for label in space[name].values]
            for name in ("state", "input", "output")
        }
        return control.StateSpace(*(space[name].values for name in "ABCD"), 0, **labels)


def _without_rigid_motions(
    mass: np.ndarray, stiffness: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return M and K reduced to the coordinates that have stiffness, and the indices of these coordinates.

    The other coordinates move freely and are eliminated, because otherwise rounding of the largest eigenvalues would
    hide their frequency 0.
    """
    whole = np.abs(stiffness).max(axis=tuple(range(stiffness.ndim - 2)))
    free = (whole.max(axis=0) == 0.0) & (whole.max(axis=1) == 0.0)
    if not np.any(free) or np.all(free):
        return mass, stiffness, np.arange(len(free))
    _cholesky(mass)
    own, other = np.flatnonzero(~free), np.flatnonzero(free)
    across = mass[..., other[:, None], own]
    carried = np.linalg.solve(mass[..., other[:, None], other], across)
    reduced = mass[..., own[:, None], own] - across.mT @ carried
    return reduced, stiffness[..., own[:, None], own], own


def _cholesky(mass: np.ndarray) -> np.ndarray:
    try:
        return np.linalg.cholesky(mass)
    except np.linalg.LinAlgError as error:
        smallest = float(np.linalg.eigvalsh(mass).min())
        raise ArmError(
            f"mass: is not positive definite, its smallest eigenvalue is {smallest:.3g}; must be: deflections are too "
            "large for an inertia matrix of first order; use inertia_order = 'full', whose mass always is, or smaller "
            "deflections."
        ) from error


def linearise(
    model: FlexibleModel, q: Any, rate: Any = None, joints: str = "free", acceleration: Any = None
) -> Linearisation:
    """Linearise the equations of motion about a state.

    Parameters
    ----------
    model
        The arm.
    q, rate, acceleration
        Coordinates, rates and accelerations, shape (N,); None means zero. The torques that the state needs are held
        constant. With a free base q has N + 7 entries and the others N + 6; the deviations of the base are
        displacements in its axes.
    joints
        ``"free"`` lets the joints move; ``"locked"`` holds the coordinates that the motors drive. Locked, the
        frequencies are those of `jaxmodal.natural_frequencies` for the same arm.

    Returns
    -------
    Linearisation
        System about the state, which is an equilibrium if ``q`` is one; `static_state` finds it under gravity.

    Raises
    ------
    ArmError
        If an argument is not allowed, or joints are free and motors have no inertia (``motor="beyond_spring"``).
    """
    require_model(model)
    one_of("joints", joints, JOINTS, "'locked' is the arm on its brakes")
    if joints == "free":
        require_motor_inertia(model)
    state = []
    for name, given in (("q", q), ("rate", rate), ("acceleration", acceleration)):
        blank = free_bases.at_zero(model) if name == "q" else np.zeros(model.num_rates)
        size = blank.size
        words = f"{size} finite numbers"
        state.append(blank if given is None else finite(name, given, (size,), words))
    require_pose(model, "q", state[0])
    return _kept(model, state[0], _matrices(model, *state), joints)


def linearise_along(
    model: FlexibleModel, motion: xarray.Dataset, joints: str = "free"
) -> Linearisation:
    """Linearise the equations of motion along a motion: one system for each time, with the motor torques held constant.

    Parameters
    ----------
    model
        The arm that was simulated.
    motion : xarray.Dataset
        Result of `simulate`. Times that were not reached are left out.
    joints
        As for `linearise`.

    Returns
    -------
    Linearisation
        Systems with a leading axis of times: M(t) x'' + D(t) x' + K(t) x = G u for motions near the given one.

    Raises
    ------
    ArmError
        If an argument is not allowed, or the motion is not one of this arm.
    """
    require_model(model)
    one_of("joints", joints, JOINTS, "'locked' is the arm on its brakes")
    if joints == "free":
        require_motor_inertia(model)
    q, rate = coordinates_of(model, motion, also=("torque",))
    known = np.isfinite(q).all(axis=1)
    q, rate = q[known], rate[known]
    torques = motion["torque"].values[known]
    found = _matrices_along(model, q, rate, torques)
    return _kept(model, q, found, joints)._replace(times=motion["time"].values[known])


def _kept(
    model: FlexibleModel, q: np.ndarray, matrices: tuple[Array, ...], joints: str
) -> Linearisation:
    """Return the system of the coordinates that move, from M, D, K (..., N, N) and the tip derivative (..., d, N)."""
    size = model.num_rates
    driven = model.layout.driven
    inputs = np.zeros((size, model.num_links))
    inputs[driven, np.arange(model.num_links)] = 1.0
    names = model.layout.names
    kept = np.setdiff1d(np.arange(size), model.layout.given)
    if joints == "locked":
        kept = np.setdiff1d(kept, driven)
    mass, damping, stiffness, tip = (np.asarray(part) for part in matrices)
    square = (..., kept[:, None], kept)
    summed, sums = None, _SUMS.along(model.axes)
    if sums is not None and suspect(mass[square]):
        summed = np.asarray(sums(model, q))[..., kept]
    return Linearisation(
        mass[square],
        damping[square],
        stiffness[square],
        inputs[kept],
        tuple(names[i] for i in kept),
        tip[..., kept],
        summed=summed,
    )


@jax.jit
def _summed(model: SpatialFlexibleArm, q: Array) -> Any:
    return jnp.vectorize(lambda at: summed_inertia(model, at, NO_MASS), signature="(n)->(m)")(q)


#: `Linearisation.summed` of the arms that can have something without mass between springs
_SUMS: ByKind[Callable[..., Any] | None] = ByKind(plane=None, space=_summed)


@jax.jit
def _matrices(
    model: FlexibleModel, q: Array, rate: Array, acceleration: Array
) -> tuple[Array, Array, Array, Array]:
    def forces(moved: Array, speed: Array) -> Array:
        near = free_bases.neighbour(model, (q, rate, acceleration), moved, speed)
        return equations.generalised_forces(model, *near)

    still = jnp.zeros(model.num_rates)
    by_place, by_rate = jax.jacfwd(forces, argnums=(0, 1))(still, still)
    tip = jax.jacfwd(lambda it: equations.tip(model, free_bases.displaced(model, q, it)))(still)
    return equations.inertia(model, q), by_rate, by_place, tip


@jax.jit
def _matrices_along(
    model: FlexibleModel, q: Array, rate: Array, torques: Array
) -> tuple[Array, Array, Array, Array]:
    def one(at: Array, speed: Array, torque: Array) -> tuple[Array, Array, Array, Array]:
        acceleration, _ = equations.accelerations(model, at, speed, torque)
        return _matrices(model, at, speed, acceleration)

    return jax.vmap(one)(q, rate, torques)
