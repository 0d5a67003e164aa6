"""Modal superposition: the response of an arm as a sum over its certified modes, with a static residual."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from jaxmodal.arm.arguments import positive_integer, real_array
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
from jaxmodal.response.exact.compliance import static_compliance
from jaxmodal.response.exact.kinds import RESPONSES
from jaxmodal.response.modal.base_motion import refuse_turned_base, require_free_tips
from jaxmodal.response.modal.damping_of_modes import given_damping, require_given_damping
from jaxmodal.response.modal.participation import modes_at_ports
from jaxmodal.response.modal.rigid_motions import first_vibration, residual_at_rest
from jaxmodal.runtime import limits
from jaxmodal.runtime.array_types import Complexes, Floats
from jaxmodal.runtime.datasets import variable
from jaxmodal.runtime.errors import ArmError
from jaxmodal.runtime.results import Result
from jaxmodal.runtime.tables import Table
from jaxmodal.spatial.arms.arm import AnyArm

if TYPE_CHECKING:
    import pandas
    import xarray

_DRIFT = "a constant input moves it without end (a free joint, or an accelerated base seen from the ground)"


@dataclasses.dataclass(frozen=True, repr=False)
class ModalSuperposition(Result):
    """K modes of an arm between m inputs and p outputs; result of `modal_superposition`.

    Attributes
    ----------
    arm : Arm or SpatialArm
        The arm.
    theory : str
        Name of the beam theory.
    inputs, outputs : tuple of Port
        Forces, moments and accelerations of the base; displacements and rotations.
    frequencies : NaturalFrequencies
        Frequencies of the modes, with their certificates.
    driven : array, shape (K, m)
        Displacement of each mode, of unit modal mass, at the inputs; for an input at the base, the inertia force on the
        mode for a unit acceleration.
    read : array, shape (K, p)
        Displacement of each mode at the outputs.
    damping : array, shape (K, K)
        Viscous damping between the modes in 1/s: ``2 zeta omega`` on the diagonal.
    residual : array, shape (p, m)
        Static compliance of the omitted higher modes, in m or rad for 1 N, 1 N m or a unit acceleration; zero without
        ``residual=True``.
    structural : array, shape (K, K)
        Structural damping between the modes in rad^2/s^2: loss factor times ``omega^2`` on the diagonal, without the
        share of static forces in ``omega^2``.
    carried : array, shape (p, m)
        Rigid motions of the outputs with the base, if outputs are seen from the ground; otherwise 0.
    relaxation : float
        Time constant of the residual in s: beta of Rayleigh damping, otherwise 0.
    own : bool
        True if the damping is the arm's own.
    """

    arm: AnyArm
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
        """Damping ratio of each mode, coupling ignored, shape (K,); 0 at zero frequency."""
        twice = 2.0 * self.omega
        return np.divide(
            np.diag(self.viscous_equivalent), twice, out=np.zeros_like(twice), where=twice > 0.0
        )

    @property
    def viscous_equivalent(self) -> Floats:
        """Viscous damping that is equivalent at the modes' own frequencies, 1/s, shape (K, K)."""
        between = np.sqrt(np.outer(self.omega, self.omega))
        nothing = np.zeros_like(between)  # motions of zero frequency strain no material
        return self.damping + np.divide(self.structural, between, out=nothing, where=between > 0.0)

    @property
    def drifts(self) -> bool:
        """True if a constant input moves the arm without bound: it has zero frequencies, or its base moves away."""
        return bool(np.any(self.omega == 0.0) or np.any(self.carried))

    def sizes(self, omega: Floats) -> Floats:
        """Return the sum of the absolute values of all terms of the receptance, shape (p, m, frequencies).

        Frequencies must be greater than 0.
        """
        base = np.abs(self.carried)[:, :, None] / omega**2
        found: Floats = np.abs(self.parts(omega)).sum(axis=0) + base
        return found + np.abs(self.residual)[:, :, None]

    @property
    def static(self) -> Floats:
        """Static compliance of modes and residual, shape (p, m); raises `ArmError` if the arm drifts."""
        if self.drifts:
            raise ArmError(f"the arm has no static compliance: {_DRIFT}.")
        return (self.read / self.omega[:, None] ** 2).T @ self.driven + self.residual

    def receptance(self, omega: ArrayLike) -> Complexes:
        """Return displacements for unit harmonic forces or base accelerations, complex, shape (p, m, frequencies).

        Parameters
        ----------
        omega
            Angular frequencies in rad/s, one or a list; 0 is the static compliance.

        Raises
        ------
        ValueError
            If a frequency is not finite or is negative, or is 0 and the arm drifts.

        Notes
        -----
        The time factor is ``exp(i omega t)``: damping makes imaginary parts negative. At the frequency of an undamped
        mode the result is inf, or NaN if the mode is zero at a port.
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
        found: Complexes = np.einsum("kp,wkm->pmw", self.read, moved) + rest
        return found

    def parts(self, omega: ArrayLike) -> Complexes:
        """Return the contribution of each mode to the receptance, complex, shape (K, p, m, frequencies).

        The argument is that of `receptance`.
        """
        omega = frequencies_of(omega)
        lag = omega * np.diag(self.damping)[:, None] + np.diag(self.structural)[:, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            modal = 1.0 / (self.omega[:, None] ** 2 - omega**2 + 1j * lag)
            found: Complexes = np.einsum("kp,km,kw->kpmw", self.read, self.driven, modal)
        return found

    def tables(self) -> list[Table]:
        """Return a table of the modes: frequency, damping ratio, static contribution from first input to output."""
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
        """Return all matrices as a dataset with dims mode, of (modes again), output and input; frequencies in Hz."""
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
        """Return everything but the damping between modes as a data frame with one row per mode, output and input."""
        return self.to_xarray().drop_dims("of").to_dataframe()


def frequencies_of(omega: Any) -> Floats:
    """Return angular frequencies as a one-dimensional array with at least one entry, all finite and at least 0."""
    found = np.atleast_1d(real_array(omega, "omega"))
    if found.ndim != 1 or found.size == 0 or not np.all(np.isfinite(found) & (found >= 0.0)):
        raise ValueError(
            f"omega = {shown(omega)}: expected one frequency or a list of them, finite and at least 0, in rad/s"
        )
    return found


def modal_superposition(
    arm: AnyArm,
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
    """Return the modal superposition of an arm between ports: a sum over its lowest modes.

    Parameters
    ----------
    arm : Arm
        The arm, with concrete values. Its axial forces and loads are taken into account.
    inputs, outputs
        Names of ports such as ``"tip.across"``, or `Port`, one or several. An input at the base is its acceleration;
        under static forces it must not be a rotation.
    num_modes
        Number of modes, including those of zero frequency.
    theory
        As for `natural_frequencies`.
    damping_ratio
        One ratio for all modes, or one for each; 0.01 is 1 % of critical damping. Without ratios and without
        ``rayleigh``, the arm's own damping is used, with its coupling between modes.
    rayleigh
        Rayleigh damping (alpha, beta) in 1/s and s, instead of ratios: ``alpha`` times mass plus ``beta`` times
        stiffness, including the geometric stiffness of static forces.
    residual
        If True, add the static compliance of the omitted modes.
    seen_from
        For an accelerated base: outputs relative to the base (``"base"``) or absolute (``"ground"``).

    Raises
    ------
    ArmError
        If the arm has no such port, an output is the base, the base of an arm with supports is an input, or the
        rotation of the base of an arm under static forces is an input.
    ValueError
        If damping is negative, of the wrong length, or given twice.
    UncertifiedError
        If a frequency is not certified, there are fewer modes, or static forces buckle the arm.

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
    # places that cannot move are exactly 0, without the rounding of their modes
    for places, part, rest in ((driven, at_inputs, left_out.T), (read, at_outputs, left_out)):
        still = [found.still[given.index(port)] for port in places]
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
        RESPONSES.of(arm).carried(arm, driven, read) * (seen_from == "ground"),
        0.0 if rayleigh is None else float(real_array(rayleigh, "rayleigh")[1]),
        own,
    )
