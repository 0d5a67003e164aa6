"""Sensitivities of the exact frequency response: derivatives with respect to values of an arm and to the frequency."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from jaxmodal.arm.addresses import asked_for
from jaxmodal.arm.arm import require_arm
from jaxmodal.arm.parameters import get_parameter
from jaxmodal.arm.refusals import require_concrete
from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.frequencies.tables import hertz_text
from jaxmodal.response.driven.labels import parameter_labels, parameter_rows, port_labels
from jaxmodal.response.driven.port_quantities import in_quantity, unit_of_pair
from jaxmodal.response.driven.ports import Ports
from jaxmodal.response.exact.frequency_response import frequency_response
from jaxmodal.response.exact.kinds import RESPONSES
from jaxmodal.response.exact.results import FrequencyResponse
from jaxmodal.runtime.array_types import Complexes, Floats, Integers
from jaxmodal.runtime.datasets import in_hertz, variable
from jaxmodal.runtime.errors import ArmError
from jaxmodal.runtime.namespace import is_traced
from jaxmodal.runtime.results import Result
from jaxmodal.runtime.statuses import Status
from jaxmodal.runtime.tables import Table
from jaxmodal.spatial.arms.arm import AnyArm

if TYPE_CHECKING:
    import xarray

#: number of directions times frequencies that are computed at a time
_BLOCK = 20_000


@dataclasses.dataclass(frozen=True, repr=False)
class ResponseSensitivities(Result):
    """Derivatives of the response of one arm at F frequencies with respect to P parameters.

    Where the response is 0, the derivatives of its magnitude and phase are NaN.

    Attributes
    ----------
    response : FrequencyResponse
        The response, with statuses.
    values : np.ndarray, shape (P,)
        Values of the parameters, SI units; the mean over the links for an address with ``link*``.
    derivative : np.ndarray of complex, shape (outputs, inputs, F, P)
        Derivatives with respect to the parameters, per SI unit; for ``link*`` all links change together. NaN where not
        resolved.
    by_frequency : np.ndarray of complex, shape (outputs, inputs, F)
        Derivatives with respect to the angular frequency, per rad/s.
    addresses : tuple of str
        The parameters.
    """

    response: FrequencyResponse
    values: Floats
    derivative: Complexes
    by_frequency: Complexes
    addresses: tuple[str, ...]

    @property
    def status(self) -> Integers:
        """`Status` codes, shape (outputs, inputs, F): those of the response; not_resolved for a NaN derivative."""
        codes = np.asarray(self.response.status, np.int64).reshape(self.derivative.shape[:-1])
        lost = np.isnan(self.derivative).any(axis=-1) & (codes == Status.resolved)
        return np.where(lost, int(Status.not_resolved), codes)

    @property
    def of_magnitude(self) -> Floats:
        """Derivatives of the magnitude of the response, shape (outputs, inputs, F, P)."""
        with np.errstate(all="ignore"):  # NaN where the response is 0 or not resolved
            turned = np.conj(self._response) / np.abs(self._response)
            return np.real(turned[..., None] * self.derivative)

    @property
    def of_phase(self) -> Floats:
        """Derivatives of the phase of the response in rad, shape (outputs, inputs, F, P)."""
        with np.errstate(all="ignore"):
            return np.imag(self.derivative / self._response[..., None])

    @property
    def logarithmic(self) -> Floats:
        """Per cent of magnitude per per cent of a parameter, shape (outputs, inputs, F, P); 0 if that is 0 or inf."""
        scale = np.where(np.isfinite(self.values), self.values, 0.0)
        with np.errstate(all="ignore"):
            return self.of_magnitude * scale / np.abs(self._response)[..., None]

    @property
    def _response(self) -> Complexes:
        found = np.asarray(self.response.values)
        return found.reshape(*found.shape[:2], -1)

    def tables(self) -> list[Table]:
        """Return a table with one row per parameter, the largest first, at the peak of the first pair of ports."""
        size = np.abs(self._response[0, 0])
        k = int(np.argmax(np.where(np.isfinite(size), size, -1.0)))
        share = self.logarithmic[0, 0, k]
        slopes = zip(self.of_magnitude[0, 0, k], share, strict=True)
        texts = [[f"{slope:.4g}", f"{each + 0.0:.4g}"] for slope, each in slopes]
        rows = parameter_rows(self.addresses, self.values, texts, share)
        found = self.response
        hertz = np.atleast_1d(np.asarray(found.frequencies_hz))[k]
        title = f"sensitivities of the {found.quantity.replace('_', ' ')} {found.pair()} at {hertz_text(hertz)} Hz"
        headings = ("parameter", "value", "unit", "of the size", "% for 1 %")
        return [Table(title, headings, rows, found.remarks(), ("parameter", "unit"))]

    def to_xarray(self) -> xarray.Dataset:
        """Return a dataset with the dims output, input, frequency and parameter: derivatives per SI unit, values."""
        import xarray

        found = self.response
        unit = functools.partial(unit_of_pair, found.quantity)
        dims = ("output", "input", "frequency")
        made: dict[str, Any] = {
            name: variable(
                (*dims, "parameter"), values, f"derivative of the {what} per unit of the parameter"
            )
            for name, values, what in (
                ("derivative", self.derivative, "response"),
                ("of_magnitude", self.of_magnitude, "size"),
                ("of_phase", self.of_phase, "phase in rad"),
                ("logarithmic", self.logarithmic, "size, in per cent for one per cent,"),
            )
        }
        made[found.quantity] = variable(dims, self._response, "the response itself")
        coordinates = {
            **port_labels(found.outputs, found.inputs, unit, found.quantity),
            **parameter_labels(self.addresses, self.values),
            "frequency": in_hertz("frequency", np.atleast_1d(np.asarray(found.omega))),
        }
        return xarray.Dataset(made, coordinates, {"theory": found.theory})


def response_sensitivities(
    arm: AnyArm,
    omega: ArrayLike,
    inputs: Ports,
    outputs: Ports,
    *,
    addresses: Sequence[str] | None = None,
    quantity: str = "receptance",
    theory: TheoryName = "timoshenko",
) -> ResponseSensitivities:
    """Return derivatives of the exact frequency response by the values of an arm and by the frequency.

    Parameters
    ----------
    arm
        A concrete arm. Inside jit, vmap and grad, differentiate `frequency_response` itself.
    omega, inputs, outputs, quantity, theory
        As for `frequency_response`.
    addresses
        The parameters, as in `set_parameters`; all parameters of the arm if left out.

    Raises
    ------
    ArmError, ValueError, X64DisabledError
        As for `frequency_response`, or if an address is unknown, or the arm or a frequency is traced.

    Notes
    -----
    The formulas of the response are evaluated with dual numbers in NumPy, without differences or compilation. Errors
    are those of the response divided by the relative distance to a resonance. Where the part of an arm beyond a joint
    is in resonance while that joint is held, derivatives are means over a circle of complex frequencies. Where this
    fails and fewer than six digits are left, as may happen close to a resonance of the arm, they are NaN. Under loads
    they include the change of the equilibrium.

    Examples
    --------
    >>> import jaxmodal as jm
    >>> arm = jm.Arm((jm.Link(1.0, 7e10, 2700.0, jm.rectangle(0.02, 0.05)),))
    >>> names = ["link1.length", "link1.youngs_modulus"]
    >>> found = jm.response_sensitivities(arm, 1e-3, "tip.across", "tip.across", addresses=names, theory="bending_only")
    >>> [round(float(x), 6) for x in found.logarithmic[0, 0, 0]]   # at rest it is L^3/(3 E I)
    [3.0, -1.0]
    """
    require_concrete(require_arm(arm), "response_sensitivities")
    if is_traced(omega):
        raise ArmError(
            "omega: is traced, and response_sensitivities takes numbers; differentiate frequency_response."
        )
    response = frequency_response(arm, omega, inputs, outputs, quantity=quantity, theory=theory)
    names, members, singles = parameters_of(arm, addresses)
    receptance = "receptance" if quantity == "dynamic_stiffness" else quantity
    into, out = response.inputs, response.outputs
    driven = RESPONSES.of(arm).slopes(arm, theory, receptance, into, out, singles)

    def by_parameters(omega: Floats) -> Complexes:
        motions, dual_omega = driven.motions(omega)
        with np.errstate(all="ignore"):
            found = in_quantity(receptance, into, out, motions, dual_omega)
        shape = (len(found.slopes), len(out), len(into), 1, omega.size)
        return np.broadcast_to(found.slopes, shape)[..., 0, :].astype(complex)

    flat = np.atleast_1d(np.asarray(response.omega))
    width = max(1, _BLOCK // (len(singles) + 1))
    slopes = np.concatenate(
        [by_parameters(flat[k : k + width]) for k in range(0, flat.size, width)], axis=-1
    )
    values = np.asarray(response.values).reshape(len(out), len(into), flat.size)
    if quantity == "dynamic_stiffness":  # inverse of the receptance
        slopes = -np.einsum("ijf,pjkf,klf->pilf", values, slopes, values)
    known = np.asarray(response.status).reshape(values.shape) == Status.resolved
    slopes = np.moveaxis(np.where(known, slopes, np.nan), 0, -1)
    return ResponseSensitivities(
        response=response,
        values=values_of(arm, members),
        derivative=together(slopes[..., :-1], members, singles),
        by_frequency=slopes[..., -1],
        addresses=names,
    )


def parameters_of(
    arm: AnyArm, addresses: Sequence[str] | None
) -> tuple[tuple[str, ...], list[list[str]], list[str]]:
    """Return the parameters, the single-value addresses of each, and all of these addresses, each once."""
    names, members = asked_for(arm, addresses)
    return names, members, list(dict.fromkeys(single for each in members for single in each))


def values_of(arm: AnyArm, members: Sequence[Sequence[str]]) -> Floats:
    """Return the values of parameters; means for parameters of several addresses."""
    return np.array([np.mean([float(get_parameter(arm, s)) for s in m]) for m in members])


def together(
    slopes: Complexes, members: Sequence[Sequence[str]], singles: Sequence[str]
) -> Complexes:
    """Return derivatives (..., parameters) as sums over the addresses of each parameter."""
    places = [[singles.index(single) for single in each] for each in members]
    return np.stack([slopes[..., each].sum(axis=-1) for each in places], axis=-1)
