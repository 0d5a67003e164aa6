"""Random arms of the kinds at which counts in float64 are hardest: what `cross_check` draws its cells from.

A case is one base arm and cells of it that differ at a few addresses. Its name, ``kind:seed:number:cells``, makes it
again.
"""

from __future__ import annotations

import dataclasses
import json
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import jaxmodal as jm

THEORIES = ("timoshenko", "rayleigh", "euler_bernoulli", "bending_only")
#: relative distances from what is exactly equal, straight, folded or at right angles
_NEAR = -12.0, -3.0
#: postures (degrees) of the three-link arm with a double root, found by `jaxmodal sweep gallery`
DOUBLE_ROOTS = Path(__file__).parent.parent / "results/gallery/three_link_double_roots.json"


@dataclasses.dataclass(frozen=True)
class Case:
    """An arm and the cells of a batch of it."""

    arm: Any
    parameters: dict[str, np.ndarray]
    modes: int = 8
    theory: str = "timoshenko"
    chunk: int | None = None


class Draw:
    """Random numbers of one case."""

    def __init__(self, kind: str, seed: int, number: int, cells: int) -> None:
        self.rng = np.random.default_rng([seed, zlib.crc32(kind.encode()), number])
        self.cells, self.number = cells, number

    def log(self, low: float, high: float) -> float:
        """One number, 10 to a power between two."""
        return float(10.0 ** self.rng.uniform(low, high))

    def logs(self, low: float, high: float) -> np.ndarray:
        """One for each cell."""
        return np.asarray(10.0 ** self.rng.uniform(low, high, self.cells))

    def uniform(self, low: float, high: float) -> np.ndarray:
        """A number between two for each cell."""
        return self.rng.uniform(low, high, self.cells)

    def angles(self) -> np.ndarray:
        """An angle for each cell."""
        return self.uniform(-np.pi, np.pi)

    def near(self) -> np.ndarray:
        """A distance from what is exactly equal for each cell, of either sign, 0 one time in sixteen."""
        signs = self.rng.choice([-1.0, 1.0], self.cells)
        return np.where(self.uniform(0.0, 1.0) < 1.0 / 16.0, 0.0, signs * self.logs(*_NEAR))

    def pick(self, *choices: Any) -> Any:
        """One of several."""
        return choices[self.rng.integers(len(choices))]

    def theory(self) -> str:
        """Each theory in turn."""
        return THEORIES[self.number % len(THEORIES)]

    def link(self, slender: tuple[float, float] = (0.7, 2.3), **values: Any) -> jm.Link:
        """A link of random size; L/h is 10 to a power within ``slender``."""
        length, width = self.log(-0.7, 0.2), self.log(-2.0, -1.0)
        depth = length / self.log(*slender)
        return jm.Link(
            length,
            self.log(10.0, 11.3),
            self.pick(2700.0, 7800.0),
            jm.rectangle(depth, width, 0.85),
            poisson_ratio=0.3,
            **values,
        )

    def links(self, number: int, **values: Any) -> tuple[jm.Link, ...]:
        """Links of random size and posture."""
        return tuple(
            self.link(joint_angle=float(self.rng.uniform(-np.pi, np.pi)), **values)
            for _ in range(number)
        )


def _rigidity(link: Any) -> float:
    return float(link.youngs_modulus * link.second_moment)


def _turned(draw: Draw, number: int) -> dict[str, np.ndarray]:
    return {f"link{k}.joint_angle": draw.angles() for k in range(2, number + 1)}


def springs(draw: Draw) -> Case:
    """Joint springs of 1e-6 to 1e12 E I/L, along and across the links as well in every other arm."""
    number, translating = draw.pick(2, 3, 4), draw.number % 2 == 1
    values = {"joint_stiffness": 1.0}
    if translating:
        values |= {"joint_axial_stiffness": 1.0, "joint_shear_stiffness": 1.0}
    arm = jm.Arm(draw.links(number, **values), jm.Payload(draw.log(-2, 1), draw.log(-5, -1)))
    cells = {}
    for k, link in enumerate(arm.links, start=1):
        size = _rigidity(link) / float(link.length)
        cells[f"link{k}.joint_stiffness"] = size * draw.logs(-6, 12)
        if translating:
            across = size / float(link.length) ** 2
            cells[f"link{k}.joint_axial_stiffness"] = across * draw.logs(-6, 12)
            cells[f"link{k}.joint_shear_stiffness"] = across * draw.logs(-6, 12)
    return Case(arm, cells, theory=draw.theory())


def masses(draw: Draw) -> Case:
    """Bodies at all tips of 1e-8 to 1e8 times a link, their radii of gyration 1e-3 to 1 lengths."""
    number = draw.pick(1, 2, 3)
    arm = jm.Arm(draw.links(number), jm.Payload(1.0, 1.0))
    mass, length = float(arm.links[0].mass), float(arm.links[0].length)
    cells = {"payload.mass": mass * draw.logs(-8, 8)}
    cells["payload.inertia"] = cells["payload.mass"] * length**2 * draw.logs(-6, 0)
    for k in range(1, number):
        cells[f"link{k}.tip_mass"] = mass * draw.logs(-8, 8)
        cells[f"link{k}.tip_inertia"] = cells[f"link{k}.tip_mass"] * length**2 * draw.logs(-6, 0)
    return Case(arm, cells, modes=10, theory=draw.theory())


def stocky(draw: Draw) -> Case:
    """Links of 0.3 to 6 times their depth, up to modes beyond their cut-off frequencies."""
    number = draw.pick(1, 2, 3)
    links = tuple(
        draw.link(slender=(-0.5, 0.8), joint_angle=float(draw.rng.uniform(-np.pi, np.pi)))
        for _ in range(number)
    )
    cells = _turned(draw, number)
    cells |= {
        f"link{k}.section.depth": float(link.section.depth) * draw.uniform(0.8, 1.25)
        for k, link in enumerate(links, start=1)
    }
    theory = draw.pick("timoshenko", "timoshenko", "rayleigh")
    return Case(jm.Arm(links), cells, modes=draw.pick(10, 16), theory=theory)


def offsets(draw: Draw) -> Case:
    """Rigid offsets at both ends of links, and centres of gravity beside the tips."""
    names = ("base_offset_x", "base_offset_y", "end_offset_x", "end_offset_y")
    names += ("tip_centre_x", "tip_centre_y")
    values = dict.fromkeys(names, 0.1) | {"tip_mass": draw.log(-2, 1), "joint_stiffness": 1e4}
    arm = jm.Arm(draw.links(2, **values), jm.Payload(0.5, 1e-3, 0.05, -0.03))
    cells = {f"link{draw.pick(1, 2)}.{name}": draw.uniform(-0.3, 0.3) for name in names}
    return Case(arm, cells | _turned(draw, 2), theory=draw.theory())


def hubs(draw: Draw) -> Case:
    """Hubs and stators of 1e-4 to 1e4 times a link, on springs."""
    names = ("hub_mass", "hub_inertia", "stator_mass", "stator_inertia")
    arm = jm.Arm(draw.links(3, joint_stiffness=1e3, **dict.fromkeys(names, 1.0)))
    mass, length = float(arm.links[1].mass), float(arm.links[1].length)
    cells = {f"link2.{n}": mass * draw.logs(-4, 4) for n in names[::2]}
    cells |= {f"link3.{n}": mass * length**2 * draw.logs(-6, 3) for n in names[1::2]}
    stiffness = _rigidity(arm.links[1]) / length * draw.logs(-4, 4)
    return Case(arm, cells | {"link2.joint_stiffness": stiffness}, theory=draw.theory())


def rotors(draw: Draw) -> Case:
    """Geared rotors on springs, on locked joints and on hinges."""
    ratio = draw.pick(1.0, -1.0, 0.5, -60.0, 30.0, 160.0)
    springs_of = [draw.pick(1e3, 1e5, np.inf, 0.0) for _ in range(3)]
    links = tuple(
        draw.link(rotor_inertia=1e-4, gear_ratio=ratio, joint_stiffness=k, joint_angle=0.7)
        for k in springs_of
    )
    arm = jm.Arm(links, jm.Payload(1.0, 1e-3))
    inertia = float(links[1].mass) * float(links[1].length) ** 2 / max(abs(ratio), 1.0)
    cells = {f"link{k}.rotor_inertia": inertia * draw.logs(-6, 1) for k in (1, 2, 3)}
    return Case(arm, cells | _turned(draw, 3), theory=draw.theory())


def rigid_links(draw: Draw) -> Case:
    """Rigid links between elastic ones and at either end, on springs."""
    at = draw.pick(0, 1, 2)
    links = tuple(
        draw.link(rigid=k == at, joint_stiffness=10.0 ** float(draw.rng.uniform(2, 6)))
        for k in range(3)
    )
    arm = jm.Arm(links, jm.Payload(draw.log(-2, 2), draw.log(-5, 0)))
    cells = _turned(draw, 3) | {"payload.mass": draw.logs(-4, 4)}
    cells["link2.joint_stiffness"] = draw.logs(0, 9)
    return Case(arm, cells, theory=draw.theory())


def elastic_bases(draw: Draw) -> Case:
    """Full elastic bases, free, rigid and sprung directions."""
    kind = draw.number % 4
    first = draw.pick(np.inf, 1e4, np.inf if kind == 3 else 0.0)
    links = draw.links(2, joint_stiffness=first, tip_mass=draw.log(-2, 1))
    size = _rigidity(links[0]) / float(links[0].length) ** 3
    x, y, turn = (draw.log(-3, 5) for _ in range(3))
    xy, xr, yr = 0.3 * np.sqrt(x * y), 0.1 * np.sqrt(x * turn), 0.2 * np.sqrt(y * turn)
    full = size * np.array([[x, xy, xr], [xy, y, yr], [xr, yr, turn]])
    others = [x, np.inf, turn], [0.0, y, turn], [x, y, 0.0]
    base = [full.tolist(), *([size * k for k in diagonal] for diagonal in others)]
    arm = jm.Arm(links, jm.Payload(0.1, 1e-4), base_stiffness=base[kind])
    cells = _turned(draw, 2) | {"payload.mass": draw.logs(-4, 3)}
    if kind == 0:
        cells["base_stiffness.k11"] = size * x * draw.logs(0, 9)
    return Case(arm, cells, theory=draw.theory())


def steps(draw: Draw) -> Case:
    """Links of segments, whose depths differ by up to a factor of ten, and of equal ones."""
    first, second = draw.link(), draw.link(joint_angle=0.8, joint_stiffness=draw.pick(np.inf, 1e4))
    part = {"segment": True}
    links = (
        first,
        first.replace(**part),
        second,
        second.replace(joint_angle=0.0, joint_stiffness=np.inf, **part),
    )
    links += (links[-1],)
    depths = [float(link.section.depth) for link in links]
    spread = 0.0 if draw.number % 3 == 0 else 0.5
    cells = {
        f"link{k}.section.depth": h * 10.0 ** (spread * draw.uniform(-1, 1)) * (1 + draw.near())
        for k, h in enumerate(depths[1:], start=2)
    }
    return Case(jm.Arm(links), cells | {"link3.joint_angle": draw.angles()}, theory=draw.theory())


def supports(draw: Draw) -> Case:
    """Tips held by springs of 1e-4 to 1e10 of the link's and by rigid supports."""
    names = ("support_x_stiffness", "support_y_stiffness", "support_torsional_stiffness")
    links = list(draw.links(3, joint_stiffness=draw.pick(np.inf, 1e5)))
    at = draw.pick(0, 1, 2)
    held = [draw.pick(0.0, 1.0, 1.0, np.inf) for _ in names]
    if not any(held):
        held[1] = np.inf
    links[at] = links[at].replace(**dict(zip(names, held, strict=True)))
    if draw.number % 3 == 0:
        links[2] = links[2].replace(support_y_stiffness=np.inf)
    size = _rigidity(links[at]) / float(links[at].length)
    cells = _turned(draw, 3)
    for name, value in zip(names, held, strict=True):
        if value == 1.0:
            cells[f"link{at + 1}.{name}"] = size * draw.logs(-4, 10)
    return Case(jm.Arm(tuple(links)), cells, theory=draw.theory())


def free_free(draw: Draw) -> Case:
    """Beams and chains of hinged links afloat, with bodies of 1e-3 to 1e3 of a link at their ends."""
    hinge = draw.pick(np.inf, 0.0)
    number = draw.pick(1, 2, 3)
    links = list(draw.links(number, joint_stiffness=hinge, tip_mass=1.0))
    links[0] = links[0].replace(joint_stiffness=np.inf, hub_mass=1.0, hub_inertia=1e-3)
    arm = jm.Arm(tuple(links), jm.Payload(1.0, 1e-3), base_stiffness=[0.0, 0.0, 0.0])
    mass = float(links[0].mass)
    cells = {"payload.mass": mass * draw.logs(-3, 3), "link1.hub_mass": mass * draw.logs(-3, 3)}
    cells["payload.inertia"] = mass * float(links[0].length) ** 2 * draw.logs(-6, 2)
    return Case(arm, cells | _turned(draw, number), modes=12, theory=draw.theory())


def four_bars(draw: Draw) -> Case:
    """Linkages of three hinged links whose last tip is pinned to the ground; cranks locked, sprung and loose."""
    crank = draw.pick(np.inf, 1e4, 0.0)
    pin = {"support_x_stiffness": np.inf, "support_y_stiffness": np.inf}
    links = (
        draw.link(joint_angle=1.2, joint_stiffness=crank),
        draw.link(joint_angle=-1.0, joint_stiffness=0.0, tip_mass=1.0),
        draw.link(joint_angle=-1.5, joint_stiffness=0.0, **pin),
    )
    cells = _turned(draw, 3) | {"link2.tip_mass": float(links[1].mass) * draw.logs(-4, 4)}
    cells["link3.section.depth"] = float(links[2].section.depth) * draw.uniform(0.8, 1.25)
    return Case(jm.Arm(links), cells, theory=draw.theory())


def axial_forces(draw: Draw) -> Case:
    """Axial forces up to and beyond buckling, and tension up to a hundred times that."""
    number = draw.pick(1, 2, 3)
    arm = jm.Arm(draw.links(number, axial_force=1.0, tip_mass=draw.log(-2, 1)))
    cells = _turned(draw, number)
    for k, link in enumerate(arm.links, start=1):
        critical = np.pi**2 * _rigidity(link) / (float(link.length) * number) ** 2
        pressed = -0.25 * critical * draw.uniform(0.0, 1.1)
        close = -0.25 * critical * (1.0 - draw.logs(-9, -1))
        pulled = critical * draw.logs(-4, 2)
        share = draw.uniform(0.0, 1.0)
        cells[f"link{k}.axial_force"] = np.select(
            [share < 0.5, share < 0.75], [pressed, pulled], close
        )
    return Case(arm, cells, theory=draw.theory())


def gravity(draw: Draw) -> Case:
    """Dead loads: gravity of 1e-2 to 1e3 m/s^2, forces at the tip."""
    arm = jm.Arm(
        draw.links(draw.pick(1, 2, 3), joint_stiffness=draw.pick(np.inf, 1e5)),
        jm.Payload(draw.log(-2, 1), draw.log(-4, -1)),
        loads=jm.Loads(
            gravity=9.81, gravity_direction=float(draw.rng.uniform(-np.pi, np.pi)), pieces=2
        ),
    )
    cells = _turned(draw, arm.num_links) | {"loads.gravity": draw.logs(-2, 3)}
    return Case(arm, cells, theory=draw.theory())


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
    return Case(arm, cells | {"payload.mass": np.zeros(draw.cells)}, modes=10)


def series(draw: Draw) -> Case:
    """Postures alone, which large batches take the posture series for."""
    number = draw.pick(2, 3)
    springs_of = draw.pick({}, {"joint_stiffness": 1e4})
    equal = draw.number % 3 == 2
    links = (draw.link(**springs_of),) * number if equal else draw.links(number, **springs_of)
    arm = jm.Arm(links, jm.Payload(draw.log(-2, 2), draw.log(-5, 0)))
    cells = _turned(draw, number)
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
    del case.parameters["payload.mass"]
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


#: by name
KINDS: dict[str, Callable[[Draw], Case]] = {
    f.__name__: f
    for f in (
        springs, masses, stocky, offsets, hubs, rotors, rigid_links, elastic_bases, steps, supports, free_free,
        four_bars, axial_forces, gravity, straight, folded, right_angles, coincident, clouds, series, series_clouds,
        space, space_equal,
    )
}  # fmt: skip
#: cells of a batch of these kinds at the least, that the posture series be taken
SERIES = {"series": 7000, "series_clouds": 7000}


def case(kind: str, seed: int, number: int, cells: int) -> Case:
    """The case of this name."""
    return KINDS[kind](Draw(kind, seed, number, cells))
