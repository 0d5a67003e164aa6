"""Arrays over the links of an arm, as the equations use them; the values may be traced."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float

from jaxmodal.arm.arm import Arm, require_arm, require_planar
from jaxmodal.arm.bases import with_base
from jaxmodal.arm.links import Link
from jaxmodal.arm.loaded import AtRest, at_rest, bears, with_loads
from jaxmodal.arm.payloads import Payload
from jaxmodal.arm.quantities import shown
from jaxmodal.arm.serial_arms import SerialArm
from jaxmodal.arm.validity import rules_of
from jaxmodal.runtime.errors import ArmError
from jaxmodal.runtime.namespace import Array, on_host, to_host, tree_on_host, xp
from jaxmodal.statics.beam_arrays import PLAIN, SUPPORTS, TURNING, WITHOUT_EFFECT, BeamArrays
from jaxmodal.statics.link_parts import (
    BASE_OFFSET,
    END_OFFSET,
    HUB,
    ROTOR,
    SLIDES,
    STATOR,
    TIP,
    named,
)

#: fields of a link that an arm has together or not at all
_TOGETHER = (
    SLIDES,
    HUB,
    STATOR,
    ROTOR,
    (*BASE_OFFSET, *END_OFFSET),
    ("tip_centre_x", "tip_centre_y"),
    ("nonstructural_mass",),
    SUPPORTS,
    ("axial_force",),
    TURNING,
)
#: what of a link stands for a field, where that is not the value of this name
_ACTING = {ROTOR[1]: "acting_gear_ratio"}


class NormalForm(NamedTuple):
    """An arm in the form that its equations use.

    Attributes
    ----------
    beams : BeamArrays
        Its links. Where loads cause axial forces that vary along links, the segments of these links.
    rest : AtRest or None
        The static equilibrium with these axial forces; None without loads, and where a value of the arm is traced.
    """

    beams: BeamArrays
    rest: AtRest | None


def beam_arrays(arm: Arm) -> BeamArrays:
    """Return an arm as arrays over its links.

    Parameters
    ----------
    arm
        One arm; its values may be traced. Batches of arms go through ``jax.vmap``.

    Returns
    -------
    BeamArrays
        Float64 arrays of shape (n,), in SI units, link 1 first. For a raw section with thickness
        factor 1 the area and second moment are the given doubles, bit for bit.

    Raises
    ------
    ArmError
        If a value has a batch axis of its own.

    Notes
    -----
    Links of equal structure are computed together, so that tracing an arm of many links costs
    few operations.
    """
    return jax.tree_util.tree_map(
        lambda x: jax.device_put(x) if on_host(x) else x, beam_values(arm)
    )


def beam_values(arm: Arm) -> BeamArrays:
    """Return `beam_arrays`, as NumPy arrays if no value of the arm is traced."""
    return normal_form(arm).beams


def normal_form(arm: Arm) -> NormalForm:
    """Return the `NormalForm` of an arm, with NumPy arrays if no value is traced.

    Raises
    ------
    ArmError
        If a value has a batch axis of its own.
    """
    require_planar(arm)
    arm = to_host(arm)
    if tree_on_host(arm):
        return _lowered(arm)
    require_one_arm(arm)
    return NormalForm(_compiled_values(arm.replace(name="")), None)


def arm_values(arm: Arm) -> BeamArrays:
    """Return `beam_values` operation by operation (not as one compiled program); values may be traced."""
    return _lowered(arm).beams


def _lowered(arm: Arm) -> NormalForm:
    """Return `normal_form` operation by operation, without compiling one program."""
    groups = _stacked(arm)
    order = np.argsort([index for indices, _ in groups for index in indices])

    def column(name: str, absent: float) -> Float[Array, " n"]:
        parts = []
        for indices, links in groups:
            value = getattr(links, name)
            parts.append(_column(absent if value is None else value, len(indices)))
        return parts[0] if len(parts) == 1 else xp.concatenate(parts)[order]

    fields, rest = fields_of(arm, column)
    return NormalForm(BeamArrays(**fields, has_shear=all(x.has_shear for x in arm.links)), rest)


#: too many operations to be compiled one by one
_compiled_values = jax.jit(arm_values)


def fields_of(
    arm: Arm, column: Callable[[str, float], Any]
) -> tuple[dict[str, Any], AtRest | None]:
    """Return the `BeamArrays` fields of an arm and, with loads, its static equilibrium.

    ``column(name, absent)`` gives one value of all links, shape (n, ...), with ``absent`` for links without it.
    """
    columns = {name: column(name, np.nan) for name in PLAIN}
    for group in _TOGETHER:
        if any(getattr(link, name) is not None for link in arm.links for name in group):
            columns |= {
                name: column(_ACTING.get(name, name), WITHOUT_EFFECT.get(name, 0.0))
                for name in group
            }
    rigid, shape = [link.rigid for link in arm.links], np.shape(columns["length"])
    if any(rigid):
        flexible = np.where(rigid, 0.0, 1.0).reshape((-1,) + (1,) * (len(shape) - 1))
        columns["flexible"] = np.broadcast_to(flexible, shape)
    columns = with_base(_with_bodies(columns, arm.payload), arm.base_stiffness)
    columns = _with_preload(_with_ground_angle(columns))
    if arm.loads is None:
        return columns, None
    rest = at_rest(columns, arm.loads)
    return with_loads(columns, arm.loads, rest, rigid), rest


def _with_bodies(columns: dict[str, Any], payload: Payload) -> dict[str, Any]:
    """Add the bodies at each tip as mass, first moments and inertia about the tip.

    They include the payload and the stator of the next joint.
    """
    mass, inertia = (columns[name] for name in TIP[:2])
    carried, own = (xp.asarray(x, mass.dtype.type) for x in (payload.mass, payload.inertia))

    def at_tip(x: Any, added: Any) -> Any:
        return xp.concatenate([x[:-1], (x[-1] + added)[None]])

    def before(x: Any, added: Any) -> Any:
        return xp.concatenate([x[:-1] + added[1:], x[-1:]])

    centres = [columns.pop(name, None) for name in ("tip_centre_x", "tip_centre_y")]
    centre = [payload.centre_x, payload.centre_y]
    if any(x is not None for x in (*centres, *centre)):
        for name, along, last in zip(TIP[2:], centres, centre, strict=True):
            place = xp.zeros_like(mass) if along is None else along
            end = xp.asarray(0.0 if last is None else last, mass.dtype.type)
            inertia = at_tip(inertia + mass * place * place, carried * end * end)
            columns[name] = at_tip(mass * place, carried * end)
    mass, inertia = at_tip(mass, carried), at_tip(inertia, own)
    if STATOR[0] in columns:  # that of link 1 stands on the ground
        mass, inertia = (
            before(x, columns.pop(name)) for x, name in zip((mass, inertia), STATOR, strict=True)
        )
    return columns | named(TIP, (mass, inertia))


def _with_ground_angle(columns: dict[str, Any]) -> dict[str, Any]:
    """Add the angle of every link to the ground's x axis, if a tip has a support; supports act in ground axes."""
    if SUPPORTS[0] not in columns:
        return columns
    return columns | {"ground_angle": xp.cumsum(columns["joint_angle"], axis=0)}


def _with_preload(columns: dict[str, Any]) -> dict[str, Any]:
    """Add the contribution of axial forces along the offsets to the turning stiffness of the rigid parts."""
    if "axial_force" not in columns:
        return columns
    force = columns["axial_force"]
    turning = {
        name: columns.get(name, 0.0) + force * columns.get(offset, 0.0) + xp.zeros_like(force)
        for name, offset in zip(TURNING, (BASE_OFFSET[0], END_OFFSET[0]), strict=True)
    }
    return columns | turning


def _column(values: Any, count: int) -> Float[Array, " k"]:
    return xp.broadcast_to(xp.asarray(values, np.float64), (count,))


def _stacked(arm: Arm) -> list[tuple[list[int], Link]]:
    """Group links of equal structure; each group becomes one link with leaves of shape (k,)."""
    require_one_arm(arm)
    groups: dict[Any, list[int]] = {}
    for index, link in enumerate(arm.links):
        groups.setdefault(jax.tree.structure(link), []).append(index)
    return [
        (indices, jax.tree.map(_stack, *(arm.links[index] for index in indices)))
        for indices in groups.values()
    ]


def _stack(*values: Any) -> Any:
    if on_host(*values):
        return np.array(values, np.float64)
    return jnp.stack([jnp.asarray(value, jnp.float64) for value in values])


def require_one_arm(arm: SerialArm) -> None:
    """Raise an ArmError for a batch of arms (values with axes), and for anything that is not an arm."""
    require_arm(arm)
    if all(np.ndim(leaf) == 0 for leaf in jax.tree_util.tree_leaves(arm)):
        return
    for path, leaf in jax.tree_util.tree_leaves_with_path(arm):
        if np.ndim(leaf) != 0:
            raise ArmError(
                f"{jax.tree_util.keystr(path).lstrip('.')} = {shown(leaf)}: this takes one arm, "
                "whose values are numbers; map over a batch of arms with jax.vmap."
            )


def invalid_values(arm: Arm) -> Bool[Array, ""]:
    """Return True if the arm has a value that its constructor would refuse.

    Parameters
    ----------
    arm
        One arm. Its values may be traced, which the constructor cannot check. Map over batches of arms with
        ``jax.vmap``.

    Returns
    -------
    Bool array, shape ()
        True if a value is NaN, infinite, of the wrong sign or outside its range, if a wall does not fit into its
        section, or if a thickness factor is not 1 for a section that cannot be scaled.
    """
    return invalid_of(arm, None if arm.loads is None else beam_values(arm))


def invalid_of(arm: Arm, beams: BeamArrays | None) -> Bool[Array, ""]:
    """Return `invalid_values` of an arm whose `beam_values` are known; ``beams`` is used only with loads."""
    valid: Any = np.True_
    arm = to_host(arm)
    links = [links for _, links in _stacked(arm)]
    others = [x for x in (arm.payload, arm.base_stiffness, arm.loads) if x is not None]
    with np.errstate(all="ignore"):
        rules = [holds for record in (*links, *others) for holds in rules_of(record)]
        rules += [rule.holds for rule in arm.constraints()]
        if arm.loads is not None and beams is not None:
            rules.append(bears(beams))
        for holds in rules:
            valid = valid & xp.all(xp.asarray(holds))
    invalid: Bool[Array, ""] = ~valid
    return invalid
