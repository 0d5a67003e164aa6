"""Number of modes that a modal sum needs for a given accuracy in a band."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from jaxmodal.arm.arguments import band, real_number
from jaxmodal.arm.quantities import shown
from jaxmodal.arm.refusals import require_concrete
from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.frequencies.counts import count_below
from jaxmodal.response.driven.damping import undamped
from jaxmodal.response.driven.labels import band_in_hertz
from jaxmodal.response.driven.ports import Ports
from jaxmodal.response.modal.superposition import modal_superposition
from jaxmodal.response.modal.truncation import (
    exact_part,
    places_between,
    relative_errors,
    sizes_of,
)
from jaxmodal.runtime import limits
from jaxmodal.runtime.array_types import Floats
from jaxmodal.runtime.datasets import variable
from jaxmodal.runtime.results import ResolvedResult
from jaxmodal.runtime.tables import Table, shortened
from jaxmodal.spatial.arms.arm import AnyArm

if TYPE_CHECKING:
    import xarray


@dataclasses.dataclass(frozen=True, repr=False)
class ModesNeeded(ResolvedResult):
    """Errors of modal sums with 1, 2, 3, ... modes in a band; result of `modes_needed`.

    Attributes
    ----------
    num_modes : int
        Smallest number of modes from which on the error, with static residual, stays below ``tolerance``.
    without_residual : int or None
        The same without the static residual; None if even the last entry of ``worst_without`` exceeds ``tolerance``.
    tolerance : float
        The allowed error.
    omega_min, omega_max : float
        The band, rad/s.
    worst, worst_without : array, shape (M,)
        Largest relative error (`TruncationError.relative`) in the band with 1 to M modes, with and without the
        residual.
    """

    num_modes: int
    without_residual: int | None
    tolerance: float
    omega_min: float
    omega_max: float
    worst: Floats
    worst_without: Floats

    def tables(self) -> list[Table]:
        """Return a table of the error by number of modes."""
        ends = [f"{w / (2 * np.pi):.4g}" for w in (self.omega_min, self.omega_max)]
        title = (
            f"{self.num_modes} modes are enough for {100 * self.tolerance:g} % from {ends[0]} to {ends[1]} Hz, without "
            f"static residual {self.without_residual or f'more than {self.worst.size}'}"
        )
        last = max(self.num_modes, self.without_residual or 0) + 2
        rows = [
            [str(k + 1), f"{100 * a:.3g}", f"{100 * b:.3g}"]
            for k, (a, b) in enumerate(zip(self.worst, self.worst_without, strict=True))
        ]
        headings = ("modes", "error [%]", "without residual [%]")
        return [Table(title, headings, shortened(rows[:last]))]

    def to_xarray(self) -> xarray.Dataset:
        """Return the largest errors as a dataset with the dim modes; attributes hold the results and the band in Hz."""
        import xarray

        enough = {"num_modes": self.num_modes, "without_residual": self.without_residual}
        about = "largest relative error in the band"
        return xarray.Dataset(
            {
                "worst": variable("modes", self.worst, f"{about}, with the static residual", "1"),
                "worst_without": variable("modes", self.worst_without, f"{about}, without it", "1"),
            },
            {"modes": variable("modes", np.arange(1, self.worst.size + 1), "number of modes")},
            {
                **{name: number for name, number in enough.items() if number is not None},
                "tolerance": self.tolerance,
                **band_in_hertz(self.omega_min, self.omega_max),
            },
        )


def modes_needed(
    arm: AnyArm,
    inputs: Ports,
    outputs: Ports,
    omega_min: float,
    omega_max: float,
    tolerance: float = 0.01,
    *,
    theory: TheoryName = "timoshenko",
) -> ModesNeeded:
    """Find the number of modes that a modal sum needs for a given accuracy in a frequency band.

    Parameters
    ----------
    arm, inputs, outputs, theory
        As for `modal_superposition`.
    omega_min, omega_max
        The band in rad/s, 0 < omega_min < omega_max.
    tolerance
        Largest allowed error, relative to the sum of the absolute values of all terms (`TruncationError.size`).

    Raises
    ------
    ArmError
        If the arm has no such port.
    ValueError
        If the band is empty, the tolerance is not in (0, 1), or 1000 modes are not enough.

    Notes
    -----
    Damping is ignored: the contribution of modes above the band hardly depends on it. Errors close to an undamped
    resonance are not counted.

    Examples
    --------
    >>> import jaxmodal as jm
    >>> middle = "link_1@0.5.across"
    >>> needed = jm.modes_needed(jm.examples.two_link_flexible(), middle, middle, 0.1, 30.0)
    >>> needed.num_modes, needed.without_residual
    (5, 10)
    """
    low, high = band(omega_min, omega_max)
    allowed = real_number(tolerance, "tolerance", "in (0, 1), such as 0.01 for 1 %")
    if not 0.0 < allowed < 1.0:
        raise ValueError(
            f"tolerance = {shown(tolerance)}: expected a number in (0, 1), 0.01 is 1 %"
        )
    require_concrete(arm, "a sum over modes")
    bare = undamped(arm)
    count = 2 * int(count_below(bare, high, theory=theory)) + 12
    while True:
        model = modal_superposition(bare, inputs, outputs, min(count, limits.MODES), theory=theory)
        omega = places_between(model.omega, 0.0, low, high)
        exact = exact_part(model, bare, omega).real
        parts = model.parts(omega).real
        size = sizes_of(model, omega)
        vibrates = (
            model.omega[:, None] > 0.0
        )  # motions of zero frequency do not contribute to a residual
        softness = np.where(vibrates, 1.0 / np.where(vibrates, model.omega[:, None], 1.0) ** 2, 0.0)
        at_rest = np.einsum("kp,km->kpm", model.read * softness, model.driven)
        without = np.cumsum(parts, axis=0) - exact
        residuals = model.residual + at_rest.sum(axis=0) - np.cumsum(at_rest, axis=0)
        worst, worst_without = (
            np.max(relative_errors(np.abs(x), np.broadcast_to(size, x.shape)), axis=(1, 2, 3))
            for x in (without + residuals[..., None], without)
        )
        found, plain = (_enough(errors, allowed) for errors in (worst, worst_without))
        if found is not None and (plain is not None or count >= 8 * found):
            return ModesNeeded(found, plain, allowed, low, high, worst, worst_without)
        if count >= limits.MODES:
            raise ValueError(
                f"tolerance = {allowed!r}: {limits.MODES} modes do not reach it in this band; their error is "
                f"{worst[-1]:.2g}"
            )
        count *= 2


def _enough(worst: Floats, allowed: float) -> int | None:
    """Return the number of modes from which on the error is allowed; None if the last one is not."""
    above = np.flatnonzero(~(worst <= allowed))
    least = int(above[-1]) + 2 if above.size else 1
    return least if least <= worst.size else None
