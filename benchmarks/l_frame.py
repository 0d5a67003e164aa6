"""An L-frame of steel strips in oblique gravity: how wrong its links are that bend and twist at once.

``python -m benchmarks.l_frame --out results/benchmarks/l_frame.json``

Two strips, joined at a right angle, carry a mass at their end. At several strengths of gravity the place at rest is
found without foreshortening, with it, and with the terms of second order; with links cut in pieces between joints that
are held, of which the limit is exact; and, where it is installed, by Exudyn's geometrically exact beams. With
``--parts motion`` the frame is let go from rest and followed for 0.3 s; ``--parts cost`` tells the processor time that
this takes beside the error, of Exudyn by its elements and of ours, alone and many at once.
"""

from __future__ import annotations

import argparse
import importlib.util
import time
from typing import Any

import numpy as np

from benchmarks.one_core import on_one_core
from benchmarks.reports import add_out, write_report, written_before

YOUNG, POISSON, DENSITY = 2.1e11, 0.3, 7850.0
#: along the axes y and z of a strip, m
DEPTH, WIDTH = 0.012, 0.006
LENGTHS, MASS = (0.6, 0.5), 0.25
DOWN = np.array([0.4, -0.5, -0.76]) / np.linalg.norm([0.4, -0.5, -0.76])
#: m/s^2: the tip then gives way by 2, 4 and 7 % of the arm's length
GRAVITIES = (9.81, 19.62, 39.24)
AREA = DEPTH * WIDTH
BENDING_Z, BENDING_Y = WIDTH * DEPTH**3 / 12.0, DEPTH * WIDTH**3 / 12.0
TWIST = 2.5 * BENDING_Y
#: how much stiffer in shear than its material a strip is for Exudyn: Euler and Bernoulli's has no shear
SHEAR = 30.0
WAYS: dict[str, dict[str, bool]] = {
    "no foreshortening": {"foreshortening": False, "second_order": False},
    "foreshortening": {"second_order": False},
    "second order": {},
}
SHAPES = {"bending_xy": 4, "bending_xz": 4, "torsion": 2, "stretch": 1}
#: of the motion: no stretch, one shape of torsion
MOVING = {"bending_xy": 3, "bending_xz": 3, "torsion": 1}
TIMES = np.linspace(0.0, 0.3, 31)
STRAIGHT = np.array([*LENGTHS, 0.0])
#: of `cost`: elements a strip of Exudyn's; our step, s, as long as one is no less accurate; how many at once
ELEMENTS = (4, 8, 16)
STEP = 1e-3
AT_ONCE = 64


def main(arguments: list[str] | None = None) -> None:
    """Measure what is asked for, print it and write JSON."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.l_frame", description=__doc__)
    add_out(parser)
    parser.add_argument("--parts", default="static,motion,cost")
    options = parser.parse_args(arguments)
    on_one_core()
    known = written_before(options.out)
    for part in options.parts.split(","):
        known[part] = {"static": static, "motion": motion, "cost": cost}[part]()
        write_report(known, options.out)


def has_exudyn() -> bool:
    """Whether the witness is installed."""
    return importlib.util.find_spec("exudyn") is not None


def frame(gravity: float, pieces: int = 1, shapes: Any = None, **choices: bool) -> Any:
    """The frame as a model, each strip in so many pieces between joints."""
    import jaxmodal as jm
    from jaxmodal.dynamics import flexible_arm

    section = jm.spatial_section(AREA, BENDING_Y, BENDING_Z, TWIST)
    links = tuple(
        jm.SpatialLink(length / pieces, YOUNG, DENSITY, section, poisson_ratio=POISSON)
        for length in LENGTHS
        for _ in range(pieces)
    )
    arm = jm.SpatialArm(links, payload=jm.RigidBody(MASS))
    return flexible_arm(arm, shapes or SHAPES, gravity=(gravity * DOWN).tolist(), **choices)


def held(pieces: int = 1) -> np.ndarray:
    """Angles of its joints, which are held there."""
    angles = np.zeros(2 * pieces)
    angles[pieces] = 0.5 * np.pi
    return angles


def tip_at_rest(gravity: float, pieces: int = 1, **choices: bool) -> np.ndarray:
    """Where the tip hangs at rest, m."""
    from jaxmodal.dynamics import static_state, tip_position

    model = frame(gravity, pieces, **choices)
    return np.asarray(tip_position(model, static_state(model, held(pieces))))


def in_pieces(gravity: float) -> dict[str, np.ndarray]:
    """The same of links in two and in four pieces, foreshortening alone, and the limit of these."""
    two, four = (tip_at_rest(gravity, pieces, second_order=False) for pieces in (2, 4))
    return {"2 pieces": two, "4 pieces": four, "pieces, limit": four + (four - two) / 3.0}


def static(gravities: tuple[float, ...] = GRAVITIES) -> list[dict[str, Any]]:
    """Differences of the tip over its displacement, at each strength of gravity, to Exudyn or to the pieces' limit."""
    rows = []
    for gravity in gravities:
        tips = {name: tip_at_rest(gravity, **choices) for name, choices in WAYS.items()}
        tips |= in_pieces(gravity)
        exact = tips["pieces, limit"]
        if has_exudyn():
            coarse, fine = (exudyn_tip(gravity, elements) for elements in (16, 32))
            exact = fine + (fine - coarse) / 3.0
        displacement = float(np.linalg.norm(exact - STRAIGHT))
        row: dict[str, Any] = {
            "gravity": gravity,
            "displacement_of_length": displacement / sum(LENGTHS),
            "beside": "Exudyn, extrapolated" if has_exudyn() else "pieces, limit",
        }
        row |= {
            name: float(np.linalg.norm(tip - exact)) / displacement for name, tip in tips.items()
        }
        rows.append(row)
        print(
            ", ".join(f"{k} {v:.3g}" if isinstance(v, float) else v for k, v in row.items()),
            flush=True,
        )
    return rows


def released(gravity: float, **choices: bool) -> np.ndarray:
    """Places of the tip of the frame let go from rest, (T, 3), m."""
    from jaxmodal.dynamics import Hold, simulate

    model = frame(gravity, shapes=MOVING, **choices)
    start = np.zeros(model.num_coordinates)
    start[:2] = held()
    found = simulate(model, TIMES, start, motion=Hold(held()), method="rk4", step=4e-5)
    assert found.attrs["status"] == "finished", found.attrs["message"]
    return np.asarray(found["tip_position"].values)


def motion(gravities: tuple[float, ...] = (19.62, 39.24)) -> list[dict[str, Any]]:
    """Largest difference to Exudyn over the largest displacement, of each way; nothing without Exudyn."""
    if not has_exudyn():
        print("Exudyn is not installed (pip install exudyn): motions are not compared")
        return []
    rows = []
    for gravity in gravities:
        coarse, fine = (exudyn_tip(gravity, elements, TIMES) for elements in (8, 16))
        exact = fine + (fine - coarse) / 3.0
        most = float(np.linalg.norm(exact - STRAIGHT, axis=1).max())
        row: dict[str, Any] = {"gravity": gravity, "displacement_of_length": most / sum(LENGTHS)}
        for name, choices in WAYS.items():
            away = np.linalg.norm(released(gravity, **choices) - exact, axis=1)
            row[name] = float(away.max()) / most
        row["Exudyn, 16 elements"] = float(np.linalg.norm(fine - exact, axis=1).max()) / most
        rows.append(row)
        print(", ".join(f"{name} {value:.3g}" for name, value in row.items()), flush=True)
    return rows


def cost(gravity: float = 19.62) -> list[dict[str, Any]]:
    """Processor time of the 0.3 s and error of the tip, over its largest displacement; nothing without Exudyn."""
    import jax

    from jaxmodal.dynamics import Hold, trajectory

    if not has_exudyn():
        print("Exudyn is not installed (pip install exudyn): its costs are not compared")
        return []
    rows: list[dict[str, Any]] = []

    def add(what: str, places: np.ndarray, seconds: float, at_once: float | None = None) -> None:
        error = float(np.linalg.norm(places - exact, axis=1).max()) / most
        rows.append(
            {"what": what, "error": error, "processor_s": seconds, "each_of_many_s": at_once}
        )
        print(", ".join(f"{name} {value}" for name, value in rows[-1].items()), flush=True)

    theirs = []
    for elements in ELEMENTS:
        begun = time.process_time()
        places = exudyn_tip(gravity, elements, TIMES)
        theirs.append((elements, places, time.process_time() - begun))
    exact = theirs[-1][1] + (theirs[-1][1] - theirs[-2][1]) / 3.0
    most = float(np.linalg.norm(exact - STRAIGHT, axis=1).max())
    for elements, places, seconds in theirs:
        add(f"Exudyn, {elements} elements", places, seconds)

    model, motion = frame(gravity, shapes=MOVING), Hold(held())
    start = np.zeros(model.num_coordinates)
    start[:2] = held()
    substeps = round((TIMES[1] - TIMES[0]) / STEP)

    def tips(q: Any) -> Any:
        chosen: dict[str, Any] = {"method": "linearly_implicit", "substeps": substeps}
        return trajectory(model, q, 0.0 * q, TIMES, None, motion, **chosen).tip

    many = np.broadcast_to(start, (AT_ONCE, start.size))
    seconds_of = []
    for program, given in ((jax.jit(tips), start), (jax.jit(jax.vmap(tips)), many)):
        found = np.asarray(program(given))  # compiles
        times = []
        for _ in range(3):
            begun = time.process_time()
            np.asarray(program(given))
            times.append(time.process_time() - begun)
        seconds_of.append(min(times))
    add(f"linearly_implicit, steps of {STEP:g} s", found[0], seconds_of[0], seconds_of[1] / AT_ONCE)
    return rows


def exudyn_tip(gravity: float, elements: int, times: np.ndarray | None = None) -> np.ndarray:
    """Place of the tip at rest (3,), or with times let go from rest (T, 3), by Exudyn, so many elements a strip."""
    import exudyn
    import exudyn.itemInterface as items

    system = exudyn.SystemContainer().AddSystem()
    shear = SHEAR * YOUNG / (2.0 * (1.0 + POISSON)) * AREA
    section = exudyn.BeamSection()
    section.massPerLength = DENSITY * AREA
    twisting = YOUNG / (2.0 * (1.0 + POISSON)) * TWIST
    stiff = [YOUNG * AREA, shear, shear, twisting, YOUNG * BENDING_Y, YOUNG * BENDING_Z]
    section.stiffnessMatrix = np.diag(stiff)
    turning = DENSITY * np.array([BENDING_Y + BENDING_Z, 1e-2 * BENDING_Y, 1e-2 * BENDING_Z])
    section.inertia = np.diag(turning)
    ground = system.AddObject(items.ObjectGround())
    before = system.AddMarker(items.MarkerBodyRigid(bodyNumber=ground))
    place = np.zeros(3)
    for link, length in enumerate(LENGTHS):
        turn = (
            np.eye(3)
            if link == 0
            else np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
        )
        step, angle = length / elements, 0.5 * np.pi * link
        nodes = []
        for k in range(elements + 1):
            here = [*(place + turn[:, 0] * step * k), 0.0, 0.0, angle]
            nodes.append(system.AddNode(items.NodeRigidBodyRxyz(referenceCoordinates=here)))
            last = k in (0, elements)
            mass = (0.5 if last else 1.0) * step * DENSITY * AREA
            mass += MASS if link == 1 and k == elements else 0.0
            marker = system.AddMarker(items.MarkerNodePosition(nodeNumber=nodes[-1]))
            load = items.LoadForceVector(
                markerNumber=marker, loadVector=list(mass * gravity * DOWN)
            )
            system.AddLoad(load)
        for k in range(elements):
            beam = items.ObjectBeamGeometricallyExact(
                nodeNumbers=nodes[k : k + 2], length=step, sectionData=section
            )
            system.AddObject(beam)
        turned = exudyn.HT(rotation=turn.T, translation=[0.0, 0.0, 0.0])
        start = system.AddMarker(items.MarkerNodeRigid(nodeNumber=nodes[0], localHT=turned))
        joint = items.ObjectJointGeneric(markerNumbers=[before, start], constrainedAxes=[1] * 6)
        system.AddObject(joint)
        before = system.AddMarker(items.MarkerNodeRigid(nodeNumber=nodes[-1]))
        place = place + turn[:, 0] * length
    body = items.ObjectRigidBody(mass=MASS, inertia=[1e-9] * 3 + [0.0] * 3, nodeNumber=nodes[-1])
    system.AddObject(body)
    sensor = system.AddSensor(
        items.SensorNode(
            nodeNumber=nodes[-1],
            storeInternal=True,
            outputVariableType=exudyn.OutputVariableType.Position,
        )
    )
    system.Assemble()
    settings = exudyn.SimulationSettings()
    settings.solution.file.write = False
    settings.show.statistics = False
    if times is None:
        settings.staticSolver.numberOfLoadSteps = 10
        settings.staticSolver.newton.relativeTolerance = 1e-8
        settings.staticSolver.newton.absoluteTolerance = 1e-9
        settings.staticSolver.verboseMode = 0
        system.SolveStatic(settings)
        found = system.GetNodeOutput(nodes[-1], exudyn.OutputVariableType.Position)
        return np.asarray(found)
    step = 2e-4
    settings.timeIntegration.numberOfSteps = round(times[-1] / step)
    settings.timeIntegration.endTime = float(times[-1])
    settings.timeIntegration.generalizedAlpha.spectralRadius = 0.8
    settings.timeIntegration.newton.relativeTolerance = 1e-6  # finer ones it does not reach
    settings.timeIntegration.verboseMode = 0
    settings.solution.sensors.writePeriod = step
    system.SolveDynamic(settings)
    stored = np.asarray(system.GetSensorStoredData(sensor))
    return np.stack([np.interp(times, stored[:, 0], stored[:, k]) for k in (1, 2, 3)], axis=-1)


if __name__ == "__main__":
    main()
