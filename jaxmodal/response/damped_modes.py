"""Damped modes: complex frequencies of an arm, followed from its certified undamped modes, and counted by a contour."""

from __future__ import annotations

import dataclasses
import itertools
from typing import TYPE_CHECKING, Any, ClassVar

import jax
import numpy as np

from jaxmodal.arm.arguments import positive_integer
from jaxmodal.arm.arm import Arm, require_planar
from jaxmodal.arm.refusals import refuse_axial_force
from jaxmodal.dynamic_stiffness.beams import TheoryName, prepared_values
from jaxmodal.dynamic_stiffness.member import FreeEndMember
from jaxmodal.frequencies.one_arm import natural_frequencies, raise_uncertified
from jaxmodal.frequencies.tables import hertz_text
from jaxmodal.response.contour import zeros_inside
from jaxmodal.response.damping import (
    SPRINGS,
    Damping,
    damped_beams,
    damping_of,
)
from jaxmodal.response.held_tips import on_springs, rigid_supports
from jaxmodal.response.members import cut_at, members_of_links
from jaxmodal.response.pieces import Terminal, pieces_of
from jaxmodal.response.ports import port_row
from jaxmodal.response.recursion import inward
from jaxmodal.runtime import limits
from jaxmodal.runtime.errors import ArmError
from jaxmodal.runtime.namespace import is_traced
from jaxmodal.runtime.pictures import Drawn
from jaxmodal.runtime.tables import ShowsDatasets, Table

if TYPE_CHECKING:
    import xarray

#: modes followed beyond those asked for, so that the contour has a gap to pass through
_BEYOND = 3
#: how far the damping makes a detour through complex values, which passes by critical damping
_DETOUR = 0.3
#: roots closer than this, relative, are one
_SAME = 1e-6
#: corners of a square, counter-clockwise
_SQUARE = ((-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0))


@dataclasses.dataclass(frozen=True, repr=False)
class DampedModes(Drawn, ShowsDatasets):
    """Damped modes of one arm, by their undamped modes; a mode that is overdamped has two roots, each an entry.

    Motions go with ``exp(i root t)``: a root has the damped angular frequency as its real part, the decay as imaginary.

    Attributes
    ----------
    roots : np.ndarray of complex, shape (M,)
        Complex angular frequencies, rad/s.
    mode : np.ndarray of int, shape (M,)
        Number of the undamped mode, from 1, from which each was followed; the lowest, where several lead there.
    multiplicity : np.ndarray of int, shape (M,)
        How many roots coincide there, 2 at critical damping; by the argument principle around it. 0: not known.
    undamped : np.ndarray, shape (M,)
        Angular frequency of that mode, rad/s.
    counted : bool
        Whether the argument principle finds in the rectangle around the roots as many as were followed there, so that
        none is lost below its right side.
    theory : str
        Name of the theory.
    """

    picture: ClassVar[str] = "jaxmodal.plots.damped_modes:draw_damped_modes"
    roots: np.ndarray
    mode: np.ndarray
    multiplicity: np.ndarray
    undamped: np.ndarray
    counted: bool
    theory: TheoryName

    @property
    def frequencies_hz(self) -> np.ndarray:
        """Damped frequencies in Hz, shape (M,); 0 where overdamped."""
        return self.roots.real / (2.0 * np.pi)

    @property
    def decay_rate(self) -> np.ndarray:
        """Decay rates in 1/s, shape (M,): the amplitude falls by a factor of e in 1/decay_rate."""
        return self.roots.imag

    @property
    def damping_ratio(self) -> np.ndarray:
        """Decay rate over the size of the root, shape (M,): 1 where overdamped, 0 for roots of 0."""
        size = np.abs(self.roots)
        return self.roots.imag / np.where(size > 0.0, size, 1.0)

    @property
    def overdamped(self) -> np.ndarray:
        """Whether a root decays without oscillating, shape (M,)."""
        return (self.roots.real == 0.0) & (self.roots.imag != 0.0)

    def tables(self) -> list[Table]:
        """Return the modes with their damping."""
        rows = [
            [
                str(mode),
                hertz_text(omega / (2.0 * np.pi)),
                "overdamped" if slow else hertz_text(root.real / (2.0 * np.pi)),
                f"{ratio:.5g}",
                f"{root.imag:.5g}",
            ]
            for mode, omega, root, slow, ratio in zip(
                *(self.mode, self.undamped, self.roots, self.overdamped, self.damping_ratio),
                strict=True,
            )
        ]
        note = "counted: none is lost" if self.counted else "NOT counted: a root may be lost"
        headings = ("mode", "undamped [Hz]", "damped [Hz]", "damping ratio", "decay rate [1/s]")
        title = f"{len(rows)} damped modes ({self.theory})"
        return [Table(title, headings, rows, (note,))]

    def to_xarray(self) -> xarray.Dataset:
        """Return a dataset with the dim root: numbers of modes, frequencies in Hz, damping."""
        import xarray

        about: dict[str, tuple[Any, str, str]] = {
            "mode": (self.mode, "number of the undamped mode", "1"),
            "undamped_frequency": (self.undamped / (2.0 * np.pi), "undamped frequency", "Hz"),
            "frequency": (self.frequencies_hz, "damped frequency, 0 where overdamped", "Hz"),
            "damping_ratio": (self.damping_ratio, "decay rate over the size of the root", "1"),
            "decay_rate": (self.decay_rate, "decay rate of the amplitude", "1/s"),
            "multiplicity": (self.multiplicity, "roots that coincide, 0: not known", "1"),
        }
        variables = {
            name: ("root", np.asarray(values), {"long_name": text, "units": units})
            for name, (values, text, units) in about.items()
        }
        attrs = {"theory": self.theory, "counted": int(self.counted)}
        return xarray.Dataset(variables, {"root": np.arange(1, len(self.roots) + 1)}, attrs)


def damped_modes(arm: Arm, num_modes: int = 10, theory: TheoryName = "timoshenko") -> DampedModes:
    """Damped frequencies, damping ratios and decay rates of the lowest modes of an arm.

    Parameters
    ----------
    arm
        A concrete arm; `Link` has its damping.
    num_modes, theory
        As for `natural_frequencies`.

    Returns
    -------
    DampedModes

    Raises
    ------
    ArmError
        If a damper lies at a free joint of an arm that drifts, whose modes of zero frequency cannot then be followed,
        or the arm is traced.
    UncertifiedError
        As `natural_frequencies`, for the undamped modes.

    Notes
    -----
    Every certified undamped mode is followed while the damping grows from nothing, on a path through complex values and
    on its mirror image: at critical damping, a branch point between them, the two lead to the two overdamped roots. As
    many roots as there are in a rectangle are counted by the argument principle, from the phase of the characteristic
    determinant along its sides.

    Examples
    --------
    >>> import jaxmodal as jm
    >>> link = jm.Link(1.0, 7e10, 2700.0, jm.rectangle(0.02, 0.05, 0.85), poisson_ratio=0.3, loss_factor=0.02)
    >>> found = jm.damped_modes(jm.Arm((link,)), 3)
    >>> found.counted, [f"{x:.4f}" for x in found.damping_ratio]
    (True, ['0.0100', '0.0100', '0.0100'])
    """
    refuse_axial_force(require_planar(arm), "a damped or driven arm")
    count = positive_integer(num_modes, "num_modes", limits.MODES)
    if is_traced(arm):
        raise ArmError("arm: is traced; damped modes are of concrete arms.")
    certified = natural_frequencies(arm, count + _BEYOND, theory, throw=False)
    undamped = np.asarray(certified.omega)
    undamped = undamped[np.isfinite(undamped)]  # rigid links have no more modes than springs
    if undamped.size < count:
        raise ArmError(
            f"num_modes = {count}: the arm has {undamped.size} modes, for its links are rigid; ask for no more."
        )
    if not np.asarray(certified.certified)[: undamped.size].all():
        raise_uncertified(certified, arm)
    free = int(np.sum(undamped == 0.0))
    _require_free_motions(arm, free, undamped.size)
    determinant = _Determinant(arm, theory)
    ends = [_followed(determinant, undamped[free:].astype(complex), side) for side in (1.0, -1.0)]
    roots: list[complex] = []
    mode: list[int] = []
    for k, pair in enumerate(zip(*ends, strict=True)):
        for root in map(_upright, pair):
            if not any(abs(root - x) <= _SAME * abs(x) for x in roots):
                roots.append(root)
                mode.append(free + k + 1)
    found, numbers = np.array(roots), np.array(mode)
    fold = np.array([_multiplicity(determinant, root, found) for root in found])
    every = undamped.size < count + _BEYOND
    # a double root is known to 1e-7, the root of the rounding, so that this real part is none
    found.real[(fold > 1) & (found.real < 1e-6 * np.abs(found))] = 0.0
    counted = _is_counted(determinant, found, numbers, fold, max(count, free + 1), every, 2 * free)
    if free:  # what moves freely keeps two roots of 0 for each motion
        found = np.concatenate([np.zeros(free), found])
        numbers = np.concatenate([np.arange(1, free + 1), numbers])
        fold = np.concatenate([np.full(free, 2 * free), fold])
    kept = numbers <= count
    return DampedModes(
        roots=found[kept],
        mode=numbers[kept],
        multiplicity=fold[kept],
        undamped=undamped[numbers[kept] - 1],
        counted=counted,
        theory=theory,
    )


def _require_free_motions(arm: Arm, free: int, known: int) -> None:
    """Refuse an arm of whose motions of zero frequency, ``free`` of all that are ``known``, one may be damped."""
    if free == known:
        raise ArmError("arm: has no modes but motions of zero frequency, for its links are rigid.")
    for number, link in enumerate(arm.links, start=1):
        for damper, spring in SPRINGS.items():
            if free and getattr(link, spring) == 0.0 and getattr(link, damper):
                raise ArmError(
                    f"link{number}.{damper}: lies at a joint without a spring, whose motion of zero frequency cannot "
                    f"be followed while it is damped; give {spring} a small value, or leave the damper out."
                )


def _upright(root: complex) -> complex:
    """A root of the right half plane, exactly on the imaginary axis where it is there but for rounding."""
    if abs(root.real) <= 1e-9 * abs(root):
        return complex(0.0, root.imag)
    return complex(abs(root.real), root.imag)


class _Determinant:
    """The logarithm of the characteristic determinant over positive factors, for complex frequencies and damping."""

    def __init__(self, arm: Arm, theory: TheoryName) -> None:
        sprung, springs = on_springs(arm)
        self.beams, self.theory = prepared_values(sprung, theory)
        #: rigid supports: places held in spite of springs, and the springs
        self.held = {
            number: Terminal(each, port_row(each, arm))
            for number, each in enumerate(rigid_supports(arm))
        }
        self.springs = np.array(springs, np.float64)
        self.damping, self.cut = damping_of(arm), cut_at(arm.num_links, ())
        #: beyond this imaginary part a modulus may vanish
        times = self.damping.kelvin_voigt_time
        longest = 0.0 if times is None else float(np.max(times))
        self.highest = np.inf if longest == 0.0 else 0.5 / longest
        #: frequencies at which a spring and its damper together are nothing
        self.springless = np.array(
            [
                1j * stiffness / damper
                for name, spring in SPRINGS.items()
                for stiffness, damper in zip(*self._pair(name, spring), strict=True)
                if damper > 0.0 and 0.0 < stiffness < np.inf
            ],
            dtype=complex,
        )

    def _pair(self, name: str, spring: str) -> tuple[Any, Any]:
        """The springs of a kind and the dampers beside them; nothing where no link has them."""
        stiffness, damper = getattr(self.beams, spring), getattr(self.damping, name)
        return ((), ()) if stiffness is None or damper is None else (stiffness, damper)

    def __call__(self, omega: np.ndarray, share: complex = 1.0) -> np.ndarray:
        def wide(x: Any) -> Any:
            return x[:, None]

        beams = jax.tree_util.tree_map(wide, self.beams)
        damping: Damping = jax.tree_util.tree_map(lambda x: share * wide(x), self.damping)
        with np.errstate(all="ignore"):
            at = damped_beams(beams, damping, omega)
            members = members_of_links(at, self.theory, omega, self.cut)
            links = [
                (
                    jax.tree_util.tree_map(lambda x, k=k: x[k], at),
                    FreeEndMember(*(x[k] for x in members)),
                )
                for k in range(len(self.cut.links))
            ]
            pieces = pieces_of([x for x, _ in links], [m for _, m in links], self.cut, self.held)
            pairs = list(itertools.combinations_with_replacement(self.held, 2))
            condensed = inward(pieces, omega, pairs)
            factors = [np.log(x + 0j) for x in condensed.factors]
            if self.held:
                factors.append(self._of_held(condensed.responses, omega))
            # pivots of springs have poles where a damped spring vanishes
            for name in SPRINGS.values():
                springs, plain = getattr(at, name), getattr(beams, name)
                if springs is not None and np.iscomplexobj(springs):
                    known = np.isfinite(plain) & (plain > 0.0)
                    factors += [
                        np.where(k, np.log(s / np.where(k, p, 1.0)), 0.0)
                        for s, p, k in zip(springs, plain, known, strict=True)
                    ]
            return np.sum(np.broadcast_arrays(*factors), axis=0)

    def _of_held(self, responses: dict[tuple[int, int], Any], omega: np.ndarray) -> np.ndarray:
        """The logarithm of what turns the determinant of the arm on springs into that with the tips held.

        That is the determinant of their receptances, which vanishes where no force is needed to hold them.
        """
        size = np.sqrt(self.springs)
        square = np.empty((*omega.shape, size.size, size.size), np.complex128)
        for (i, j), value in responses.items():
            square[..., i, j] = square[..., j, i] = size[i] * size[j] * value
        found: np.ndarray = np.log(np.linalg.det(square))
        return found


def _followed(determinant: _Determinant, start: np.ndarray, side: float) -> np.ndarray:
    """The roots at full damping that continue those of the undamped arm."""
    place, step = 0.0, 0.05
    roots = before = start
    earlier = -1.0
    while place < 1.0:
        step = min(step, 1.0 - place)
        there = place + step
        share = complex(there, side * _DETOUR * 4.0 * there * (1.0 - there))
        guess = roots if earlier < 0.0 else roots + (roots - before) * step / (place - earlier)
        found, change = _corrected(determinant, guess, share)
        gaps = np.abs(roots[:, None] - roots[None, :]) + np.diag(np.abs(roots))
        room = 0.25 * np.minimum(gaps.min(axis=1), np.abs(roots))
        sure = (np.abs(found - guess) <= room) & (change <= 1e-7 * np.abs(found))
        if not sure.all() and step > 1e-5:
            step *= 0.5
            continue
        if not sure.all():  # lost, and said to be
            return np.full(start.shape, np.nan)
        before, roots, earlier, place = roots, found, place, there
        step *= 1.5
    return roots


def _corrected(
    determinant: _Determinant, guess: np.ndarray, share: complex
) -> tuple[np.ndarray, np.ndarray]:
    """Zeros near the guesses by the secant method, and the last changes."""
    old, new = guess * (1.0 + 1e-6), guess.copy()
    log_old = determinant(old, share)
    change = np.full(guess.shape, np.inf)
    for _ in range(40):
        log_new = determinant(new, share)
        with np.errstate(all="ignore"):
            step = (new - old) / (1.0 - np.exp(log_old - log_new))
        move = np.isfinite(step) & (np.abs(step) < change)
        if not move.any():
            break
        old, log_old = np.where(move, new, old), np.where(move, log_new, log_old)
        new, change = np.where(move, new - step, new), np.where(move, np.abs(step), change)
    return new, np.where(np.isfinite(change), change, np.where(np.isfinite(log_new), np.inf, 0.0))


def _marks(determinant: _Determinant, roots: np.ndarray) -> np.ndarray:
    """Where the phase turns fast: the roots known, their mirror images, and where a damped spring vanishes."""
    return np.concatenate([roots, -roots.conj(), determinant.springless])


def _multiplicity(determinant: _Determinant, root: complex, every: np.ndarray) -> int:
    """How many roots a small square around one holds."""
    others = np.abs(every - root)
    near = np.min(others[others > 0.0], initial=np.abs(root))
    side = min(1e-3 * abs(root), 0.25 * float(near))
    corners = [root + side * complex(x, y) for x, y in _SQUARE]
    turns = zeros_inside(determinant, _marks(determinant, every), corners)
    return 0 if turns is None else turns


def _is_counted(
    determinant: _Determinant,
    roots: np.ndarray,
    mode: np.ndarray,
    fold: np.ndarray,
    count: int,
    every: bool,
    at_zero: int,
) -> bool:
    """Whether a rectangle around the roots of the first modes holds as many zeros as were followed into it.

    Its right side lies in the gap after them, or, where ``every`` mode there is was followed, far out. Besides those it
    holds ``at_zero`` roots of 0.
    """
    if not np.isfinite(roots).all() or (fold == 0).any():
        return False
    asked = roots[mode <= count]
    reals = np.sort(roots.real)
    inner = asked.real.max()
    beyond = reals[reals > inner * (1.0 + 1e-6)]
    if beyond.size == 0 and not every:
        return False
    right = 0.5 * (inner + beyond[0]) if beyond.size else 2.0 * np.abs(roots).max()
    moving = asked.real[
        asked.real > 1e-3 * np.abs(asked)
    ]  # else on the axis, or in a pair about it
    left = -0.5 * (moving.min() if moving.size else np.abs(asked).min())
    top = min(1.5 * asked.imag.max() + 0.3 * np.abs(asked).min(), determinant.highest)
    bottom = -0.3 * np.abs(asked).min()
    inside = (roots.real > left) & (roots.real < right) & (roots.imag < top)
    if not inside[mode <= count].all():
        return False
    corners = [
        complex(x, y) for x, y in ((left, bottom), (right, bottom), (right, top), (left, top))
    ]
    marks = _marks(determinant, np.append(roots, np.zeros(min(at_zero, 1))))
    return zeros_inside(determinant, marks, corners) == int(fold[inside].sum()) + at_zero
