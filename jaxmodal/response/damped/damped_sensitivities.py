"""Sensitivities of damped modes: derivatives of frequencies, damping ratios and decay rates by values of an arm."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from jaxmodal.arithmetic.dual import Dual
from jaxmodal.arm.arm import require_arm
from jaxmodal.arm.refusals import require_concrete
from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.frequencies.tables import hertz_text
from jaxmodal.response.damped.damped_modes import DampedModes, damped_modes
from jaxmodal.response.driven.labels import parameter_labels, parameter_rows
from jaxmodal.response.exact.kinds import RESPONSES
from jaxmodal.response.exact.sensitivities import parameters_of, together, values_of
from jaxmodal.runtime.array_types import Complexes, Floats, Integers
from jaxmodal.runtime.datasets import variable
from jaxmodal.runtime.results import Result
from jaxmodal.runtime.statuses import Status
from jaxmodal.runtime.tables import Table
from jaxmodal.spatial.arms.arm import AnyArm

if TYPE_CHECKING:
    import xarray

#: substitute for the logarithm of a factor that is 0
_NOTHING = -800.0


@dataclasses.dataclass(frozen=True, repr=False)
class DampedSensitivities(Result):
    """Derivatives of M damped modes with respect to P parameters.

    Attributes
    ----------
    modes : DampedModes
        The modes.
    values : np.ndarray, shape (P,)
        Values of the parameters, SI units; the mean over the links for an address with ``link*``.
    derivative : np.ndarray of complex, shape (M, P)
        Derivatives of the roots, in rad/s per SI unit; for ``link*`` all links change together. NaN for roots that are
        not simple, such as those of zero frequency.
    addresses : tuple of str
        The parameters.
    """

    modes: DampedModes
    values: Floats
    derivative: Complexes
    addresses: tuple[str, ...]

    @property
    def status(self) -> Integers:
        """`Status` codes, shape (M,): those of the modes; no_value for coincident roots, which have no derivative."""
        lost = np.isnan(self.derivative).any(axis=1) & (self.modes.status == Status.certified)
        return np.where(lost, int(Status.no_value), self.modes.status)

    @property
    def of_frequency_hz(self) -> Floats:
        """Derivatives of the damped frequencies, Hz per SI unit, shape (M, P)."""
        return self.derivative.real / (2.0 * np.pi)

    @property
    def of_decay_rate(self) -> Floats:
        """Derivatives of the decay rates, 1/s per SI unit, shape (M, P)."""
        return self.derivative.imag

    @property
    def of_damping_ratio(self) -> Floats:
        """Derivatives of the damping ratios, per SI unit, shape (M, P)."""
        roots = self.modes.roots[:, None]
        size = np.abs(roots)
        growth = np.real(np.conj(roots) * self.derivative) / size**2
        return (self.derivative.imag - roots.imag * growth) / size

    def tables(self) -> list[Table]:
        """Return a table with one row per parameter, the largest change of a damping ratio per per cent first."""
        scale = np.where(np.isfinite(self.values), self.values, 0.0)
        share = self.of_damping_ratio * scale
        columns = [
            f"{mode}: {hertz_text(hertz)} Hz, {100.0 * ratio:.3g} %"
            for mode, hertz, ratio in zip(
                self.modes.mode, self.modes.frequencies_hz, self.modes.damping_ratio, strict=True
            )
        ]
        texts = [[f"{x + 0.0:.4g}" for x in column] for column in share.T]
        rows = parameter_rows(self.addresses, self.values, texts, share)
        title = f"slopes of damping ratios, times the value of the parameter ({self.modes.theory})"
        headings = ("parameter", "value", "unit", *columns)
        return [Table(title, headings, rows, (), ("parameter", "unit"))]

    def to_xarray(self) -> xarray.Dataset:
        """Return a dataset with the dims root and parameter: derivatives per SI unit, values and units."""
        import xarray

        modes = self.modes
        dims = ("root", "parameter")
        slopes = {
            "of_frequency": (self.of_frequency_hz, "derivative of the damped frequency", "Hz"),
            "of_damping_ratio": (self.of_damping_ratio, "derivative of the damping ratio", "1"),
            "of_decay_rate": (self.of_decay_rate, "derivative of the decay rate", "1/s"),
        }
        made: dict[str, Any] = {
            name: variable(dims, values, f"{text} per unit of the parameter", units)
            for name, (values, text, units) in slopes.items()
        }
        made["frequency"] = variable("root", modes.frequencies_hz, "damped frequency", "Hz")
        made["damping_ratio"] = variable("root", modes.damping_ratio, "damping ratio", "1")
        made["mode"] = variable("root", modes.mode, "number of the undamped mode", "1")
        attrs = {"theory": modes.theory}
        return xarray.Dataset(made, parameter_labels(self.addresses, self.values), attrs)


def damped_sensitivities(
    arm: AnyArm,
    num_modes: int = 10,
    *,
    theory: TheoryName = "timoshenko",
    addresses: Sequence[str] | None = None,
) -> DampedSensitivities:
    """Return derivatives of the lowest damped modes of an arm: frequencies, damping ratios and decay rates.

    Parameters
    ----------
    arm, num_modes, theory
        As for `damped_modes`.
    addresses
        The parameters, as in `set_parameters`; all parameters of the arm if left out.

    Raises
    ------
    ArmError, UncertifiedError, ValueError
        As for `damped_modes`, or if an address is unknown.

    Notes
    -----
    The characteristic determinant is differentiated implicitly at each root, ``ds/dp = -(dD/dp)/(dD/ds)``, with dual
    numbers and without differences. A root that is not simple has no derivative. Under loads derivatives include the
    change of the equilibrium.

    Examples
    --------
    >>> import jaxmodal as jm
    >>> link = jm.Link(1.0, 7e10, 2700.0, jm.rectangle(0.02, 0.05), loss_factor=0.02)
    >>> found = jm.damped_sensitivities(jm.Arm((link,)), 1, theory="euler_bernoulli", addresses=["link1.loss_factor"])
    >>> f"{found.of_damping_ratio[0, 0]:.4f}"   # the ratio is half the loss factor, nearly
    '0.4998'
    """
    require_concrete(require_arm(arm), "damped_sensitivities")
    names, members, singles = parameters_of(arm, addresses)
    modes = damped_modes(arm, num_modes, theory=theory)
    simple = modes.multiplicity == 1
    roots = np.where(simple, modes.roots, 1.0)
    with np.errstate(all="ignore"):
        factors = (
            RESPONSES.of(arm).slopes(arm, theory, "receptance", (), (), singles).factors(roots)
        )
        slopes = _of_product(factors, roots.size, len(singles) + 1)
        derivative = -slopes[:-1] / slopes[-1]
    derivative = np.where(simple, derivative, np.nan)
    return DampedSensitivities(
        modes=modes,
        values=values_of(arm, members),
        derivative=together(derivative.T, members, singles),
        addresses=names,
    )


def _of_product(factors: Sequence[Dual], count: int, directions: int) -> Complexes:
    """Return derivatives of a product at its zeros, shape (directions, count), up to a common factor for each zero."""
    values = [np.broadcast_to(x.value, (1, count))[0] for x in factors]
    slopes = [np.broadcast_to(x.slopes, (directions, 1, count))[:, 0] for x in factors]
    logs = [np.where(x == 0.0, _NOTHING, np.log(x + 0j)) for x in values]
    others = sum(logs) - np.stack(logs)
    weights = np.exp(others - others.real.max(axis=0))
    found: Complexes = np.einsum("kf,kpf->pf", weights, np.stack(slopes))
    return found
