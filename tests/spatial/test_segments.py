"""Links in space without a joint: pieces, bends, beams behind slides; what counts them and what does not."""

import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.spatial.files.arm_files import arm_from_dict
from tests.spatial.test_urdf import path_of

TUBE = jm.SpatialLink(
    0.6, 7e10, 2700.0, jm.hollow_rectangle(0.06, 0.04, 0.003), poisson_ratio=0.33, joint_axis=(0, 1, 0)
)  # fmt: skip
#: a telescope and its carriages, beams all
SECTION = jm.hollow_rectangle(0.08, 0.05, 0.004)
STEEL = {"youngs_modulus": 2.1e11, "density": 7850.0, "poisson_ratio": 0.3}


def hz(arm, modes=6, theory="euler_bernoulli"):
    found = jm.natural_frequencies(arm, modes, theory=theory)
    assert found.certified.all()
    return np.asarray(found.frequencies_hz)


def test_no_posture_counts_a_segment():
    arm = jm.SpatialArm((TUBE, TUBE, TUBE)).with_body(2, 0.2, jm.RigidBody(1.0))
    assert arm.joints == (1, 2, 4)
    posed = arm.with_posture([0.5, -0.3])
    assert [float(link.joint_angle) for link in posed.links] == [0.0, 0.5, 0.0, -0.3]
    assert posed.jacobian().shape == (6, 3)
    plain = jm.SpatialArm((TUBE, TUBE, TUBE)).with_posture([0.5, -0.3])
    np.testing.assert_allclose(posed.jacobian(), plain.jacobian(), rtol=0, atol=1e-14)
    cells = {"theta_2": [0.5], "theta_3": [-0.3]}
    assert jm.resolve_address(arm, "theta_4") == ["link4.joint_angle"]
    with pytest.raises(jm.ArmError, match=r"theta_3.* is not a parameter of this arm"):
        jm.natural_frequencies_batch(arm, cells, 2)
    assert arm_from_dict(posed.to_dict()) == posed
    assert "none (segment)" in str(posed)


def test_a_segment_has_nothing_of_a_joint():
    arm = jm.SpatialArm((TUBE, TUBE.continued()))
    for address in ("joint_angle", "joint_stiffness", "joint_axis.x"):
        assert f"link1.{address}" in jm.list_addresses(arm)
        assert f"link2.{address}" not in jm.list_addresses(arm)
        with pytest.raises(jm.ArmError, match="is not a parameter of this arm"):
            jm.set_parameters(arm, {f"link2.{address}": 0.1})
    assert jm.resolve_address(arm, "link*.joint_stiffness") == ["link1.joint_stiffness"]


@pytest.mark.parametrize(
    "changes",
    [
        {"joint_angle": 0.1},
        {"joint_stiffness": 1e4},
        {"joint_axis": (1, 0, 0)},
        {"joint_springs": (jm.Spring("translation", (1, 0, 0), 1e5),)},
        {"rotor_inertia": 1e-4, "gear_ratio": 50.0, "motor": "held"},
        {"hub": jm.RigidBody(1.0)},
        {"stator": jm.RigidBody(1.0)},
        {"name": "elbow"},
        {"joint_limits": (-1.0, 1.0)},
        {"prismatic": True},
    ],
)
def test_a_joint_on_a_segment_is_refused(changes):
    name = next(iter(changes))
    with pytest.raises(jm.ArmError, match=f"{name} = .*a segment continues the link before"):
        TUBE.continued().replace(**changes)


def test_other_refusals():
    with pytest.raises(jm.ArmError, match=r"link1\.segment = True: there is no link before it"):
        jm.SpatialArm((TUBE.continued(),))
    with pytest.raises(jm.ArmError, match="segment = 1: must be true or false"):
        TUBE.replace(joint_axis=(0, 0, 1), segment=1)
    arm = jm.SpatialArm((TUBE, TUBE.continued()))
    with pytest.raises(ValueError, match=r"link 2 is a segment .* its start is 'link_2@0'"):
        jm.frequency_response(arm, [1.0], "joint_2.rx", "tip.y")


def test_a_bend_is_a_rigid_joint_of_that_angle():
    """A segment turned by its frame beside a link that a rigid joint turns."""
    turn = jm.Rotation((0, 1, 0), 0.7)
    bent = jm.SpatialArm((TUBE, TUBE.continued(joint_frame=(turn,))))
    turned = jm.SpatialArm((TUBE, TUBE.replace(joint_angle=0.7)))
    np.testing.assert_allclose(hz(bent), hz(turned), rtol=1e-13, atol=0)
    np.testing.assert_allclose(bent.tip_position(), turned.tip_position(), rtol=0, atol=1e-15)


#: axes of its slide and the direction in them
TILT = np.array([[np.cos(0.2), 0, np.sin(0.2)], [0, 1, 0], [-np.sin(0.2), 0, np.cos(0.2)]])
AXIS = np.array([1.0, 0.0, 2.0]) / np.sqrt(5.0)


@pytest.fixture
def lift(tmp_path):
    """The lift, its slide moved or held there as a joint that turns."""

    def read(kind, position, **values):
        way = position * TILT @ AXIS if kind == "revolute" else np.zeros(3)
        place = np.array([0.1, 0.0, 0.3]) + way
        text = path_of("urdf/lifted_beam").read_text().replace('"prismatic"', f'"{kind}"')
        path = tmp_path / f"{kind}.urdf"
        path.write_text(
            text.replace('xyz="0.1 0 0.3"', f'xyz="{float(place[0])!r} 0 {float(place[2])!r}"')
        )
        return jm.read_urdf(
            path, joint_stiffness={"sway": 5e5, "swing": 2e4}, sections={"beam": SECTION},
            materials={"beam": STEEL}, **values,
        )  # fmt: skip

    return read


@pytest.mark.parametrize("along", [None, {"beam": [[0.1, 0, 0], [0.6, 0.1, 0.1]]}])
def test_a_beam_behind_a_slide(lift, along):
    """A slide held at its position is a rigid joint there; its spring one along the way; batches move it."""
    more = {} if along is None else {"along": along}
    held = lift("revolute", 0.4, **more)
    arm = lift("prismatic", 0.4, positions={"slider": 0.4}, **more)
    assert arm.joints == (1, 2, 4)
    assert [link.segment for link in arm.links] == [False, False, True, False]
    np.testing.assert_allclose(float(arm.total_mass), float(held.total_mass), rtol=1e-14, atol=0)
    np.testing.assert_allclose(arm.tip_position(), held.tip_position(), rtol=0, atol=1e-14)
    np.testing.assert_allclose(hz(arm), hz(held), rtol=1e-11, atol=0)
    moved = jm.natural_frequencies_batch(
        lift("prismatic", 0.0, **more), {"slider": [0.4, -0.3]}, 6, theory="euler_bernoulli"
    )
    expected = np.stack([hz(held), hz(lift("revolute", -0.3, **more))])
    np.testing.assert_allclose(moved.frequencies_hz, expected, rtol=1e-11, atol=0)


def test_a_beam_behind_a_slide_that_gives(lift):
    arm = lift("prismatic", 0.4, positions={"slider": 0.4}, slide_stiffness={"slider": 3e5})
    held = lift("revolute", 0.4)
    # the same spring by hand, in the axes of the beam, whose joint is rigid
    way = held.frames()[1].axes.T @ TILT @ AXIS
    spring = jm.Spring("translation", tuple(map(float, way)), 3e5)
    links = (held.links[0], held.links[1].replace(joint_springs=(spring,)), held.links[2])
    np.testing.assert_allclose(hz(arm), hz(held.replace(links=links)), rtol=1e-11, atol=0)
    assert hz(arm)[0] < 0.99 * hz(held)[0]
