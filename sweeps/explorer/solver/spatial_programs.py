"""The programs of an arm in space for the page: its links as the solver takes them, in every posture, and the formulas.

Nothing of the physics is written here. The numbers of a link depend on its joint by the sine and the versed sine of its
angle, or by the way that it slides, and on the masses and inertias of bodies, each once: so the links of some samples,
which the library reduces in double-double, are those of all. Formulas are recorded, what counts is traced.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from jaxmodal.arithmetic.operations import Arithmetic, Number, number, sin_cos
from jaxmodal.arm.parameters import get_parameter, set_parameters
from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.dynamic_stiffness.cut_links import SHARES
from jaxmodal.runtime.errors import ArmError
from jaxmodal.spatial.arms.arm import SpatialArm
from jaxmodal.spatial.parts.links import SpatialLink
from jaxmodal.spatial.stiffness.constants import ReducedLink, reduced_links
from jaxmodal.spatial.stiffness.model import SpatialModel
from jaxmodal.spatial.stiffness.uniform_links import numbers_of
from sweeps.explorer.solver.file_damping import damping_of_file
from sweeps.explorer.solver.spatial_bodies import (
    CENTRES,
    MOMENTS,
    base_formula,
    base_of,
    by_centre,
    centres_of,
    moments_of,
    supports_of,
)
from sweeps.explorer.solver.spatial_layouts import (
    BEFORE_SPRINGS,
    ENTRIES,
    MEMBER,
    OF_SPRING,
    layout_tapes,
    passed_tape,
)
from sweeps.explorer.solver.spatial_members import (
    member_of,
    member_programs,
    sizes_of,
)
from sweeps.explorer.solver.spatial_passages import (
    along_piece,
    before_piece,
    less_tip,
)
from sweeps.explorer.solver.tapes import number as plain
from sweeps.explorer.solver.tapes import tape_of_formula

#: pieces of each link at whose ends a mode is drawn: a power of two, so that they add up to it to the last bit
PIECES = 8
#: what rounding leaves of a number, beside the largest of its link, in double-double
_NOTHING = Fraction(1, 10**27)
_NONE = Fraction(0)
#: angles of the postures in which links are reduced
_ANGLES = 0.0, 0.5 * np.pi, np.pi


def values_of(arm: SpatialArm) -> list[str]:
    """The addresses of what can be moved: joints, elastic links, bodies, the base, supports."""
    found = [f"link{k}.{arm.position_of(k)}" for k in arm.joints]
    for k in arm.joints:
        link = arm.links[k - 1]
        if not link.prismatic:
            found.append(f"link{k}.joint_stiffness")
        for m, spring in enumerate(link.joint_springs, start=1):
            if np.isfinite(spring.stiffness):
                found.append(f"link{k}.joint_spring{m}.stiffness")
    found += sizes_of(arm)
    for k, link in enumerate(arm.links, start=1):
        found += [f"link{k}.{kind}.mass" for kind in link.bodies if getattr(link, kind) is not None]
    found += ["payload.mass", *moments_of(arm), *centres_of(arm)]
    return found + base_of(arm) + supports_of(arm)


def spatial_programs(arm: SpatialArm, theory: TheoryName) -> dict[str, Any]:
    """Return the data of an arm in space for the page: values by address, links and tapes.

    Raises
    ------
    ArmError
        A support is rigid; or as `natural_frequencies`.
    """
    _require_soft_supports(arm)
    model = arm.model(theory)
    if model.invalid:
        raise ArmError("the arm has a value that no arm may have; build it anew from its values.")
    names = values_of(arm)
    fields = {_field(name) for name in names}
    keys = {key: given for key, given in _SAMPLES.items() if given.keys() <= fields}
    bare = arm.replace(links=tuple(link.replace(supports=()) for link in arm.links))
    samples = _samples(bare, names, keys.values()).model_of_cells(model.flags)
    whole = _Links(arm, names, keys, samples, [1] * arm.num_links)
    cut = _Links(arm, names, keys, samples.otherwise(), list(map(len, model.parts())))
    layouts = list(dict.fromkeys(whole.layouts + cut.layouts))
    return {
        "name": arm.name,
        "theory": theory,
        "axial": float(model.flags.axial),
        "damping": damping_of_file(arm),
        "held": arm.base_stiffness is not None or bool(supports_of(arm)),
        "addresses": names,
        "values": [plain(float(get_parameter(arm, name))) for name in names],
        "whole": whole.written(layouts),
        "cut": cut.written(layouts),
        "layouts": [layout_tapes(*layout) for layout in layouts],
        **member_programs(arm, names, model.flags),
        "passed": passed_tape(),
        "pieces": PIECES,
        "baseLinks": len(whole.links) - arm.num_links,
        "shares": SHARES,
        "tip": tape_of_formula(less_tip, 1 + 10 + ENTRIES, False),
        "before_piece": tape_of_formula(before_piece, 2 * MEMBER + ENTRIES, False),
        "along_piece": tape_of_formula(along_piece, 2 * MEMBER + ENTRIES + 6, False),
    }


_KINDS = (*SpatialLink.bodies, "payload")
#: values of the arms that are reduced; what differs between the first and another is what its value does
_SAMPLES: dict[str, dict[str, float]] = {
    "first": {},
    **{f"angle{k}": {"joint_angle": angle} for k, angle in enumerate(_ANGLES) if k},
    "way": {"base_offset.x": 1.0},
    **{
        f"{kind}.{field}": {f"{kind}.{field}": 1.0}
        for kind in _KINDS
        for field in ("mass", *(f"inertia.{moment}" for moment in MOMENTS))
    },
    **{
        f"{kind}.mass at {place}": {f"{kind}.mass": 1.0}
        | {f"{kind}.centre.{axis}": x for axis, x in zip("xyz", place, strict=True) if x}
        for kind in _KINDS
        for place in CENTRES
    },
}


def _require_soft_supports(arm: SpatialArm) -> None:
    """Refuse rigid supports, since the page takes supports as springs."""
    for k, link in enumerate(arm.links, start=1):
        for place, support in enumerate(link.supports, start=1):
            if not np.isfinite(support.stiffness):
                raise ArmError(
                    f"link{k}.support{place}.stiffness = inf: the page of an arm takes supports of arms in space "
                    "as springs; give a large finite stiffness, such as a million times that of the arm there."
                )


def _field(name: str) -> str:
    """Return the part of an address after its link."""
    return name.partition(".")[2] if name.startswith("link") else name


def _samples(
    arm: SpatialArm, names: Sequence[str], samples: Collection[dict[str, float]]
) -> SpatialArm:
    """The arms of some `_SAMPLES` side by side, in columns; all joints, slides and masses at 0 but for what each gives.

    There are springs wherever there may be one.
    """
    apart = {*sizes_of(arm), *base_of(arm)}
    values = {}
    for name in names:
        field = _field(name)
        if name not in apart and ".support" not in name:
            usual = 1.0 if field.endswith("stiffness") else 0.0
            column = np.array([given.get(field, usual) for given in samples])
            values[name] = usual if np.all(column == usual) else column
    return set_parameters(arm, values)


class _Links:
    """The links of an arm in all postures, those of its springs of the base first."""

    def __init__(
        self,
        arm: SpatialArm,
        names: list[str],
        keys: Collection[str],
        samples: SpatialModel,
        parts: list[int],
    ) -> None:
        self.arm, self.names, self.parts, self.frames = arm, names, parts, arm.frames()
        self.links: list[ReducedLink] = reduced_links(
            samples.links, samples.payload, samples.base, samples.flags, Arithmetic.double_double
        )
        self.layouts = [
            (len(link.springs), link.rotor is not None, link.place is not None)
            for link in self.links
        ]
        numbers = [
            numbers_of(link, springs, rotor)
            for link, (springs, rotor, _) in zip(self.links, self.layouts, strict=True)
        ]
        exact = [[_exact_cells(x, len(keys)) for x in own] for own in numbers]
        self.samples = {
            key: [[cells[cell] for cells in own] for own in exact] for cell, key in enumerate(keys)
        }

    def written(self, layouts: list[tuple[int, bool, bool]]) -> list[dict[str, Any]]:
        """Of each link its numbers, what moves them, its springs and its member."""
        owners = self._owners()
        found = []
        for k, (link, layout, (place, part)) in enumerate(
            zip(self.links, self.layouts, owners, strict=True)
        ):
            owner = place if part == 0 else None  # which has the joint
            samples = {key: sample[k] for key, sample in self.samples.items()}
            first = samples["first"]
            own: dict[str, Any] = {
                "layout": layouts.index(layout),
                "base": k == 0,
                **({"held": self._base()} if link.is_base else {}),
                "numbers": _pairs(first),
                "member": None,
                "springs": [],
                "masses": self._masses(samples, place),
                "tip": [0.0] * 3 if place is None else self._tip(place),
            }
            if link.place is not None and place is not None:
                own["member"] = member_of(self.arm, place, part, self.parts[place])
            name = "" if owner is None else f"link{owner + 1}.{self.arm.links[owner].position}"
            known = name in self.names  # of a segment it is not
            if known and name.endswith("joint_angle"):
                sine, versed = _by_sines(first, samples["angle1"], samples["angle2"])
                own |= {"angle": self.names.index(name), "sine": sine, "versed": versed}
            elif known:
                own |= {"way": self.names.index(name), "slid": _sparse(first, samples["way"])}
            if place is not None:
                frame = self.frames[place]
                own["own"] = (frame.section.T @ frame.axes).T.ravel().tolist()
            if place is not None and part + 1 == self.parts[place]:
                own["supports"] = self._supports(place)
            if owner is not None:
                own["springs"] = self._springs(owner)
                if self.arm.links[owner].rigid:
                    own["bar"] = float(self.arm.links[owner].length)
            found.append(own)
        return found

    def _base(self) -> dict[str, Any]:
        """Which values are the stiffness of the base, and what makes springs of them, as the library."""
        names = base_of(self.arm)
        return {
            "values": [self.names.index(name) for name in names],
            "springs": tape_of_formula(base_formula, len(names), False),
            "at": BEFORE_SPRINGS,
        }

    def _owners(self) -> list[tuple[int | None, int]]:
        """Of which link of the arm each is which part; those of the base are of none."""
        found: list[tuple[int | None, int]] = [(None, 0)] * sum(link.is_base for link in self.links)
        for owner, parts in enumerate(self.parts):
            found += [(owner, part) for part in range(parts)]
        return found

    def _tip(self, place: int) -> list[float]:
        """The tip seen from the outer end of what is elastic, of a rigid link from its base, in the section's axes."""
        link, frame = self.arm.links[place], self.frames[place]
        start = frame.start if link.rigid else frame.end
        found: list[float] = (frame.section.T @ (frame.tip - start)).tolist()
        return found

    def _masses(self, samples: dict[str, list[Fraction]], place: int | None) -> list[list[Any]]:
        """Which masses, centres and inertias, its own and the next stator's, move the numbers of a link.

        The values whose product does, and how much each unit of it.
        """
        owner, first = 0 if place is None else place + 1, samples["first"]
        found = []

        def add(names: Sequence[str], changes: list[list[float]]) -> None:
            if changes:
                found.append([[self.names.index(name) for name in names], changes])

        for kind in _KINDS:
            body = kind if kind == "payload" else f"link{owner + (kind == 'stator')}.{kind}"
            for moment in MOMENTS:
                name = f"{body}.inertia.{moment}"
                if name in self.names:
                    add([name], _sparse(first, samples[f"{kind}.inertia.{moment}"]))
            if f"{body}.mass" not in self.names:
                continue
            at_rest = samples[f"{kind}.mass"]
            add([f"{body}.mass"], _sparse(first, at_rest))
            if f"{body}.centre.x" in self.names:
                others = {place: samples[f"{kind}.mass at {place}"] for place in CENTRES}
                for axes, by in by_centre(at_rest, others):
                    beside = [*first, *at_rest]
                    add(
                        [f"{body}.mass", *(f"{body}.centre.{x}" for x in axes)],
                        _changes(by, beside),
                    )
        return found

    def _supports(self, place: int) -> list[list[Any]]:
        """Of each at the tip its direction in the axes of the ground, whether it holds turning, and its value."""
        found = []
        for m, support in enumerate(self.arm.links[place].supports, start=1):
            unit = np.array([float(x) for x in support.direction])
            stiffness = self.names.index(f"link{place + 1}.support{m}.stiffness")
            direction = (unit / np.linalg.norm(unit)).tolist()
            found.append([direction, support.kind == "rotation", stiffness])
        return found

    def _springs(self, owner: int) -> list[list[int]]:
        """Where the law of each spring that can be set stands among the numbers, and which value sets it."""
        link = self.arm.links[owner]
        given = [
            f"link{owner + 1}.joint_spring{m}.stiffness"
            for m, spring in enumerate(link.joint_springs, start=1)
            if np.isfinite(spring.stiffness)
        ]
        given.append(f"link{owner + 1}.joint_stiffness")
        return [
            [BEFORE_SPRINGS + OF_SPRING * place + 6, self.names.index(name)]
            for place, name in enumerate(given)
            if name in self.names
        ]


def _exact(x: Number, cell: int = 0) -> Fraction:
    """A double-double of one cell, or of all cells, as the number that it is."""
    high, low = (float(np.ravel(part)[cell if np.size(part) > 1 else 0]) for part in (x.hi, x.lo))
    return Fraction(high) + Fraction(low)


def _exact_cells(x: Number, cells: int) -> list[Fraction]:
    """A double-double of every cell; most are that of the first."""
    first = _exact(x)
    high, low = (np.broadcast_to(np.ravel(part), cells) for part in (x.hi, x.lo))
    same = (high == high[0]) & (low == low[0])
    return [first if own else _exact(x, cell) for cell, own in enumerate(same)]


def _pair(x: Fraction) -> tuple[float, float]:
    high = float(x)
    return high, float(x - Fraction(high))


def _pairs(values: Sequence[Fraction]) -> list[list[float]]:
    return [list(x) for x in zip(*map(_pair, values), strict=True)]


def _changes(by: Sequence[Fraction], beside: Sequence[Fraction]) -> list[list[float]]:
    """Places and pairs of what is not rounding beside the largest number."""
    least = _NOTHING * max(map(abs, (*beside, Fraction(1))))
    return [[k, *_pair(x)] for k, x in enumerate(by) if abs(x) > least]


def _sparse(first: Sequence[Fraction], other: Sequence[Fraction]) -> list[list[float]]:
    by = [_NONE if y is x else y - x for x, y in zip(first, other, strict=True)]
    return _changes(by, [*first, *other])


def _by_sines(
    first: Sequence[Fraction], right: Sequence[Fraction], half: Sequence[Fraction]
) -> tuple[list[list[float]], list[list[float]]]:
    """Return the changes of the numbers at angle 0 per unit of sine and of versed sine."""
    (s1, v1), (s2, v2) = (_sines(angle) for angle in _ANGLES[1:])
    determinant = s1 * v2 - s2 * v1
    sine, versed = [], []
    for a, b, c in zip(first, right, half, strict=True):
        x, y = b - a, c - a
        sine.append((x * v2 - y * v1) / determinant)
        versed.append((y * s1 - x * s2) / determinant)
    return _changes(sine, first), _changes(versed, first)


@functools.cache
def _sines(angle: float) -> tuple[Fraction, Fraction]:
    """Sine and versed sine of an angle, by its half, as links have them."""
    ((sine, cosine, _),) = sin_cos(number(np.array([0.5 * angle]), Arithmetic.double_double))
    return _exact(sine * cosine * 2.0), _exact(sine * sine * 2.0)
