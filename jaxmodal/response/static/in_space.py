"""Static compliance of arms in space: the limit of their response at zero frequency.

At rest each elastic part contributes its deflection under the loads that pass through it, and no stiffness from beyond:
Castigliano's theorem.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from math import factorial

import numpy as np

from jaxmodal.arithmetic.nothing import NOTHING, as_array
from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.dynamic_stiffness.member import FreeEndMember
from jaxmodal.response.driven.ports import RELATIVE, Port
from jaxmodal.response.driven.spatial_systems import SpatialSystem, is_free, spatial_system
from jaxmodal.response.receptance.rigid_supports import giving, supported
from jaxmodal.response.receptance.still_ports import still_loads
from jaxmodal.response.receptance.under_loads import LoadedRecursion
from jaxmodal.response.static.buckled import buckled_error
from jaxmodal.runtime.array_types import Floats
from jaxmodal.runtime.errors import ArmError
from jaxmodal.spatial.arms.arm import SpatialArm
from jaxmodal.spatial.preload.model import LoadedModel
from jaxmodal.spatial.stiffness.entries import with_link
from jaxmodal.spatial.stiffness.members import Sections, plane_beams
from jaxmodal.spatial.stiffness.model import SpatialModel
from jaxmodal.spatial.stiffness.symmetric import Symmetric, places
from jaxmodal.statics.laws import shear_ratio

#: share of a compliance above which it is more than rounding
_WORKS = 1e-12
#: number of terms of power series for |z| < 1, with a remainder below 1e-20
_TERMS = 10


def compliance_in_space(
    arm: SpatialArm, theory: TheoryName, inputs: Sequence[Port], outputs: Sequence[Port]
) -> Floats:
    """Return the displacements (outputs, inputs) of a concrete arm under unit forces.

    Raises
    ------
    ArmError
        If a value is invalid, or a free joint lets a port move.
    UncertifiedError
        If forces at rest buckle the arm.
    """
    model = arm.search_model(theory)
    if model.invalid:
        raise ArmError(
            "arm: has an invalid value that was not checked when it was set; set it with jaxmodal.set_parameters or "
            "arm.replace, which name the value."
        )
    if model.unstable:
        raise buckled_error(arm, "static compliance")
    system = spatial_system(arm, model, "receptance", inputs, outputs)
    found = _among_loads(arm, model, system)
    held, apart = still_loads(system)
    found[sorted(held)], found[:, sorted(held)] = 0.0, 0.0
    for i, j in apart:
        if i >= 0:
            found[i, j] = found[j, i] = 0.0
    return found[np.ix_(*([system.loads.index(x) for x in part] for part in (outputs, inputs)))]


def _among_loads(
    arm: SpatialArm, model: SpatialModel | LoadedModel, system: SpatialSystem
) -> Floats:
    """Return static responses (loads, loads)."""
    if isinstance(model, LoadedModel):
        return _under_loads(system, model)
    found = _at_rest(system, lambda _: 0.0)
    free = list(dict.fromkeys(_moving_free_joints(system, np.diag(found))))
    return _held_by_others(arm, model, system, free) if free else found


def _under_loads(system: SpatialSystem, model: LoadedModel) -> Floats:
    """Return static responses about the equilibrium: the recursion of responses at frequency 0, undamped."""
    assert model.vibrating is not None
    assert system.at_rest is not None
    loaded = model.vibrating.loaded
    if free := loaded.free_joints():
        judged = loaded.judged(1.0)
        if judged is None or not judged.clear:
            raise ArmError(_nothing_holds(free))
    found = LoadedRecursion(system.at_rest, system.size, np.zeros(1), 0.0)
    w, _ = supported(found.symmetric(), system.forces)
    return _responses(w, len(system.loads))


def _responses(w: Symmetric, count: int) -> Floats:
    """Return the responses between loads from the entries at the ground."""
    loads = range(6, 6 + count)
    return np.array([[-float(as_array(w[i, j], np.zeros(1))[0]) for j in loads] for i in loads])


def _held_by_others(
    arm: SpatialArm, model: SpatialModel, system: SpatialSystem, free: Sequence[str]
) -> Floats:
    """Return static responses (loads, loads) where supports or axial forces hold the motions of free joints.

    With springs of stiffness 1/c in these joints, unit torques there turn them by R and move the loads by M; without
    these springs the responses are ``G + M (c - R)^-1 M^T``. c is chosen similar to the compliance of the arm.
    """
    hinges = [
        Port("joint", RELATIVE, number)
        for number, link in enumerate(arm.links, start=1)
        if link.joint_stiffness == 0.0
    ]
    names = {f"link{each.link}.joint_stiffness" for each in hinges}
    if not names.issuperset(free) or not arm.is_solved_alone:
        raise ArmError(_nothing_holds(free))
    both = spatial_system(arm, model, "receptance", (*system.loads, *hinges), system.loads)
    give = _give_of(model)
    whole = _at_rest(both, lambda _: give)
    place = [both.loads.index(each) for each in hinges]
    loads = [both.loads.index(each) for each in system.loads]
    left, vectors = np.linalg.eigh(give * np.eye(len(place)) - whole[np.ix_(place, place)])
    moved = whole[np.ix_(loads, place)] @ vectors
    idle = np.abs(left) <= _WORKS * give
    # a motion that nothing holds is allowed if no load acts on it
    if np.any(np.abs(moved[:, idle]) > _WORKS * np.abs(moved).max(initial=0.0)):
        raise ArmError(_nothing_holds(free))
    kept = moved[:, ~idle]
    found: Floats = whole[np.ix_(loads, loads)] + (kept / left[~idle]) @ kept.T
    return found


def _give_of(model: SpatialModel) -> float:
    """Return the bending of the softest link under a unit moment, rad/(N m); 1 for rigid links."""
    s = model.sections
    if s is None:
        return 1.0
    bending = s.youngs_modulus * np.minimum(s.second_moment_y, s.second_moment_z)
    return float(np.max(s.length / bending))


def _nothing_holds(free: Sequence[str]) -> str:
    return (
        f"{', '.join(free)} = 0: nothing holds the arm under a static load beyond it; give it a stiffness greater "
        "than 0, or make it rigid: leave it out."
    )


def still_in_space(arm: SpatialArm, theory: TheoryName, given: Sequence[Port]) -> list[bool]:
    """Return True for ports that stay at rest under any force: on these no elastic part does work."""
    loads = [each for each in given if each.place != "base"]
    system = spatial_system(arm, arm.unloaded_model(theory), "receptance", loads, loads)
    moves = np.diag(_at_rest(system, lambda _: 1.0))
    return [each in system.loads and not moves[system.loads.index(each)] for each in given]


def _moving_free_joints(system: SpatialSystem, held: Floats) -> Iterator[str]:
    """Yield addresses of free springs on which a load does work; ``held`` are the responses with all of them held."""
    for link in system.links:
        for name, spring in zip(link.springs, link.entries.springs, strict=False):
            if is_free(spring):
                alone = _at_rest(system, functools.partial(_alone, name))
                more = np.diag(alone) - held
                if np.any(more > _WORKS * np.maximum(held, more)):
                    yield name


def _alone(address: str, of: str) -> float:
    """Return the compliance of a free spring at address ``of``: 1 if it is ``address``, otherwise 0."""
    return float(of == address)


def _at_rest(system: SpatialSystem, compliance: Callable[[str], float]) -> Floats:
    """Return static responses (loads, loads) with free joint springs of compliance ``compliance(address)``.

    Rigid springs have compliance 0; free springs without an address have an empty one.
    """
    members = None if system.sections is None else _members_at_rest(system)
    w = Symmetric([NOTHING] * len(places(system.size)))
    for link in reversed(system.links):
        names = link.springs or ("",) * len(link.entries.springs)
        springs = [
            spring._replace(unit=1.0, compliance=compliance(name) or NOTHING)
            if is_free(spring)
            else spring
            for name, spring in zip(names, link.entries.springs, strict=True)
        ]
        entries = link.entries._replace(springs=springs)
        planes = link.planes(members)
        w = with_link(entries, planes, NOTHING, w, 0, False, link.loads).stiffness
    w, _ = supported(giving(w, system.gives), system.forces)
    return _responses(w, len(system.loads))


def _members_at_rest(system: SpatialSystem) -> FreeEndMember:
    """Return the flexible links in both planes, each field of shape (2, links, 1)."""
    s = system.sections
    assert s is not None
    s = Sections(*np.broadcast_arrays(*s))
    beams, length = plane_beams(s), s.length
    stretching = s.youngs_modulus * s.area
    along = length / stretching if system.theory.axial > 0.0 else 0.0 * length
    polar = s.second_moment_y + s.second_moment_z
    twist = length / (s.shear_modulus * s.torsion_constant + s.axial_force * polar / s.area)
    bending, shear_give = shear_ratio(beams, system.theory.shear)
    return _bent_at_rest(length, bending, shear_give, s.axial_force, np.stack([along, twist]))


def _bent_at_rest(
    length: Floats, bending: Floats, give: Floats, force: Floats, along: Floats
) -> FreeEndMember:
    """Return members under an axial force N, from the exact solution of their equations.

    ``E I psi'' = h (N psi - Q)`` and ``v' = h (psi + give Q)``, with Q the transverse force, constant along a member,
    and h = 1/(1 + N give); both are derived in `preload`.
    """
    h = 1.0 / (1.0 + force * give)
    c, s, d, e, q = _over_cosine(h * force * length**2 / bending)
    one, zero = np.ones_like(bending), np.zeros_like(bending)
    return FreeEndMember(
        f_uu=zero,
        f_vv=zero,
        f_vp=zero,
        f_pp=h * force * length * s,
        h_uu=one,
        h_vv=one,
        h_vp=h * length * s,
        h_pv=zero,
        h_pp=one * c,
        r_uu=along,
        r_vv=h * h * length**3 * e / bending + h * length * give,
        r_vp=h * length**2 * d / bending,
        r_pp=length * s / bending,
        det_r_flex=(h * length / bending) * (h * length**3 * q / bending + length * give * s),
        delta=one,
    )


def _over_cosine(z: Floats) -> tuple[Floats, ...]:
    """Return 1, sinh(r)/r, (cosh r - 1)/z, (cosh r - sinh(r)/r)/z, (sinh(r)/r - 2 (cosh r - 1)/z)/z over cosh r.

    r = sqrt z; trigonometric where z < 0.
    """
    near, r = np.abs(z) < 1.0, np.sqrt(np.abs(z))
    small, k = np.where(near, z, 0.0), np.arange(_TERMS)
    known = np.array([factorial(2 * j) for j in range(_TERMS + 3)], float)
    weights = (
        1.0 / known[k],
        1.0 / (known[k] * (2 * k + 1)),
        1.0 / known[k + 1],
        1.0 / (known[k + 1] * (2 * k + 3)) * (2 * k + 2),
        1.0 / known[k + 2] * (2 * k + 2),
    )
    c, *others = (np.polynomial.polynomial.polyval(small, x) for x in weights)
    far, root = np.where(near, 1.0, z), np.where(near, 1.0, r)
    with np.errstate(over="ignore"):
        one = 1.0 / np.where(far > 0.0, np.cosh(root), np.cos(root))
    s = np.where(far > 0.0, np.tanh(root), np.tan(root)) / root
    d = (1.0 - one) / far
    closed = s, d, (1.0 - s) / far, (s - 2.0 * d) / far
    return (
        np.where(near, 1.0 / c, one),
        *(np.where(near, x / c, y) for x, y in zip(others, closed, strict=True)),
    )
