"""Arms in space at rest: beside finite elements, planar arms and hand calculations; what is refused and shown."""

import json

import numpy as np
import pytest

import jaxmodal as jm
from tests.at_rest.bars import DOWN
from tests.at_rest.loaded_elements import LoadedChain, held_arm, loads, require_same_motions
from tests.spatial.cases import bar, tube
from tests.spatial.finite_elements import tables
from tests.support.commands import run_command

SIX = ("x", "y", "z", "rx", "ry", "rz")


@pytest.mark.parametrize("seed", range(20))
def test_random_arms_beside_finite_elements(seed):
    """Displacements at the nodes, and stretch, twist and curvature there times their rigidities.

    Strains under weight are polynomials of degree 2, which the elements hold exactly: rounding alone is left, to
    1e-10 of the largest since elastic bases, springs and links differ by many orders.
    """
    document, theory, gravity, tip = held_arm(seed)
    chain = LoadedChain(document, theory, 4)
    q = chain.at_rest(gravity, tip)
    _, points, _, _ = tables(4)
    arm = jm.arm_from_dict(document)
    given = {"theory": theory, "stations": 0.5 * (1.0 + points)} | loads(gravity, tip)
    found = jm.static_equilibrium(arm, **given)
    require_same_motions(found, chain, q, 1e-10)
    for i, (link, place) in enumerate(zip(document["links"], chain.places, strict=True)):
        if link.get("rigid"):
            continue
        half = 0.5 * link["length"]
        norms = half * 2.0 / (2.0 * np.arange(5) + 1.0)
        modulus, shear = link["youngs_modulus"], link["shear_modulus"]
        rigidities = {
            "e": (found.axial_force, modulus * link["area"]),
            "t": (found.torque, shear * link["torsion_constant"]),
            "c": (found.bending_moment[..., 0], modulus * link["second_moment_y"]),
            "k": (found.bending_moment[..., 1], modulus * link["second_moment_z"]),
            "g": (found.shear_force[..., 0], shear * link["area"] * link["shear_coefficient_y"]),
            "h": (found.shear_force[..., 1], shear * link["area"] * link["shear_coefficient_z"]),
        }
        for strain in chain.strains:
            field, rigidity = rigidities[strain]
            series = q[place[strain]] / np.sqrt(rigidity * norms)
            force = rigidity * np.polynomial.legendre.legval(points, series)
            scale = np.abs(found.section_forces).max()
            np.testing.assert_allclose(field[i], force, rtol=0, atol=1e-10 * scale)


@pytest.mark.parametrize("theory", ["timoshenko", "euler_bernoulli", "bending_only"])
def test_planar_arms_as_arms_in_space(theory):
    """Forces, deflections, reactions and stresses of the planar room, which has other code."""
    arm = jm.examples.three_link_industrial().with_posture([-0.6, -0.8])
    arm = jm.set_parameters(arm, {"link1.joint_angle": 1.2, "payload.mass": 10.0})
    flat = jm.static_equilibrium(arm, theory=theory, gravity=(1.0, -9.81), tip_force=(30.0, 50.0))
    found = jm.static_equilibrium(
        jm.to_spatial(arm), theory=theory, gravity=(1.0, -9.81, 0.0), tip_force=(30.0, 50.0, 0.0)
    )

    def same(x, y):
        np.testing.assert_allclose(x, y, rtol=0, atol=1e-12 * np.abs(y).max())

    same(found.section_forces, flat.section_forces)
    same(found.displacement[..., :2], flat.displacement)
    same(found.rotation[..., 2], flat.rotation)
    same(found.joint_torque, flat.joint_torque)
    same(found.base_reaction[[0, 1, 5]], flat.base_reaction)
    same(found.tip_displacement[[0, 1, 5]], flat.tip_displacement)
    same(found.positions[..., :2], flat.positions)
    same(found.stresses().von_mises, flat.stresses().von_mises)
    assert not found.displacement[..., 2].any()


def test_the_compliance_of_the_tip_and_the_torques_of_its_load():
    """Displacements are the compliance times the load, torques its work on the joints: the Jacobian, transposed."""
    arm, load = (
        jm.examples.six_axis_industrial(),
        np.array([100.0, -200.0, 300.0, 10.0, 20.0, -30.0]),
    )
    found = jm.static_equilibrium(arm, tip_force=load[:3], tip_moment=load[3:])
    names = [f"tip.{x}" for x in SIX]
    expected = np.asarray(jm.static_compliance(arm, names, names).values) @ load
    np.testing.assert_allclose(found.tip_displacement, expected, rtol=1e-12, atol=0)
    np.testing.assert_allclose(found.joint_torque, arm.jacobian().T @ load, rtol=1e-12, atol=1e-12)


def test_the_sag_of_a_bent_arm_by_hand():
    """A beam along x carries one along y: it bends under both, twists under the second's weight, which bends too."""
    along, across = tube(length=1.2), bar(length=0.8, joint_axis=(0, 0, 1), joint_angle=np.pi / 2)
    found = jm.static_equilibrium(
        jm.SpatialArm((along, across)), theory="euler_bernoulli", gravity=DOWN
    )
    first, second = (x.section_values for x in (along, across))
    w1, w2 = (9.81 * 2700.0 * x.area for x in (first, second))
    ei1, ei2 = 7e10 * first.second_moment_y, 7e10 * second.second_moment_y
    gj = 7e10 / 2.66 * first.torsion_constant
    p = 0.8 * w2
    sag = -(p * 1.2**3 / (3 * ei1) + w1 * 1.2**4 / (8 * ei1))
    twist = -(p * 0.4) * 1.2 / gj
    tip = sag + 0.8 * twist - w2 * 0.8**4 / (8 * ei2)
    assert abs(found.tip_displacement[2] / float(tip) - 1.0) < 1e-13
    assert abs(found.torque[0, 0] / float(-p * 0.4) - 1.0) < 1e-13
    assert abs(found.base_reaction[2] / float(1.2 * w1 + p) - 1.0) < 1e-13


def test_bodies_of_joints_and_an_elastic_base():
    """A stator hangs on the base's springs, a hub beyond the joint's: by moments about the joint."""
    hub = jm.RigidBody(3.0, (0.2, 0.0, 0.0))
    stator = jm.RigidBody(5.0, (0.0, 0.1, 0.0))
    link = jm.SpatialLink(
        0.5, rigid=True, joint_axis=(0, 1, 0), joint_stiffness=1e4, hub=hub, stator=stator
    )
    arm = jm.SpatialArm((link,), base_stiffness=[1e5, 1e5, 2e5, 3e4, 4e4, 5e4])
    found = jm.static_equilibrium(arm, gravity=DOWN, tip_force=(0.0, 7.0, 0.0))
    np.testing.assert_allclose(
        found.base_reaction,
        [0.0, -7.0, 9.81 * 8.0, 9.81 * 0.5, -9.81 * 0.6, -3.5],
        rtol=1e-14,
        atol=1e-14,
    )
    about_y = 9.81 * 0.6
    assert abs(found.joint_torque[0] / about_y - 1.0) < 1e-14
    np.testing.assert_allclose(
        found.tip_displacement,
        [
            0.0,
            7.0 / 1e5 + 0.5 * 3.5 / 5e4,
            -9.81 * 8.0 / 2e5 - 0.5 * about_y * (1 / 4e4 + 1 / 1e4),
            -9.81 * 0.5 / 3e4,
            about_y * (1 / 4e4 + 1 / 1e4),
            3.5 / 5e4,
        ],
        rtol=1e-13,
        atol=1e-18,
    )
    # on the ground, the stator is carried by it alone
    clamped = jm.static_equilibrium(arm.replace(base_stiffness=None), gravity=DOWN)
    assert abs(clamped.base_reaction[2] / (9.81 * 3.0) - 1.0) < 1e-14


def test_a_joint_that_slides_carries_a_force():
    spring = jm.Spring("translation", (1, 0, 0), 2e4)
    slide = jm.SpatialLink(
        0.4,
        rigid=True,
        prismatic=True,
        joint_frame=[jm.Rotation((0, 1, 0), -np.pi / 2)],
        joint_springs=[spring],
    )
    arm = jm.SpatialArm((slide,), payload=jm.RigidBody(10.0))
    found = jm.static_equilibrium(arm, gravity=DOWN)
    assert abs(found.joint_torque[0] / -98.1 - 1.0) < 1e-14
    assert abs(found.tip_displacement[2] / (-98.1 / 2e4) - 1.0) < 1e-14
    assert "-98.1 N" in str(found)


#: torsion of a solid rectangle of sides a >= b: alpha of its largest stress T/(alpha a b^2), as handbooks print it
TORSION = [(1.0, 0.208), (1.5, 0.231), (2.0, 0.246), (3.0, 0.267), (10.0, 0.313)]


def stressed(section, **load):
    """Stresses at the base of a straight link, by name of the load at its tip."""
    arm = jm.SpatialArm((tube(section=section, length=0.5),))
    return jm.static_equilibrium(arm, theory="euler_bernoulli", stations=[0.0], **load).stresses()


@pytest.mark.parametrize(("ratio", "alpha"), TORSION)
def test_torsion_of_rectangles(ratio, alpha):
    """Beside a printed table, and in the middles of the short sides beside the series along the other side."""
    for section in (jm.rectangle(0.01 * ratio, 0.01), jm.rectangle(0.01, 0.01 * ratio)):
        found = stressed(section, tip_moment=(20.0, 0.0, 0.0))
        assert not found.normal.any()
        assert not found.shear[0, 0, :4].any()
        middles = np.sort(found.shear[0, 0, 4:])
        np.testing.assert_allclose(middles[2:], 20.0 / (alpha * ratio * 1e-6), rtol=3e-3, atol=0)
        n = np.arange(1.0, 800.0, 2.0)
        decay = np.exp(-0.5 * np.pi * n / ratio)
        lost = 8.0 / np.pi**2 * np.sum(2.0 * decay / (n**2 * (1.0 + decay**2)))
        torsion = tube(section=section).section_values.torsion_constant
        short = 20.0 / torsion * 0.01 * ratio * (1.0 - lost)
        np.testing.assert_allclose(middles[:2], short, rtol=1e-12, atol=0)
        most = found.points[0, 0, np.argmax(found.shear[0, 0])]
        assert (
            ratio == 1.0 or abs(np.abs(most).max() - 0.005) < 1e-15
        )  # in the middle of the long sides


def test_stresses_of_round_sections():
    """16 T/(pi d^3) and 32 M/(pi d^3), where both bendings add; 4 V/(3 A) at the ends of the neutral line."""
    d = 0.03
    found = stressed(jm.circle(d), tip_force=(400.0, 30.0, -40.0), tip_moment=(60.0, 0.0, 0.0))
    bending = 32.0 * 50.0 * 0.5 / (np.pi * d**3) + 400.0 / (np.pi * d**2 / 4)
    assert abs(found.normal.max() / bending - 1.0) < 1e-13
    torsion, across = 16.0 * 60.0 / (np.pi * d**3), 4.0 * 50.0 / (3.0 * np.pi * d**2 / 4)
    assert abs(found.shear.max() / (torsion + across) - 1.0) < 1e-13
    most = np.argmax(found.normal[0, 0])
    # bent upwards along y and downwards along z, it is stretched where y < 0 and z > 0
    np.testing.assert_allclose(found.points[0, 0, most], [-0.009, 0.012], rtol=1e-12, atol=0)
    combined = np.sqrt(found.normal**2 + 3.0 * found.shear**2)
    np.testing.assert_allclose(found.von_mises, combined, rtol=1e-14, atol=0)
    assert found.largest == found.von_mises.max()
    thin = stressed(jm.hollow_circle(0.1, 1e-6), tip_force=(0.0, 10.0, 0.0))
    assert abs(thin.shear.max() / (2.0 * 10.0 / (np.pi * 0.1 * 1e-6)) - 1.0) < 1e-4


def test_stresses_of_rectangles_and_their_tubes():
    """Bending at the corners, 3 V/(2 A) in the middle of the sides; the flow in thin walls carries V and T."""
    b, h = 0.02, 0.05  # width along z, depth along y
    found = stressed(jm.rectangle(h, b), tip_force=(0.0, 300.0, 200.0))
    corner = 6.0 * 300.0 * 0.5 / (b * h**2) + 6.0 * 200.0 * 0.5 / (h * b**2)
    assert abs(found.normal.max() / corner - 1.0) < 1e-13
    np.testing.assert_allclose(
        found.shear[0, 0],
        np.array([0, 0, 0, 0, 200.0, -300.0, -200.0, 300.0]) * 1.5 / (b * h),
        rtol=1e-13,
        atol=0,
    )
    t = 1e-6
    walls = jm.hollow_rectangle(h, b, t)
    twisted = stressed(walls, tip_moment=(0.05, 0.0, 0.0))
    np.testing.assert_allclose(
        twisted.shear, 0.05 / (2.0 * (b - t) * (h - t) * t), rtol=1e-12, atol=0
    )
    pushed = stressed(walls, tip_force=(0.0, 0.3, 0.0)).shear[0, 0]
    np.testing.assert_array_equal(pushed[[4, 6]], [0.0, 0.0])
    assert pushed[5] == -pushed[7]
    # along each of both walls the flow is a parabola from the corners to the middle: in all it is the shear force
    mean = pushed[3] + (pushed[7] - pushed[3]) * 2.0 / 3.0
    assert abs(2.0 * mean * (h - t) * t / 0.3 - 1.0) < 1e-3


def test_sections_without_a_shape_have_no_stress():
    raw = tube(
        section=jm.spatial_section(1e-3, 2e-7, 3e-7, 4e-7), shear_modulus=2.6e10, poisson_ratio=None
    )
    rigid = jm.SpatialLink(0.3, rigid=True)
    arm = jm.SpatialArm((raw, tube(), rigid))
    found = jm.static_equilibrium(arm, theory="euler_bernoulli", gravity=DOWN).stresses()
    assert np.isnan(found.normal[[0, 2]]).all()
    assert np.isfinite(found.largest)
    assert "link 1: no stress" in str(found)
    with pytest.raises(jm.ArmError, match="no link that deforms has a section with a shape"):
        jm.static_equilibrium(jm.SpatialArm((raw,)), theory="rayleigh", gravity=DOWN).stresses()
    flat = jm.Arm((jm.Link(2.0, 1e5, 1.0, jm.raw_section(1.0, 1.0)),))
    with pytest.raises(jm.ArmError, match="no link that deforms"):
        jm.static_equilibrium(flat, theory="rayleigh", gravity=(0.0, -1.0)).stresses()


def test_the_thickness_factor_counts_in_stresses():
    link = jm.Link(
        0.5, 7e10, 2700.0, jm.rectangle(0.02, 0.03), poisson_ratio=0.33, thickness_factor=2.0
    )
    full = link.replace(thickness_factor=1.0, section=jm.rectangle(0.04, 0.03))
    found, truth = (
        jm.static_equilibrium(jm.Arm((x,)), theory="rayleigh", tip_force=(0.0, 9.0))
        .stresses()
        .von_mises
        for x in (link, full)
    )
    np.testing.assert_array_equal(found, truth)


@pytest.mark.parametrize(
    ("changes", "loads", "message"),
    [
        ({}, {}, r"no load: give gravity=\(0.0, 0.0, -9.81\)"),
        ({}, {"gravity": (0.0, -9.81)}, r"gravity = .*three finite numbers, along x, y and z of the ground"),
        ({}, {"tip_moment": 3.0}, "tip_moment = 3.0.*three finite numbers"),
        ({}, {"gravity": (0.0, 0.0, 1e308), "tip_force": (1e308, 0.0, 0.0)}, "not finite in float64"),
        ({"joint_stiffness": 0.0}, {"gravity": DOWN}, "link2.joint_stiffness = 0: nothing holds .* a moment of"),
        (
            {"joint_springs": [jm.Spring("translation", (0, 0, 1), 0.0)]},
            {"gravity": DOWN},
            "link2.joint_spring1.stiffness = 0: nothing holds .* a force of",
        ),
    ],
)  # fmt: skip
def test_refused(changes, loads, message):
    arm = jm.SpatialArm((tube(), tube(joint_axis=(0, 1, 0), **changes)))
    with pytest.raises(jm.ArmError, match=message):
        jm.static_equilibrium(arm, **loads)


def test_what_no_load_turns_needs_no_stiffness():
    """A free joint about the vertical carries nothing of the weight; a moment at the tip of a planar arm is refused."""
    arm = jm.SpatialArm((tube(joint_stiffness=0.0), bar(joint_axis=(0, 0, 1))))
    found = jm.static_equilibrium(arm, gravity=DOWN)
    assert found.joint_give[0, 5] == 0.0
    with pytest.raises(jm.ArmError, match=r"tip_moment = .*arms in space alone"):
        jm.static_equilibrium(
            jm.examples.three_link_industrial(), gravity=(0, -9.81), tip_moment=(0, 0, 1)
        )


def test_large_deflections_are_told():
    soft = jm.SpatialArm((bar(youngs_modulus=7e7),))
    near = pytest.warns(jm.LargeDeflectionWarning, match=r"the critical load is 4\.9")
    with near, pytest.warns(jm.LargeDeflectionWarning, match="too much for small deflections"):
        found = jm.static_equilibrium(soft, gravity=DOWN)
    assert not found.ok
    assert found.stresses().status is jm.Status.large_deflection


def test_results_show_themselves():
    arm = jm.examples.six_axis_industrial()
    found = jm.static_equilibrium(arm, gravity=DOWN)
    assert "joint torque" in str(found)
    dataset = found.to_xarray()
    assert dataset.bending_moment.dims == ("link", "station", "across")
    assert float(dataset.reaction.sel(ground="base", component="force_z")) == found.base_reaction[2]
    assert dataset.torque.attrs["units"] == "N m"
    stresses = found.stresses().to_xarray()
    assert float(stresses.equivalent_stress.max()) == found.stresses().largest
    for view in ("oblique", "x-z"):
        assert "deflection" in found.plot(view=view).get_title()
    with pytest.raises(jm.ArmError, match="view = 'front': choose one of 'oblique'"):
        found.plot(view="front")


def test_command(tmp_path):
    path, picture = tmp_path / "arm.toml", tmp_path / "arm.svg"
    arm = jm.examples.six_axis_industrial()
    jm.write_arm(arm, path)
    words = ["--no-check", "statics", str(path), "--gravity", "0,0,-9.81", "--stresses"]
    words += ["--tip-moment", "0,5,0"]
    run = run_command(*words, "--format", "json", "--plot", picture)
    assert run.exit_code == 0, run.output
    found = json.loads(run.stdout)
    truth = jm.static_equilibrium(arm, gravity=DOWN, tip_moment=(0.0, 5.0, 0.0))
    np.testing.assert_array_equal(found["joint_moment"], truth.joint_moment)
    np.testing.assert_array_equal(found["stresses"]["von_mises"], truth.stresses().von_mises)
    assert picture.stat().st_size > 5000
    shown = run_command(*words)
    assert "largest stresses" in shown.output
    bad = run_command("--no-check", "statics", path, "--gravity", "0,-9.81")
    assert bad.exit_code == 2
    assert "three finite numbers" in " ".join(bad.output.split())
    worse = run_command("--no-check", "statics", path, "--gravity", "9.81")
    assert "is not a pair of finite numbers, or three in space" in " ".join(worse.output.split())
