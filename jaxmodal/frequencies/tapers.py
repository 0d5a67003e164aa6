"""Natural frequencies of arms with tapered links, by provably convergent refinement with an error estimate."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np

from jaxmodal.arm.arguments import is_whole, real_number
from jaxmodal.arm.arm import Arm
from jaxmodal.arm.quantities import shown
from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.frequencies.bounded import BoundedFrequencies
from jaxmodal.frequencies.certificate import TOLERANCE
from jaxmodal.frequencies.models import OtherArm
from jaxmodal.frequencies.one_arm import natural_frequencies
from jaxmodal.frequencies.results import NaturalFrequencies, raise_uncertified
from jaxmodal.runtime.array_types import Floats
from jaxmodal.runtime.statuses import Status

#: the observed order of convergence must lie this close to 2 for the extrapolation to be used
_ORDER_RANGE = (1.5, 2.5)
#: refinements that change a frequency by less, relative, show rounding, and no order
_ROUNDING = 1e-11


@dataclasses.dataclass(frozen=True, repr=False)
class TaperedFrequencies(BoundedFrequencies):
    """Natural frequencies, by refinement, of an arm with tapered links or of a planar arm under loads.

    Attributes
    ----------
    finest : NaturalFrequencies
        The certified frequencies of the arm with the most pieces.
    """

    finest: NaturalFrequencies | None = None


def tapered_frequencies(
    build: Callable[[int, str], Arm | OtherArm],
    num_modes: int = 10,
    *,
    theory: TheoryName = "timoshenko",
    tolerance: float = 1e-6,
    pieces: int = 4,
    max_pieces: int = 64,
    what: str = "of tapered links",
) -> TaperedFrequencies:
    """Return the lowest natural frequencies of an arm with tapered links, refined to a given error estimate.

    Parameters
    ----------
    build
        Function ``build(pieces, bound)`` that returns the arm; see the arguments of `tapered` and `tabulated`.
    num_modes, theory
        As for `natural_frequencies`.
    tolerance
        Relative error to reach, more than 0.
    pieces, max_pieces
        First and last number of pieces; it is doubled in each refinement.
    what
        Description of what varies along links, for the title of the table.

    Returns
    -------
    TaperedFrequencies
        If the tolerance is not reached, the result with ``max_pieces``; check ``error``.

    Raises
    ------
    ValueError
        If ``tolerance`` or a number of pieces is invalid. Other errors as for `natural_frequencies` and `tapered`.

    Notes
    -----
    If each uniform piece has the section at its middle, the error of a frequency is proportional to the square of the
    piece length: Rayleigh's quotient integrates the error of the section, which is odd about the middle, against a
    smooth function. Bounds: less stiffness and more mass lower every Rayleigh quotient and so every frequency.

    Examples
    --------
    >>> import jaxmodal as jm
    >>> link = jm.Link(1.0, 7e10, 2700.0, jm.rectangle(0.02, 0.05))
    >>> def build(pieces, bound):
    ...     return jm.Arm(jm.tapered(link, jm.rectangle(0.01, 0.05), pieces, bound))
    >>> found = jm.tapered_frequencies(build, 1, theory="bending_only", tolerance=1e-2)
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
        return natural_frequencies(build(number, bound), num_modes, theory=theory)

    def softer() -> Floats:
        arm = build(pieces, "lower")
        found = natural_frequencies(arm, num_modes, theory=theory, throw=False)
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
    finest = found[-1]
    return TaperedFrequencies(omega, error, lower, upper, pieces, finest.theory, what, finest)


def _extrapolated(
    found: list[NaturalFrequencies],
) -> tuple[Floats, Floats]:
    """Return the extrapolation of three refinements to zero piece length, and its relative error."""
    coarse, middle, fine = (np.asarray(x.omega) for x in found)
    first, second = (4.0 * middle - coarse) / 3.0, (4.0 * fine - middle) / 3.0
    with np.errstate(divide="ignore", invalid="ignore"):
        order = np.log2(np.abs((coarse - middle) / (middle - fine)))
    rounding = np.abs(coarse - fine) <= _ROUNDING * fine
    regular = ((order > _ORDER_RANGE[0]) & (order < _ORDER_RANGE[1])) | rounding
    omega = np.where(regular, second, fine)
    off = np.where(regular, np.abs(second - first), np.abs(fine - middle))
    return omega, off / np.where(omega > 0.0, omega, 1.0) + TOLERANCE
