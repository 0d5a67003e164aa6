"""Programs of an arm in space for the page: numbers of its links in every posture, and the formulas.

The physics is in the library alone. The numbers of links follow from samples that it reduces in double-double
(`spatial_changes`); formulas are recorded, counts are traced.
"""

from __future__ import annotations

from collections.abc import Collection
from fractions import Fraction
from typing import Any

import numpy as np

from jaxmodal.arithmetic.operations import Arithmetic
from jaxmodal.arm.parameters import get_parameter
from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.dynamic_stiffness.cut_links import SHARES
from jaxmodal.runtime.errors import ArmError
from jaxmodal.spatial.arms.arm import SpatialArm
from jaxmodal.spatial.stiffness.constants import ReducedLink, reduced_links
from jaxmodal.spatial.stiffness.model import SpatialModel
from jaxmodal.spatial.stiffness.uniform_links import numbers_of
from sweeps.explorer.solver.file_damping import damping_of_file
from sweeps.explorer.solver.spatial_bodies import (
    base_formula,
    base_of,
    centres_of,
    moments_of,
)
from sweeps.explorer.solver.spatial_changes import (
    FIRST,
    Term,
    Terms,
    bare,
    bars_of,
    exact_cells,
    frames_of,
    keys_of,
    offsets_of,
    pairs,
    sampled,
)
from sweeps.explorer.solver.spatial_layouts import (
    BEFORE_SPRINGS,
    OF_SPRING,
    layout_tapes,
    passed_tape,
)
from sweeps.explorer.solver.spatial_members import (
    member_of,
    member_programs,
    sizes_of,
)
from sweeps.explorer.solver.spatial_rest import (
    loads_at_rest,
    rest_programs,
)
from sweeps.explorer.solver.spatial_supports import carrying_tapes, loads_of, supports_of
from sweeps.explorer.solver.tapes import number as plain
from sweeps.explorer.solver.tapes import tape_of_formula

#: pieces of each link at whose ends a mode is drawn: a power of two, so that their lengths add up without rounding
PIECES = 8


def values_of(arm: SpatialArm) -> list[str]:
    """Return the addresses of values that can be set: joints, loads, links, bodies, offsets, base, supports."""
    found = [f"link{k}.{arm.position_of(k)}" for k in arm.joints]
    for k in arm.joints:
        link = arm.links[k - 1]
        if not link.prismatic:
            found.append(f"link{k}.joint_stiffness")
        for m, spring in enumerate(link.joint_springs, start=1):
            if np.isfinite(spring.stiffness):
                found.append(f"link{k}.joint_spring{m}.stiffness")
    found += [*loads_at_rest(arm), *sizes_of(arm)]
    for k, link in enumerate(arm.links, start=1):
        found += [f"link{k}.{kind}.mass" for kind in link.bodies if getattr(link, kind) is not None]
    found += ["payload.mass", *moments_of(arm), *centres_of(arm)]
    found += [*offsets_of(arm), *bars_of(arm), *frames_of(arm)]
    return found + base_of(arm) + supports_of(arm)


def spatial_programs(arm: SpatialArm, theory: TheoryName) -> dict[str, Any]:
    """Return the data of an arm in space for the page: values with their addresses, links and tapes.

    Raises
    ------
    ArmError
        Without loads, the arm has too many supports, one of which is rigid; see also `natural_frequencies`.
    """
    unloaded = arm.replace(loads=None)
    model = unloaded.model(theory)
    if model.invalid:
        raise ArmError("the arm has an invalid value; create it again from its values.")
    names = values_of(arm)
    plain_arm = bare(unloaded)
    apart = {*sizes_of(arm), *base_of(arm)}
    moved = [name for name in values_of(plain_arm) if name not in apart]
    keys = keys_of(moved)
    samples = sampled(plain_arm, moved, keys.values()).model_of_cells(model.flags)
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
        **member_programs(arm, names, model.flags),
        "passed": passed_tape(),
        "pieces": PIECES,
        "baseLinks": len(whole.links) - arm.num_links,
        "shares": SHARES,
        **_formulas(arm, model, names, layouts),
    }


def _formulas(
    arm: SpatialArm, model: SpatialModel, names: list[str], layouts: list[tuple[int, bool, bool]]
) -> dict[str, Any]:
    """Return the tapes of links of each layout; of an arm under loads, which needs none of these, those at rest."""
    if arm.loads is not None:
        rest = rest_programs(arm, model, names)
        return {"layouts": [], "carrying": [], "rest": rest}
    loads = loads_of(arm)
    return {
        "layouts": [layout_tapes(*layout, loads) for layout in layouts],
        "carrying": [carrying_tapes(number) for number in loads],
    }


class _Links:
    """The links of an arm in all postures; links of the elastic base come first."""

    def __init__(
        self,
        arm: SpatialArm,
        names: list[str],
        keys: Collection[str],
        samples: SpatialModel,
        parts: list[int],
    ) -> None:
        self.arm, self.names, self.parts, self.frames = arm, names, parts, arm.frames()
        self.places = {name: k for k, name in enumerate(names)}
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
        exact = [[exact_cells(x, len(keys)) for x in own] for own in numbers]
        self.samples = {
            key: [[cells[cell] for cells in own] for own in exact] for cell, key in enumerate(keys)
        }

    def written(self, layouts: list[tuple[int, bool, bool]]) -> list[dict[str, Any]]:
        """Return, for each link, its numbers, the terms that change them, its springs and its member."""
        owners = self._owners()
        found = []
        for k, (link, layout, (place, part)) in enumerate(
            zip(self.links, self.layouts, owners, strict=True)
        ):
            owner = place if part == 0 else None  # the first part has the joint
            samples = {key: sample[k] for key, sample in self.samples.items()}
            own: dict[str, Any] = {
                "layout": layouts.index(layout),
                "base": k == 0,
                **({"held": self._base()} if link.is_base else {}),
                "numbers": pairs(samples[FIRST]),
                "terms": self._terms(samples, place, part),
                "member": None,
                "springs": [],
            }
            if link.place is not None and place is not None:
                own["member"] = member_of(self.arm, place, part, self.parts[place])
            if place is not None:
                frame = self.frames[place]
                own["own"] = (frame.section.T @ frame.axes).T.ravel().tolist()
                own["tip"] = self._tip(place)
            if place is not None and part + 1 == self.parts[place]:
                own["supports"] = self._supports(place)
            if owner is not None:
                own["springs"] = self._springs(owner)
                if self.arm.links[owner].rigid:
                    own["bar"] = self.places[f"link{owner + 1}.length"]
            found.append(own)
        return found

    def _base(self) -> dict[str, Any]:
        """Return the indices of the base stiffness among the values, and the tape from them to springs."""
        names = base_of(self.arm)
        return {
            "values": [self.names.index(name) for name in names],
            "springs": tape_of_formula(base_formula, len(names), False),
            "at": BEFORE_SPRINGS,
        }

    def _owners(self) -> list[tuple[int | None, int]]:
        """Return link index and part of each entry; the index is None for the base."""
        found: list[tuple[int | None, int]] = [(None, 0)] * sum(link.is_base for link in self.links)
        for owner, parts in enumerate(self.parts):
            found += [(owner, part) for part in range(parts)]
        return found

    def _terms(
        self, samples: dict[str, list[Fraction]], place: int | None, part: int
    ) -> list[Term]:
        """Return the terms that change the numbers of a part of a link."""
        found = Terms(samples, self.places)
        owner = 0 if place is None else place + 1
        rigid = place is not None and self.arm.links[place].rigid
        if place is not None and part == 0:
            found.posture(f"link{owner}")
            found.link_before(f"link{owner - 1}")
        if rigid:
            found.bar(f"link{owner}")
        found.bodies(owner, rigid)
        return found.found

    def _tip(self, place: int) -> list[list[int]]:
        """Return the values whose sum is the tip, from the end of the elastic part or, of a rigid link, its base.

        One list per axis of the link.
        """
        name = f"link{place + 1}"
        fields = [[f"end_offset.{axis}"] for axis in "xyz"]
        if self.arm.links[place].rigid:
            fields[0].append("length")
        return [
            [self.places[f"{name}.{x}"] for x in own if f"{name}.{x}" in self.places]
            for own in fields
        ]

    def _supports(self, place: int) -> list[list[Any]]:
        """Return, for each support at the tip: direction in ground axes, True for rotation, index of its stiffness."""
        found = []
        for m, support in enumerate(self.arm.links[place].supports, start=1):
            unit = np.array([float(x) for x in support.direction])
            stiffness = self.names.index(f"link{place + 1}.support{m}.stiffness")
            direction = (unit / np.linalg.norm(unit)).tolist()
            found.append([direction, support.kind == "rotation", stiffness])
        return found

    def _springs(self, owner: int) -> list[list[int]]:
        """Return, for each spring that can be set, the index of its law among the numbers and that of its value."""
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
