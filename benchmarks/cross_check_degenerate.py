"""Arms whose modes coincide or nearly do, posture series and arms in space: kinds of `cross_check_arms`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import jaxmodal as jm
from benchmarks.cross_check_draws import Case, Draw, rigidity, turned

#: postures (degrees) of the three-link arm with a double root, found by `jaxmodal sweep gallery`
DOUBLE_ROOTS = Path(__file__).parent.parent / "results/gallery/three_link_double_roots.json"


def _equal(draw: Draw, angle: Callable[[int], float]) -> Case:
    number = draw.pick(2, 3, 3, 4)
    link = draw.link(slender=(0.3, 1.7))
    links = tuple(link.replace(joint_angle=0.0) for _ in range(number))
    depth = float(link.section.depth)
    cells = {f"link{k}.joint_angle": angle(k) + draw.near() for k in range(2, number + 1)}
    if draw.number % 3:  # else equal to the last bit
        cells["link1.section.depth"] = depth * (1.0 + draw.near())
    else:
        cells["payload.mass"] = np.zeros(draw.cells)
    payload = jm.Payload(0.0, 0.0)
    arm = jm.Arm(links, payload)
    if draw.number % 5 == 4:
        arm = arm.replace(base_stiffness=[0.0, 0.0, 0.0])
    return Case(arm, cells, modes=draw.pick(8, 12), theory=draw.theory())


def straight(draw: Draw) -> Case:
    """Equal and nearly equal links, nearly straight; every fifth arm afloat."""
    return _equal(draw, lambda k: 0.0)


def folded(draw: Draw) -> Case:
    """Equal and nearly equal links, nearly folded."""
    fold = [draw.pick(np.pi, -np.pi, 0.0) for _ in range(5)]
    fold[2] = np.pi
    return _equal(draw, lambda k: fold[k])


def right_angles(draw: Draw) -> Case:
    """Equal and nearly equal links, nearly at right angles."""
    corner = [draw.pick(np.pi / 2, -np.pi / 2, 0.0) for _ in range(5)]
    corner[2] = np.pi / 2
    return _equal(draw, lambda k: corner[k])


#: wave numbers of the clamped-free beam times its length
_CLAMPED_FREE = (1.8751040687119611, 4.694091132974175, 7.854757438237613, 10.995540734875467)


def coincident(draw: Draw) -> Case:
    """Links of whose modes one of bending and one of stretching coincide, alone and nearly straight in chains."""
    link = draw.link()
    length = float(link.length)
    wave, stretch = draw.pick(*_CLAMPED_FREE[1:]), draw.pick(1, 1, 3)
    depth = stretch * np.pi / 2 * np.sqrt(12.0) * length / wave**2
    link = link.replace(section=jm.rectangle(depth, 0.05, 0.85), joint_angle=0.0)
    number = draw.pick(1, 1, 2, 3)
    arm = jm.Arm((link,) * number, jm.Payload(0.0, 0.0))
    cells = {f"link{k}.joint_angle": draw.near() for k in range(2, number + 1)}
    cells["link1.section.depth"] = depth * (1.0 + draw.near())
    if number == 1:
        cells["payload.mass"] = float(link.mass) * np.abs(draw.near())
    return Case(
        arm, cells, modes=10, theory=draw.pick("euler_bernoulli", "euler_bernoulli", "rayleigh")
    )


def clouds(draw: Draw) -> Case:
    """Postures of the three-link arm 1e-12 to 1e-3 rad from one with a double root."""
    arm = jm.examples.three_link_industrial()
    at = np.radians([(r["x"], r["y"]) for r in json.loads(DOUBLE_ROOTS.read_text())])
    chosen = at[draw.rng.integers(0, len(at), draw.cells)]
    cells = {f"link{k}.joint_angle": chosen[:, k - 2] + draw.near() for k in (2, 3)}
    # of an address that no posture series takes
    length = np.full(draw.cells, float(arm.links[0].length))
    return Case(arm, cells | {"link1.length": length}, modes=10)


def series(draw: Draw) -> Case:
    """Postures alone, which large batches take the posture series for."""
    number = draw.pick(2, 3)
    springs_of = draw.pick({}, {"joint_stiffness": 1e4})
    equal = draw.number % 3 == 2
    links = (draw.link(**springs_of),) * number if equal else draw.links(number, **springs_of)
    arm = jm.Arm(links, jm.Payload(draw.log(-2, 2), draw.log(-5, 0)))
    cells = turned(draw, number)
    if equal:
        near = draw.uniform(0.0, 1.0) < 0.5
        cells = {
            name: np.where(near, np.round(x / (np.pi / 2)) * (np.pi / 2) + draw.near(), x)
            for name, x in cells.items()
        }
    return Case(arm, cells, theory=draw.theory())


def series_clouds(draw: Draw) -> Case:
    """The posture series 1e-12 to 1e-3 rad from double roots."""
    case = clouds(draw)
    del case.parameters["link1.length"]
    return case


def series_values(draw: Draw) -> Case:
    """Postures with payloads of 1e-3 to 1e3 times a link and springs of 1e-3 to 1e6 E I/L, which the series takes."""
    links = draw.links(2)
    arm = jm.Arm(links, jm.Payload(1.0, draw.log(-5, 0)))
    cells = {
        "link2.joint_angle": draw.angles(),
        "payload.mass": float(links[0].mass) * draw.logs(-3, 3),
    }
    size = rigidity(links[1]) / float(links[1].length)
    arm = arm.replace(links=(links[0], links[1].replace(joint_stiffness=size)))
    cells["link2.joint_stiffness"] = size * draw.logs(-3, 6)
    return Case(arm, cells, theory=draw.theory())


def series_values_clouds(draw: Draw) -> Case:
    """Postures 1e-12 to 1e-3 rad from double roots, with payloads as small: so near that no series is taken."""
    case = series_clouds(draw)
    case.parameters["payload.mass"] = np.abs(draw.near())
    return case


def _link_in_space(draw: Draw, axis: Any, **values: Any) -> jm.SpatialLink:
    length, young = draw.log(-0.7, 0.2), draw.log(10.0, 11.3)
    width = length / draw.log(0.7, 2.0)
    section = jm.rectangle(width * draw.pick(1.0, 0.5, 1.7), width, 0.85)
    given = {"shear_modulus": young / 2.6, "joint_axis": axis} | values
    return jm.SpatialLink(length, young, 2700.0, section, **given)


def space(draw: Draw) -> Case:
    """Arms in space: axes in any direction, springs of 1e-4 to 1e8 E I/L, bodies of 1e-3 to 1e3 times a link."""
    number = draw.pick(2, 3, 4)
    axes = [draw.pick((0, 0, 1), (0, 1, 0), tuple(draw.rng.normal(size=3))) for _ in range(number)]
    body = jm.RigidBody(1.0, inertia=(1e-3, 2e-3, 2.5e-3))
    links = tuple(_link_in_space(draw, axis, joint_stiffness=1.0, body=body) for axis in axes)
    cells = {f"link{k}.joint_angle": draw.angles() for k in range(1, number + 1)}
    for k, link in enumerate(links, start=1):
        values = link.section_values
        size = float(link.youngs_modulus * values.second_moment_y) / float(link.length)
        cells[f"link{k}.joint_stiffness"] = size * draw.logs(-4, 8)
    mass = 2700.0 * float(links[0].section_values.area) * float(links[0].length)
    cells[f"link{number}.body.mass"] = mass * draw.logs(-3, 3)
    return Case(jm.SpatialArm(links), cells, theory=draw.theory())


def series_values_in_space(draw: Draw) -> Case:
    """One angle in space with a body of 1e-3 to 1e3 times a link and a spring of 1e-3 to 1e6 E I/L, in the series."""
    case = space(draw)
    arm, number = case.arm, len(case.arm.links)
    fixed = {"link1.joint_stiffness": np.inf}
    for k in range(2, number + 1):
        fixed[f"link{k}.joint_angle"] = float(draw.rng.uniform(-3.0, 3.0))
        fixed[f"link{k}.joint_stiffness"] = np.inf
    values = arm.links[1].section_values
    size = float(arm.links[1].youngs_modulus * values.second_moment_y) / float(arm.links[1].length)
    mass = f"link{number}.body.mass"
    cells = {
        "link2.joint_angle": draw.angles(),
        "link2.joint_stiffness": size * draw.logs(-3, 6),
        mass: case.parameters[mass],
    }
    return Case(jm.set_parameters(arm, fixed), cells, theory=case.theory)


def series_in_space(draw: Draw) -> Case:
    """Postures alone of arms in space: axes in any direction, springs and bodies of 1e-2 to 1e4 times a link's."""
    number = draw.pick(2, 3)
    axes = [draw.pick((0, 0, 1), (0, 1, 0), tuple(draw.rng.normal(size=3))) for _ in range(number)]
    links = []
    for axis in axes:
        link = _link_in_space(draw, axis)
        values, length = link.section_values, float(link.length)
        size = float(link.youngs_modulus * values.second_moment_y) / length
        mass = 2700.0 * float(values.area) * length
        own = jm.RigidBody(1.0, inertia=(1e-3, 2e-3, 2.5e-3)).replace(mass=mass * draw.log(-2, 2))
        spring = draw.pick(np.inf, size * draw.log(-2, 4))
        links.append(link.replace(joint_stiffness=spring, body=draw.pick(None, own)))
    if draw.number % 3 == 2:
        links = [links[0].replace(joint_axis=link.joint_axis) for link in links]
    cells = turned(draw, number)
    if draw.number % 3 == 2:
        near = draw.uniform(0.0, 1.0) < 0.5
        cells = {
            name: np.where(near, np.round(x / (np.pi / 2)) * (np.pi / 2) + draw.near(), x)
            for name, x in cells.items()
        }
    return Case(jm.SpatialArm(tuple(links)), cells, theory=draw.theory())


def space_equal(draw: Draw) -> Case:
    """Equal links in space, nearly straight, folded and at right angles about different axes."""
    number = draw.pick(2, 3)
    first = _link_in_space(draw, (0, 0, 1))
    links = tuple(
        first.replace(joint_axis=draw.pick((0, 0, 1), (0, 1, 0), (1, 0, 0))) for _ in range(number)
    )
    cells = {
        f"link{k}.joint_angle": draw.pick(0.0, np.pi / 2, np.pi) + draw.near()
        for k in range(2, number + 1)
    }
    depth = float(first.section.depth)
    cells["link1.section.depth"] = depth * (1.0 + draw.near())
    return Case(jm.SpatialArm(links), cells, modes=10, theory=draw.theory())
