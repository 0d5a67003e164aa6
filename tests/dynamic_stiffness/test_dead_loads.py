"""Are frequencies of arms under weight, tip forces and accelerating bases right, with bounds on both sides?

Against finite elements with an axial force that varies along links, and, for rigid links on springs, the second
derivatives of the exact potential at large.
"""

import dataclasses
import json

import numpy as np
import pytest
import scipy.linalg

import jaxmodal as jm
from tests.support import finite_elements
from tests.support.commands import run_command
from tests.support.real_arms import relative, steel

L, EI, LINE = 0.5, 2e11 * 0.04 * 0.02**3 / 12, 7800.0 * 8e-4
#: the weight per length under which a clamped column buckles, E I/L^3 (Greenhill's)
COLUMN = 7.8373474389 * EI / L**3


def along(arm, theory, axial):
    """The finite elements of an arm with these forces at the ends of its links."""
    case = finite_elements.case_from_arm(arm, theory)
    links = [dataclasses.replace(link, axial=ends) for link, ends in zip(case.links, axial, strict=True)]  # fmt: skip
    return dataclasses.replace(case, links=tuple(links))


@pytest.mark.parametrize(
    ("theory", "weights", "tolerance"),
    [
        ("timoshenko", (-0.3, 20.0), 1e-2),
        pytest.param("timoshenko", (-0.3, 0.5, 20.0, 100.0), 1e-4, marks=pytest.mark.slow),
        pytest.param("euler_bernoulli", (-0.3, 0.5, 100.0), 1e-4, marks=pytest.mark.slow),
    ],
)
def test_hanging_and_standing_cantilevers(theory, weights, tolerance):
    """A body at the tip; near the critical weight, and a hundred times it where the arm hangs.

    Three halvings of the pieces give the estimate of the error, bounds on both sides stand beside it.
    """
    arm = jm.Arm((steel(tip_mass=2.0),))
    for share in weights:
        weight = share * COLUMN
        g = weight / LINE
        truth_of = along(arm, theory, [(weight * L + 2 * g, 2 * g)])
        truth = finite_elements.frequencies(truth_of, 3, 24)
        found = jm.preloaded_frequencies(
            arm, 3, theory=theory, gravity=(g, 0.0), tolerance=tolerance, pieces=2
        )
        assert found.pieces <= 64
        assert np.all(found.lower < truth)
        assert np.all(truth < found.upper)
        assert np.all(relative(found.omega, truth) <= found.error + 1e-12)
        assert np.max(found.error) <= tolerance


@pytest.mark.slow
def test_a_column_at_its_critical_weight():
    column = jm.Arm((steel(),))

    def found(share, pieces=64):
        g = (-share * COLUMN / LINE, 0.0)
        given = {"gravity": g, "tolerance": 2e-3, "max_pieces": pieces}
        return jm.preloaded_frequencies(column, 1, theory="rayleigh", **given)

    near = found(0.98, 32)  # the finest arm buckles with the greatest compression along each piece
    assert near.lower[0] == 0.0 < near.omega[0] < near.upper[0]
    # the square of the frequency is linear in what is left of the load
    squares = [float(x.omega[0]) ** 2 / (1 - s) for s, x in ((0.98, near), (0.9, found(0.9)))]
    assert abs(squares[1] / squares[0] - 1) < 5e-3
    with pytest.raises(jm.UncertifiedError, match="unstable"):
        found(1.05)
    with pytest.raises(
        jm.UncertifiedError,
        match=r"1\.0e-04 below the critical ones: the arm is stable.*max_pieces = 256",
    ):
        found(0.9999)
    # an accelerating base is a weight
    falling = jm.preloaded(column, base_acceleration=(9.81, 0.0))
    assert falling == jm.preloaded(column, gravity=(-9.81, 0.0))


def chain(angles, gravity, force):
    """Three rigid links on springs, offsets at their ends and bodies off the axis, and its equations at large."""
    stiffness = (4e3, 2e3, 1e3)
    links = []
    for k, angle in enumerate(angles):
        links.append(
            steel(
                joint_angle=angle,
                joint_stiffness=stiffness[k],
                rigid=True,
                base_offset_x=0.06,
                base_offset_y=-0.09 + 0.02 * k,
                end_offset_x=-0.05,
                end_offset_y=0.11,
                tip_mass=3.0 + k,
                tip_inertia=0.02,
                tip_centre_x=0.07,
                tip_centre_y=-0.12,
                hub_mass=1.0,
            )
        )
    arm = jm.Arm(tuple(links), jm.Payload(mass=2.0, inertia=0.01, centre_x=0.1, centre_y=0.2))
    pulled, down = np.array(force), np.array(gravity)

    def points(turn):
        """Places, masses, inertias and angles of all that has mass; the place of the tip."""
        at, found, angle = np.zeros(2, complex), [], 0.0
        for k, own in enumerate(angles):
            angle = angle + own + turn[k]
            e = np.array([np.cos(angle), np.sin(angle)])
            across = np.array([-e[1], e[0]])
            found.append((at, 1.0, 0.0, angle))
            at = at + 0.06 * e + (-0.09 + 0.02 * k) * across
            mass = LINE * L
            turning = mass * L**2 / 12 + 7800.0 * EI / 2e11 * L
            found.append((at + L / 2 * e, mass, turning, angle))
            at = at + (L - 0.05) * e + 0.11 * across
            found.append((at + 0.07 * e - 0.12 * across, 3.0 + k, 0.02, angle))
        found.append((at + 0.1 * e + 0.2 * across, 2.0, 0.01, angle))
        return found, at

    def potential(turn):
        found, tip = points(turn)
        weight = sum(mass * (down @ at) for at, mass, _, _ in found)
        return 0.5 * np.sum(np.array(stiffness) * turn**2) - weight - pulled @ tip

    def motion(turn):
        found, _ = points(turn)
        rows = [np.sqrt(mass) * at for at, mass, _, _ in found]
        return np.concatenate([*rows, [np.sqrt(i) * angle for *_, i, angle in found]])

    def rates(function, turn):
        """By complex steps: exact."""
        steps = 1e-100j * np.eye(3)
        return np.stack([np.imag(function(turn + step)) * 1e100 for step in steps])

    h = 1e-3 * np.eye(3)
    slopes = [[rates(potential, s * x) for s in (-2, -1, 1, 2)] for x in h]
    curvature = np.array([(8 * (c - b) - (d - a)) / 12e-3 for a, b, c, d in slopes])
    moved = rates(motion, np.zeros(3))
    return arm, scipy.linalg.eigh(0.5 * (curvature + curvature.T), moved @ moved.T)[0]


@pytest.mark.parametrize(
    ("angles", "gravity", "force"),
    [
        ((0.4, -0.8, 1.1), (0.0, -9.81), (0.0, 0.0)),
        ((-1.2, 0.9, 0.3), (0.0, -9.81), (300.0, -500.0)),
        ((1.5, 0.2, -0.4), (3.0, -8.0), (-100.0, -200.0)),
    ],
)
def test_rigid_chains_against_the_exact_potential(angles, gravity, force):
    """Offsets, bodies off the axis, rigid links: second derivatives of a potential that knows no small angles."""
    arm, squares = chain(angles, gravity, force)
    loaded = jm.preloaded(arm, theory="rayleigh", gravity=gravity, tip_force=force)
    found = jm.natural_frequencies(loaded, 3, theory="rayleigh", throw=False)
    assert squares[0] > 0
    assert np.max(relative(found.omega, np.sqrt(squares))) <= 1e-10  # of the differences
    unloaded = jm.natural_frequencies(arm, 3, theory="rayleigh")
    assert np.max(relative(unloaded.omega, np.sqrt(squares))) > 1e-3


@pytest.mark.slow
def test_a_bent_arm_at_its_buckling_factor():
    """Which comes from power series for forces that vary along links, and knows no frequencies."""
    second = steel(joint_angle=-0.9, tip_mass=3.0, tip_centre_x=0.05, tip_centre_y=0.04)
    arm = jm.Arm((steel(joint_angle=1.9, joint_stiffness=3e3, end_offset_y=0.03), second))
    loads = {"gravity": (0.0, -9.81), "tip_force": (0.0, -50.0)}
    factor = float(jm.buckling(arm, 1, **loads).factors[0])

    def lowest(share):
        scaled = {name: tuple(share * factor * x for x in load) for name, load in loads.items()}
        cut = jm.preloaded(arm, **scaled, pieces=16)
        return jm.natural_frequencies(cut, 1, throw=False)

    squares = [float(lowest(s).omega[0]) ** 2 / (1 - s) for s in (0.98, 0.99)]
    assert abs(squares[1] / squares[0] - 1) < 5e-3
    assert lowest(1.001).status[0] == jm.Status.unstable
    assert lowest(0.999).status[0] == jm.Status.certified


def test_pieces_and_their_forces():
    arm = jm.Arm((steel(axial_force=100.0, end_offset_x=0.1), steel(joint_angle=1.0, tip_mass=2.0)))
    one = jm.preloaded(arm, gravity=(0.0, -9.81))
    four = jm.preloaded(arm, gravity=(0.0, -9.81), pieces=4)
    # link 1 lies level: no force varies along it
    assert [link.segment for link in four.links] == [False, False, True, True, True]
    mean = np.mean([float(x.axial_force) for x in four.links[1:]])
    assert abs(mean / float(one.links[1].axial_force) - 1) <= 1e-13
    # link 2 rises at 1 rad: its weight and the body's press it
    middle = -9.81 * np.sin(1.0) * (LINE * L / 2 + 2.0)
    assert abs(float(one.links[1].axial_force) / middle - 1) <= 1e-13
    assert float(one.links[0].axial_force) == 100.0
    lower, upper = (jm.preloaded(arm, gravity=(0.0, -9.81), bound=x) for x in ("lower", "upper"))
    assert float(lower.links[1].axial_force) < middle < float(upper.links[1].axial_force)
    shapes = jm.mode_shapes(four, 2)
    assert np.max(shapes.residuals) <= 1e-10


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "no load: give gravity"),
        ({"gravity": (0.0,)}, r"gravity = .*two finite numbers"),
        ({"gravity": (0.0, -9.81), "pieces": 0}, "pieces = 0"),
        ({"gravity": (0.0, -9.81), "bound": "both"}, "bound = 'both'"),
        ({"tip_force": (-4e8, 0.0)}, r"link1\.axial_force = -4.*greater than -kappa G A"),
    ],
)
def test_bad_arguments(given, message):
    with pytest.raises(jm.ArmError, match=message):
        jm.preloaded(jm.Arm((steel(),)), **given)
    loose = jm.Arm((steel(joint_stiffness=0.0, joint_angle=0.3),))
    with pytest.raises(jm.ArmError, match=r"link1\.joint_stiffness = 0: nothing holds"):
        jm.preloaded(loose, gravity=(0.0, -9.81))
    sliding = jm.Arm((steel(), steel(joint_axial_stiffness=1e4)))
    for solve in (jm.preloaded, lambda arm, **loads: jm.preloaded_frequencies(arm, 1, **loads)):
        with pytest.raises(
            jm.ArmError, match=r"link2\.joint_axial_stiffness = 1.*: under dead loads"
        ):
            solve(sliding, gravity=(0.0, -9.81))
    with pytest.raises(jm.ArmError, match="axial_force is missing: end_turning_stiffness"):
        steel(end_turning_stiffness=3.0)


def test_the_command(tmp_path, monkeypatch):
    """In all formats what `preloaded_frequencies` finds; an arm that buckles has a message and no frequency."""
    arm, path = jm.Arm((steel(tip_mass=2.0),)), str(tmp_path / "arm.toml")
    jm.write_arm(arm, path)
    told = []

    def kept(*given, **options):
        found = jm.preloaded_frequencies(*given, **options | {"tolerance": 1e-3})
        told.append((given, options, found))
        return told[-1][-1]

    monkeypatch.setattr("jaxmodal.at_rest.preloaded.preloaded_frequencies", kept)

    def ran(*options, arms=(path,)):
        return run_command("frequencies", *arms, "--modes", "1", *options)

    loads = ("--gravity", "9.81,0", "--tip-force", "-20,5")
    shown = ran(*loads, "--format", "json")
    assert shown.exit_code == 0, shown.output
    entry = json.loads(shown.stdout)[0]
    assert entry["loads"] == {"gravity": [9.81, 0.0], "tip_force": [-20.0, 5.0]}
    (((asked, *_), options, found),) = told
    assert asked == jm.read_arm(path)
    assert [tuple(options[name]) for name in entry["loads"]] == [(9.81, 0.0), (-20.0, 5.0)]
    values = (found.omega, found.lower, found.upper)
    names = ("frequencies_hz", "lower_hz", "upper_hz")
    for name, truth in zip(names, values, strict=True):
        assert np.max(relative(entry[name], truth / (2 * np.pi))) <= 1e-14
    buckled = ran("--tip-force", "-1e6,0")
    assert (buckled.exit_code, buckled.stdout) == (1, "")
    assert "unstable" in buckled.stderr
    space = ran("--gravity", "0,-1", arms=("example:canadarm2_like",))
    assert (space.exit_code, space.stdout) == (2, "")
    assert "three finite numbers, along x, y and z of the ground" in space.stderr
    # the other formats, and an estimate above what is asked for, without solving again
    coarse = dataclasses.replace(found, error=np.array([3e-5]))
    monkeypatch.setattr("jaxmodal.at_rest.preloaded.preloaded_frequencies", lambda *_, **__: coarse)
    table = ran(*loads)
    assert f"{entry['frequencies_hz'][0]:.5g}" in table.stdout
    assert table.exit_code == 1
    assert "relative error is above 1e-06; the bounds hold" in table.stderr
    row = ran(*loads, "--format", "csv").stdout.splitlines()[1].split(",")
    truth = [*entry["frequencies_hz"], 3e-5, *entry["lower_hz"], *entry["upper_hz"]]
    assert [float(x) for x in row[4:]] == truth
