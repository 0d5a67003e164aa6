"""Forward dynamics of an arm in space by the articulated-body recursion, with a cost linear in the number of links.

The velocity of a frame is six numbers, its angular velocity and the velocity of its origin, in its own axes. With the
rates of its modal coordinates they describe the motion of a link, whose inertia is a matrix of 6 + m rows. In the
inward pass, from the tip, each link adds the 6 x 6 inertia of everything beyond, eliminates its modal coordinates and
its joint, and passes on the remaining inertia; the outward pass computes the accelerations. Consecutive links that all
have shapes, or all have none, are one loop of the program, so that rigid links cost little. The recursion needs
rotation frames.

R. Featherstone, Rigid Body Dynamics Algorithms (Springer, 2008), ch. 7, describes it for rigid bodies.
"""

from __future__ import annotations

import functools
import itertools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxmodal.dynamics.layout_in_space import FIXED, SLIDES, TURNS
from jaxmodal.dynamics.mechanics.articulated import (
    Rotors,
    rotors_of,
    through_joint,
    told_joints,
    with_motors,
    without,
)
from jaxmodal.dynamics.mechanics.kinematics import modal_by_link
from jaxmodal.dynamics.mechanics.kinematics_in_space import joints, of_pieces, scalars
from jaxmodal.dynamics.mechanics.rotations import about, cross_matrix, rotation, series
from jaxmodal.dynamics.mechanics.solves import solve_definite
from jaxmodal.dynamics.model_in_space import SpatialFlexibleArm
from jaxmodal.runtime.namespace import Array


def pays(model: SpatialFlexibleArm) -> bool:
    """Return True if the recursion is valid for a model; it is then always the faster way."""
    return model.frames == "rotation" and model.inertia_order == "full"


class _Local(NamedTuple):
    """One link: inertia over (w, V, modal rates), inertia of the body at its tip, and velocity of the tip."""

    inertia: Array
    tip: Array
    transport: Array


def _turning(vector: Array) -> Array:
    """Return the matrix from the rate of a rotation vector to the angular velocity in the turned axes."""
    _, first, second = series(vector)
    turn = cross_matrix(vector)
    return jnp.eye(3) - first * turn + second * (turn @ turn)


def _rigid(mass: Array, first: Array, second: Array) -> Array:
    """Return the 6 x 6 inertia over (w, V) of a rigid body from mass, first moments (3,) and second moments (3, 3)."""
    moment = cross_matrix(first)
    upper = jnp.concatenate([jnp.trace(second) * jnp.eye(3) - second, moment], axis=1)
    return jnp.concatenate([upper, jnp.concatenate([-moment, mass * jnp.eye(3)], axis=1)])


def _of_body(table: Array) -> Array:
    """Return the 6 x 6 inertia of a body about its frame, from its pseudo-inertia."""
    return _rigid(table[0, 0], table[0, 1:], table[1:, 1:])


def _carried(axes: Array, reach: Array) -> Array:
    """Return the matrix (6, 6) that maps the velocity of a frame to that of one at ``reach`` with rotation ``axes``."""
    upper = jnp.concatenate([axes, jnp.zeros((3, 3))], axis=1)
    return jnp.concatenate([upper, jnp.concatenate([-axes @ cross_matrix(reach), axes], axis=1)])


def _local(model: SpatialFlexibleArm, deltas: Array, link: dict[str, Array]) -> _Local:
    """Return a link in its own frame for given modal coordinates (m,); m may be 0."""
    functions, kept = model.layout.functions, model.kept
    directions, known = functions.directions[kept], functions.number
    table = link["gram"][kept[:, None], kept[None, :]]
    m = deltas.shape[0]
    whole = deltas if m else jnp.zeros(sum(functions.widths))
    shares = scalars(model, whole)[:, None] * directions
    at = shares.at[0].set(link["start"])
    weighted = table @ at
    rigid = _rigid(table[0, 0], weighted[0], at.T @ weighted)
    rigid = rigid + _of_body(link["gram"][known : known + 4, known : known + 4])
    spin = link["spin"]
    absolute = float(model.torsion_spin == "absolute")
    rigid = rigid.at[0, 0].add(absolute * spin[0, 0])

    first_turn = link["tip_slope"][: whole.shape[0]]
    second_turn = link["tip_turn"][:, : whole.shape[0], : whole.shape[0]]
    ends, vector = link["ends"][kept], whole @ first_turn
    if model.second_order:
        vector = vector + jnp.einsum("j,ajk,k->a", whole, second_turn, whole)
    axes = rotation(vector).T
    reach = link["start"] + ends @ shares
    moved = _carried(axes, reach)
    lever = cross_matrix(link["offset"])
    tip = _of_body(link["gram"][known + 4 :, known + 4 :])
    if not m:
        return _Local(rigid, tip, moved.at[3:].add(-lever @ moved[:3]))

    by_modes = jax.jacfwd(lambda it: scalars(model, it))(deltas)
    cross = jnp.cross(weighted, directions)  # C x e of the functions, weighted by mass
    turning = cross.T @ by_modes
    pushing = (directions * table[0][:, None]).T @ by_modes
    modal = jnp.zeros((m, m))
    for axis in range(3):
        here = np.flatnonzero(directions[:, axis])
        rows = by_modes[here]
        modal = modal + rows.T @ (table[here[:, None], here[None, :]] @ rows)
    twists = functions.modal(1)
    modal = modal.at[twists, twists].add(spin[1:, 1:])
    turning = turning.at[0, twists].add(absolute * spin[0, 1:])
    sides = jnp.concatenate([turning, pushing])
    inertia = jnp.concatenate(
        [jnp.concatenate([rigid, sides], axis=1), jnp.concatenate([sides.T, modal], axis=1)]
    )
    slopes = first_turn.T
    if model.second_order:
        both = second_turn + jnp.swapaxes(second_turn, 1, 2)
        slopes = slopes + both @ deltas
    ended = (directions * ends[:, None]).T @ by_modes
    columns = jnp.concatenate([_turning(vector) @ slopes, axes @ ended])
    transport = jnp.concatenate([moved, columns], axis=1)
    transport = transport.at[3:].add(-lever @ transport[:3])
    return _Local(inertia, tip, transport)


def _links(model: SpatialFlexibleArm, deltas: Array) -> list[_Local]:
    """Return every piece, computed in two batches, with shapes and without; ``deltas`` has shape (p, m)."""
    fields = ("gram", "ends", "tip_slope", "tip_turn", "start", "offset", "spin")
    shapes = np.arange(sum(model.layout.functions.widths))
    missing = (model.layout.places == model.layout.size).astype(float)
    found: dict[int, _Local] = {}
    for bent in (True, False):
        numbers = [i for i, counts in enumerate(model.counts) if any(counts) is bent]
        if not numbers:
            continue
        here = np.array(numbers)
        constants = {name: jnp.asarray(getattr(model, name))[here] for name in fields}
        own = shapes if bent else shapes[:0]
        local = jax.vmap(lambda d, link: _local(model, d, link))(deltas[here][:, own], constants)
        # a shape that a link lacks has only a 1 on the diagonal
        alone = np.zeros((len(numbers), *local.inertia.shape[1:]))
        alone[:, 6 + own, 6 + own] = missing[here][:, own]
        inertia = local.inertia + alone
        local = local._replace(inertia=inertia)
        for place, number in enumerate(numbers):
            found[number] = _Local(*(part[place] for part in local))
    return [found[i] for i in range(model.num_pieces)]


def _runs(model: SpatialFlexibleArm) -> list[np.ndarray]:
    """Return groups of piece indices, from 0: consecutive pieces alike in having shapes and joint springs.

    A driven base, the first piece, is its own group.
    """

    def kind(i: int) -> tuple[bool, bool, bool]:
        return any(model.counts[i]), model.springs[i] > 0, i == 0 and model.base == "driven"

    groups = itertools.groupby(range(model.num_pieces), key=kind)
    return [np.array(list(group)) for _, group in groups]


def _given(vector: Array, gives: Array) -> Array:
    """Return the velocity (6, 6 + p) of a link frame, from the velocity before its joint springs and the spring rates.

    ``vector`` holds the deflections of the springs, displacement and rotation, and ``gives`` (p, 6) their directions.
    """
    turn = rotation(vector[3:]).T
    moved = _carried(turn, vector[:3])
    columns = jnp.concatenate([_turning(vector[3:]) @ gives[:, 3:].T, turn @ gives[:, :3].T])
    return jnp.concatenate([moved, columns], axis=1)


def _rotors(model: SpatialFlexibleArm, held: bool) -> Rotors:
    carried = float(model.rotor_motion == "carried")
    gear, inertia = jnp.asarray(model.gear), jnp.asarray(model.rotor)
    mixed = carried * gear * inertia
    rows = [
        jnp.stack([carried * inertia, mixed], axis=-1),
        jnp.stack([mixed, gear * gear * inertia], axis=-1),
    ]
    return rotors_of(model, jnp.stack(rows, axis=-2), held)


class _Joints(NamedTuple):
    """Motion that the joint of each piece allows, in the tip axes of the previous piece.

    ``way`` (6,) is the velocity of the piece per unit rate of its joint, ``reach`` the vector by which it has slid;
    ``lacking`` is 1 without a joint.
    """

    frame: Array
    axis: Array
    way: Array
    reach: Array
    lacking: Array


def _joints(model: SpatialFlexibleArm, q: Array) -> _Joints:
    layout = model.layout
    axis, orientation = jnp.asarray(model.axis), jnp.asarray(model.orientation)
    moved = joints(model, q)
    frames = jax.vmap(lambda a, angle, turn: about(a, angle) @ turn)(
        axis, moved.angles, orientation
    )
    turns, slides = (layout.of_kind(kind)[:, None] * axis for kind in (TURNS, SLIDES))
    way = jnp.concatenate([turns, slides], axis=1)
    return _Joints(frames, axis, way, moved.ways[:, None] * axis, layout.of_kind(FIXED))


def solved(
    model: SpatialFlexibleArm, q: Array, right: Array, held: bool = False
) -> tuple[Array, Array]:
    """Return the solution x of B(q) x = right, (N,) with the rates of a free base last, and B x at the motors, (n,).

    For motors that are ``held`` to move as they are told, ``right`` holds accelerations in place of torques.

    For a driven base, ``right`` holds its accelerations in place of its forces, and the solution repeats them.
    """
    n, layout = model.num_links, model.layout
    driven, places = layout.driven, layout.places
    deltas = modal_by_link(model, q)
    rotors = _rotors(model, held)
    reaction = of_pieces(model, rotors.share * right[driven])
    carried = of_pieces(model, rotors.inertia)
    torques = of_pieces(model, right[:n])
    forces = jnp.concatenate([right[: layout.size], jnp.zeros(1)])[places]
    joint = _joints(model, q)
    local = _links(model, deltas)
    shapes = sum(layout.functions.widths)
    missing = (places == layout.size).astype(float)
    told = of_pieces(model, told_joints(model, held))
    beyond = jnp.zeros((6, 6)), jnp.zeros(6)
    kept: list[Any] = []
    runs = _runs(model)
    parts = []  # of each run, the modal coordinates that its links have
    for run in reversed(runs):
        bent = np.arange(shapes if any(model.counts[run[0]]) else 0)
        sprung = np.arange(shapes, layout.width if model.springs[run[0]] else shapes)
        own = jax.tree_util.tree_map(lambda *parts: jnp.stack(parts), *(local[i] for i in run))
        gives = jnp.asarray(model.gives)[run]
        springs = jax.vmap(lambda d, g: _given(d @ g, g))(
            deltas[run][:, sprung], gives[:, : sprung.size]
        )
        between = _Joints(*(part[run] for part in joint))
        given = (
            (own, forces[run][:, bent], torques[run]),
            (springs, forces[run][:, sprung], missing[run][:, sprung]),
            (carried[run], reaction[run], told[run]),
            between,
        )
        slides = any(model.kinds[i] == SLIDES for i in run)
        moved_base = run[0] == 0 and model.base == "driven"
        inward = functools.partial(_inward, slides, bool(moved_base), held)
        beyond, found = jax.lax.scan(inward, beyond, given, reverse=True)
        kept.append((slides, (found, own.transport, springs, between)))
        parts.append(np.concatenate([bent, sprung]))

    base, own = jnp.zeros(6), jnp.zeros(0)
    if model.floats:
        base, own = _free_base(model, beyond, right[-6:])
    answers = []
    for slides, found in reversed(kept):
        base, answer = jax.lax.scan(functools.partial(_outward, slides), base, found)
        answers.append(answer)
    solution = jnp.zeros(layout.size)
    rates = jnp.concatenate([answer[0] for answer in answers])[layout.moving]
    for run, part, (_, modal, *_) in zip(runs, reversed(parts), answers, strict=True):
        solution = solution + jnp.einsum("iac,ic->a", layout.spread[run][:, :, part], modal)
    carrying = jnp.concatenate([answer[2] for answer in answers])[layout.moving]
    solution = with_motors(model, solution, right, rotors, carrying, held)
    needed = jnp.concatenate([answer[3] for answer in answers])[layout.moving]
    needed = needed + rotors.torques(right[driven], carrying)
    return jnp.concatenate([rates, solution[n:], own]), needed


def _free_base(
    model: SpatialFlexibleArm, beyond: tuple[Array, Array], right: Array
) -> tuple[Array, Array]:
    """Return the accelerations (6,) of joint 1 on a free base, and of the base itself in the order of its rates."""
    inertia, force = beyond
    reach = _carried(jnp.eye(3), jnp.asarray(model.joint_position))
    whole = reach.T @ inertia @ reach + _of_body(jnp.asarray(model.base_gram))
    sides = jnp.concatenate([right[3:], right[:3]]) + reach.T @ force
    found, _ = solve_definite(whole, sides)
    return reach @ found, jnp.concatenate([found[3:], found[:3]])


def _inward(
    slides: bool, moved_base: bool, held: bool, beyond: tuple[Array, Array], link: Any
) -> tuple[tuple[Array, Array], Any]:
    """Return inertia (6, 6) and force (6,) at the tip before a piece, after eliminating the piece and its joint."""
    (local, modal, torque), (springs, sprung, missing), (turned, back, told), joint = link
    axis, frame = joint.axis, joint.frame
    inertia, force = beyond
    carried = local.transport.T @ ((inertia + local.tip) @ local.transport)
    left, pushed, gone = without(local.inertia + carried, local.transport.T @ force, modal)
    given = jnp.zeros((0, 7))
    if springs.shape[1] > 6 and moved_base:  # prescribed: its rows depend on nothing before it
        given = jnp.concatenate([jnp.zeros((sprung.size, 6)), sprung[:, None]], axis=1)
    elif springs.shape[1] > 6:
        rows = np.arange(6, springs.shape[1])
        whole = (springs.T @ (left @ springs)).at[rows, rows].add(missing)
        left, pushed, given = without(whole, springs.T @ pushed, sprung)
    # in the axes of the previous tip, in which the direction of the joint is a fixed vector
    turn = jnp.zeros((6, 6)).at[:3, :3].set(frame).at[3:, 3:].set(frame)
    left, pushed = turn @ left @ turn.T, turn @ pushed
    needed = slice(0, 6 if slides else 3)  # for turning joints only the angular half
    way = joint.way[needed]
    row = way @ left[needed]
    pivot = row[needed] @ way + turned[1, 1] + joint.lacking
    row = row.at[:3].add(turned[0, 1] * axis)
    inner, outer, passed = through_joint(
        left, pushed, row, pivot, way @ pushed[needed], torque, told if held else None
    )
    if slides:  # referred to its position before sliding
        moved = _carried(jnp.eye(3), joint.reach)
        inner, outer = moved.T @ inner @ moved, moved.T @ outer
    inner = inner.at[:3, :3].add(turned[0, 0] * axis[:, None] * axis[None, :])
    outer = outer.at[:3].add(-back * axis)
    return (inner, outer), (gone, given, passed)


def _outward(
    slides: bool, base: Array, link: Any
) -> tuple[Array, tuple[Array, Array, Array, Array]]:
    """Return accelerations of a joint, of shapes and springs of its piece, and of the rotor's carrier about its axis.

    The last value is the force or torque that a prescribed joint needs.
    """
    (gone, given, passed), transport, springs, joint = link
    carrying = joint.axis @ base[:3]
    if slides:
        base = _carried(jnp.eye(3), joint.reach) @ base
    rate, needed = passed.rate(base), passed.needed(base)
    if slides:
        base = base + joint.way * rate
    angular = base[:3] if slides else base[:3] + joint.way[:3] * rate
    moved = jnp.concatenate([angular @ joint.frame, base[3:] @ joint.frame])
    sprung = given[:, 6] - given[:, :6] @ moved
    if springs.shape[1] > 6:
        moved = springs @ jnp.concatenate([moved, sprung])
    modal = gone[:, 6] - gone[:, :6] @ moved
    return transport @ jnp.concatenate([moved, modal]), (
        rate,
        jnp.concatenate([modal, sprung]),
        carrying,
        needed,
    )
