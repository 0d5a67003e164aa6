"""Damped roots of many similar arms: continued from certified undamped modes, and counted by contours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.response.damped.continuation import followed
from jaxmodal.response.damped.contour import zeros_inside
from jaxmodal.response.exact.kinds import RESPONSES
from jaxmodal.response.receptance.characteristic import Characteristic
from jaxmodal.runtime.array_types import Bools, Complexes, Floats, Integers
from jaxmodal.runtime.datasets import Variable, variable
from jaxmodal.runtime.results import Result
from jaxmodal.spatial.arms.arm import AnyArm

#: additional modes that are followed, so that the contour can pass through a gap between roots
BEYOND = 3
#: relative distance below which two roots count as one
_SAME = 1e-6
#: a root is on the imaginary axis if its real part is below this share of its absolute value
_UPRIGHT = 1e-9
#: half the side of a square around a root, over its absolute value; a root closer to the axis has its mirror image in
#: the square
_SIDE = 1e-3
#: corners of a square, counter-clockwise, and the initial number of equal steps on its sides
_SQUARE, _STEPS = np.array([-1.0 - 1.0j, 1.0 - 1.0j, 1.0 + 1.0j, -1.0 + 1.0j]), 8


class ShowsRoots(Result):
    """Base class of damped modes of one arm or of many, with complex angular frequencies ``roots``, rad/s."""

    roots: Complexes

    @property
    def frequencies_hz(self) -> Floats:
        """Damped frequencies in Hz, in the shape of the roots; 0 for overdamped modes."""
        return self.roots.real / (2.0 * np.pi)

    @property
    def decay_rate(self) -> Floats:
        """Decay rates in 1/s, in the shape of the roots: the amplitude falls by a factor of e in 1/decay_rate."""
        return self.roots.imag

    @property
    def damping_ratio(self) -> Floats:
        """Damping ratios (decay rate over absolute value of the root), in the shape of the roots.

        They are 1 for overdamped modes, and 0 for roots of 0.
        """
        size = np.abs(self.roots)
        return self.roots.imag / np.where(size == 0.0, 1.0, size)

    def _variables(self, dims: Any, undamped: Floats) -> dict[str, Variable]:
        """Return frequencies and damping as variables of a dataset."""
        about: dict[str, tuple[Any, str, str]] = {
            "undamped_frequency": (undamped / (2.0 * np.pi), "undamped frequency", "Hz"),
            "frequency": (self.frequencies_hz, "damped frequency, 0 where overdamped", "Hz"),
            "damping_ratio": (self.damping_ratio, "decay rate over the size of the root", "1"),
            "decay_rate": (self.decay_rate, "decay rate of the amplitude", "1/s"),
        }
        return {name: variable(dims, *each) for name, each in about.items()}


class DampedRoots(NamedTuple):
    """Roots of one arm in the order of the undamped modes, those of zero frequency first.

    Attributes
    ----------
    roots : complex array, shape (M,)
        NaN where they were lost.
    mode : array of int, shape (M,)
        Numbers of the undamped modes, from 1.
    multiplicity : array of int, shape (M,)
        Number of coincident roots, 0 if unknown.
    counted : bool
        True if the number of roots in the contour is that of the roots found there.
    """

    roots: Complexes
    mode: Integers
    multiplicity: Integers
    counted: bool


def damped_roots(
    arm: AnyArm,
    theory: TheoryName,
    addresses: Sequence[str],
    values: Floats,
    undamped: Floats,
    count: int,
) -> list[DampedRoots]:
    """Return the roots of the lowest ``count`` modes of cells with equal numbers of modes and of zero frequencies.

    Parameters
    ----------
    addresses, values
        Values that vary from cell to cell, shape (addresses, C); rigid supports must not vary.
    undamped : array, shape (C, M)
        Certified angular frequencies, zeros first: `BEYOND` more than ``count``, or all that exist.
    """
    determinant = RESPONSES.of(arm).characteristic(arm, theory, addresses, values)
    free = int((undamped[0] == 0.0).sum())
    ends = followed(determinant, undamped[:, free:])
    found = [_merged(ends[:, k], free) for k in range(len(undamped))]
    _without_strays(determinant, [roots for roots, _ in found])
    fold = _multiplicities(determinant, [roots for roots, _ in found])
    every = undamped.shape[1] < count + BEYOND
    for (roots, _), several in zip(found, fold, strict=True):
        # a double root is accurate to 1e-7, the root of the rounding error, so a real part below that counts as 0
        roots.real[(several > 1) & (roots.real < _SAME * np.abs(roots))] = 0.0
    boxes = [
        _rectangle(roots, mode, several, max(count, free + 1), every, highest)
        for (roots, mode), several, highest in zip(found, fold, determinant.highest, strict=True)
    ]
    counted = _counted(determinant, boxes, [x for x, _ in found], fold, 2 * free)
    made = []
    for (roots, mode), several, sure in zip(found, fold, counted, strict=True):
        # a free motion has two roots of 0
        roots = np.concatenate([np.zeros(free), roots])
        mode = np.concatenate([np.arange(1, free + 1), mode])
        several = np.concatenate([np.full(free, 2 * free), several])
        kept = mode <= count
        made.append(DampedRoots(roots[kept], mode[kept], several[kept], bool(sure)))
    return made


def _merged(ends: Complexes, free: int) -> tuple[Complexes, Integers]:
    """Return the distinct roots at the ends of both paths, (2, K), and their mode numbers."""
    roots: list[complex] = []
    mode: list[int] = []
    for k, pair in enumerate(ends.T):
        for root in map(_upright, pair):
            if not any(abs(root - x) <= _SAME * abs(x) for x in roots):
                roots.append(root)
                mode.append(free + k + 1)
    return np.array(roots), np.array(mode)


def _without_strays(determinant: Characteristic, every: Sequence[Complexes]) -> None:
    """Replace false roots by NaN: those of growing motions, and those at which the determinant is not zero.

    With a loss factor, the mirror image of a root in the left half plane is not a root.
    """
    roots: Complexes = np.concatenate([*every, np.zeros(0, np.complex128)])
    cells = np.repeat(np.arange(len(every)), [x.size for x in every])
    with np.errstate(all="ignore"):
        here, beside, beyond = (determinant(cells, roots * (1.0 + k * _SAME)) for k in range(3))
        # distance to the zero by the secant method, from two nearby points if the logarithm at 0 is infinite
        exact = np.isnan(here)
        ratio = np.exp(np.where(exact, beside - beyond, here - beside))
        near = np.abs(_SAME * (ratio / (1.0 - ratio) - exact)) <= _SAME
    stray = ~near | (roots.imag < -_UPRIGHT * np.abs(roots))
    start = 0
    for each in every:
        each[stray[start : start + each.size]] = np.nan
        start += each.size


def _upright(root: complex) -> complex:
    """Return a root in the right half plane, exactly on the imaginary axis if it is there within rounding."""
    if abs(root.real) <= _UPRIGHT * abs(root):
        return complex(0.0, root.imag)
    return complex(abs(root.real), root.imag)


def _marks(determinant: Characteristic, cell: int, roots: Complexes) -> Complexes:
    """Return the points where the phase varies fast: known roots, their mirror images, zeros of damped springs."""
    every = np.concatenate([roots, -roots.conj(), determinant.springless[cell]])
    return every[np.isfinite(every)]


def _multiplicities(determinant: Characteristic, every: Sequence[Complexes]) -> list[Integers]:
    """Return the number of roots in a small square around each root, 0 if unknown."""
    cells = np.repeat(np.arange(len(every)), [x.size for x in every])
    squares, known = [], []
    for cell, roots in enumerate(every):
        marks = _marks(determinant, cell, roots)
        for root in roots:
            others = np.abs(roots - root)
            near = np.min(others[others > 0.0], initial=np.abs(root))
            side = min(_SIDE * abs(root), 0.25 * float(near))
            squares.append(root + side * _SQUARE)
            known.append(marks)
    lost = np.isnan(np.array(squares)).any(axis=1)
    at = np.flatnonzero(~lost)
    turns = np.zeros(lost.size)
    owner = cells[at]
    turns[at] = zeros_inside(
        lambda k, z: determinant(owner[k], z),
        [known[k] for k in at],
        np.array(squares)[at],
        _STEPS,
    )
    whole = np.nan_to_num(turns).astype(np.int64)
    return np.split(whole, np.cumsum([x.size for x in every])[:-1])


class _Box(NamedTuple):
    """A rectangle around the roots of the first modes, and a mask of all followed roots inside it."""

    corners: Complexes
    inside: Bools


def _rectangle(
    roots: Complexes, mode: Integers, fold: Integers, count: int, every: bool, highest: float
) -> _Box | None:
    """Return the rectangle of an arm, or None if none holds the first ``count`` modes.

    Its right side is in the gap after these modes, or far out if ``every`` existing mode was followed.
    """
    if not np.isfinite(roots).all() or (fold == 0).any():
        return None
    asked = roots[mode <= count]
    reals = np.sort(roots.real)
    inner = asked.real.max()
    beyond = reals[reals > inner * (1.0 + _SAME)]
    if beyond.size == 0 and not every:
        return None
    right = 0.5 * (inner + beyond[0]) if beyond.size else 2.0 * np.abs(roots).max()
    # otherwise on the axis, or in a pair across it
    moving = asked.real[asked.real > _SIDE * np.abs(asked)]
    left = -0.5 * (moving.min() if moving.size else np.abs(asked).min())
    top = min(1.5 * asked.imag.max() + 0.3 * np.abs(asked).min(), highest)
    bottom = -0.3 * np.abs(asked).min()
    inside = (roots.real > left) & (roots.real < right) & (roots.imag < top)
    if not inside[mode <= count].all():
        return None
    corners = ((left, bottom), (right, bottom), (right, top), (left, top))
    return _Box(np.array([complex(x, y) for x, y in corners]), inside)


def _counted(
    determinant: Characteristic,
    boxes: Sequence[_Box | None],
    every: Sequence[Complexes],
    fold: Sequence[Integers],
    at_zero: int,
) -> Bools:
    """Return True for rectangles with as many zeros as roots were followed into them.

    ``at_zero`` roots of 0 are counted in addition.
    """
    counted = np.zeros(len(boxes), bool)
    at = np.array([k for k, box in enumerate(boxes) if box is not None], dtype=np.int64)
    if at.size == 0:
        return counted
    some = [box for box in boxes if box is not None]
    marks = [_marks(determinant, k, np.append(every[k], np.zeros(min(at_zero, 1)))) for k in at]
    corners = np.stack([box.corners for box in some])
    turns = zeros_inside(lambda k, z: determinant(at[k], z), marks, corners)
    wanted = [fold[k][box.inside].sum() + at_zero for k, box in zip(at, some, strict=True)]
    counted[at] = turns == wanted
    return counted
