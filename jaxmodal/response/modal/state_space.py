"""State-space models of an arm between ports, in full precision, for control and time integration."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from jaxmodal.arm.arguments import positive_integer, real_number
from jaxmodal.arm.quantities import shown
from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.frequencies.tables import hertz_text
from jaxmodal.response.driven.port_quantities import OF_RECEPTANCES
from jaxmodal.response.driven.ports import Ports
from jaxmodal.response.modal.superposition import (
    frequencies_of,
    modal_superposition,
)
from jaxmodal.response.modal.truncation import TruncationError, error_in_band
from jaxmodal.runtime.array_types import Complexes, Floats, Numbers
from jaxmodal.runtime.optional import require_control, require_slycot
from jaxmodal.runtime.results import ResolvedResult
from jaxmodal.runtime.tables import Table
from jaxmodal.spatial.arms.arm import AnyArm

if TYPE_CHECKING:
    import xarray

QUANTITIES = tuple(OF_RECEPTANCES)
#: methods of discretisation, as in scipy.signal.cont2discrete
METHODS = ("zoh", "foh", "bilinear", "impulse")
#: size of a pole in steps of time that has decayed within one
_GONE = 1e-300


@dataclasses.dataclass(frozen=True, repr=False)
class StateSpace(ResolvedResult):
    """State space ``x' = A x + B u, y = C x + D u``, or discrete ``x_next = A x + B u``; result of `state_space`.

    Attributes
    ----------
    A, B, C, D : array, shapes (s, s), (s, m), (p, s), (p, m)
        The matrices, float64.
    inputs, outputs, states : tuple of str
        Names of the forces (``joint_2.torque``, ``tip_2.force_x``), of the motions (``tip_2.x``) and of the states
        (``mode1``, ..., ``mode1.rate``, ...). No input has the name of an output.
    time_step : float or None
        In s; None for continuous time.
    quantity : str
        Kind of the outputs: ``"receptance"`` for displacements, ``"mobility"`` for velocities, ``"accelerance"`` for
        accelerations.
    error : TruncationError or None
        Error against the exact response at frequencies up to the last mode; ``error.worst`` is the largest. None after
        `discrete` and `reduced`, and where no mode vibrates.
    """

    A: Floats
    B: Floats
    C: Floats
    D: Floats
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    states: tuple[str, ...]
    time_step: float | None = None
    quantity: str = "receptance"
    error: TruncationError | None = None

    @property
    def poles(self) -> Complexes:
        """Eigenvalues of A, shape (s,); in rad/s for continuous time."""
        return np.linalg.eigvals(self.A).astype(np.complex128)

    def frequency_response(self, omega: ArrayLike) -> Complexes:
        """Return the outputs for unit harmonic inputs, complex, shape (p, m, frequencies).

        Parameters
        ----------
        omega
            Angular frequencies in rad/s, at least 0; with a time step at most ``pi / time_step``.

        Raises
        ------
        ValueError
            If a frequency is outside this range, or is that of a pole, as 0 is of a system that integrates.
        """
        omega = frequencies_of(omega)
        points: Numbers = 1j * omega
        if self.time_step is not None:
            if np.any(omega * self.time_step > np.pi * (1.0 + 1e-12)):
                raise ValueError(
                    f"omega = {shown(float(omega.max()))}: expected at most pi / time_step = "
                    f"{np.pi / self.time_step:.6g} rad/s, half the sampling frequency"
                )
            points = np.exp(points * self.time_step)
        square = points[:, None, None] * np.eye(len(self.states)) - self.A
        try:
            states: Numbers = np.linalg.solve(square, self.B + 0j)
        except np.linalg.LinAlgError as error:
            at = float(omega[int(np.argmin(np.abs(np.linalg.det(square))))])
            raise ValueError(
                f"omega = {at!r}: is a pole of the system, where nothing bounds its answer; expected other "
                "frequencies, in rad/s"
            ) from error
        found: Numbers = self.C @ states + self.D
        return np.moveaxis(found, 0, -1)

    def discrete(self, time_step: float, method: str = "zoh") -> StateSpace:
        """Return the discrete-time system, by `scipy.signal.cont2discrete`.

        Parameters
        ----------
        time_step
            In s.
        method
            ``"zoh"``: exact for inputs that are constant over a step. ``"foh"``: exact for inputs that are linear over
            a step. ``"bilinear"`` (Tustin) and ``"impulse"`` preserve other properties.

        Raises
        ------
        ValueError
            If the step is not positive, the method is unknown or does not apply, or the system is already discrete.
        """
        from scipy import signal

        if self.time_step is not None:
            raise ValueError(
                f"discrete: the system has a time step of {self.time_step!r} s already; start from the continuous one"
            )
        step = real_number(time_step, "time_step", "a time in s greater than 0")
        if not (np.isfinite(step) and step > 0.0):
            raise ValueError(f"time_step = {shown(time_step)}: expected a time in s greater than 0")
        if method not in METHODS:
            raise ValueError(
                f"method = {shown(method)}: expected one of {', '.join(map(repr, METHODS))}"
            )
        if method == "impulse" and np.any(self.D):
            raise ValueError(
                "method = 'impulse': expected a system without direct feed, and this one has some (D); give "
                "residual=False to state_space for displacements, or another method"
            )
        matrices = (self.A, self.B, self.C, self.D)
        a, b, c, d, _ = signal.cont2discrete(matrices, step, method=method)
        return dataclasses.replace(self, A=a, B=b, C=c, D=d, time_step=step, error=None)

    def reduced(self, num_states: int, method: str = "matchdc") -> StateSpace:
        """Return a balanced truncation, by `control.balred`; needs ``jaxmodal[control]`` with its slycot.

        Parameters
        ----------
        num_states
            Number of states to keep, less than the present number.
        method
            ``"matchdc"`` preserves the static compliance, ``"truncate"`` is best at high frequencies.

        Raises
        ------
        ValueError
            If the number or the method is invalid, a pole is undamped, or the system is discrete.
        ImportError
            If python-control or slycot is not installed.
        """
        count = positive_integer(num_states, "num_states", len(self.states) - 1)
        if method not in ("matchdc", "truncate"):
            raise ValueError(f"method = {shown(method)}: expected 'matchdc' or 'truncate'")
        if self.time_step is not None:
            raise ValueError("reduced: the system is discrete; reduce the continuous one first")
        if not np.all(self.poles.real < 0.0):
            raise ValueError(
                "reduced: an undamped mode has no balanced form; give damping_ratio greater than 0"
            )
        control = require_slycot()
        small = control.balred(self.to_control(), count, method=method)
        names = tuple(f"balanced{k}" for k in range(1, small.nstates + 1))
        matrices: dict[str, Any] = {name: np.asarray(getattr(small, name)) for name in "ABCD"}
        return dataclasses.replace(self, **matrices, states=names, error=None)

    def to_control(self) -> Any:
        """Return a ``StateSpace`` of python-control with the same matrices and names; needs ``jaxmodal[control]``.

        Raises
        ------
        ImportError
            If python-control is not installed.
        """
        control = require_control()
        # python-control does not allow full stops in names
        inputs, outputs, states = (
            [name.replace(".", "_") for name in names]
            for names in (self.inputs, self.outputs, self.states)
        )
        return control.StateSpace(
            *(self.A, self.B, self.C, self.D),
            0 if self.time_step is None else self.time_step,
            inputs=inputs,
            outputs=outputs,
            states=states,
        )

    def to_xarray(self) -> xarray.Dataset:
        """Return the matrices as a dataset with dims state, of, input and output."""
        import xarray

        return xarray.Dataset(
            {
                "A": (("state", "of"), self.A),
                "B": (("state", "input"), self.B),
                "C": (("output", "of"), self.C),
                "D": (("output", "input"), self.D),
            },
            {
                "state": list(self.states),
                "of": list(self.states),
                "input": list(self.inputs),
                "output": list(self.outputs),
            },
            {"quantity": self.quantity, "time_step": self.time_step or 0.0},
        )

    def tables(self) -> list[Table]:
        """Return a table of the poles as frequencies and damping ratios."""
        poles: Numbers = self.poles
        if self.time_step is not None:
            poles = np.log(np.maximum(np.abs(poles), _GONE)) + 1j * np.angle(poles)
            poles = poles / self.time_step
        poles = poles[poles.imag >= 0.0]
        poles = poles[np.argsort(np.abs(poles))]
        sizes = np.abs(poles)
        ratios = np.divide(-poles.real, sizes, out=np.zeros(sizes.shape), where=sizes > 0.0)
        rows = [
            [hertz_text(size / (2.0 * np.pi)), f"{ratio + 0.0:.4g}"]
            for size, ratio in zip(sizes.tolist(), ratios.tolist(), strict=True)
        ]
        time = "" if self.time_step is None else f", time step {self.time_step:g} s"
        names = f"{', '.join(self.inputs)} to {', '.join(self.outputs)}"
        title = f"{len(self.states)} states from {names} ({self.quantity}{time})"
        notes = []
        if self.error is not None:
            hertz = hertz_text(self.error.worst_omega / (2.0 * np.pi))
            notes.append(f"error {100.0 * self.error.worst:.3g} % at most, at {hertz} Hz")
        return [Table(title, ("pole at [Hz]", "damping ratio"), rows, notes)]


def state_space(
    arm: AnyArm,
    inputs: Ports,
    outputs: Ports,
    num_modes: int = 10,
    *,
    theory: TheoryName = "timoshenko",
    damping_ratio: float | ArrayLike | None = None,
    rayleigh: tuple[float, float] | None = None,
    residual: bool = True,
    quantity: str = "receptance",
    seen_from: str = "base",
) -> StateSpace:
    """Return a state-space model of an arm between ports, from its certified modes.

    Parameters
    ----------
    arm, inputs, outputs, num_modes, theory, damping_ratio, rayleigh, residual, seen_from
        As for `modal_superposition`.
    quantity
        Kind of the outputs: ``"receptance"`` for displacements and rotations, ``"mobility"`` for their rates,
        ``"accelerance"`` for their accelerations.

    Returns
    -------
    StateSpace
        2 K states: the modes, of unit modal mass, then their rates. If accelerations of the base are seen from the
        ground, position and rate of the base are states as well. The residual is part of D; velocities and
        accelerations have none, because its rate is not an output of a system with finitely many states.

    Raises
    ------
    ArmError, ValueError, UncertifiedError
        As for `modal_superposition`, or if ``quantity`` is unknown.

    Examples
    --------
    >>> import jaxmodal as jm
    >>> arm = jm.examples.two_link_flexible()
    >>> model = jm.state_space(arm, "joint_1.torque", ["tip.across", "tip.rotation"], 4, damping_ratio=0.01)
    >>> model.A.shape, model.B.shape, model.C.shape, model.D.shape
    ((8, 8), (8, 1), (2, 8), (2, 1))
    >>> model.states[:2], model.states[4]
    (('mode1', 'mode2'), 'mode1.rate')
    """
    if not isinstance(quantity, str) or quantity not in QUANTITIES:
        raise ValueError(
            f"quantity = {shown(quantity)}: expected one of {', '.join(map(repr, QUANTITIES))}"
        )
    modes = modal_superposition(
        arm,
        inputs,
        outputs,
        num_modes,
        theory=theory,
        damping_ratio=damping_ratio,
        rayleigh=rayleigh,
        residual=residual and quantity == "receptance",
        seen_from=seen_from,
    )
    names = tuple(f"mode{k}" for k in range(1, modes.omega.size + 1))
    frequencies, driven, read, damping = (
        modes.omega,
        modes.driven,
        modes.read,
        modes.viscous_equivalent,
    )
    feed = modes.residual
    carrying = np.flatnonzero(np.any(modes.carried, axis=0))
    if carrying.size and quantity == "accelerance":
        feed = feed + modes.carried
    elif carrying.size:  # position and rate of the base itself, from its acceleration
        names += tuple(str(modes.inputs[k]) for k in carrying)
        frequencies = np.concatenate([frequencies, np.zeros(carrying.size)])
        driven = np.concatenate([driven, np.eye(driven.shape[1])[carrying]])
        read = np.concatenate([read, modes.carried[:, carrying].T])
        damping = np.pad(damping, (0, carrying.size))
    count = frequencies.size
    nothing, one, stiffness = np.zeros((count, count)), np.eye(count), np.diag(frequencies**2)
    a = np.block([[nothing, one], [-stiffness, -damping]])
    b = np.concatenate([np.zeros_like(driven), driven])
    readings = {
        "receptance": np.concatenate([one, nothing], axis=1),
        "mobility": np.concatenate([nothing, one], axis=1),
        "accelerance": a[count:],
    }
    if quantity == "accelerance":
        feed = feed + modes.read.T @ modes.driven
    system = StateSpace(
        a,
        b,
        read.T @ readings[quantity],
        feed,
        tuple(each.force_name for each in modes.inputs),
        tuple(map(str, modes.outputs)),
        (*names, *(f"{name}.rate" for name in names)),
        quantity=quantity,
    )
    power = QUANTITIES.index(quantity)

    def receptance(omega: Floats) -> Complexes:
        return system.frequency_response(omega) / (1j * omega) ** power

    top = float(modes.omega[-1])
    if top == 0.0:  # no mode vibrates, and there is no band
        return system
    return dataclasses.replace(system, error=error_in_band(modes, receptance, 1e-3 * top, top))
