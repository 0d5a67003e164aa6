"""Values beside joint angles that vary among arms and in which responses are quotients of polynomials.

A body's mass acts on the two displacements of its point, an inertia, a rotor, a spring or a damper on one motion. So
the determinant D of the arm and H D of two ports are polynomials of degree 2 in a mass, and of degree 1 in each of the
others; a gear ratio, in which the energy of a rotor is quadratic, has degree 2.

An amount x, which is 0 to inf, is taken as its share ``t = x/(x + usual)``: ``(1 - t)^degree D`` is a polynomial in t,
from free joints to rigid ones and from no mass to any. First moments that grow in proportion with a mass, and the
inertia of the mass at its centre, are part of the same amount.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from jaxmodal.response.driven.damping import SPRINGS, Damping
from jaxmodal.response.driven.driven_arms import Arms
from jaxmodal.response.receptance.angle_sums import NODES, Sampling, sampling
from jaxmodal.runtime.array_types import Floats
from jaxmodal.runtime.namespace import Array
from jaxmodal.statics.beam_arrays import SUPPORTS, BeamArrays
from jaxmodal.statics.link_parts import HUB, ROTOR, TIP

#: degree in fields that are amounts by themselves
_DEGREES = {
    **dict.fromkeys((*SPRINGS, *SPRINGS.values(), *SUPPORTS, ROTOR[0]), 1),
    ROTOR[1]: 2,
}
#: fields of bodies: mass, inertia and first moments
_BODIES = (TIP, HUB)
#: fields that may vary
FIELDS = frozenset((*_DEGREES, *TIP, *HUB))
#: relative deviation of fields from what they are taken as
_ROUNDING = 2.0**-48


class Amount(NamedTuple):
    """A value that varies among the arms.

    Attributes
    ----------
    shares
        t of all arms, (cells,).
    usual
        The amount whose share is one half.
    degree
        Degree of D.
    slopes
        Change of fields, by link and name, for a change of the amount by 1.
    """

    shares: Floats
    usual: float
    degree: int
    slopes: dict[tuple[int, str], float]

    @property
    def ends(self) -> tuple[float, float]:
        """Smallest and largest share."""
        return float(self.shares.min()), float(self.shares.max())

    def polynomials(self, cells: slice) -> Floats:
        """Return Chebyshev's polynomials of the shares of some arms, (cells, degree + 1)."""
        low, high = self.ends
        over = (2.0 * self.shares[cells] - low - high) / max(high - low, np.finfo(float).tiny)
        return _chebyshev(over, self.degree)

    def at(self, nodes: Floats) -> Floats:
        """Return the shares at nodes from -1 to 1."""
        low, high = self.ends
        return 0.5 * (low + high) + 0.5 * (high - low) * nodes


class Varied(NamedTuple):
    """All amounts, and what is left of the fields that they change where each amount is 0."""

    amounts: tuple[Amount, ...]
    rest: dict[tuple[int, str], Any]

    @property
    def degrees(self) -> tuple[int, ...]:
        return tuple(amount.degree for amount in self.amounts)

    def fields(self, samples: Sequence[Array]) -> dict[tuple[int, str], Any]:
        """Return the values of the fields at shares of each amount, in shapes that broadcast."""
        found = dict(self.rest)
        for amount, share in zip(self.amounts, samples, strict=True):
            for place, slope in amount.slopes.items():
                found[place] = found[place] + slope * (amount.usual * share / (1.0 - share))
        return found

    def springs(self) -> list[tuple[int, str]]:
        """Return the joint springs, by link and field, that vary or whose dampers do."""
        named = [(link, SPRINGS.get(name, name)) for link, name in self.rest]
        return [(link, name) for link, name in dict.fromkeys(named) if name in SPRINGS.values()]


def amounts_of(arms: Arms) -> Varied | None:
    """Return the amounts in which arms differ; None if one of `FIELDS` varies as none does.

    Negative values are none, nor are first moments that vary in any other way than in proportion to a mass.
    """
    amounts: list[Amount] = []
    rest: dict[tuple[int, str], Any] = {}
    for link, (beam, damping) in enumerate(zip(arms.beams, arms.damping, strict=True)):
        for names in _BODIES:
            found = _of_body(link, beam, names)
            if found is None:
                return None
            amounts += found.amounts
            rest |= found.rest
        for name in _varying(beam, tuple(_DEGREES)) + _varying(damping, tuple(SPRINGS)):
            values = getattr(damping if name in SPRINGS else beam, name)
            if not np.all(values >= 0.0):
                return None
            amounts.append(_amount(values, _DEGREES[name], {(link, name): 1.0}))
            rest[link, name] = 0.0
    return Varied(tuple(amounts), rest)


def _varying(record: BeamArrays | Damping, names: Sequence[str]) -> list[str]:
    values: dict[str, Any] = vars(record)
    return [name for name in names if np.size(values.get(name, 0.0)) > 1]


def _amount(values: Floats, degree: int, slopes: dict[tuple[int, str], float]) -> Amount:
    some = values[(values > 0.0) & np.isfinite(values)]
    usual = float(np.median(some)) if some.size else 1.0
    endless = np.isinf(values)
    known = np.where(endless, 1.0, values)
    return Amount(np.where(endless, 1.0, known / (known + usual)), usual, degree, slopes)


def _of_body(link: int, beam: BeamArrays, names: Sequence[str]) -> Varied | None:
    """Return the amounts of a body: its mass with all that is in proportion to it, and its own inertia."""
    varying = _varying(beam, names)
    if not varying:
        return Varied((), {})
    mass, inertia = (getattr(beam, name) for name in names[:2])
    if not (np.all(mass >= 0.0) and np.all(inertia >= 0.0)):
        return None
    amounts: list[Amount] = []
    rest: dict[tuple[int, str], Any] = {}
    around = 0.0
    if mass.size > 1:
        slopes = {(link, names[0]): 1.0}
        rest[link, names[0]] = 0.0
        for name in names[2:]:
            moment = getattr(beam, name)
            line = _line(mass, moment) if moment is not None else (0.0, 0.0)
            if line is None:
                return None
            if line[1]:
                rest[link, name], slopes[link, name] = line
            around += line[1] * line[1]
        if around:
            slopes[link, names[1]] = around
        amounts.append(_amount(mass, 2, slopes))
    elif any(name in varying for name in names[2:]):
        return None
    own = inertia - around * mass
    least = np.min(own)
    if around or inertia.size > 1:
        rest[link, names[1]] = least
    if np.any(own - least > _ROUNDING * inertia):
        amounts.append(_amount(own - least, 1, {(link, names[1]): 1.0}))
    return Varied(tuple(amounts), rest)


def _line(mass: Floats, moment: Floats) -> tuple[float, float] | None:
    """Return moment without mass, and its slope, if it is a straight line over the mass."""
    if moment.size == 1:
        return float(moment[0]), 0.0
    low, high = np.argmin(mass), np.argmax(mass)
    slope = float((moment[high] - moment[low]) / (mass[high] - mass[low]))
    rest = float(moment[low] - slope * mass[low])
    # both parts of a moment are rounded, and may cancel
    apart = np.abs(moment - rest - slope * mass)
    return None if np.any(apart > _ROUNDING * (abs(rest) + np.abs(slope * mass))) else (rest, slope)


@functools.lru_cache(maxsize=16)
def sampling_of(joints: int, mirrored: bool, degrees: tuple[int, ...]) -> Sampling:
    """Return the `sampling` of functions of angles that are also polynomials of these degrees in shares of amounts."""
    sampled = sampling(joints, mirrored)
    nodes = (*sampled.nodes, *(_nodes(degree) for degree in degrees))
    coefficients, left_over = dict(sampled.coefficients), dict(sampled.left_over)
    # mirror images are samples, too
    both = NODES ** len(sampled.nodes) / sampled.size
    for degree in degrees:
        functions = _chebyshev(_nodes(degree), degree + 1)
        sizes = np.sum(functions * functions, axis=0)
        inverse, unit = functions.T / sizes[:, None], functions.T / np.sqrt(sizes)[:, None]
        for parity, kept in coefficients.items():
            length = np.sqrt(both / np.sum(kept * kept, axis=1))[:, None]
            more = np.kron(left_over[parity], unit), np.kron(length * kept, unit[-1:])
            left_over[parity] = np.concatenate(more)
            coefficients[parity] = np.kron(kept, inverse[:-1])
    return Sampling(nodes, coefficients, left_over)


def _nodes(degree: int) -> Floats:
    """Return the zeros, -1 to 1, of Chebyshev's polynomial of degree + 2: one more than a polynomial has terms."""
    order = np.arange(degree + 2, dtype=np.float64)
    found: Floats = np.cos(np.pi / (degree + 2) * (order + 0.5))
    return found


def _chebyshev(places: Floats, degree: int) -> Floats:
    """Return Chebyshev's polynomials up to a degree, along a last axis."""
    found = [np.ones_like(places), places]
    for _ in range(1, degree):
        found.append(2.0 * places * found[-1] - found[-2])
    return np.stack(found[: degree + 1], axis=-1)
