"""Do names of ports mean what they say, and does a name that means nothing get an answer that helps?"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.response.driven.ports import DIRECTIONS, port, port_row, ports


@pytest.fixture(scope="module")
def arm():
    link = jm.examples.two_link_flexible().links[0]
    turned = link.replace(joint_angle=0.4)
    third = link.replace(joint_angle=-1.1)
    payload = jm.Payload(mass=1.0, centre_x=0.03, centre_y=-0.05)
    return jm.Arm(
        (turned, third, jm.Link(0.3, 7e10, 2700.0, jm.circle(0.01), segment=True)), payload
    )


@pytest.mark.parametrize(
    ("name", "canonical"),
    [
        ("tip.across", "tip_3.across"),
        ("tip_1.moment", "tip_1.rotation"),
        ("joint_2.torque", "joint_2.relative_rotation"),
        ("link_1@.5.x", "link_1@0.5.x"),
        ("link_3@1.along", "link_3@1.along"),
        ("link_2@0.1.y", "link_2@0.1.y"),
        ("base.x", "base.x"),
        ("payload.rotation", "payload.rotation"),
    ],
)
def test_names(arm, name, canonical):
    found = port(name, arm)
    assert str(found) == canonical
    assert port(canonical, arm) == found == port(found, arm)
    assert (found.motion_unit == "rad") == (found.force_unit == "N m") == found.turns


def test_stations_are_kept_to_the_last_bit(arm):
    station = float(np.nextafter(1 / 3, 1))
    assert port(f"link_1@{station!r}.across", arm).station == station
    found = jm.Port("link", "across", 1, station)
    assert port(str(found), arm) == found


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("tip.acros", "Did you mean 'across'"),
        ("tpi.across", r"is no port\. Did you mean 'tip.across'"),
        ("elbow.across", "Its places are base, joint_1, joint_2, link_1@s to link_3@s"),
        ("tip", "is no port"),
        (3, "port 3: is no port"),
        ("joint_3.across", "link 3 is a segment .* its start is 'link_3@0'"),
        ("joint_4.across", r"has 3 link\(s\)"),
        ("tip_0.across", "is no port"),
        ("tip.torque", "only a joint has it"),
        ("link_1@1.5.across", r"station = 1\.5: must be x/L"),
        ("link_1@half.across", r"station = 'half': must be x/L"),
        ("link_1@nan.across", "must be x/L"),
        ("link_1@0_1.x", "station = '0_1': must be x/L"),
        ("link_1@ 0.5 .x", "station = ' 0.5 ': must be x/L"),
        ("link_1.across", "is no port"),
        ("joint.across", "is no port"),
        ("base_1.x", "the base has no number"),
        ("tip@0.5.x", "only a place on a link has one"),
    ],
)
def test_what_is_no_port(arm, name, words):
    with pytest.raises(jm.ArmError, match=words):
        port(name, arm)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (("elbow", "x"), "place = 'elbow'"),
        (("tip", "up", 1), "direction = 'up'"),
        (("tip", "torque", 1), "only a joint has it"),
        (("tip", "x"), "link = None"),
        (("tip", "x", True), "link = True"),
        (("tip", ["x"], 1), r"direction = \['x'\]"),
        ((["tip"], "x", 1), r"place = \['tip'\]"),
        (("link", "x", 1, True), "station = True"),
        (("base", "x", 1), "the base has no number"),
        (("link", "x", 1), "station = None"),
        (("link", "x", 1, float("nan")), "station = nan"),
        (("tip", "x", 1, 0.5), "only a place on a link has one"),
    ],
)
def test_ports_that_contradict_themselves(values, words):
    with pytest.raises(jm.ArmError, match=words):
        jm.Port(*values)


def test_one_or_several(arm):
    assert ports("tip.x", arm, "inputs") == ports(["tip.x"], arm, "inputs")
    for wrong, words in [
        ([], "outputs = "),
        (None, "outputs = None"),
        (["tip.x", "tip_3.x"], "'tip_3.x' is given twice"),
    ]:
        with pytest.raises(jm.ArmError, match=words):
            ports(wrong, arm, "outputs")
    with pytest.raises(jm.ArmError, match="must be an Arm"):
        ports("tip.x", "arm.toml", "outputs")


def test_numbers_and_arrays_of_numpy(arm):
    found = jm.Port("link", "x", np.int64(1), np.float32(0.5))
    assert found == jm.Port("link", "x", 1, 0.5)
    assert (type(found.link), type(found.station)) == (int, float)
    assert ports(np.array(["tip.x", "tip.y"]), arm, "inputs") == ports(["tip.x", "tip.y"], arm, "")
    assert port("link_1@1e-3.x", arm).station == 1e-3


def test_every_place_that_is_listed_is_one(arm):
    for place in jm.port_names(arm):
        for direction in DIRECTIONS:
            port(f"{place.replace('@s', '@0.3')}.{direction}", arm)
    assert "joint_3" not in jm.port_names(arm)


def test_rows_are_velocities_of_points_of_a_rigid_body(arm):
    """Of a small motion (u, v, psi) of the last tip in link axes, by the geometry of the ground's axes."""
    motion, angle = np.array([0.3, -0.2, 0.7]), 0.4 - 1.1
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    arm_of_centre = turn @ [0.03, -0.05]
    tip = turn @ motion[:2]
    centre = tip + motion[2] * np.array([-arm_of_centre[1], arm_of_centre[0]])
    for name, expected in [
        ("tip.x", tip[0]),
        ("tip.y", tip[1]),
        ("tip.across", motion[1]),
        ("payload.x", centre[0]),
        ("payload.y", centre[1]),
        ("payload.along", turn[:, 0] @ centre),
        ("payload.moment", motion[2]),
    ]:
        found = port_row(port(name, arm), arm)
        assert (found.link, found.place, found.station) == (2, "tip", 1.0)
        np.testing.assert_allclose(found.row @ motion, expected, rtol=1e-14)


def test_rows_are_traced_where_the_arm_is(arm):
    def share(angle):
        return port_row(port("joint_2.x", arm), arm.with_posture([angle])).row[1]

    slope = jax.jit(jax.grad(share))(jnp.array(0.3))
    np.testing.assert_allclose(slope, -np.cos(0.4 + 0.3), rtol=1e-14)
    assert isinstance(port_row(port("joint_2.x", arm), arm).row, np.ndarray)


def test_names_of_numpy_are_shown_as_words():
    with pytest.raises(jm.ArmError, match=r"inputs: port 'tip\.z'"):
        jm.frequency_response(jm.examples.two_link_flexible(), 1.0, np.str_("tip.z"), "tip.x")
