"""Picture of an arm in space for the page of a sweep, and its changes along the axes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from jaxmodal.arm.addresses import list_addresses, resolve_address
from jaxmodal.arm.parameters import get_parameter, set_parameters
from jaxmodal.spatial.arms.arm import SpatialArm
from sweeps.explorer.space import space_picture

#: smaller changes of numbers are rounding errors; also the tolerance of pictures assembled from changes of single axes
_SAME = 1e-9
#: decimals of places (m) and directions in the page
_DIGITS = 9

Leaf = tuple[int, tuple[str | int, ...]]


def cells_picture(
    arm: SpatialArm, sizes: Sequence[int], values: Callable[[int, int], Mapping[str, float]]
) -> dict[str, Any] | None:
    """Return the picture at the first point of every axis, and the numbers that each axis changes.

    Parameters
    ----------
    arm
        Arm of the sweep.
    sizes
        Number of points of each axis.
    values
        Function of axis number and point that returns the parameters the axis sets there, in SI units.

    Returns
    -------
    dict or None
        None if the picture is not the sum of the changes of single axes.

    Raises
    ------
    ArmError
        Values are valid only together with values of other axes.
    """

    def at(points: Sequence[int]) -> SpatialArm:
        own = [values(axis, point) for axis, point in enumerate(points)]
        given: dict[str, float] = {name: x for each in own for name, x in each.items()}
        changed: SpatialArm = set_parameters(arm, given)
        return changed

    def along(axis: int, point: int) -> SpatialArm:
        return at([point if k == axis else 0 for k in range(len(sizes))])

    first = at([0] * len(sizes))
    rest = _leaves(first)
    changes: list[dict[str, Any]] = []
    for axis, size in enumerate(sizes):
        probes = [_leaves(along(axis, point)) for point in {size // 2, size - 1}]
        if all(_close(probe, rest) for probe in probes):
            continue
        points = [_leaves(along(axis, point)) for point in range(size)]
        if any(each.keys() != rest.keys() for each in points):  # a body comes or goes
            return None
        for (link, path), value in rest.items():
            row = [each[link, path] for each in points]
            if max(abs(x - value) for x in row) > _SAME:
                shown = [round(x, _DIGITS) for x in row]
                changes.append({"axis": axis, "link": link, "path": list(path), "values": shown})
    last = _leaves(at([size - 1 for size in sizes]))
    together = dict(rest) | {
        (change["link"], tuple(change["path"])): change["values"][-1] for change in changes
    }
    if not _close(last, together):
        return None
    own, varied = _quantities(first, sizes, values)
    return {
        **space_picture(first),
        "space": True,
        "links": _links(first),
        "changes": changes,
        "own": own,
        "varied": varied,
    }


def _links(arm: SpatialArm) -> list[dict[str, Any]]:
    """Return the links as in the page of an arm, each with its rotation from the link before, by rows."""
    sections = [np.eye(3), *(frame.section for frame in arm.frames())]
    turns = [(before.T @ own).ravel().tolist() for before, own in itertools.pairwise(sections)]
    return [
        link | {"turn": turn} for link, turn in zip(space_picture(arm)["links"], turns, strict=True)
    ]


def _leaves(arm: SpatialArm) -> dict[Leaf, float]:
    """Return all numbers of the picture, by link and path in the link."""

    def numbers(
        value: Any, path: tuple[str | int, ...]
    ) -> Iterator[tuple[tuple[str | int, ...], float]]:
        if isinstance(value, dict):
            for name, entry in value.items():
                yield from numbers(entry, (*path, name))
        elif isinstance(value, list):
            for k, entry in enumerate(value):
                yield from numbers(entry, (*path, k))
        elif isinstance(value, float):
            yield path, value

    return {(k, path): x for k, link in enumerate(_links(arm)) for path, x in numbers(link, ())}


def _close(found: Mapping[Leaf, float], other: Mapping[Leaf, float]) -> bool:
    return found.keys() == other.keys() and all(
        abs(x - other[leaf]) <= 2.0 * _SAME for leaf, x in found.items()
    )


def _quantities(
    arm: SpatialArm, sizes: Sequence[int], values: Callable[[int, int], Mapping[str, float]]
) -> tuple[dict[str, float], list[dict[str, Any]]]:
    """Return finite stiffnesses and the payload mass by address, and their values along the axes."""
    links = space_picture(arm)["links"]
    springs = [name for link in links for name in link["springs"]]
    springs += [support["by"] for link in links for support in link["supports"]]
    there = {*springs, "payload.mass"} & set(
        list_addresses(arm)
    )  # a prismatic joint has no joint_stiffness
    known = {name: float(get_parameter(arm, name)) for name in sorted(there)}
    varied = []
    for axis, size in enumerate(sizes):
        for parameter in values(axis, 0):
            row = [values(axis, point)[parameter] for point in range(size)]
            for address in resolve_address(arm, parameter):
                if address in known:
                    plain = [x if math.isfinite(x) else None for x in row]
                    varied.append({"axis": axis, "address": address, "values": plain})
    return {name: x for name, x in known.items() if math.isfinite(x)}, varied
