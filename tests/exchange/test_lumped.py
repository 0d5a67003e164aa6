"""Rigid pieces of an arm: masses and compliances are exact, frequencies are those that the engine has of them."""

import functools
import math

import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.exchange import lumped, write_mjcf, write_urdf
from jaxmodal.exchange.vibration import Stance, mass_matrix, springs_of
from tests.exchange.cases import ALUMINIUM, full_arm, planar_arm

ARMS = {"planar": planar_arm, "full": full_arm}


@functools.cache
def made(name, pieces=2):
    return lumped(ARMS[name](), pieces=pieces, postures=2)


def cantilever(length=0.8):
    section = jm.rectangle(0.02, 0.01, shear_coefficient="cowper")
    return jm.SpatialArm((jm.SpatialLink(length, section=section, **ALUMINIUM),))


def beam_values():
    area, second_y, second_z = 2e-4, 0.02 * 0.01**3 / 12, 0.01 * 0.02**3 / 12
    return area, second_y, second_z


def test_the_end_of_a_link_gives_way_as_a_beam_does():
    """Cantilever of length L under a force and a moment at its end: L^3/3EI, L^2/2EI, L/EI; two points suffice."""
    length, (_, second_y, second_z) = 0.8, beam_values()
    found = lumped(cantilever(length), pieces=2, num_modes=1, postures=0, theory="rayleigh")
    springs = springs_of(found.chain) / np.array([*found.factors.values()])
    places = np.cumsum([piece.place[0] for piece in found.chain.pieces])
    kinds = [name.split()[1] for name in found.factors]
    numbers = [int(name.split()[2]) for name in found.factors]
    for kind, second in (("bend_y", second_y), ("bend_z", second_z)):
        arms = np.array(
            [length - places[n + 1] for k, n in zip(kinds, numbers, strict=True) if k == kind]
        )
        soft = np.array([1.0 / s for k, s in zip(kinds, springs, strict=True) if k == kind])
        rigidity = ALUMINIUM["youngs_modulus"] * second
        for power, exact in ((2, length**3 / 3), (1, length**2 / 2), (0, length)):
            np.testing.assert_allclose(soft @ arms**power, exact / rigidity, rtol=1e-12, atol=0.0)


def test_mass_centre_and_inertia_of_a_link_are_those_of_the_beam():
    length, (area, second_y, second_z) = 0.8, beam_values()
    found = lumped(cantilever(length), num_modes=1, postures=0)
    mass = ALUMINIUM["density"] * area * length
    at, total, moment, turning = 0.0, 0.0, 0.0, np.zeros(3)
    for piece in found.chain.pieces:
        at += piece.place[0]
        own, centre, tensor = piece.lump
        x = at + centre[0]
        total, moment = total + own, moment + own * x
        turning += np.diag(tensor) + own * x**2 * np.array([0.0, 1.0, 1.0])
    rotary = ALUMINIUM["density"] * length * np.array([second_y + second_z, second_y, second_z])
    expected = rotary + mass * length**2 / 3 * np.array([0.0, 1.0, 1.0])
    np.testing.assert_allclose([total, moment], [mass, mass * length / 2], rtol=1e-13, atol=0.0)
    np.testing.assert_allclose(turning, expected, rtol=1e-13, atol=0.0)
    assert found.total_mass == pytest.approx(mass, rel=1e-13, abs=0.0)


@pytest.mark.parametrize("name", ARMS)
def test_frequencies_are_near_the_certified_ones(name):
    """Those stated as exact are of the arm itself; four points a link give five modes to 0.4 %, the first to 0.02 %."""
    arm, found = ARMS[name](), made(name, 4)
    for posture, hertz in zip(found.postures, found.exact / (2 * math.pi), strict=True):
        exact = jm.natural_frequencies(arm.with_posture(posture), 5)
        np.testing.assert_allclose(hertz, exact.frequencies_hz, rtol=1e-14, atol=0.0)
    assert found.certified.all()
    assert np.abs(found.errors[:, 0]).max() < 2e-4
    assert np.abs(found.errors).max() < 4e-3


def test_a_fit_brings_the_frequencies_nearer_in_postures_that_it_has_not_seen():
    arm = full_arm()
    found = lumped(arm, pieces=2, postures=3, slides=False)
    factors = np.array([*found.factors.values()])
    unfitted = found.chain.scaled(1.0 / factors)
    stiffness = springs_of(unfitted)
    raw = [Stance(unfitted, p, True).modes(stiffness)[0][:5] for p in found.postures]
    before = np.sqrt(np.mean((np.array(raw) / found.exact - 1.0) ** 2))
    assert np.sqrt(np.mean(found.errors**2)) < 0.2 * before


@pytest.mark.parametrize("name", ARMS)
def test_the_engine_reads_the_urdf_to_the_same_frequencies(name, tmp_path):
    found = write_urdf(made(name), tmp_path / "arm.urdf")
    arm = jm.read_arm(tmp_path / "arm.toml")
    for posture, hertz in zip(found.postures, found.frequencies_hz, strict=True):
        moved = arm.with_posture(dict(zip(found.joints, posture, strict=True)))
        exact = jm.natural_frequencies(moved, 5)
        np.testing.assert_allclose(exact.frequencies_hz, hertz, rtol=1e-9, atol=0.0)
    own = jm.to_spatial(ARMS[name]()).tip_position()
    np.testing.assert_allclose(arm.tip_position(), own, rtol=0.0, atol=1e-12)


def test_dampers_of_the_arm_stand_beside_its_springs(tmp_path):
    write_urdf(made("full"), tmp_path / "arm.urdf")
    arm = jm.read_arm(tmp_path / "arm.toml")
    by_name = {link.name: link for link in arm.links}
    assert float(by_name["shoulder"].joint_damping) == 5.0
    assert float(by_name["lift"].joint_springs[0].damping) == 30.0
    bend = by_name["link2_bend_y1"]
    assert float(bend.joint_damping) == pytest.approx(1e-4 * float(bend.joint_stiffness), rel=1e-14)
    assert by_name["shoulder"].joint_limits == (-1.5, 1.5)
    assert by_name["shoulder"].joint_velocity_limit == 2.0


def test_a_damper_beside_a_rigid_joint_does_nothing(tmp_path):
    links = (planar_arm().links[0].replace(joint_stiffness=None, joint_damping=3.0),)
    write_urdf(jm.Arm(links), tmp_path / "arm.urdf", pieces=1, num_modes=1, postures=0)
    assert jm.read_arm(tmp_path / "arm.toml").links[0].joint_damping is None


def test_joints_without_limits_may_be_where_they_stand_and_keep_their_speed(tmp_path):
    body = jm.RigidBody(4.0, inertia=(1.0, 1.0, 1.0))
    slide = jm.SpatialLink(0.0, rigid=True, prismatic=True, body=body, base_offset=(2.5, 0, 0))
    arm = jm.SpatialArm((slide, cantilever().links[0].replace(joint_velocity_limit=3.0)))
    write_urdf(arm, tmp_path / "arm.urdf", pieces=1, num_modes=1, postures=0)
    read, turning = jm.read_arm(tmp_path / "arm.toml").links[:2]
    assert float(read.base_offset.x) == 2.5
    assert read.joint_limits == (-5.0, 5.0)
    assert (turning.joint_limits, turning.joint_velocity_limit) == (None, 3.0)


def test_a_rotor_that_does_not_turn_with_its_joint_is_a_body_at_it(tmp_path):
    """Of gear ratio 0 beyond a spring: in the plane a stator with its inertia."""
    first, second = planar_arm().links
    rotor = {"rotor_inertia": 0.3, "gear_ratio": 0.0, "motor": "beyond_spring"}
    geared, plain = (
        write_urdf(
            jm.Arm((first, second.replace(**values)), planar_arm().payload),
            tmp_path / "arm.urdf",
            pieces=2,
            num_modes=3,
            postures=1,
        )
        for values in (rotor, {"stator_inertia": 0.3})
    )
    np.testing.assert_allclose(geared.exact, plain.exact, rtol=1e-10, atol=0.0)
    np.testing.assert_allclose(geared.omega, plain.omega, rtol=1e-9, atol=0.0)


def test_mass_is_kept_and_rotors_as_armatures_are_told_of(tmp_path):
    found = write_mjcf(made("full"), tmp_path / "arm.xml")
    assert found.total_mass == pytest.approx(float(full_arm().total_mass), rel=1e-13, abs=0.0)
    assert any("the product of a rotor's turning" in what for what in found.lost)
    assert 'armature="2.0"' in (tmp_path / "arm.xml").read_text()  # 2e-4 kg m^2 at 100 turns


def test_motors_that_stand_are_no_joints_and_leave_the_rest_as_it_was():
    found = made("full")
    for posture in found.postures:
        still = found.chain.locked(posture)
        assert not still.motors
        there = Stance(still, np.zeros(0), False).modes(springs_of(still))[0]
        moved = Stance(found.chain, posture, False).modes(springs_of(found.chain))[0]
        np.testing.assert_allclose(there[:8], moved[:8], rtol=1e-9, atol=0.0)


def test_the_table_of_errors_stands_in_the_files(tmp_path):
    for write, name in ((write_mjcf, "arm.xml"), (write_urdf, "arm.urdf")):
        found = write(made("planar"), tmp_path / name)
        lines = (tmp_path / name).read_text().splitlines()
        start = next(k for k, line in enumerate(lines) if line.split()[:1] == ["f1"]) + 1
        rows = [[float(x) for x in lines[start + k].split()[:5]] for k in range(3)]
        np.testing.assert_allclose(rows, 100.0 * found.errors, rtol=0.0, atol=6e-5)


def test_a_result_shows_itself_and_is_a_dataset():
    found = made("planar")
    assert "rigid pieces" in str(found)
    assert "certified" in str(found)
    data = found.to_xarray()
    np.testing.assert_allclose(data["error"], found.errors, rtol=0.0, atol=0.0)
    assert data["frequency"].attrs["units"] == "Hz"


def test_given_postures_are_those_of_the_table():
    rows = [[0.1, 0.2], [0.3, 0.4]]
    found = lumped(planar_arm(), pieces=2, num_modes=1, postures=rows)
    np.testing.assert_allclose(found.postures, rows, rtol=0.0, atol=0.0)


def test_planar_links_need_no_poisson_ratio_and_raw_sections_will_do():
    link = jm.Link(0.5, 7e10, 2700.0, jm.raw_section(2e-4, 2e-9))
    found = lumped(jm.Arm((link,)), num_modes=2, postures=0, theory="euler_bernoulli")
    assert np.abs(found.errors).max() < 1e-3


def test_what_pieces_cannot_have_is_said():
    link = planar_arm().links[0].replace(loss_factor=0.02)
    found = lumped(jm.Arm((link,)), pieces=2, num_modes=1, postures=0)
    assert found.lost == ("the loss factor of link1: hinges have viscous damping alone",)
    assert "Not in it: the loss factor of link1" in "\n".join(found.lines())


PROPPED = cantilever().links[0].replace(supports=(jm.Support("translation", (0, 0, 1), 2e4),))


def changed(**values):
    return full_arm().replace(**values)


@pytest.mark.parametrize(
    ("arm", "message"),
    [
        (lambda: 3, "arm = 3: must be an Arm or a SpatialArm"),
        (
            lambda: jm.set_parameters(full_arm(), {"link4.joint_stiffness": 0.0}),
            r"link4.joint_stiffness = 0: leaves the arm free",
        ),
        (
            lambda: changed(base_stiffness=1e6 * np.eye(6) + 1e4),
            "base_stiffness: has off-diagonal entries",
        ),
        (
            lambda: jm.SpatialArm((jm.SpatialLink(0.5, rigid=True),), jm.RigidBody(1.0)),
            "nothing gives way",
        ),
        (
            lambda: jm.Arm((planar_arm().links[0].replace(support_x_stiffness=1e3),)),
            "link1.support_x_stiffness = 1000.0: rigid pieces have neither supports nor axial forces",
        ),
        (
            lambda: jm.Arm((planar_arm().links[0].replace(axial_force=-5.0),)),
            "link1.axial_force = -5.0: rigid pieces",
        ),
        (
            lambda: cantilever().replace(links=(PROPPED,)),
            "link1.support1.stiffness",
        ),
        (
            lambda: cantilever().replace(links=(cantilever().links[0].replace(axial_force=1e3),)),
            "link1.axial_force = 1000.0: rigid pieces",
        ),
    ],
)
def test_arms_that_are_refused(arm, message):
    with pytest.raises(jm.ArmError, match=message):
        lumped(arm())


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"pieces": 0}, "pieces = 0: must be a whole number from 1 to 32"),
        ({"pieces": [3]}, "one for each of the 2 links"),
        ({"num_modes": 0}, "num_modes"),
        ({"postures": [[1.0]]}, "rows of 2 joint positions"),
        ({"postures": -1}, "postures"),
        ({"slides": "no"}, "slides = 'no': must be True or False"),
    ],
)
def test_arguments_that_are_refused(values, message):
    with pytest.raises(jm.ArmError, match=message):
        lumped(planar_arm(), **values)


def test_files_that_are_refused(tmp_path):
    with pytest.raises(jm.ArmError, match=r"must end in \.urdf"):
        write_urdf(made("planar"), tmp_path / "arm.xml")
    with pytest.raises(jm.ArmError, match="cannot be written"):
        write_mjcf(made("planar"), tmp_path / "none" / "arm.xml")
    rod = jm.SpatialLink(0.5, section=jm.circle(0.02, shear_coefficient="cowper"), **ALUMINIUM)
    idle = jm.SpatialArm((rod, jm.SpatialLink(0.2, rigid=True, joint_axis=(0, 1, 0))))
    with pytest.raises(jm.ArmError, match="moves no inertia of its own"):
        write_mjcf(idle, tmp_path / "arm.xml", pieces=1, num_modes=1, postures=0)
    with pytest.raises(jm.ArmError, match="gravity"):
        write_mjcf(made("planar"), tmp_path / "arm.xml", gravity=9.81)
    with pytest.raises(jm.ArmError, match="motors = 'brake'"):
        write_mjcf(made("planar"), tmp_path / "arm.xml", motors="brake")


def test_mass_matrices_are_those_of_another_reading():
    """Of the joints of motors: the kinetic energy of the rigid arm, by the Jacobian of its payload alone."""
    rod = jm.SpatialLink(0.4, rigid=True, joint_axis=(0, 1, 0), joint_stiffness=1e3)
    arm = jm.SpatialArm(
        (rod, rod.replace(joint_axis=(0, 0, 1))), jm.RigidBody(2.0, inertia=(0.1, 0.1, 0.1))
    )
    found = lumped(arm, num_modes=2, postures=[[0.3, 0.7]])
    jacobian = arm.with_posture([0.3, 0.7]).jacobian()
    expected = jacobian.T @ np.diag([2.0] * 3 + [0.1] * 3) @ jacobian
    matrix = mass_matrix(found.chain, np.array([0.3, 0.7]), True)
    np.testing.assert_allclose(matrix, expected, rtol=1e-13, atol=1e-13)
