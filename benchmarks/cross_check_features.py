"""Random arms with every feature of a planar arm, over the range of its values: kinds of `cross_check_arms`."""

from __future__ import annotations

import numpy as np

import jaxmodal as jm
from benchmarks.cross_check_draws import Case, Draw, rigidity, turned


def springs(draw: Draw) -> Case:
    """Joint springs of 1e-6 to 1e12 E I/L, along and across the links as well in every other arm."""
    number, translating = draw.pick(2, 3, 4), draw.number % 2 == 1
    values = {"joint_stiffness": 1.0}
    if translating:
        values |= {"joint_axial_stiffness": 1.0, "joint_shear_stiffness": 1.0}
    arm = jm.Arm(draw.links(number, **values), jm.Payload(draw.log(-2, 1), draw.log(-5, -1)))
    cells = {}
    for k, link in enumerate(arm.links, start=1):
        size = rigidity(link) / float(link.length)
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
    cells = turned(draw, number)
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
    return Case(arm, cells | turned(draw, 2), theory=draw.theory())


def hubs(draw: Draw) -> Case:
    """Hubs and stators of 1e-4 to 1e4 times a link, on springs."""
    names = ("hub_mass", "hub_inertia", "stator_mass", "stator_inertia")
    arm = jm.Arm(draw.links(3, joint_stiffness=1e3, **dict.fromkeys(names, 1.0)))
    mass, length = float(arm.links[1].mass), float(arm.links[1].length)
    cells = {f"link2.{n}": mass * draw.logs(-4, 4) for n in names[::2]}
    cells |= {f"link3.{n}": mass * length**2 * draw.logs(-6, 3) for n in names[1::2]}
    stiffness = rigidity(arm.links[1]) / length * draw.logs(-4, 4)
    return Case(arm, cells | {"link2.joint_stiffness": stiffness}, theory=draw.theory())


def rotors(draw: Draw) -> Case:
    """Geared rotors on springs, on locked joints and on hinges."""
    ratio = draw.pick(1.0, -1.0, 0.5, -60.0, 30.0, 160.0)
    springs_of = [draw.pick(1e3, 1e5, np.inf, 0.0) for _ in range(3)]
    links = tuple(
        draw.link(
            rotor_inertia=1e-4,
            gear_ratio=ratio,
            motor="beyond_spring",
            joint_stiffness=k,
            joint_angle=0.7,
        )
        for k in springs_of
    )
    arm = jm.Arm(links, jm.Payload(1.0, 1e-3))
    inertia = float(links[1].mass) * float(links[1].length) ** 2 / max(abs(ratio), 1.0)
    cells = {f"link{k}.rotor_inertia": inertia * draw.logs(-6, 1) for k in (1, 2, 3)}
    return Case(arm, cells | turned(draw, 3), theory=draw.theory())


def rigid_links(draw: Draw) -> Case:
    """Rigid links between elastic ones and at either end, on springs."""
    at = draw.pick(0, 1, 2)
    links = tuple(
        draw.link(rigid=k == at, joint_stiffness=10.0 ** float(draw.rng.uniform(2, 6)))
        for k in range(3)
    )
    arm = jm.Arm(links, jm.Payload(draw.log(-2, 2), draw.log(-5, 0)))
    cells = turned(draw, 3) | {"payload.mass": draw.logs(-4, 4)}
    cells["link2.joint_stiffness"] = draw.logs(0, 9)
    return Case(arm, cells, theory=draw.theory())


def elastic_bases(draw: Draw) -> Case:
    """Full elastic bases, free, rigid and sprung directions."""
    kind = draw.number % 4
    first = draw.pick(np.inf, 1e4, np.inf if kind == 3 else 0.0)
    links = draw.links(2, joint_stiffness=first, tip_mass=draw.log(-2, 1))
    size = rigidity(links[0]) / float(links[0].length) ** 3
    x, y, turn = (draw.log(-3, 5) for _ in range(3))
    xy, xr, yr = 0.3 * np.sqrt(x * y), 0.1 * np.sqrt(x * turn), 0.2 * np.sqrt(y * turn)
    full = size * np.array([[x, xy, xr], [xy, y, yr], [xr, yr, turn]])
    others = [x, np.inf, turn], [0.0, y, turn], [x, y, 0.0]
    base = [full.tolist(), *([size * k for k in diagonal] for diagonal in others)]
    arm = jm.Arm(links, jm.Payload(0.1, 1e-4), base_stiffness=base[kind])
    cells = turned(draw, 2) | {"payload.mass": draw.logs(-4, 3)}
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
    size = rigidity(links[at]) / float(links[at].length)
    cells = turned(draw, 3)
    for name, value in zip(names, held, strict=True):
        if value == 1.0:
            cells[f"link{at + 1}.{name}"] = size * draw.logs(-4, 10)
    return Case(jm.Arm(tuple(links)), cells, theory=draw.theory(3))


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
    return Case(arm, cells | turned(draw, number), modes=12, theory=draw.theory())


def four_bars(draw: Draw) -> Case:
    """Linkages of three hinged links whose last tip is pinned to the ground; cranks locked, sprung and loose."""
    crank = draw.pick(np.inf, 1e4, 0.0)
    pin = {"support_x_stiffness": np.inf, "support_y_stiffness": np.inf}
    links = (
        draw.link(joint_angle=1.2, joint_stiffness=crank),
        draw.link(joint_angle=-1.0, joint_stiffness=0.0, tip_mass=1.0),
        draw.link(joint_angle=-1.5, joint_stiffness=0.0, **pin),
    )
    cells = turned(draw, 3) | {"link2.tip_mass": float(links[1].mass) * draw.logs(-4, 4)}
    cells["link3.section.depth"] = float(links[2].section.depth) * draw.uniform(0.8, 1.25)
    return Case(jm.Arm(links), cells, theory=draw.theory(3))


def axial_forces(draw: Draw) -> Case:
    """Axial forces up to and beyond buckling, and tension up to a hundred times that."""
    number = draw.pick(1, 2, 3)
    arm = jm.Arm(draw.links(number, axial_force=1.0, tip_mass=draw.log(-2, 1)))
    cells = turned(draw, number)
    for k, link in enumerate(arm.links, start=1):
        critical = np.pi**2 * rigidity(link) / (float(link.length) * number) ** 2
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
    cells = turned(draw, arm.num_links) | {"loads.gravity": draw.logs(-2, 3)}
    return Case(arm, cells, theory=draw.theory())
