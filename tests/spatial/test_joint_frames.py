"""Rows of Denavit and Hartenberg and joint origins as URDF has them: places and turns are those of the products of
their matrices, multiplied here, and the same arm said in three ways has the same frequencies."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmodal as jm
from tests.spatial.finite_elements import turn

X, Z = (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)
COMMON = {
    "youngs_modulus": 7e10,
    "density": 2700.0,
    "poisson_ratio": 0.33,
    "section": jm.hollow_rectangle(0.09, 0.06, 0.004, "cowper"),
}
BODY = jm.RigidBody(
    1.5, (0.02, -0.03, 0.05), [[5e-3, 4e-4, 0], [4e-4, 6e-3, -3e-4], [0, -3e-4, 4e-3]]
)
HUB = jm.RigidBody(0.5, (0.0, 0.01, -0.02), (1e-3, 2e-3, 2.5e-3))
LINK = COMMON | {"body": BODY, "hub": HUB, "joint_stiffness": 4e4}
#: theta, d, a, alpha; the fifth joint is at the place of the sixth, as in a wrist
ROWS = (
    (0.3, 0.45, 0.0, math.pi / 2),
    (-0.7, 0.0, 0.6, 0.2),
    (1.1, 0.12, -0.1, -math.pi / 2),
    (0.4, 0.5, 0.0, 1.3),
    (-0.9, 0.0, 0.0, -math.pi / 2),
    (0.2, 0.15, 0.05, 0.0),
)


def shift(*vector):
    matrix = np.eye(4)
    matrix[:3, 3] = vector
    return matrix


def turned(axis, angle):
    matrix = np.eye(4)
    matrix[:3, :3] = turn(axis, angle)
    return matrix


def frames_of_rows(rows, convention):
    """The frames of all links by the product of the four matrices of every row."""
    at, found = np.eye(4), []
    for theta, d, a, alpha in rows:
        first, second = turned(Z, theta) @ shift(0, 0, d), shift(a, 0, 0) @ turned(X, alpha)
        at = at @ (
            first @ second
            if convention == "standard"
            else turned(X, alpha) @ shift(a, 0, 0) @ first
        )
        found.append(at)
    return found


def modified(rows):
    """The same arm's rows in the modified custom, and its tip."""
    before = ((0.0, 0.0, 0.0, 0.0), *rows)
    found = [(row[0], row[1], *last[2:]) for row, last in zip(rows, before, strict=False)]
    return found, (rows[-1][2], 0.0, 0.0)


def places(arm):
    """For every link its axes and the places of its joint and its tip, seen from the ground."""
    place, axes, found = np.zeros(3), np.eye(3), []
    for link in arm.links:
        axes = axes @ turn([*link.joint_axis], link.joint_angle)
        for part in link.joint_frame:
            axes = axes @ turn([*part.axis], part.angle)
        joint = place
        way = np.array([link.length, 0.0, 0.0])
        for offset in (link.base_offset, link.end_offset):
            way = way + (np.zeros(3) if offset is None else np.array([*offset]))
        place = joint + axes @ way
        found.append((axes, joint, place))
    return found


def in_space(body, axes, place):
    """Centre of gravity and tensor of a body, seen from the ground."""
    tensor = np.array(body.inertia.rows())
    return place + axes @ np.array([*body.centre]), axes @ tensor @ axes.T


def links_of(rows, **changes):
    """A link for every row, a stiffness alone where there is none."""
    flexible = LINK | changes
    return [flexible if row[1] or row[2] else {"joint_stiffness": 7e3} for row in rows]


def chosen(links):
    """The links of `ROWS`, those with d and a told what bends."""
    along = [{"along": "a"} if row[1] and row[2] else {} for row in ROWS]
    return [link | more for link, more in zip(links, along, strict=True)]


@pytest.mark.parametrize("along", ["a", "d", "straight"])
def test_standard_rows_put_links_and_bodies_where_their_matrices_do(along):
    rows = [(t, d or 0.07, a or 0.04, alpha) for t, d, a, alpha in ROWS]
    arm = jm.arm_from_denavit_hartenberg(rows, links_of(rows, along=along), payload=BODY)
    frames = frames_of_rows(rows, "standard")
    starts = [np.eye(4), *frames]
    for link, (axes, joint, tip), frame, start in zip(
        arm.links, places(arm), frames, starts, strict=False
    ):
        np.testing.assert_allclose(joint, start[:3, 3], rtol=0.0, atol=3e-15)
        np.testing.assert_allclose(tip, frame[:3, 3], rtol=0.0, atol=3e-15)
        for body, given, place in ((link.body, BODY, tip), (link.hub, HUB, joint)):
            for found, expected in zip(
                in_space(body, axes, place), in_space(given, frame[:3, :3], place), strict=True
            ):
                np.testing.assert_allclose(found, expected, rtol=0.0, atol=3e-15)
    lengths = {"a": [abs(r[2]) for r in rows], "d": [r[1] for r in rows]}
    lengths["straight"] = [math.hypot(r[1], r[2]) for r in rows]
    np.testing.assert_allclose([x.length for x in arm.links], lengths[along], rtol=1e-15)
    axes, _, tip = places(arm)[-1]
    np.testing.assert_allclose(
        in_space(arm.payload, axes, tip)[1],
        in_space(BODY, frames[-1][:3, :3], tip)[1],
        rtol=0.0,
        atol=3e-15,
    )


def test_frames_are_where_the_matrices_put_them():
    arm = jm.arm_from_denavit_hartenberg(ROWS, chosen(links_of(ROWS, section_roll=0.3)))
    for link, frame, (axes, joint, tip) in zip(arm.links, arm.frames(), places(arm), strict=True):
        np.testing.assert_allclose(frame.axes, axes, rtol=0.0, atol=3e-15)
        np.testing.assert_allclose(frame.joint, joint, rtol=0.0, atol=3e-15)
        np.testing.assert_allclose(frame.tip, tip, rtol=0.0, atol=3e-15)
        np.testing.assert_allclose(
            frame.end - frame.start, link.length * axes[:, 0], rtol=0.0, atol=3e-15
        )
        roll = 0.0 if link.section_roll is None else link.section_roll
        np.testing.assert_allclose(frame.section, axes @ turn(X, roll), rtol=0.0, atol=3e-15)
    np.testing.assert_allclose(arm.tip_position(), places(arm)[-1][2], rtol=0.0, atol=3e-15)


@pytest.mark.parametrize("asked", ["frames", "tip_position", "jacobian", "to_toml"])
def test_what_an_arm_with_a_traced_value_cannot_say(asked):
    arm = jm.arm_from_denavit_hartenberg(ROWS, chosen(links_of(ROWS)))
    with pytest.raises(jm.ArmError, match=r"link1\.length = .*must be one number.*one at a time"):
        jax.eval_shape(
            lambda x: getattr(jm.set_parameters(arm, {"link1.length": x}), asked)(),
            jnp.float64(1.0),
        )


def test_the_jacobian_is_how_the_tip_moves_on_circles():
    """The tip goes round each joint's axis: half of what it is apart at a quarter turn either way is its velocity."""
    arm = jm.arm_from_denavit_hartenberg(ROWS, chosen(links_of(ROWS, section_roll=0.3)))
    arm = arm.replace(
        links=tuple(
            link.replace(joint_frame=(*link.joint_frame, jm.Rotation((1.0, 2.0, 3.0), 0.3)))
            for link in arm.links
        )
    )
    found, at = arm.jacobian(), arm.frames()[-1].axes
    assert found.shape == (6, len(arm.links))
    for number, column in enumerate(found.T, start=1):
        address = f"link{number}.joint_angle"
        angle = float(arm.links[number - 1].joint_angle)
        there, back = (
            jm.set_parameters(arm, {address: angle + quarter}).frames()[-1]
            for quarter in (0.5 * np.pi, -0.5 * np.pi)
        )
        np.testing.assert_allclose(column[:3], 0.5 * (there.tip - back.tip), rtol=0.0, atol=3e-15)
        x, y, z = column[3:]
        np.testing.assert_allclose(
            0.5 * (there.axes - back.axes) @ at.T,
            [[0, -z, y], [z, 0, -x], [-y, x, 0]],
            rtol=0.0,
            atol=3e-15,
        )


def test_joints_at_one_place_have_a_link_and_an_angle_each():
    arm = jm.arm_from_denavit_hartenberg(ROWS, chosen(links_of(ROWS)))
    assert [float(link.length) for link in arm.links][4] == 0.0
    for (_, _, tip), frame in zip(places(arm), frames_of_rows(ROWS, "standard"), strict=True):
        np.testing.assert_allclose(tip, frame[:3, 3], rtol=0.0, atol=3e-15)
    # six rows, six angles
    other = [list(row) for row in ROWS]
    for row, angle in zip(other, (0.5, -0.2, 0.3, 1.0, 0.6, -1.4), strict=True):
        row[0] = angle
    moved = arm.with_posture([row[0] for row in other])
    assert moved == jm.arm_from_denavit_hartenberg(other, chosen(links_of(other)))
    # the same two joints as two turns and two springs of one joint
    fifth, sixth = moved.links[4:]
    (frame,) = fifth.joint_frame
    lead = turn([*frame.axis], frame.angle)
    axis = lead @ [*sixth.joint_axis]
    (rest,) = sixth.joint_frame
    own = turn([*rest.axis], rest.angle)
    turns = (frame, jm.Rotation(tuple(sixth.joint_axis), sixth.joint_angle), rest)
    spring = jm.Spring("rotation", own.T @ [*sixth.joint_axis], sixth.joint_stiffness)
    both = {"joint_axis": fifth.joint_axis, "joint_angle": fifth.joint_angle}
    both |= {"joint_stiffness": fifth.joint_stiffness, "joint_frame": turns}
    folded = moved.replace(links=(*moved.links[:4], sixth.replace(joint_springs=(spring,), **both)))
    assert np.linalg.norm(axis) == pytest.approx(1.0)
    np.testing.assert_allclose(
        np.asarray(jm.natural_frequencies(moved, 6).omega),
        np.asarray(jm.natural_frequencies(folded, 6).omega),
        rtol=1e-12,
    )


@pytest.mark.parametrize("convention", ["standard", "modified"])
def test_bodies_and_rotors_stand_on_joints_at_one_place(convention):
    """As for a way of 1e-10 m between them, that the links of the wrist have."""
    link = LINK | {
        "rotor_inertia": 3e-5,
        "gear_ratio": 70.0,
        "motor": "beyond_spring",
        "stator": HUB,
    }
    wrist = {k: v for k, v in link.items() if k not in COMMON}

    def arm(way):
        rows = [
            (0.0, 0.4, 0.0, 1.5),
            (0.4, 0.3, 0.0, -1.5),
            (0.6, way, 0.0, 1.5),
            (0.2, way, 0.0, 0.4),
        ]
        links = [link, link, wrist | {"rigid": True}, wrist | {"rigid": True}]
        end = (0.0, 0.0, way) if convention == "modified" else None
        return jm.arm_from_denavit_hartenberg(rows, links, convention, tip=end, payload=BODY)

    found, near = (jm.natural_frequencies(arm(way), 8) for way in (0.0, 1e-10))
    assert found.certified.all()
    np.testing.assert_allclose(found.frequencies_hz, near.frequencies_hz, rtol=1e-8)


def test_both_customs_and_joint_origins_say_the_same_arm():
    """The bodies at the tips are left out: the frames that they are seen in differ from custom to custom."""
    rows, tip = modified(ROWS)
    links = links_of(ROWS, along="straight", body=None)
    urdf = [{k: v for k, v in link.items() if k != "along"} for link in links]
    links = [link | {"hub": None} if "hub" in link else link for link in links]
    urdf = [link | {"hub": None} if "hub" in link else link for link in urdf]
    standard = jm.arm_from_denavit_hartenberg(ROWS, links)
    # the tip of modified rows is seen from the last frame's origin, behind d
    other = jm.arm_from_denavit_hartenberg(rows, links, "modified", tip=tip)
    ends = [(a, 0.0, d) for _, d, a, _ in ROWS]
    turns = [0.0, *(row[3] for row in ROWS)]
    origins = [
        jm.JointOrigin(xyz, (alpha, 0.0, 0.0), Z)
        for xyz, alpha in zip([(0.0, 0.0, 0.0), *ends], turns[:-1], strict=False)
    ]
    angles = [link | {"joint_angle": row[0]} for link, row in zip(urdf, ROWS, strict=True)]
    by_origins = jm.arm_from_joint_origins(origins, angles, ends[-1])
    expected = np.asarray(jm.natural_frequencies(standard, 8).omega)
    for arm in (other, by_origins):
        np.testing.assert_allclose(
            places(arm)[-1][2], places(standard)[-1][2], rtol=0.0, atol=3e-15
        )
        np.testing.assert_allclose(
            np.asarray(jm.natural_frequencies(arm, 8).omega), expected, rtol=1e-12
        )


def test_roll_pitch_yaw_and_bodies_of_origins_are_those_of_their_matrices():
    rng = np.random.default_rng(8)
    xyz, rpy, axes = rng.normal(size=(3, 5, 3))
    angles = rng.uniform(-3.0, 3.0, 5)
    origins = [jm.JointOrigin(*parts) for parts in zip(xyz, rpy, axes, strict=True)]
    links = [
        COMMON
        | {
            "hub": HUB,
            "stator": BODY,
            "joint_angle": a,
            "joint_springs": [jm.Spring("rotation", (0.3, 1.0, 0.2), 1e5)],
        }
        for a in angles
    ]
    arm = jm.arm_from_joint_origins(origins, links, (0.1, 0.2, 0.3), payload=BODY)
    at = shift(*-xyz[0])
    for k, (link, (own, joint, _)) in enumerate(zip(arm.links, places(arm), strict=True)):
        before = at
        roll, pitch, yaw = rpy[k]
        at = at @ shift(*xyz[k]) @ turned(Z, yaw) @ turned((0, 1, 0), pitch) @ turned(X, roll)
        at = at @ turned(axes[k], angles[k])
        np.testing.assert_allclose(joint, at[:3, 3], rtol=0.0, atol=3e-14)
        pairs = (
            (link.hub, HUB, own, at),
            (link.stator, BODY, places(arm)[k - 1][0] if k else np.eye(3), before),
        )
        for body, given, here, frame in pairs:
            for found, expected in zip(
                in_space(body, here, joint), in_space(given, frame[:3, :3], joint), strict=True
            ):
                np.testing.assert_allclose(found, expected, rtol=0.0, atol=3e-14)
        direction = own @ np.array([*link.joint_springs[0].direction])
        np.testing.assert_allclose(direction, at[:3, :3] @ [0.3, 1.0, 0.2], rtol=0.0, atol=3e-14)
    end = at[:3, :3] @ [0.1, 0.2, 0.3] + at[:3, 3]
    np.testing.assert_allclose(places(arm)[-1][2], end, rtol=0.0, atol=3e-14)


def test_files_say_rows_and_origins():
    link = {
        "youngs_modulus_gpa": 70.0,
        "density": 2700.0,
        "poisson_ratio": 0.33,
        "section": {"shape": "circle", "diameter_mm": 60.0, "shear_coefficient": "cowper"},
        "joint": {"stiffness_nm_per_arcmin": 9.0},
    }
    row = {"theta_deg": 40.0, "d_mm": 300.0, "a": 0.4, "alpha_deg": -90.0, "offset_deg": 5.0}
    document = {
        "links": [link | {"denavit_hartenberg": row, "along": "straight"} for _ in range(2)],
        "payload": {"mass": 2.0, "centre_mm": [10.0, 0.0, 20.0], "inertia_kg_cm2": [50, 60, 70]},
    }
    arm = jm.arm_from_dict(document)
    section = jm.circle(0.06, "cowper")
    stiffness = 9.0 * 180.0 * 60.0 / math.pi
    values = COMMON | {"section": section, "joint_stiffness": stiffness, "along": "straight"}
    given = (math.radians(40.0), 0.3, 0.4, math.radians(-90.0), math.radians(5.0))
    load = jm.RigidBody(2.0, (0.01, 0.0, 0.02), (5e-3, 6e-3, 7e-3))
    assert arm == jm.arm_from_denavit_hartenberg([given] * 2, [values] * 2, payload=load)
    assert jm.arm_from_dict(arm.to_dict()) == arm
    origin = {"xyz_mm": [0, 0, 300], "rpy_deg": [90, 0, 0], "axis": [0, 0, 1]}
    entry = link | {"joint_origin": origin, "joint_angle_deg": 40.0}
    arm = jm.arm_from_dict({"links": [entry] * 2, "tip": [0.4, 0, 0], "payload": {"mass": 1.0}})
    values = COMMON | {"section": section, "joint_stiffness": stiffness}
    there = jm.JointOrigin((0.0, 0.0, 0.3), (math.radians(90.0), 0.0, 0.0), (0.0, 0.0, 1.0))
    expected = jm.arm_from_joint_origins(
        [there] * 2,
        [values | {"joint_angle": math.radians(40.0)}] * 2,
        (0.4, 0.0, 0.0),
        payload=jm.RigidBody(1.0),
    )
    assert arm == expected


def rows(*given, links=None, **more):
    return jm.arm_from_denavit_hartenberg(given, links or [COMMON] * len(given), **more)


@pytest.mark.parametrize("noise", [2e-17, -3e-16])
def test_rounding_of_a_length_of_zero_is_no_length(noise):
    """0.4 cos(pi / 2) is 2.4e-17, not 0: the column of 0.4 m stays the elastic part, in both ways to say the arm."""
    links = [COMMON | {"joint_stiffness": 4e4}] * 2

    def by_rows(a, d):
        return rows((0.0, 0.4, a, math.pi / 2), (0.7, d, 0.5, 0.0), links=links)

    clean = by_rows(0.0, 0.0)
    assert [link.length for link in clean.links] == [0.4, 0.5]
    assert by_rows(noise, noise) == clean

    wrist = [{"joint_stiffness": 7e3}, *links]

    def by_origins(first):
        turns = [(0, 0, 0), (0, 0, 0), (0, 0.2, 0)]
        places = [(0, 0, 0), first, (0, 0, 0.4)]
        joints = [jm.JointOrigin(*p, Z) for p in zip(places, turns, strict=True)]
        return jm.arm_from_joint_origins(joints, wrist, (0.5, 0, 0))

    assert by_origins((noise, 0, noise)) == by_origins((0, 0, 0))
    assert [float(link.length) for link in by_origins((0, 0, 0)).links] == [0.0, 0.4, 0.5]
