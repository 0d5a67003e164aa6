"""Modal superposition: the response of an arm as a sum over its certified modes, with a static residual."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jaxmodal.arm.arguments import positive_integer, real_array
from jaxmodal.arm.arm import Arm
from jaxmodal.arm.arrays import require_one_arm
from jaxmodal.arm.quantities import shown
from jaxmodal.arm.refusals import require_concrete
from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.frequencies.results import NaturalFrequencies
from jaxmodal.frequencies.tables import certificate_text, hertz_text
from jaxmodal.response.driven.damping import undamped
from jaxmodal.response.driven.labels import port_labels
from jaxmodal.response.driven.port_quantities import carried_unit, compliance_unit, modal_unit
from jaxmodal.response.driven.ports import Port, Ports, ports
from jaxmodal.response.exact.held_places import cannot_move
from jaxmodal.response.modal.base_motion import carried, refuse_turned_base, require_free_tips
from jaxmodal.response.modal.damping_of_modes import given_damping, require_given_damping
from jaxmodal.response.modal.modes_in_space import modes_in_space
from jaxmodal.response.modal.participation import modes_at_ports
from jaxmodal.response.modal.rigid_motions import first_vibration, residual_at_rest
from jaxmodal.response.static.compliance import static_compliance
from jaxmodal.response.static.in_space import still_in_space
from jaxmodal.runtime import limits
from jaxmodal.runtime.datasets import variable
from jaxmodal.runtime.errors import ArmError
from jaxmodal.runtime.results import Result
from jaxmodal.runtime.tables import Table
from jaxmodal.spatial.arms.arm import SpatialArm

if TYPE_CHECKING:
    import pandas
    import xarray

Floats = NDArray[np.float64]
_DRIFT = "a constant input moves it without end (a free joint, or an accelerated base seen from the ground)"


@dataclasses.dataclass(frozen=True, repr=False)
class ModalSuperposition(Result):
    """An arm as K modes between m inputs and p outputs; made by `modal_superposition`.

    Attributes
    ----------
    arm : Arm or SpatialArm
        The arm.
    theory : str
        Its theory.
    inputs, outputs : tuple of Port
        Forces, moments and accelerations of the base; displacements and rotations.
    frequencies : NaturalFrequencies
        Of the modes, with their certificates.
    driven : array, shape (K, m)
        Displacement of each mode at the inputs, at the base the force of inertia on it for an acceleration of 1;
        modes have unit modal mass.
    read : array, shape (K, p)
        The same at the outputs.
    damping : array, shape (K, K)
        Viscous damping between the modes in 1/s: ``2 zeta omega`` on the diagonal.
    residual : array, shape (p, m)
        Static compliance that the modes above the highest one leave out, m or rad for 1 N or 1 N m or an acceleration
        of 1; zero if it was not asked for.
    structural : array, shape (K, K)
        Structural damping between the modes in rad^2/s^2: loss factor times ``omega^2`` on the diagonal, less what
        forces at rest have of that.
    carried : array, shape (p, m)
        Motions of the outputs with a base that moves as one with the arm, where they are seen from the ground; else 0.
    relaxation : float
        Time constant in s by which the residual lags: beta of Rayleigh damping, else 0.
    own : bool
        Whether the damping is the arm's own.
    """

    arm: Arm | SpatialArm
    theory: TheoryName
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    frequencies: NaturalFrequencies
    driven: Floats
    read: Floats
    damping: Floats
    residual: Floats
    structural: Floats
    carried: Floats
    relaxation: float = 0.0
    own: bool = False

    @property
    def status(self) -> Any:
        """`Status` codes of the modes, shape (K,)."""
        return self.frequencies.status

    @property
    def omega(self) -> Floats:
        """Undamped angular frequencies of the modes in rad/s, shape (K,)."""
        return np.asarray(self.frequencies.omega)

    @property
    def damping_ratio(self) -> Floats:
        """Damping ratio of each mode by itself, shape (K,); 0 at zero frequency."""
        twice = 2.0 * self.omega
        return np.divide(
            np.diag(self.viscous_equivalent), twice, out=np.zeros_like(twice), where=twice > 0.0
        )

    @property
    def viscous_equivalent(self) -> Floats:
        """Viscous damping that is the same at the modes' own frequencies, 1/s, shape (K, K)."""
        between = np.sqrt(np.outer(self.omega, self.omega))
        nothing = np.zeros_like(between)  # motions of zero frequency strain no material
        return self.damping + np.divide(self.structural, between, out=nothing, where=between > 0.0)

    @property
    def drifts(self) -> bool:
        """Whether a constant input moves the arm without end: it has motions of zero frequency, or its base leaves."""
        return bool(np.any(self.omega == 0.0) or np.any(self.carried))

    def sizes(self, omega: Floats) -> Floats:
        """Sizes of all parts of the receptance added up, shape (p, m, frequencies), at frequencies above 0."""
        base = np.abs(self.carried)[:, :, None] / omega**2
        found: Floats = np.abs(self.parts(omega)).sum(axis=0) + base
        return found + np.abs(self.residual)[:, :, None]

    @property
    def static(self) -> Floats:
        """Static compliance of modes and residual, shape (p, m); `ArmError` where the arm drifts."""
        if self.drifts:
            raise ArmError(f"the arm has no static compliance: {_DRIFT}.")
        return (self.read / self.omega[:, None] ** 2).T @ self.driven + self.residual

    def receptance(self, omega: ArrayLike) -> NDArray[np.complex128]:
        """Displacement for a unit harmonic force or acceleration of the base, complex, shape (p, m, frequencies).

        Parameters
        ----------
        omega
            Angular frequencies in rad/s, one or a list; 0 is the static compliance.

        Raises
        ------
        ValueError
            They are not finite real numbers of at least 0, or 0 where the arm drifts.

        Notes
        -----
        ``exp(i omega t)``: damping makes imaginary parts negative. At a frequency of an undamped mode the result is
        inf, or NaN where the mode does not reach a port.
        """
        omega = frequencies_of(omega)
        if self.drifts and np.any(omega == 0.0):
            raise ValueError(f"omega holds 0: expected frequencies greater than 0, for {_DRIFT}")
        matrices = (self.damping, self.structural)
        rest = self.residual[:, :, None] / (1.0 + 1j * omega * self.relaxation)
        if np.any(self.carried):
            rest = rest - self.carried[:, :, None] / omega**2
        if all(np.array_equal(x, np.diag(np.diag(x))) for x in matrices):
            with np.errstate(invalid="ignore"):
                return self.parts(omega).sum(axis=0) + rest
        modes = np.arange(self.omega.size)
        square = 1j * (omega[:, None, None] * self.damping + self.structural)
        square[:, modes, modes] += self.omega**2 - omega[:, None] ** 2
        driven = np.broadcast_to(self.driven, (omega.size, *self.driven.shape))
        moved = np.linalg.solve(square, driven)
        found: NDArray[np.complex128] = np.einsum("kp,wkm->pmw", self.read, moved) + rest
        return found

    def parts(self, omega: ArrayLike) -> NDArray[np.complex128]:
        """What each mode by itself adds to the receptance, complex, shape (K, p, m, frequencies); arguments alike."""
        omega = frequencies_of(omega)
        lag = omega * np.diag(self.damping)[:, None] + np.diag(self.structural)[:, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            modal = 1.0 / (self.omega[:, None] ** 2 - omega**2 + 1j * lag)
            found: NDArray[np.complex128] = np.einsum(
                "kp,km,kw->kpmw", self.read, self.driven, modal
            )
        return found

    def tables(self) -> list[Table]:
        """Return the modes: frequency, damping ratio and what each does from the first input to the first output."""
        pair = f"{self.inputs[0].force_name} to {self.outputs[0]}"
        with np.errstate(divide="ignore", invalid="ignore"):
            parts = self.read[:, 0] * self.driven[:, 0] / self.omega**2
        status = np.asarray(self.frequencies.status)
        rows = [
            [
                str(k + 1),
                hertz_text(hertz),
                f"{ratio:.4g}",
                f"{part:.4g}",
                certificate_text(int(status[k]), int(self.frequencies.multiplicity[k])),
            ]
            for k, (hertz, ratio, part) in enumerate(
                zip(self.omega / (2.0 * np.pi), self.damping_ratio, parts, strict=True)
            )
        ]
        unit = compliance_unit(self.outputs[0], self.inputs[0])
        headings = (
            "mode",
            "frequency [Hz]",
            "damping ratio",
            f"compliance [{unit}]",
            "certificate",
        )
        notes = [f"static residual {self.residual[0, 0]:.4g} {unit}"]
        return [
            Table(f"modes from {pair} ({self.theory})", headings, rows, notes, ("certificate",))
        ]

    def to_xarray(self) -> xarray.Dataset:
        """Return all matrices as a dataset with dims mode, of (a mode, too), output and input; frequencies in Hz."""
        between, pair = ("mode", "of"), ("output", "input")
        ends = self.outputs, self.inputs
        labels = port_labels(*ends, compliance_unit)
        labels["residual_units"] = labels.pop("units")
        labels["carried_units"] = port_labels(*ends, carried_unit)["units"]
        for name, side, here in (("read", "output", ends[0]), ("driven", "input", ends[1])):
            units = [modal_unit(port) for port in here]
            labels[f"{name}_units"] = variable(side, units, f"unit of {name}")
        found = self.frequencies.to_xarray()
        variables = {
            "driven": variable(("mode", "input"), self.driven, "motion of the mode at the input"),
            "read": variable(("mode", "output"), self.read, "motion of the mode at the output"),
            "damping_ratio": variable("mode", self.damping_ratio, "damping ratio", "1"),
            "damping": variable(between, self.damping, "viscous damping", "1/s"),
            "structural": variable(between, self.structural, "structural damping", "rad^2/s^2"),
            "residual": variable(pair, self.residual, "static compliance of the modes left out"),
            "carried": variable(pair, self.carried, "motion of the output with the base"),
        }
        return found.assign(variables).assign_coords({"of": found.mode.values, **labels})

    def to_dataframe(self) -> pandas.DataFrame:
        """Return all but the damping between modes as a data frame, a row for each mode, output and input."""
        return self.to_xarray().drop_dims("of").to_dataframe()


def frequencies_of(omega: Any) -> Floats:
    """Angular frequencies as an array of one axis, at least 0 and finite, at least one."""
    found = np.atleast_1d(real_array(omega, "omega"))
    if found.ndim != 1 or found.size == 0 or not np.all(np.isfinite(found) & (found >= 0.0)):
        raise ValueError(
            f"omega = {shown(omega)}: expected one frequency or a list of them, finite and at least 0, in rad/s"
        )
    return found


def modal_superposition(
    arm: Arm | SpatialArm,
    inputs: Ports,
    outputs: Ports,
    num_modes: int = 20,
    *,
    theory: TheoryName = "timoshenko",
    damping_ratio: float | ArrayLike | None = None,
    rayleigh: tuple[float, float] | None = None,
    residual: bool = True,
    seen_from: str = "base",
) -> ModalSuperposition:
    """An arm as a sum over its lowest modes, between ports.

    Parameters
    ----------
    arm : Arm
        The arm, of concrete values, under axial forces and loads as it has them.
    inputs, outputs
        Names of ports such as ``"tip.across"``, or `Port`, one or several. An input at the base is its acceleration,
        no rotation of it where there are forces at rest.
    num_modes
        How many modes, those of zero frequency among them.
    theory
        As for `natural_frequencies`.
    damping_ratio
        One ratio for all modes, or one for each; 0.01 is 1 % of critical damping. With neither these nor
        ``rayleigh`` the damping is the arm's own, between all modes.
    rayleigh
        Instead of ratios (alpha, beta) in 1/s and s: damping ``alpha`` times mass plus ``beta`` times stiffness, that
        of forces at rest included.
    residual
        Whether to add the static compliance of the modes that are left out.
    seen_from
        Where the base is accelerated, outputs are motions relative to it (``"base"``) or absolute (``"ground"``).

    Raises
    ------
    ArmError
        The arm has no such port, an output is the base, the base of an arm on supports is to move, or that of one
        under forces at rest to turn.
    ValueError
        Damping is negative, of the wrong length, or given twice.
    UncertifiedError
        A frequency could not be certified, or there are fewer; forces at rest buckle the arm.

    Examples
    --------
    >>> import jaxmodal as jm
    >>> arm = jm.examples.two_link_flexible()
    >>> model = jm.modal_superposition(arm, "joint_1.torque", "tip.across", 6, damping_ratio=0.01)
    >>> model.receptance([0.0, 20.0]).shape
    (1, 1, 2)
    """
    require_concrete(arm, "a sum over modes")
    require_one_arm(arm)
    count = positive_integer(num_modes, "num_modes", limits.MODES)
    driven, read = ports(inputs, arm, "inputs"), ports(outputs, arm, "outputs")
    for each in read:
        if each.place == "base":
            raise ArmError(
                f"outputs: {str(each)!r} is the ground, whose acceleration is imposed; take it as an input."
            )
    require_free_tips(arm, driven)
    refuse_turned_base(arm, driven)
    if seen_from not in ("base", "ground"):
        raise ValueError(f"seen_from = {shown(seen_from)}: expected 'base' or 'ground'")
    given = list(dict.fromkeys((*driven, *read)))
    require_given_damping(damping_ratio, rayleigh, count)
    if isinstance(arm, SpatialArm):
        found = modes_in_space(arm, given, count, theory)
    else:
        found = modes_at_ports(arm, given, count, theory)
    omega = np.asarray(found.frequencies.omega)
    at_inputs, at_outputs = (found.at[:, [given.index(p) for p in part]] for part in (driven, read))
    left_out = np.zeros((len(read), len(driven)))
    moving = any(each.place == "base" for each in driven)
    if residual and (moving or np.any(omega == 0.0)):
        parts = np.einsum("kp,km->kpm", at_outputs, at_inputs)
        first = first_vibration(arm, omega, theory)
        left_out = residual_at_rest(undamped(arm), driven, read, theory, omega, parts, first)
    elif residual:
        modes = (at_outputs / omega[:, None] ** 2).T @ at_inputs
        left_out = static_compliance(arm, driven, read, theory=theory).values - modes
    # what cannot move is nothing, not the rounding of its modes
    for places, part, rest in ((driven, at_inputs, left_out.T), (read, at_outputs, left_out)):
        still = (
            still_in_space(arm, theory, places)
            if isinstance(arm, SpatialArm)
            else [cannot_move(port, arm) for port in places]
        )
        part[:, still], rest[still] = 0.0, 0.0
    own = damping_ratio is None and rayleigh is None
    viscous, structural = found.damping
    if not own:
        viscous = np.diag(given_damping(omega, damping_ratio, rayleigh))
        structural = np.zeros_like(viscous)
    return ModalSuperposition(
        arm,
        theory,
        driven,
        read,
        found.frequencies,
        at_inputs,
        at_outputs,
        viscous,
        left_out,
        structural,
        carried(arm, driven, read) * (seen_from == "ground"),
        0.0 if rayleigh is None else float(real_array(rayleigh, "rayleigh")[1]),
        own,
    )
