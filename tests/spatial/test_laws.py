"""What must hold for arms in space: closed forms, the planar limit, and changes of description that change nothing."""

import math

import numpy as np
import pytest
from scipy.optimize import brentq

import jaxmodal as jm
from tests.spatial.cases import bar, bent_arm, references, tube

SAME = 1e-13


def omega(arm, modes=8, theory="timoshenko"):
    """Certified frequencies in rad/s."""
    result = jm.natural_frequencies(arm, modes, theory=theory)
    return np.asarray(result.omega)


def holds_a_mode(arm, frequency, theory, modes=1):
    """Whether as many modes lie within 1e-13 of a frequency."""
    ends = frequency * (1.0 + np.array([-SAME, SAME]))
    below, above = np.asarray(jm.count_below(arm, ends, theory=theory))
    return above - below == modes


def test_cantilever_of_euler_and_bernoulli():
    """cos x cosh x = -1 in both planes, (2k - 1) pi/2 in torsion and stretching; nothing else."""
    link = bar()
    values = link.section_values
    mass, length = 2700.0 * values.area, 0.6
    found = []
    for second_moment in (values.second_moment_y, values.second_moment_z):
        for k in range(6):
            x = brentq(
                lambda x: math.cos(x) + 1.0 / math.cosh(x), k * math.pi + 1e-9, (k + 1) * math.pi, xtol=1e-15
            )  # fmt: skip
            found.append((x / length) ** 2 * math.sqrt(7e10 * second_moment / mass))
    polar = values.second_moment_y + values.second_moment_z
    twist = math.sqrt(link.shear_modulus_value * values.torsion_constant / (2700.0 * polar))
    for speed in (twist, math.sqrt(7e10 / 2700.0)):
        found += [(k - 0.5) * math.pi / length * speed for k in (1, 2, 3)]
    expected = np.sort(found)[:9]
    np.testing.assert_allclose(
        omega(jm.SpatialArm((link,)), 9, "euler_bernoulli"), expected, rtol=2e-13
    )


@pytest.mark.parametrize("theory", ["timoshenko", "rayleigh", "euler_bernoulli"])
def test_torsion_with_a_disc_and_stretching_with_a_mass(theory):
    """x tan x is the inertia of the bar over that of the body at its tip."""
    link, body = tube(), jm.RigidBody(3.0, inertia=(0.02, 0.015, 0.015))
    arm = jm.SpatialArm((link,), body)
    values = link.section_values
    polar = 2700.0 * (values.second_moment_y + values.second_moment_z)
    rod = ((polar, link.shear_modulus_value * values.torsion_constant, 0.02),)
    rod += ((2700.0 * values.area, 7e10 * values.area, 3.0),)
    for per_length, rigidity, carried in rod:
        for k in range(3):
            x = brentq(
                lambda x, r=per_length * 0.6 / carried: x * math.sin(x) - r * math.cos(x),
                k * math.pi, (k + 0.5) * math.pi, xtol=1e-15,
            )  # fmt: skip
            assert holds_a_mode(arm, x / 0.6 * math.sqrt(rigidity / per_length), theory)


def test_frame_of_argyris():
    """Legs of 240 mm, 3 x 30 mm, that swing out of their plane; printed are 11.2732 and 30.5269 Hz.

    J. H. Argyris et al., Comput. Methods Appl. Mech. Eng. 17/18 (1979). The exact values are those of a theory with
    rotary inertia and without shear.
    """
    section = jm.rectangle(0.03, 0.003)
    leg = jm.SpatialLink(0.24, 71240e6, 5000.0, section, poisson_ratio=0.31)
    frame = jm.SpatialArm((leg, leg)).with_posture([math.pi / 2.0])
    hertz = omega(frame, 2, "rayleigh") / (2.0 * math.pi)
    np.testing.assert_allclose(hertz, [11.28239, 30.70923], rtol=0.0, atol=5e-6)


def planar_arm():
    """Every feature that a planar arm may have, all in the plane."""
    common = {"youngs_modulus": 7e10, "density": 2700.0, "poisson_ratio": 0.3}
    box = jm.hollow_rectangle(0.06, 0.04, 0.003, "cowper")
    return jm.Arm(
        (
            jm.Link(0.8, section=box, tip_mass=1.0, tip_inertia=0.01, tip_centre_x=0.02, **common),
            jm.Link(0.6, section=jm.rectangle(0.03, 0.05, "5/6"), joint_angle=0.7, joint_stiffness=3e4,
                    joint_axial_stiffness=5e7, joint_shear_stiffness=3e7, hub_mass=0.4, hub_inertia=2e-3,
                    stator_mass=0.3, stator_inertia=1e-3, rotor_inertia=2e-4, gear_ratio=50.0, motor="beyond_spring",
                    base_offset_y=0.04, thickness_factor=1.2, **common),
            jm.Link(0.5, section=jm.hollow_circle(0.05, 0.004, 0.55), joint_angle=-1.4, end_offset_x=0.05,
                    nonstructural_mass=0.7, **common),
        ),
        jm.Payload(2.0, 0.02, centre_x=0.03, centre_y=-0.02),
    )  # fmt: skip


@pytest.mark.parametrize("theory", ["timoshenko", "rayleigh", "euler_bernoulli", "bending_only"])
def test_planar_arm_in_space_has_the_planar_modes(theory):
    """And for every count of the planar engine that in space is greater by the modes out of the plane."""
    arm = planar_arm()
    in_plane, all_modes = omega(arm, 12, theory), omega(jm.to_spatial(arm), 20, theory)
    nearest = np.array([np.argmin(np.abs(all_modes - w)) for w in in_plane])
    inside = in_plane < all_modes[-1]
    np.testing.assert_allclose(all_modes[nearest[inside]], in_plane[inside], rtol=SAME)
    assert len(set(nearest[inside])) == np.sum(inside) >= 5
    out_of_plane = np.delete(all_modes, nearest[inside])
    between = 0.5 * (all_modes[1:-1] + all_modes[2:])
    below = [
        np.asarray(jm.count_below(x, between, theory=theory)) for x in (arm, jm.to_spatial(arm))
    ]
    np.testing.assert_array_equal(below[1] - below[0], np.searchsorted(out_of_plane, between))


def test_arm_in_space_is_itself_in_space():
    arm = jm.to_spatial(planar_arm())
    assert jm.to_spatial(arm) is arm
    assert jm.to_spatial(arm, {}) is arm
    with pytest.raises(jm.ArmError, match=r"sections = .*: the links .* already have"):
        jm.to_spatial(arm, {1: jm.circle(0.01)})


def test_reference_case_of_the_planar_limit_is_the_planar_arm():
    case = references()["S14"]
    links, place = [], np.array(case.entry["in_plane_indices"]) - 1
    for link in case.document["links"]:
        body = link["body"]
        assert not any(body["centre"])
        links.append(
            jm.Link(
                link["length"], link["youngs_modulus"], link["density"],
                jm.raw_section(link["area"], link["second_moment_z"], link["shear_coefficient_y"]),
                shear_modulus=link["shear_modulus"], joint_angle=link["joint"]["angle"],
                joint_stiffness=link["joint"]["stiffness"], tip_mass=body["mass"],
                tip_inertia=body["inertia"][2][2],
            )
        )  # fmt: skip
    carried = case.document["payload"]
    arm = jm.Arm(
        tuple(links), jm.Payload(carried["mass"], carried["inertia"][2][2], *carried["centre"][:2])
    )
    np.testing.assert_allclose(omega(arm, len(place), case.theory), case.omega[place], rtol=SAME)
    with pytest.raises(jm.ArmError, match=r"link1\.section: .*spatial_section"):
        jm.to_spatial(arm)
    sections = {
        number: jm.spatial_section(*(link[key] for key in SECTION))
        for number, link in enumerate(case.document["links"], start=1)
    }
    assert omega(jm.to_spatial(arm, sections), 1)[0] > 0.0


SECTION = (
    *("area", "second_moment_y", "second_moment_z", "torsion_constant"),
    *("shear_coefficient_y", "shear_coefficient_z"),
)


def test_turning_the_whole_arm_changes_nothing():
    arm, turn = bent_arm(), jm.Rotation((1.0, -2.0, 0.5), 0.8)
    first = arm.links[0].replace(joint_axis=(0.3, 1.0, 0.2), joint_angle=0.4)
    arm = arm.replace(links=(first, *arm.links[1:]))
    n = np.array([1.0, -2.0, 0.5]) / np.linalg.norm([1.0, -2.0, 0.5])
    axis = np.array([0.3, 1.0, 0.2])
    turned = (
        math.cos(0.8) * axis
        + math.sin(0.8) * np.cross(n, axis)
        + (1.0 - math.cos(0.8)) * (n @ axis) * n
    )
    other = first.replace(joint_axis=turned, joint_frame=(turn,))
    np.testing.assert_allclose(
        omega(arm.replace(links=(other, *arm.links[1:]))), omega(arm), rtol=SAME
    )


def test_turning_a_section_by_a_right_angle_exchanges_its_sides():
    arm = bent_arm()
    last = arm.links[2]
    other = last.replace(
        section=jm.rectangle(last.section.width, last.section.depth, "cowper"),
        section_roll=last.section_roll + math.pi / 2.0,
    )
    np.testing.assert_allclose(
        omega(arm.replace(links=(*arm.links[:2], other))), omega(arm), rtol=SAME
    )


def test_a_roll_is_a_turn_of_the_frame_that_the_next_joint_undoes():
    arm, angle = bent_arm(), 0.6
    section = jm.rectangle(0.05, 0.02, "cowper")
    plain = tube(section=section, joint_angle=0.5, joint_axis=(0.0, 1.0, 0.0))
    last = arm.links[2].replace(joint_axis=(0.4, 0.1, 1.0))
    rolled = (arm.links[0], plain.replace(section_roll=angle), last)
    roll = jm.Rotation((1.0, 0.0, 0.0), angle)
    axis = np.array([0.4, 0.1, 1.0])
    c, s = math.cos(-angle), math.sin(-angle)
    back = np.array([[1, 0, 0], [0, c, -s], [0, s, c]])
    turned = last.replace(
        joint_axis=back @ axis,
        joint_frame=(jm.Rotation((1.0, 0.0, 0.0), -angle), *last.joint_frame),
    )
    framed = (arm.links[0], plain.replace(joint_frame=(roll,)), turned)
    np.testing.assert_allclose(
        omega(arm.replace(links=rolled)), omega(arm.replace(links=framed)), rtol=SAME
    )


def test_splitting_a_link_changes_nothing():
    arm = bent_arm()
    whole = arm.links[1]
    inner = whole.replace(length=0.25, end_offset=None)
    outer = tube(length=0.35, end_offset=tuple(whole.end_offset))
    split = arm.replace(links=(arm.links[0], inner, outer, arm.links[2]))
    np.testing.assert_allclose(omega(split), omega(arm), rtol=SAME)


def test_a_body_along_a_link_is_the_body_at_the_tip_of_its_part():
    """One of no mass changes nothing, and any other is that of two links written by hand."""
    arm = bent_arm()
    np.testing.assert_allclose(omega(arm.with_body(2, 0.2, jm.RigidBody())), omega(arm), rtol=SAME)
    body = jm.RigidBody(0.8, (0.01, 0.03, -0.02), (2e-3, 3e-3, 4e-3))
    loaded = arm.with_body(3, 0.15, body)
    assert [float(link.length) for link in loaded.links[2:]] == [0.15, 0.25]
    last = arm.links[2]
    first = last.replace(length=0.15, body=body)
    rest = bar(length=0.25, section_roll=0.35, nonstructural_mass=0.3)
    by_hand = arm.replace(links=(*arm.links[:2], first, rest))
    np.testing.assert_allclose(omega(loaded), omega(by_hand), rtol=SAME)
    with pytest.raises(jm.ArmError, match=r"position = 0\.6: must be greater than 0 and less"):
        arm.with_body(2, 0.6, body)
    with pytest.raises(jm.ArmError, match="link = 4: must be the number of a link, 1 to 3"):
        arm.with_body(4, 0.1, body)
    with pytest.raises(jm.ArmError, match=r"body = 2\.0: must be a RigidBody"):
        arm.with_body(1, 0.1, 2.0)


def test_a_tapered_link_is_in_each_plane_that_of_a_planar_arm():
    """Bending in both planes of a bar whose depth shrinks, with a body that turns about no axis."""
    base, tip = (jm.rectangle(depth, 0.012, 0.85) for depth in (0.03, 0.02))
    arm = jm.SpatialArm((bar(section=base, body=jm.RigidBody(0.5)),)).with_taper(1, tip, 5)
    assert [float(link.body is not None) for link in arm.links] == [0, 0, 0, 0, 1]
    assert all(float(link.joint_angle) == 0.0 for link in arm.links)
    planar = []
    for first, last in (((0.03, 0.012), (0.02, 0.012)), ((0.012, 0.03), (0.012, 0.02))):
        link = jm.Link(0.6, 7e10, 2700.0, jm.rectangle(*first, 0.85), poisson_ratio=0.33)
        links = jm.tapered(link.replace(tip_mass=0.5), jm.rectangle(*last, 0.85), 5)
        planar.append(np.asarray(jm.natural_frequencies(jm.Arm(links), 2).omega))
    found = omega(arm, 8)
    for value in np.concatenate(planar):
        assert np.min(np.abs(found / value - 1.0)) < SAME, value


def test_tapers_that_are_none_are_refused():
    arm = jm.SpatialArm((tube(),))
    with pytest.raises(jm.ArmError, match=r"link1\.tip_section.*shape of the section at the base"):
        arm.with_taper(1, jm.rectangle(0.03, 0.02, "cowper"))
    with pytest.raises(jm.ArmError, match="link = 2: must be the number of a link, 1 to 1"):
        arm.with_taper(2, jm.hollow_circle(0.05, 0.004, "cowper"))
    with pytest.raises(jm.ArmError, match=r"link1\.pieces = 0"):
        arm.with_taper(1, jm.hollow_circle(0.05, 0.004, "cowper"), 0)
    constant = jm.SpatialArm((tube(torsion_constant=1e-7),))
    with pytest.raises(jm.ArmError, match=r"link1\.torsion_constant.*leave it out"):
        constant.with_taper(1, jm.hollow_circle(0.05, 0.004, "cowper"))
    plain = jm.spatial_section(1e-3, 1e-6, 1e-6, 2e-6, 0.85, 0.85)
    with pytest.raises(jm.ArmError, match=r"link1\.section.*no dimensions"):
        jm.SpatialArm((tube(section=plain),)).with_taper(1, plain)


def test_what_cuts_planar_links_names_what_cuts_those_in_space():
    """In a document, and the function of planar links."""
    section = {"shape": "circle", "diameter": 0.03, "shear_coefficient": "cowper"}
    link = {"length": 1.0, "youngs_modulus": 7e10, "density": 2700.0, "poisson_ratio": 0.3}
    for key, remedy in (("taper", "with_taper"), ("bodies", "with_body")):
        document = {"dimensions": 3, "links": [link | {"section": section, key: []}]}
        with pytest.raises(jm.ArmError, match=rf"link1.*'{key}'.*planar links.*{remedy}"):
            jm.arm_from_dict(document)


def test_mirrored_arm_has_the_same_frequencies():
    """By the x-z plane: vectors lose the sign of y, axes of turns those of x and z."""

    def mirrored(body):
        if body is None:
            return None
        x, y, z = body.centre if body.centre is not None else (0.0, 0.0, 0.0)
        i = body.inertia
        return jm.RigidBody(
            body.mass, (x, -y, z), i if i is None else i.replace(xy=-i.xy, yz=-i.yz)
        )

    def vector(x, y, z):
        return x, -y, z

    def axis(x, y, z):
        return -x, y, -z

    arm = bent_arm()
    links = [
        link.replace(
            joint_axis=axis(*link.joint_axis),
            joint_frame=tuple(jm.Rotation(axis(*t.axis), t.angle) for t in link.joint_frame),
            joint_springs=tuple(
                jm.Spring(
                    s.kind, (vector if s.kind == "translation" else axis)(*s.direction), s.stiffness
                )
                for s in link.joint_springs
            ),
            section_roll=None if link.section_roll is None else -link.section_roll,
            **{name: mirrored(getattr(link, name)) for name in ("hub", "stator", "body")},
            **{
                name: None if getattr(link, name) is None else vector(*getattr(link, name))
                for name in ("base_offset", "end_offset")
            },
        )
        for link in arm.links
    ]
    other = arm.replace(links=tuple(links), payload=mirrored(arm.payload))
    np.testing.assert_allclose(omega(other), omega(arm), rtol=SAME)


def test_rigid_links_and_free_springs():
    """A stiff link tends to a rigid one; a free spring adds a mode of frequency zero, certified, at the head."""
    arm = bent_arm()
    rigid = arm.replace(links=(arm.links[0], arm.links[1].replace(rigid=True), arm.links[2]))
    stiff = jm.set_parameters(
        arm, {"link2.youngs_modulus": 7e10 * 1e7, "link2.poisson_ratio": 0.33}
    )
    np.testing.assert_allclose(omega(stiff), omega(rigid), rtol=1e-5)
    free = jm.set_parameters(
        arm, {"link1.joint_stiffness": 0.0, "link2.joint_spring2.stiffness": 0.0}
    )
    result = jm.natural_frequencies(free, 4)
    found = np.asarray(result.omega)
    np.testing.assert_array_equal(found[:2], 0.0)
    assert found[2] > 0.0
    np.testing.assert_array_equal(np.asarray(result.multiplicity)[:2], 2)


def test_an_elastic_base_is_the_springs_of_joint_1():
    """Those lie in the axes of link 1; the stiffness of the base in those of the ground."""
    values = np.array([3e6, 2e6, 5e6, 4e4, 6e4, 3e4])
    kinds = ["translation"] * 3 + ["rotation"] * 3
    springs = tuple(
        jm.Spring(kind, np.eye(3)[k % 3], value)
        for k, (kind, value) in enumerate(zip(kinds, values, strict=True))
    )
    arm = bent_arm()
    first = arm.links[0].replace(joint_stiffness=math.inf)
    for angle in (0.0, 0.8):
        turned = first.replace(joint_axis=(0.0, 0.6, 0.8), joint_angle=angle)
        by_springs = arm.replace(links=(turned.replace(joint_springs=springs), *arm.links[1:]))
        k = np.array([[0.0, -0.8, 0.6], [0.8, 0.0, 0.0], [-0.6, 0.0, 0.0]])
        rotation = np.eye(3) + math.sin(angle) * k + (1.0 - math.cos(angle)) * k @ k
        both = np.kron(np.eye(2), rotation)
        stiffness = both @ np.diag(values) @ both.T
        base = 0.5 * (stiffness + stiffness.T)
        by_base = arm.replace(links=(turned, *arm.links[1:]), base_stiffness=base)
        np.testing.assert_allclose(omega(by_base), omega(by_springs), rtol=1e-12)


def test_an_arm_of_rigid_links_has_as_many_modes_as_springs():
    """A body on a spring about an axis: omega^2 = k/(I + m r^2), and no other mode."""
    plain = jm.hollow_circle(0.08, 0.004)
    link = tube(
        rigid=True,
        section=plain,
        poisson_ratio=None,
        density=1e-9,
        joint_stiffness=250.0,
        joint_axis=(0.0, 1.0, 0.0),
    )
    arm = jm.SpatialArm((link,), jm.RigidBody(2.0, (0.0, 0.0, 0.1), (0.01, 0.02, 0.02)))
    inertia = 0.02 + 2.0 * (0.6**2 + 0.1**2)
    np.testing.assert_allclose(omega(arm, 1), math.sqrt(250.0 / inertia), rtol=1e-9)
    second = jm.natural_frequencies(arm, 2, throw=False)
    assert np.isnan(np.asarray(second.omega)[1])


@pytest.mark.parametrize("theory", ["timoshenko", "euler_bernoulli", "bending_only"])
def test_arms_that_float_free(theory):
    """Six zeros for six directions; a free beam has the roots of cosh x cos x = 1; beside soft springs the limit."""
    free = [jm.Spring(kind, e, 0.0) for kind in ("translation", "rotation") for e in np.eye(3)]
    beam = jm.SpatialArm((tube(joint_springs=free),))
    found = jm.natural_frequencies(beam, 10, theory=theory)
    assert found.certified.all()
    assert not np.asarray(found.omega[:6]).any()
    if theory == "euler_bernoulli":
        values = beam.links[0].section_values
        rate = np.sqrt(7e10 * values.second_moment_z / (2700.0 * values.area)) / 0.6**2
        np.testing.assert_allclose(
            found.omega[6:8], 4.730040744862704**2 * rate, rtol=1e-12, atol=0
        )
    hub = jm.RigidBody(5.0, (0.05, 0.02, -0.03), (0.2, 0.3, 0.4))
    bent = jm.SpatialArm(
        (tube(joint_springs=free, hub=hub), bar(joint_axis=(0, 1, 0), joint_angle=0.8))
    )
    soft = bent.replace(
        links=(
            bent.links[0].replace(joint_springs=[x.replace(stiffness=1e-4) for x in free]),
            bent.links[1],
        )
    )
    six, near = (
        np.asarray(jm.natural_frequencies(x, 9, theory=theory).omega) for x in (bent, soft)
    )
    assert not six[:6].any()
    assert np.all(near[:6] < 0.1)
    np.testing.assert_allclose(near[6:], six[6:], rtol=1e-8, atol=0)
