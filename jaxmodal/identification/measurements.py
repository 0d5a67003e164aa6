"""Measured data: natural frequencies in a posture, and frequency responses."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from jaxmodal.arm.addresses import full_address, labelled, resolve_address, set_together
from jaxmodal.arm.arguments import is_whole, reals
from jaxmodal.arm.documents import table
from jaxmodal.arm.quantities import shown
from jaxmodal.response.driven.port_quantities import check_quantity
from jaxmodal.response.driven.ports import Port, ports
from jaxmodal.runtime import limits
from jaxmodal.runtime.array_types import Complexes, Floats
from jaxmodal.runtime.errors import ArmError, within
from jaxmodal.spatial.parts.parameters import unit_of_address

#: quantities of measured responses
QUANTITIES = ("receptance", "mobility", "accelerance", "transmissibility")


@dataclasses.dataclass(frozen=True)
class MeasuredModes:
    """Natural frequencies measured in one posture.

    Parameters
    ----------
    frequencies_hz : array, shape (M,)
        Natural frequencies, Hz, greater than 0.
    standard_deviations_hz : array, optional
        Standard deviation of each frequency, Hz, one number for all or (M,). By default all have the same relative
        standard deviation, which is estimated from the residuals of the fit.
    numbers : sequence of int, optional
        Mode number of each frequency, from 1; numbers of modes that were not found are omitted. Without numbers, modes
        are paired by their shapes if given, otherwise in order of frequency; results state which.
    settings : mapping of address to float
        Known values during the measurement: ``{"theta_2": 0.5, "payload.mass": 2.0}``, SI units and rad.
    shapes : array, shape (M, P), optional
        Shape of each mode at P places, with arbitrary scale.
    places : sequence of ports
        The places, such as ``["tip.across", "link_1@0.5.across"]``.
    name : str
        Name of the measurement, for tables.

    Raises
    ------
    ArmError
        If the values are inconsistent.
    """

    frequencies_hz: Any
    standard_deviations_hz: Any = None
    numbers: Any = None
    settings: Mapping[str, float] = dataclasses.field(default_factory=dict)
    shapes: Any = None
    places: Sequence[str | Port] = ()
    name: str = ""

    def __post_init__(self) -> None:
        hertz = reals("frequencies_hz", self.frequencies_hz, "natural frequencies, Hz")
        hertz = np.atleast_1d(hertz)
        if hertz.ndim != 1 or not hertz.size or not np.all((hertz > 0.0) & np.isfinite(hertz)):
            raise ArmError(
                f"frequencies_hz = {shown(self.frequencies_hz)}: must be one frequency or more, Hz, finite and greater "
                "than 0."
            )
        object.__setattr__(self, "frequencies_hz", hertz)
        spread = _deviations(
            "standard_deviations_hz", self.standard_deviations_hz, hertz.shape, "Hz"
        )
        object.__setattr__(self, "standard_deviations_hz", spread)
        object.__setattr__(self, "settings", _settings(self.settings))
        if self.numbers is not None:
            object.__setattr__(self, "numbers", _numbers(self.numbers, hertz.size))
        if self.shapes is None:
            if len(self.places):
                raise ArmError("places: are given without shapes; give both or neither.")
            return
        shapes = reals("shapes", self.shapes, "numbers, a row for each frequency")
        if shapes.shape != (hertz.size, len(self.places)) or not np.all(np.isfinite(shapes)):
            raise ArmError(
                f"shapes: have the shape {shapes.shape}; must be ({hertz.size}, {len(self.places)}) finite numbers, a "
                "row for each frequency and a column for each of places."
            )
        if np.any(np.all(shapes == 0.0, axis=1)):
            raise ArmError("shapes: a row holds zeros alone, which is no shape; leave it out.")
        object.__setattr__(self, "shapes", shapes)
        object.__setattr__(self, "places", tuple(self.places))

    @property
    def how(self) -> str:
        """Criterion by which its modes are paired with computed ones: ``"number"``, ``"shape"`` or ``"order"``."""
        if self.numbers is not None:
            return "number"
        return "order" if self.shapes is None else "shape"


@dataclasses.dataclass(frozen=True)
class MeasuredResponse:
    """Frequency responses measured in one posture.

    Parameters
    ----------
    frequencies_hz : array, shape (F,)
        Frequencies, Hz, greater than 0.
    values : array of complex, shape (outputs, inputs, F)
        The responses, with time factor e^{+iωt}; (F,) for one output and one input. NaN for missing values.
    inputs, outputs : ports
        Ports where the arm was excited and where it was measured, as for `frequency_response`.
    quantity : str
        ``"receptance"``, ``"mobility"``, ``"accelerance"`` or ``"transmissibility"``.
    standard_deviations : array, optional
        Standard deviation of the real and of the imaginary part, one number or an array of the shape of ``values``. By
        default it is the same fraction of the root mean square of each pair of ports, and is estimated from the
        residuals of the fit.
    settings, name
        As for `MeasuredModes`.

    Raises
    ------
    ArmError
        If the values are inconsistent.
    """

    frequencies_hz: Any
    values: Any
    inputs: Any
    outputs: Any
    quantity: str = "receptance"
    standard_deviations: Any = None
    settings: Mapping[str, float] = dataclasses.field(default_factory=dict)
    name: str = ""

    def __post_init__(self) -> None:
        hertz = np.atleast_1d(reals("frequencies_hz", self.frequencies_hz, "frequencies, Hz"))
        if hertz.ndim != 1 or not hertz.size or not np.all((hertz > 0.0) & np.isfinite(hertz)):
            raise ArmError(
                f"frequencies_hz = {shown(self.frequencies_hz)}: must be frequencies in Hz, finite and greater than 0."
            )
        sides = [
            (each,) if isinstance(each, str | Port) else tuple(each)
            for each in (self.inputs, self.outputs)
        ]
        shape = (len(sides[1]), len(sides[0]), hertz.size)
        try:
            values = np.asarray(self.values, complex)
        except (TypeError, ValueError) as error:
            raise ArmError(f"values = {shown(self.values)}: must be complex numbers.") from error
        if values.ndim == 1 and shape[:2] == (1, 1):
            values = values[None, None]
        if values.shape != shape:
            raise ArmError(
                f"values: have the shape {values.shape}; must be {shape}: outputs, inputs, frequencies."
            )
        if not np.any(np.isfinite(values)):
            raise ArmError("values: none is finite; must be the measured values.")
        if self.quantity not in QUANTITIES:
            raise ArmError(
                f"quantity = {shown(self.quantity)}: must be one of {', '.join(map(repr, QUANTITIES))}."
            )
        spread = _deviations("standard_deviations", self.standard_deviations, shape, "as values")
        for name, value in (
            *(("frequencies_hz", hertz), ("values", values), ("standard_deviations", spread)),
            *(("inputs", sides[0]), ("outputs", sides[1]), ("settings", _settings(self.settings))),
        ):
            object.__setattr__(self, name, value)

    @property
    def size(self) -> Floats:
        """Root mean square of each pair, (outputs, inputs, 1)."""
        return root_mean_square(self.values)[..., None]


Measured = MeasuredModes | MeasuredResponse


def root_mean_square(values: Complexes) -> Floats:
    """Return the root mean square over the last axis, ignoring NaN; 1 if all values are NaN or zero."""
    known = np.isfinite(values)
    squares = np.sum(np.where(known, np.abs(values), 0.0) ** 2, axis=-1)
    mean = squares / np.maximum(known.sum(axis=-1), 1)
    return np.asarray(np.where(mean > 0.0, np.sqrt(mean), 1.0), np.float64)


def _settings(given: Any) -> dict[str, float]:
    found = dict(table("settings", given, ArmError))
    for name, value in found.items():
        number = reals(f"settings[{name!r}]", value, "one finite number")
        if number.shape != () or not np.isfinite(number):
            raise ArmError(f"settings[{name!r}] = {shown(value)}: must be one finite number.")
        found[name] = float(number)
    return found


def _numbers(given: Sequence[int], size: int) -> tuple[int, ...]:
    listed = np.asarray(given).tolist()
    if not isinstance(listed, list) or len(listed) != size:
        raise ArmError(f"numbers = {shown(given)}: must be {size}, one for each frequency, from 1.")
    for number in listed:
        if not is_whole(number, 1, limits.MODES):
            raise ArmError(
                f"numbers: {shown(number)} is none; must be whole numbers from 1 to {limits.MODES}."
            )
    if len(set(listed)) < size:
        twice = next(number for number in listed if listed.count(number) > 1)
        raise ArmError(f"numbers: mode {twice} is given twice; give each once in a measurement.")
    return tuple(map(int, listed))


def _deviations(name: str, given: Any, shape: tuple[int, ...], unit: str) -> Floats | None:
    if given is None:
        return None
    spread = reals(name, given, f"numbers greater than 0, {unit}")
    if spread.shape not in ((), shape):
        raise ArmError(
            f"{name} = {shown(given)}: has the shape {spread.shape}; must be one number, or one for each value, "
            f"of the shape {shape}, in {unit}."
        )
    if not np.all((spread > 0.0) & np.isfinite(spread)):
        raise ArmError(f"{name} = {shown(given)}: must be finite and greater than 0, {unit}.")
    return np.broadcast_to(spread, shape).copy()


def require_measured(arm: Any, measured: Any, fitted: Sequence[str]) -> tuple[Measured, ...]:
    """Return measurements as a tuple; check each against the arm and the fitted parameters."""
    found = (measured,) if isinstance(measured, Measured) else measured
    if not isinstance(found, Sequence) or not found:
        raise ArmError(
            f"measured = {shown(measured)}: must be MeasuredModes or MeasuredResponse, or a list of them."
        )
    sought = {single for name in fitted for single in resolve_address(arm, name)}
    for place, each in enumerate(found):
        if not isinstance(each, Measured):
            raise ArmError(
                f"measured[{place}] = {shown(each)}: must be MeasuredModes or MeasuredResponse."
            )
        with within(f"measured[{place}]: "):
            for name in each.settings:
                if sought.intersection(resolve_address(arm, name)):
                    raise ArmError(
                        f"settings[{name!r}]: is fitted, so its value cannot be given; leave it out, or do not fit it."
                    )
            set_together(arm, [*fitted, *each.settings])
            if isinstance(each, MeasuredModes):
                if each.places:
                    ports(each.places, arm, "places")
            else:
                into, out = ports(each.inputs, arm, "inputs"), ports(each.outputs, arm, "outputs")
                check_quantity(each.quantity, into, out)
    return tuple(found)


def settings_text(arm: Any, settings: Mapping[str, float]) -> str:
    """Return settings as text: ``theta_2 = 45°, payload.mass = 2 kg``."""
    texts = []
    for name, value in settings.items():
        address = full_address(name, arm)
        label, unit = labelled(arm, address), unit_of_address(address, arm)
        text = f"{np.degrees(value):.6g}°" if unit == "rad" else f"{value:.6g} {unit}"
        texts.append(f"{name if label == address else label} = {text}")
    return ", ".join(texts) or "as it stands"
