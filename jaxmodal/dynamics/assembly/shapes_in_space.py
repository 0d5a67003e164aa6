"""Assumed shapes of the links of an arm in space, from names of families or as given."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from jaxmodal.arm.arguments import whole
from jaxmodal.arm.quantities import shown
from jaxmodal.dynamics.assembly.engine_shapes_in_space import locked_arm_shapes
from jaxmodal.dynamics.assembly.tables_in_space import Deformations
from jaxmodal.dynamics.frequency_equation import EndBody
from jaxmodal.dynamics.layout_in_space import DEFORMATIONS, Counts
from jaxmodal.dynamics.model import one_of
from jaxmodal.dynamics.rod_shapes import (
    RodShapes,
    end_mass_rods,
    monomial_rods,
    polynomial_rods,
)
from jaxmodal.dynamics.shapes import (
    LinkShapes,
    clamped_mass_shapes,
    monomial_shapes,
    polynomial_shapes,
)
from jaxmodal.runtime import limits
from jaxmodal.runtime.errors import ArmError, within
from jaxmodal.spatial.arms.arm import SpatialArm
from jaxmodal.spatial.modes.values import LinkValues, arm_values
from jaxmodal.spatial.stiffness.matrices import skew

FAMILIES = ("polynomial", "monomial", "clamped_free", "clamped_mass", "locked_arm")


def _clamped_free(count: int) -> LinkShapes:
    return clamped_mass_shapes(count, EndBody(), 1.0, 1.0)


def _fixed_free(count: int) -> RodShapes:
    return end_mass_rods(count, 0.0)


#: families that do not depend on the arm
_BEAMS: dict[str, Callable[[int], LinkShapes]] = {
    "polynomial": polynomial_shapes,
    "monomial": monomial_shapes,
    "clamped_free": _clamped_free,
}
_RODS: dict[str, Callable[[int], RodShapes]] = {
    "polynomial": polynomial_rods,
    "monomial": monomial_rods,
    "clamped_free": _fixed_free,
}
NONE: Deformations = (
    polynomial_rods(0),
    polynomial_rods(0),
    polynomial_shapes(0),
    polynomial_shapes(0),
)

#: for each deformation of a link: the name of a family, or shapes
_Chosen = list[Any]


def shapes_of(arm: SpatialArm, modes: Any, shapes: Any, in_tip_values: bool) -> list[Deformations]:
    """Return the shapes of every link of an arm: their numbers from ``modes``, their kind from ``shapes``.

    Raises
    ------
    ArmError
        If a choice is not allowed, or the numbers do not match the number of links.
    """
    chosen = _choices(shapes, len(arm.links))
    counts = _counts(modes, arm, chosen)
    exact = _of_engine(arm, counts, chosen)
    carried = (
        end_matrices(arm) if any("clamped_mass" in each for each in map(_names, chosen)) else None
    )
    made = []
    for i, (count, each) in enumerate(zip(counts, chosen, strict=True)):
        found: list[Any] = []
        for d, (number, kind) in enumerate(zip(count, each, strict=True)):
            if not isinstance(kind, str):
                shape = kind
            elif kind == "locked_arm":
                shape = exact[i][d]
            elif kind == "clamped_mass" and number:
                assert carried is not None
                shape = _of_end_mass(d, number, *carried[i])
            else:
                family = "polynomial" if kind == "clamped_mass" else kind
                shape = (_RODS if d < 2 else _BEAMS)[family](number)
            if in_tip_values and shape.count:
                shape = shape.in_tip_values() if d < 2 else shape.in_tip_deflections()
            found.append(shape)
        made.append((found[0], found[1], found[2], found[3]))
    return made


def _names(chosen: _Chosen) -> set[str]:
    return {kind for kind in chosen if isinstance(kind, str)}


def _choices(shapes: Any, n: int) -> list[_Chosen]:
    """Return the family of each deformation of each link, or its shapes."""
    given = list(shapes) if isinstance(shapes, (list, tuple)) else [shapes] * n
    if len(given) != n:
        raise ArmError(f"shapes: {len(given)} given; must be one, or {n}, one for each link.")
    made = []
    for entry in given:
        named = entry if isinstance(entry, Mapping) else dict.fromkeys(DEFORMATIONS, entry)
        unknown = sorted(set(named) - set(DEFORMATIONS), key=str)
        if unknown:
            raise ArmError(
                f"shapes: {shown(unknown[0])} is no deformation; must be among "
                f"{', '.join(map(repr, DEFORMATIONS))}."
            )
        chosen = [named.get(name, FAMILIES[0]) for name in DEFORMATIONS]
        for name, kind, own in zip(
            DEFORMATIONS, chosen, (RodShapes, RodShapes, LinkShapes, LinkShapes), strict=True
        ):
            if isinstance(entry, Mapping) and not isinstance(kind, str):
                _require(name, kind, own)
            else:
                one_of("shapes", kind, FAMILIES, "'polynomial' converges fastest in space")
        made.append(chosen)
    return made


def _require(name: str, given: Any, kind: type) -> None:
    """Refuse shapes of another deformation."""
    if not isinstance(given, kind):
        maker = "sampled_rods of jaxmodal.dynamics.rod_shapes"
        if kind is LinkShapes:
            maker = "sampled_shapes of jaxmodal.dynamics.shapes"
        raise ArmError(
            f"shapes: {name} = {shown(given)}: must be {kind.__name__} or the name of a family; {maker} creates them."
        )


def _counts(modes: Any, arm: SpatialArm, chosen: Sequence[_Chosen]) -> list[Counts]:
    """Return the number of shapes of each deformation of each link; given shapes have their own number."""
    n = len(arm.links)
    given = list(modes) if isinstance(modes, (list, tuple)) else [modes] * n
    if len(given) != n:
        raise ArmError(f"modes = {shown(modes)}: must be one entry, or {n}, one for each link.")
    made: list[Counts] = []
    rows = zip(arm.links, given, chosen, strict=True)
    for number, (link, entry, kinds) in enumerate(rows, start=1):
        with within(f"modes of link{number}: "):
            found = _count(entry, kinds)
        own = [x.count if not isinstance(x, str) else c for x, c in zip(kinds, found, strict=True)]
        if link.rigid and any(not isinstance(x, str) and x.count for x in kinds):
            raise ArmError(
                f"shapes of link{number}: the link is rigid; must have none: leave it out, or rigid."
            )
        made.append((0, 0, 0, 0) if link.rigid else (own[0], own[1], own[2], own[3]))
    return made


def _count(entry: Any, kinds: _Chosen) -> Counts:
    expected = (
        "a whole number, of shapes of bending in each plane, or a dict with some of "
        f"{', '.join(map(repr, DEFORMATIONS))}"
    )
    if isinstance(entry, Mapping):
        unknown = sorted(set(entry) - set(DEFORMATIONS), key=str)
        if unknown:
            raise ArmError(
                f"modes = {shown(entry)}: {shown(unknown[0])} is unknown; must be {expected}."
            )
        stretch, torsion, xy, xz = (
            whole(name, entry.get(name, 0), 0, limits.LINK_MODES) for name in DEFORMATIONS
        )
        return stretch, torsion, xy, xz
    try:
        bending = whole("modes", entry, 0, limits.LINK_MODES)
    except ArmError as error:
        raise ArmError(f"modes = {shown(entry)}: must be {expected}.") from error
    twists = bending if kinds[1] == "locked_arm" else min(bending, 1)
    return 0, twists, bending, bending


def _of_engine(
    arm: SpatialArm, counts: Sequence[Counts], chosen: Sequence[_Chosen]
) -> list[Deformations]:
    """Return shapes of the exact modes for the deformations with family ``locked_arm``."""
    wanted = [
        tuple(c if kind == "locked_arm" else 0 for c, kind in zip(count, kinds, strict=True))
        for count, kinds in zip(counts, chosen, strict=True)
    ]
    if not any(map(any, wanted)):
        return [NONE] * len(wanted)
    return locked_arm_shapes(arm, wanted)


def _of_end_mass(
    deformation: int, count: int, end: np.ndarray, link: LinkValues
) -> RodShapes | LinkShapes:
    """Return eigenfunctions of a link with everything beyond as a body at its end, with mass matrix ``end``."""
    length = float(link.beam.length[0])
    mass = float(link.beam.mass[0]) * length
    if deformation == 0:
        return end_mass_rods(count, float(end[0, 0]) / mass)
    if deformation == 1:
        return end_mass_rods(count, float(end[3, 3]) / (float(link.beam.polar[0]) * length))
    about = 5 if deformation == 2 else 4
    return clamped_mass_shapes(
        count, EndBody(float(end[0, 0]), float(end[about, about])), mass, length
    )


def end_matrices(arm: SpatialArm) -> list[tuple[np.ndarray, LinkValues]]:
    """Return, for each link, the mass matrix (6, 6) of everything beyond its elastic part, and the values of the link.

    The matrix is about the end of the elastic part, over displacements and rotations in the axes of the section, with
    the joints locked in the posture of the arm.
    """
    values = arm_values(arm.links, arm.payload, None).links
    found: list[tuple[np.ndarray, LinkValues]] = []
    beyond = np.zeros((6, 6))  # in the tip axes of the previous link, about the joint
    for link in reversed(values):
        at_tip = link.tip[..., 0] + beyond
        end = _moved(at_tip, link.end_offset[:, 0])
        turn = _twice(link.roll[..., 0])
        found.append((turn.T @ end @ turn, link))
        length, line = float(link.beam.length[0]), float(link.beam.mass[0])
        whole_link = _moved(end, np.array([length, 0.0, 0.0])) + _line(line, length)
        at_joint = _moved(whole_link, link.base_offset[:, 0]) + link.hub[..., 0]
        turn = _twice(link.rotation[..., 0])
        beyond = turn @ at_joint @ turn.T + link.stator[..., 0]
    return found[::-1]


def _moved(matrix: np.ndarray, reach: np.ndarray) -> np.ndarray:
    """Return a mass matrix about another point; the original point is at ``reach`` from it."""
    step = np.eye(6)
    step[:3, 3:] = -skew(reach[:, None])[..., 0]
    return np.asarray(step.T @ matrix @ step)


def _line(mass: float, length: float) -> np.ndarray:
    """Return the mass matrix of a line along x about its start; ``mass`` is per length."""
    first, second = mass * length**2 / 2.0, mass * length**3 / 3.0
    found = np.diag([mass * length] * 3 + [0.0, second, second])
    found[1, 5] = found[5, 1] = first
    found[2, 4] = found[4, 2] = -first
    return found


def _twice(turn: np.ndarray) -> np.ndarray:
    return np.kron(np.eye(2), turn)
