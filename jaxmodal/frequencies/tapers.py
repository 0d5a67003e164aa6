"""Frequencies of arms with tapered links: refinement that converges provably, with an error estimate."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from jaxmodal.arm.arguments import is_whole, real_number
from jaxmodal.arm.arm import Arm
from jaxmodal.arm.quantities import shown
from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.frequencies.certificate import TOLERANCE
from jaxmodal.frequencies.one_arm import natural_frequencies
from jaxmodal.frequencies.results import NaturalFrequencies, raise_uncertified
from jaxmodal.frequencies.status import Status
from jaxmodal.runtime.datasets import in_hertz, variable
from jaxmodal.runtime.tables import ShowsDatasets, Table

if TYPE_CHECKING:
    import xarray

#: the observed order of convergence must lie this close to 2 for the extrapolation to be used
_ORDER_RANGE = (1.5, 2.5)
#: refinements that change a frequency by less, relative, show rounding, and no order
_ROUNDING = 1e-11


@dataclasses.dataclass(frozen=True, repr=False)
class TaperedFrequencies(ShowsDatasets):
    """Natural frequencies of an arm with tapered links, or under loads that vary along links.

    Attributes
    ----------
    omega : array, shape (K,)
        Angular frequencies in rad/s, extrapolated from three refinements.
    error : array, shape (K,)
        Estimate of their relative error: how much the last refinement changed the extrapolation.
    lower, upper : array, shape (K,)
        Bounds in rad/s between which the frequencies lie, from arms that are softer and heavier, and stiffer and
        lighter, than that one; lower ones are 0 where loads buckle the softer arm.
    pieces : int
        Segments of each such link in the finest refinement.
    finest : NaturalFrequencies
        The certified frequencies of that arm.
    what : str
        What varies along links.
    """

    omega: NDArray[np.float64]
    error: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    pieces: int
    finest: NaturalFrequencies
    what: str = "of tapered links"

    def tables(self) -> list[Table]:
        """Return the frequencies in Hz with their error and bounds."""
        values = np.stack([self.omega, self.lower, self.upper], axis=1) / (2.0 * np.pi)
        rows = [
            [str(k + 1), f"{own:.8g}", f"{error:.0e}", f"{low:.8g} to {high:.8g}"]
            for k, (error, (own, low, high)) in enumerate(zip(self.error, values, strict=True))
        ]
        title = f"{len(rows)} natural frequencies {self.what}, {self.pieces} pieces ({self.finest.theory})"
        headings = ("mode", "frequency [Hz]", "relative error", "bounds [Hz]")
        return [Table(title, headings, rows)]

    def to_xarray(self) -> xarray.Dataset:
        """Return frequencies and bounds in Hz and relative errors as a dataset with the dim mode."""
        import xarray

        error = "estimated relative error of the frequency"
        return xarray.Dataset(
            {
                "frequency": in_hertz("mode", self.omega, "natural frequency, extrapolated"),
                "lower": in_hertz("mode", self.lower, "lower bound of the frequency"),
                "upper": in_hertz("mode", self.upper, "upper bound of the frequency"),
                "relative_error": variable("mode", self.error, error, "1"),
            },
            {"mode": np.arange(1, self.omega.size + 1)},
            {"theory": self.finest.theory, "pieces": self.pieces, "what": self.what},
        )


def tapered_frequencies(
    build: Callable[[int, str], Arm],
    num_modes: int = 10,
    theory: TheoryName = "timoshenko",
    *,
    tolerance: float = 1e-6,
    pieces: int = 4,
    max_pieces: int = 64,
    what: str = "of tapered links",
) -> TaperedFrequencies:
    """Lowest natural frequencies of an arm with tapered links, refined until the error estimate is small enough.

    Parameters
    ----------
    build
        Returns the arm for a number of pieces and a bound, as `tapered` takes them.
    num_modes, theory
        As for `natural_frequencies`.
    tolerance
        Relative error to reach, more than 0.
    pieces, max_pieces
        The first and the last number of pieces; doubled in between.
    what
        What varies along links, for the title of the table.

    Returns
    -------
    TaperedFrequencies
        With the smallest error that ``max_pieces`` allows, if the tolerance is not reached: look at ``error``.

    Raises
    ------
    ValueError
        ``tolerance`` or the numbers of pieces are not usable; else as `natural_frequencies` and `tapered`.

    Notes
    -----
    With a uniform piece's section at its middle a frequency is off by a multiple of the square of its length
    (Rayleigh's quotient integrates the error of the section, which is odd about the middle, against a smooth
    function). Bounds: less stiffness and more mass lower every Rayleigh quotient and so every frequency.

    Examples
    --------
    >>> import jaxmodal as jm
    >>> link = jm.Link(1.0, 7e10, 2700.0, jm.rectangle(0.02, 0.05))
    >>> def build(pieces, bound):
    ...     return jm.Arm(jm.tapered(link, jm.rectangle(0.01, 0.05), pieces, bound))
    >>> found = jm.tapered_frequencies(build, 1, "bending_only", tolerance=1e-2)
    >>> bool(found.lower[0] < found.omega[0] < found.upper[0]), bool(found.error[0] < 1e-2)
    (True, True)
    """
    if not callable(build):
        raise ValueError(
            f"build = {shown(build)}: must be a function (pieces, bound) that returns an Arm, see the example"
        )
    tolerance = real_number(tolerance, "tolerance", "a relative error between 0 and 1")
    if not 0.0 < tolerance < 1.0:
        raise ValueError(f"tolerance = {tolerance!r}: expected a relative error between 0 and 1")
    if not (is_whole(pieces, 1) and is_whole(max_pieces, 4 * pieces)):
        raise ValueError(
            f"pieces = {shown(pieces)}, max_pieces = {shown(max_pieces)}: expected whole numbers of at"
            " least 1, the second at least four times the first"
        )

    def solve(number: int, bound: str) -> NaturalFrequencies:
        return natural_frequencies(build(number, bound), num_modes, theory)

    def softer() -> NDArray[np.float64]:
        arm = build(pieces, "lower")
        found = natural_frequencies(arm, num_modes, theory, throw=False)
        if np.all(np.asarray(found.status) == Status.unstable):
            return np.zeros(num_modes)
        raise_uncertified(found, arm.name)
        return np.asarray(found.omega)

    found = [solve(pieces * step, "middle") for step in (1, 2, 4)]
    pieces *= 4
    omega, error = _extrapolated(found)
    while np.any(error > tolerance) and 2 * pieces <= max_pieces:
        pieces *= 2
        found = [*found[1:], solve(pieces, "middle")]
        omega, error = _extrapolated(found)
    lower = softer() * (1.0 - TOLERANCE)
    upper = np.asarray(solve(pieces, "upper").omega) * (1.0 + TOLERANCE)
    return TaperedFrequencies(omega, error, lower, upper, pieces, found[-1], what)


def _extrapolated(
    found: list[NaturalFrequencies],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Extrapolation of three refinements to no length, and its relative error."""
    coarse, middle, fine = (np.asarray(x.omega) for x in found)
    first, second = (4.0 * middle - coarse) / 3.0, (4.0 * fine - middle) / 3.0
    with np.errstate(divide="ignore", invalid="ignore"):
        order = np.log2(np.abs((coarse - middle) / (middle - fine)))
    rounding = np.abs(coarse - fine) <= _ROUNDING * fine
    regular = ((order > _ORDER_RANGE[0]) & (order < _ORDER_RANGE[1])) | rounding
    omega = np.where(regular, second, fine)
    off = np.where(regular, np.abs(second - first), np.abs(fine - middle))
    return omega, off / np.where(omega > 0.0, omega, 1.0) + TOLERANCE
