"""Arms in space as values, files and addresses: what is said comes back, and what cannot be is refused."""

import functools
import json
import math
import warnings

import jax
import numpy as np
import pytest

import jaxmodal as jm
from tests.spatial.cases import bar, bent_arm, references, standing_arm, tube


@pytest.mark.parametrize("suffix", ["toml", "json"])
def test_files_read_back_to_the_same_arm(tmp_path, suffix):
    for arm in [bent_arm(), standing_arm(), *(case.arm for case in references().values())]:
        path = tmp_path / f"arm.{suffix}"
        jm.write_arm(arm, path)
        assert jm.read_arm(path, check=False) == arm


def test_a_file_says_the_same_in_several_ways():
    by_hand = {"length": 0.5, "youngs_modulus": 7e10, "density": 2700.0, "poisson_ratio": 0.3}
    section = {"shape": "circle", "diameter": 0.02, "shear_coefficient": "cowper"}
    link = by_hand | {"section": section}
    nested = link | {"joint": {"axis": [0, 1, 0], "angle_deg": 90.0, "stiffness": None}}
    flat = link | {"joint_axis": [0, 1, 0], "joint_angle": math.radians(90.0)}
    one, other = (jm.arm_from_dict({"dimensions": 3, "links": [link, x]}) for x in (nested, flat))
    assert one == other
    assert isinstance(jm.arm_from_dict({"dimensions": 2, "links": [link]}), jm.Arm)
    turns = [{"axis": [1, 0, 0], "angle_deg": 90.0}]
    matrix = [[1, 0, 0], [0, 0, -1], [0, 1, 0]]
    named, rows = (
        jm.arm_from_dict({"links": [link, link | {"joint_frame": frame}]})
        for frame in (turns, matrix)
    )
    turn = named.links[1].joint_frame[0], rows.links[1].joint_frame[0]
    assert turn[0].angle == pytest.approx(turn[1].angle, rel=1e-15)
    np.testing.assert_allclose([*turn[1].axis], np.array([1.0, 0.0, 0.0]) * float(turn[1].axis.x))


@pytest.mark.parametrize(
    ("angle", "axis"),
    [(0.3, (1, 2, -2)), (math.pi, (0, 3, 4)), (3.1, (-1, 0, 0)), (2.2, (-5, 1, 1))],
)
def test_a_matrix_is_taken_for_the_turn_that_it_is(angle, axis):
    unit = np.array(axis) / np.linalg.norm(axis)
    skew = np.cross(np.eye(3), unit)
    matrix = np.eye(3) + math.sin(angle) * skew + (1.0 - math.cos(angle)) * skew @ skew
    (turn,) = tube(joint_frame=matrix).joint_frame
    direction = np.array([*turn.axis])
    direction /= np.linalg.norm(direction)
    sign = np.sign(direction @ unit)
    np.testing.assert_allclose(direction * sign, unit, rtol=0.0, atol=1e-14)
    assert math.remainder(float(turn.angle) * sign - angle, 2.0 * math.pi) == pytest.approx(
        0, abs=1e-14
    )


def test_every_value_has_an_address_a_unit_and_a_meaning():
    arm = standing_arm()
    leaves = len(jax.tree_util.tree_leaves(arm))
    addresses = jm.list_addresses(arm)
    assert len(addresses) == len(set(addresses)) == leaves
    for place, address in enumerate(addresses):
        value = float(jm.get_parameter(arm, address))
        assert jm.unit_of_address(address)
        assert jm.describe_address(address)
        if not math.isinf(value) and not address.endswith("poisson_ratio"):
            changed = jm.set_parameters(arm, {address: value * 1.0001 + 1e-9})
            different = [
                k
                for k, (a, b) in enumerate(
                    zip(
                        jax.tree_util.tree_leaves(arm),
                        jax.tree_util.tree_leaves(changed),
                        strict=True,
                    )
                )
                if a != b
            ]
            assert len(different) == 1, (place, address)
    stiff = jm.set_parameters(arm, {"link2.joint_spring2.stiffness": 7.0, "link*.length": 0.3})
    assert float(stiff.links[1].joint_springs[1].stiffness) == 7.0
    assert [float(link.length) for link in stiff.links] == [0.3, 0.3, 0.3]


BODY = jm.RigidBody


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: BODY(1.0, None, (1.0, 1.0, 2.5)), r"inertia\.principal_moments = \(1\.0, 1\.0, 2\.5\)"),
        (lambda: BODY(1.0, None, (1.0, 1.0, 2.5)), "about z, 2.5 kg m.2, is greater than 2, the sum of the other two"),
        (lambda: BODY(5.0, None, (0.06, 0.08, 0.012)), r"about y, 0\.08 kg m.2, is greater than 0\.072"),
        (lambda: BODY(1.0, None, [[1, 0.6, 0], [0.6, 1, 0], [0, 0, 0.1]]), "one, 1.6 kg m.2, is greater than 0.5"),
        (lambda: BODY(1.0, None, (1.0, 1.0, -0.5)), "moment negative.*about z, -0.5 kg m.2, is neg"),
        (lambda: BODY(1.0, None, [[1, 0.9, 0], [0.9, 1, 0.9], [0, 0.9, 1]]), "those of a body"),
        (lambda: BODY(1.0, None, [[1, 0, 0], [0, 1, 0.1], [0, 0, 1]]), "must be symmetric"),
        (lambda: BODY(1.0, (0.0, 1.0)), "three numbers"),
        (lambda: tube(joint_axis=(0.0, 0.0, 0.0)), "length zero has no direction"),
        (lambda: tube(joint_frame=[[1, 0, 0], [0, 1, 0], [0, 1, 1]]), "must be orthogonal"),
        (lambda: tube(joint_frame=[[1, 0, 0], [0, 1, 0], [0, 0, -1]]), "left-handed"),
        (lambda: tube(torsion_constant=1.0), "at most second_moment_y"),
        (lambda: jm.spatial_section(1e-3, 1e-7, 1e-7, 3e-7), "at most second_moment_y"),
        (lambda: tube(section=jm.raw_section(1e-3, 1e-7)), "two second moments"),
        (lambda: tube(poisson_ratio=None), "neither given; torsion needs"),
        (lambda: tube(shear_modulus=2e10), "both given"),
        (lambda: tube(base_offset=(0.0, math.nan, 0.0)), r"base_offset\.y = nan"),
        (lambda: tube(gear_ratio=3.0), "rotor_inertia is missing"),
        (lambda: jm.Spring("bending", (1, 0, 0), 1.0), "'translation' or 'rotation'"),
        (lambda: jm.SpatialArm(()), "one SpatialLink or more"),
        (lambda: bent_arm().with_posture([1.0]), "2 .theta_2 to theta_n. or 3"),
        (lambda: bent_arm().with_posture([1.0, math.inf]), r"link3\.joint_angle = inf"),
        (lambda: jm.get_parameter(bent_arm(), "link2.joint_axis.w"), "Did you mean"),
        (lambda: jm.set_parameters(bent_arm(), {"link9.length": 1.0}), r"it has 3 link"),
        (lambda: jm.set_parameters(bent_arm(), {"link1.section.depth": -1.0}), r"^link1\.section\.depth = -1"),
        (lambda: bent_arm().replace(base_stiffness=[1.0] * 5), "six rows of six"),
        (lambda: bent_arm().replace(base_stiffness=np.triu(np.ones((6, 6)))), "must be symmetric"),
        (lambda: bent_arm().replace(base_stiffness=np.ones((6, 6))), r"smallest_eigenvalue = .*must be greater"),
        (lambda: bent_arm().replace(base_stiffness=[1, 1, 1, 1, 1, 0]), r"k66 = 0\.0: must be finite"),
        (lambda: jm.arm_from_dict({"dimensions": 4, "links": []}), "dimensions = 4"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_with_the_reason(make, message):
    with pytest.raises(jm.ArmError, match=message):
        make()


@pytest.mark.parametrize("moments", [(0.010, 0.020, 0.025), (0.0, 1.0, 1.0), (3e-9, 4e-9, 6e-9)])
def test_what_rounding_parts_is_taken_and_kept_symmetric(moments):
    """Tensors and stiffnesses turned by R I R^T and T K T^T are symmetric but for their last bits."""
    rng, parted = np.random.default_rng(3), 0
    for _ in range(20):
        turn, _ = np.linalg.qr(rng.normal(size=(3, 3)))
        tensor = turn @ np.diag(moments) @ turn.T
        parted += not np.array_equal(tensor, tensor.T)
        rows = np.array(jm.RigidBody(1.0, inertia=tensor).inertia.rows(), float)
        assert np.array_equal(rows, rows.T)
        np.testing.assert_allclose(rows, tensor, rtol=0.0, atol=1e-15 * max(moments))
        arm_of_base = np.cross(np.eye(3), rng.normal(size=3))
        shift = np.block([[turn, np.zeros((3, 3))], [arm_of_base @ turn, turn]])
        stiffness = shift @ np.diag([3e8, 2e8, 5e8, 1e4, 2e4, 4e3]) @ shift.T
        parted += not np.array_equal(stiffness, stiffness.T)
        base = np.array(bent_arm().replace(base_stiffness=stiffness).base_stiffness.rows(), float)
        assert np.array_equal(base, base.T)
        np.testing.assert_allclose(base, stiffness, rtol=1e-12, atol=1e-12 * 5e8)
    assert parted >= 20
    worse = np.array([[2.0, 1e-9, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 2.0]])
    with pytest.raises(jm.ArmError, match=r"entry 1 2 is 1.*e-09 and entry 2 1 is 0"):
        jm.RigidBody(1.0, inertia=worse)


def test_moments_that_are_published_and_no_bodys_are_taken_unchecked_with_a_warning(tmp_path):
    moments = (0.060, 0.080, 0.012)
    with pytest.warns(jm.ImplausibleWarning, match="about y, 0.08 kg m.2, is greater than 0.072"):
        body = BODY(5.0, inertia=moments, inertia_check=False)
    arm = bent_arm().replace(payload=body)  # no further warning: it is an error in the tests
    heavier = jm.set_parameters(arm, {"payload.inertia.yy": 0.09})
    assert float(heavier.payload.inertia.yy) == 0.09
    assert any("no body has such a tensor" in str(found) for found in jm.check_arm(arm).remarks)
    assert arm.possible()
    path = tmp_path / "arm.toml"
    jm.write_arm(arm, path)
    assert "inertia_check = false" in path.read_text()
    with pytest.warns(jm.ImplausibleWarning, match=r"payload.inertia.yy = 0.08: no body"):
        assert jm.read_arm(path) == arm
    with pytest.raises(jm.ArmError, match="inertia_check = false"):
        jm.read_arm(_without(path, "inertia_check = false"))
    for wrong in ((0.06, -0.08, 0.012), [[1, 1.1, 0], [1.1, 1, 0], [0, 0, 1]]):
        with pytest.raises(jm.ArmError, match=r"no principal moment negative; .*is negative"):
            BODY(5.0, inertia=wrong, inertia_check=False)
    with pytest.raises(jm.ArmError, match="inertia_check"):
        BODY(5.0, inertia=moments, inertia_check="no")


def _without(path, line):
    path.write_text(path.read_text().replace(line, ""))
    return path


@pytest.mark.parametrize("seed", range(20))
def test_tensors_are_taken_as_their_principal_moments_say(seed):
    """The conditions by minors are those of the eigenvalues, near the edges too."""
    rng = np.random.default_rng(seed)
    turn, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    a, b = rng.uniform(0.1, 1.0, 2)
    edges = {"body": (a, b, a + b), "tensor": (a, b, 0.0)}
    for inside in (True, False):
        for kind, (x, y, z) in edges.items():
            z += (-1e-6 if inside else 1e-6) if kind == "body" else (1e-6 if inside else -1e-6)
            tensor = turn @ np.diag((x, y, z)) @ turn.T
            make = functools.partial(BODY, 1.0, None, tensor, kind == "body")
            if inside:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    make()
            else:
                with pytest.raises(jm.ArmError, match="principal_moments"):
                    make()


def test_a_tensor_of_a_lamina_and_of_a_rod_are_those_of_bodies():
    """The limits of what is allowed: mass in a plane, and on a line, in turned axes, as rounding leaves them."""
    rng = np.random.default_rng(3)
    for moments in ((1.0, 2.0, 3.0), (0.0, 1.0, 1.0), (0.0, 0.0, 0.0)):
        q, _ = np.linalg.qr(rng.normal(size=(3, 3)))
        tensor = q @ np.diag(moments) @ q.T
        jm.RigidBody(1.0, None, 0.5 * (tensor + tensor.T))


def test_messages_name_the_file_the_link_and_the_key(tmp_path):
    document = bent_arm().to_dict()
    document["links"][1]["hub"]["mass"] = -1.0
    path = tmp_path / "arm.json"
    path.write_text(json.dumps(document))
    with pytest.raises(jm.ArmError, match=rf"{path.name}: link2\.hub\.mass = -1\.0"):
        jm.read_arm(path)


def test_masses_and_section_values():
    arm = jm.SpatialArm(
        (bar(body=jm.RigidBody(2.0)), bar(nonstructural_mass=0.5)), jm.RigidBody(1.0)
    )
    own = 2700.0 * 0.03 * 0.012 * 0.6
    assert float(arm.total_mass) == pytest.approx(2.0 * own + 2.0 + 0.3 + 1.0, rel=1e-14)
    values = bar().section_values
    assert float(values.second_moment_z) == pytest.approx(0.012 * 0.03**3 / 12.0, rel=1e-14)
    assert float(values.second_moment_y) == pytest.approx(0.03 * 0.012**3 / 12.0, rel=1e-14)


def test_an_arm_prints_its_links():
    section = jm.rectangle(0.02, 0.03, shear_coefficient=0.85)
    material = {"youngs_modulus": 7e10, "density": 2700.0, "poisson_ratio": 0.33}
    first = jm.SpatialLink(0.4, section=section, **material)
    second = jm.SpatialLink(
        0.5, section=section, joint_axis=(0, 1, 0), joint_stiffness=2e4, **material
    )
    text = str(jm.SpatialArm((first, second), name="wrist").with_posture_deg([60.0]))
    assert "wrist: 2 links" in text
    for part in ("0.4", "rigid", "0.5", "0, 1, 0", "60°", "20000"):
        assert part in text


def test_springs_and_dampers_of_planar_joints_keep_their_directions():
    slides = {"joint_axial_stiffness": 3e4, "joint_shear_stiffness": 2e4}
    dampers = {"joint_axial_damping": 7.0, "joint_shear_damping": 9.0}
    link = jm.Link(0.5, 7e10, 2700.0, jm.circle(0.02), poisson_ratio=0.3, **slides, **dampers)
    (found,) = jm.to_spatial(jm.Arm((link,))).links
    along, across = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)
    assert [(s.kind, tuple(s.direction), s.stiffness, s.damping) for s in found.joint_springs] == [
        ("translation", along, 3e4, 7.0),
        ("translation", across, 2e4, 9.0),
    ]
