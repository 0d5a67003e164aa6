"""Springs between the tips of planar links and the ground: where they stand, and where they are unstrained."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from jaxmodal.dynamics.assembly.links import JointedLink
from jaxmodal.dynamics.assembly.tables import LinkTables, end_turns
from jaxmodal.dynamics.layout import Layout
from jaxmodal.runtime.namespace import xp
from jaxmodal.statics.beam_arrays import SUPPORTS

#: direction and kind of each of `SUPPORTS`
_KINDS = dict(
    zip(
        SUPPORTS,
        (((1.0, 0.0), "translation"), ((0.0, 1.0), "translation"), ((0.0, 0.0), "rotation")),
        strict=True,
    )
)


def supports_of(
    links: Sequence[JointedLink], tables: Sequence[LinkTables], layout: Layout, per_metre: Any
) -> dict[str, Any]:
    """The springs by names of the model, unstrained in the posture of the joint angles.

    ``per_metre`` is 1 over the length of each link, shape (n,).
    """
    found: dict[str, list[Any]] = {
        name: [] for name in ("stiffness", "direction", "functions", "turns", "rest")
    }
    supported: list[tuple[int, str]] = []
    angle: Any = 0.0
    place: Any = np.zeros(2)
    for i, (link, ends) in enumerate(zip(links, end_turns(tables, layout), strict=True)):
        angle = angle + link.joint.joint_angle
        axis = xp.stack([xp.cos(angle), xp.sin(angle)])
        for piece, values, (steady, slopes) in zip(link.pieces, tables[i].ends, ends, strict=True):
            for name, stiffness in piece.supports:
                direction, kind = _KINDS[name]
                turning = kind == "rotation"
                turns = steady + xp.sum(slopes * per_metre[:, None], axis=0)
                at = place + (piece.start + piece.length) * axis
                functions = tables[i].scaled(values)
                found["stiffness"].append(xp.asarray(stiffness))
                found["direction"].append(np.array(direction))
                found["functions"].append(0.0 * functions if turning else functions)
                found["turns"].append(turns if turning else 0.0 * turns)
                found["rest"].append(
                    xp.asarray(angle) if turning else xp.sum(np.array(direction) * at)
                )
                supported.append((i, kind))
        place = place + link.length * axis
    blank = {"direction": (2,), "functions": tables[0].base.shape, "turns": (layout.size,)}
    return {
        **{
            f"support_{name}": xp.stack(rows) if rows else np.zeros((0, *blank.get(name, ())))
            for name, rows in found.items()
        },
        "supported": tuple(supported),
    }
