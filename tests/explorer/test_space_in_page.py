"""The solver in the page for arms in space against the library: frequencies, certificates, shapes, values set."""

import math

import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.spatial.parts.springs import Support
from sweeps.explorer.solver import arm_json
from sweeps.explorer.solver.spatial_programs import PIECES, values_of
from sweeps.explorer.solver.tapes import number
from tests.explorer.page_arms import case, needs_node, solved_in_page
from tests.spatial.random_arms import THEORIES, random_arm

MODES = 8
ALUMINIUM = {"youngs_modulus": 7e10, "density": 2700.0, "poisson_ratio": 0.33}
TUBE = jm.hollow_circle(0.09, 0.003, "cowper")
BAR = jm.SpatialLink(0.6, section=TUBE, joint_axis=(0, 1, 0), **ALUMINIUM)
BOX = BAR.replace(section=jm.hollow_rectangle(0.08, 0.05, 0.003, "cowper"))
BACK = BOX.replace(joint_angle=math.pi)
SIX = jm.examples.six_axis_industrial()


def random_in_space(seed):
    """An arm of the reference's kind; every third on an elastic base, every fourth with a motor that is held."""
    rng = np.random.default_rng([seed, 4343])
    document, _ = random_arm(seed, 4)
    if seed % 4 == 1:
        for link in document["links"]:
            link["joint"] = {k: "held" if k == "motor" else x for k, x in link["joint"].items()}
    arm = jm.arm_from_dict(document)
    if seed % 3 == 1:
        root = rng.normal(size=(6, 6)) * 10.0 ** rng.uniform(2, 4, 6)
        arm = arm.replace(base_stiffness=root @ root.T + np.diag(np.diag(root @ root.T)))
    return arm


def sliding():
    """A turning column, a slide with a drive that gives, a turning arm."""
    slide = BAR.replace(
        joint_axis=(0, 0, 1),
        prismatic=True,
        base_offset=(0.2, 0.0, 0.03),
        joint_springs=(
            jm.Spring("translation", (1, 0, 0), 2e6),
            jm.Spring("rotation", (0, 1, 0), 5e4),
        ),
    )
    return jm.SpatialArm((BAR.replace(joint_stiffness=3e4), slide, BAR), jm.RigidBody(2.0))


def supported(arm, supports):
    """An arm with springs to the ground at tips of links, by their numbers."""
    links = [
        link.replace(supports=tuple(Support(*x) for x in supports.get(k, ())))
        for k, link in enumerate(arm.links, start=1)
    ]
    return arm.replace(links=tuple(links))


#: rigid links on springs, which have as many modes as springs; poles that coincide; extreme springs and masses; slides
HARD = {
    "rigid": jm.SpatialArm(
        (BAR.replace(rigid=True, joint_stiffness=2e4, joint_axis=(0, 0, 1)),) * 2
        + (BAR.replace(rigid=True, joint_stiffness=1e4),),
        jm.RigidBody(3.0, (0.1, 0.0, 0.0), (0.01, 0.02, 0.02)),
    ),
    "folded": jm.SpatialArm((BOX, BACK, BACK)),
    "double": jm.SpatialArm((BAR,)),
    "springs": jm.SpatialArm((BAR.replace(joint_stiffness=1e15), BAR.replace(joint_stiffness=1e-6))),
    "free": jm.SpatialArm((BAR.replace(joint_stiffness=0.0), BAR.replace(joint_stiffness=0.0, joint_angle=0.4))),
    "heavy": jm.SpatialArm((BAR, BAR.replace(joint_angle=0.7)), jm.RigidBody(1e6, (0, 0, 0), (1e4,) * 3)),
    "sliding": sliding(),
    "supported": supported(SIX, {6: [("translation", (1, 0.3, 1), 1e9), ("rotation", (0, 1, 0), 1e5)],
                                 3: [("translation", (0, 0, 1), 3e5)]}),
    "pressed": supported(jm.SpatialArm(
        (BAR.replace(axial_force=2e4, joint_stiffness=1e4), BOX.replace(axial_force=-1e4, joint_angle=0.7)),
        jm.RigidBody(2.0),
    ), {2: [("translation", (0, 0, 1), 1e5)]}),
    "segments": SIX.with_body(2, 0.3, jm.RigidBody(1.5)).with_taper(5, jm.hollow_circle(0.1, 0.005, "cowper"), 3),
    "six axes": SIX,
}  # fmt: skip


def same_as_library(tmp_path, arms, theories, shape_error=1e-7, under_loads=False):
    """Solve all in the page and compare; as many modes as there are."""
    truths, cases = [], []
    for arm, theory in zip(arms, theories, strict=True):
        shapes = jm.mode_shapes(arm, MODES, theory=theory, stations=PIECES + 1, throw=False)
        found = shapes.frequencies
        omega = np.asarray(found.omega)
        above = np.flatnonzero(omega > 0.0)
        probes = np.append(omega[above] * (1.0 + 1e-7), [0.5 * omega[above[0]]])
        counts = np.asarray(jm.count_below(arm, probes, theory=theory)).tolist()
        truths.append((found, counts, above, shapes))
        more = {"below": probes.tolist(), "shapes": above.tolist(), "modes": MODES}
        cases.append(case(arm, theory, **more))
    for k, (truth, got) in enumerate(
        zip(truths, solved_in_page(tmp_path, cases, True, under_loads), strict=True)
    ):
        found, counts, above, shapes = truth
        assert "error" not in got, (k, got)
        there = np.isfinite(np.asarray(found.omega))
        np.testing.assert_allclose(
            got["omega"], np.asarray(found.omega)[there], rtol=1e-10, atol=0.0, err_msg=str(k)
        )
        assert got["counts"] == counts, k
        assert got["certified"] == np.asarray(found.certified)[there].astype(int).tolist(), k
        for mode, links in zip(above, got["shapes"], strict=True):
            near = np.abs(np.asarray(found.omega)[there] / found.omega[mode] - 1.0) < 1e-9
            if found.multiplicity[mode] > 1 or np.sum(near) > 1:
                continue  # any motion of the pair is a mode
            compare_shape(links, shapes, mode, shape_error, (k, mode))


def compare_shape(links, shapes, mode, error, where):
    """Displacements and rotations at the points of all links, of rigid ones at both ends."""
    ends = [[0, -1] if len(link["at"]) == 2 else slice(None) for link in links]
    mine, true = [], []
    for k, (link, at) in enumerate(zip(links, ends, strict=True)):
        np.testing.assert_allclose(link["at"], shapes.position[k, at], rtol=0.0, atol=1e-13)
        mine.append(np.concatenate([link["moved"], link["turned"]], axis=1))
        known = shapes.displacement[mode, k, at], shapes.rotation[mode, k, at]
        true.append(np.concatenate(known, axis=1))
    mine, true = np.concatenate(mine), np.concatenate(true)
    share = np.sum(mine * true) / np.sum(true**2)
    assert np.max(np.abs(mine - share * true)) < error * max(1.0, np.max(np.abs(mine))), where


@needs_node
@pytest.mark.parametrize("first", [0, pytest.param(8, marks=pytest.mark.slow)])
def test_random_arms(tmp_path, first):
    """Joints about any axes with springs in further directions, rotors, bodies, rigid links, offsets, elastic bases."""
    seeds = range(first, 8 if first == 0 else 80)
    same_as_library(tmp_path, map(random_in_space, seeds), [THEORIES[seed % 4] for seed in seeds])


@needs_node
@pytest.mark.parametrize("name", HARD)
def test_hard_arms(tmp_path, name):
    same_as_library(tmp_path, [HARD[name]], ["timoshenko"])


@needs_node
def test_values_are_set(tmp_path):
    """Postures, springs and the payload: the arm is that of the library with these values, not one near it."""
    sets = [
        {"link2.joint_angle": -1.1, "link4.joint_angle": 2.9, "payload.mass": 5.0},
        {
            "link1.joint_angle": 0.3,
            "link6.joint_stiffness": 1e4,
            "link4.joint_spring1.stiffness": 1e7,
        },
        {"link3.joint_stiffness": math.inf, "link5.joint_angle": -math.pi, "payload.mass": 0.0},
    ]
    truths = [jm.natural_frequencies(jm.set_parameters(SIX, x), MODES) for x in sets]
    cases = [case(SIX, set=[[k, number(x)] for k, x in values.items()]) for values in sets]
    for got, truth in zip(solved_in_page(tmp_path, cases, True), truths, strict=True):
        np.testing.assert_allclose(got["omega"], truth.omega, rtol=1e-12, atol=0.0)
        assert all(got["certified"])


def with_other_sizes(arm, seed):
    """Other lengths, sections, materials and bodies of an arm, each a little, together with another posture."""
    rng, values = np.random.default_rng([seed, 77]), {}
    for name in values_of(arm):
        field, value = name.rpartition(".")[2], float(jm.get_parameter(arm, name))
        if name.startswith("base_stiffness"):  # together, so that it stays that of a base
            values[name] = 1.7 * value
        elif field in ("joint_angle", "x"):
            values[name] = value + rng.uniform(-0.3, 0.3)
        elif "poisson" in field or "section." in name or field == "torsion_constant":
            values[name] = value * rng.uniform(0.97, 1.0)
        elif ".inertia." in name:  # together, so that it stays that of a body
            values[name] = value * (1.3 + 0.1 * (seed % 5))
        elif not field.endswith("stiffness"):
            values[name] = value * rng.uniform(0.5, 2.0)
    return values


@needs_node
@pytest.mark.parametrize("seeds", [range(6), pytest.param(range(6, 36), marks=pytest.mark.slow)])
def test_other_lengths_sections_and_bodies(tmp_path, seeds):
    """The arm is that of the library with these values, whose counts say the same."""
    arms = [random_in_space(seed) for seed in seeds]
    sets = [with_other_sizes(arm, seed) for arm, seed in zip(arms, seeds, strict=True)]
    cases = [
        case(arm, THEORIES[seed % 4], set=[[k, number(x)] for k, x in values.items()])
        for arm, seed, values in zip(arms, seeds, sets, strict=True)
    ]
    found = solved_in_page(tmp_path, cases, True)
    for seed, arm, values, got in zip(seeds, arms, sets, found, strict=True):
        other = jm.set_parameters(arm, values)
        truth = jm.natural_frequencies(other, MODES, theory=THEORIES[seed % 4], throw=False)
        there = np.isfinite(np.asarray(truth.omega))
        np.testing.assert_allclose(
            got["omega"], np.asarray(truth.omega)[there], rtol=1e-10, atol=0.0, err_msg=str(seed)
        )
        assert got["certified"] == np.asarray(truth.certified)[there].astype(int).tolist(), seed


@needs_node
def test_forces_at_rest_and_supports_are_set(tmp_path):
    """Of a link in compression, too, until it buckles."""
    arm = HARD["pressed"]
    sets = [
        {"link2.axial_force": 5e3, "link1.length": 0.7, "link2.support1.stiffness": 3e4},
        {"link1.axial_force": -3e6},
    ]
    cases = [case(arm, set=[[name, x] for name, x in values.items()]) for values in sets]
    found, beyond = solved_in_page(tmp_path, cases, True)
    truth = jm.natural_frequencies(jm.set_parameters(arm, sets[0]), MODES)
    np.testing.assert_allclose(found["omega"], truth.omega, rtol=1e-10, atol=0.0)
    assert "buckle" in beyond["error"]


@needs_node
def test_a_thicker_link_is_folded_as_exactly(tmp_path):
    """Where the formulas of links lose their digits those of their parts are used, at the lengths that were set."""
    arm = HARD["folded"]
    values = {f"link{k}.length": 0.45 for k in (1, 2, 3)} | {"link2.section.depth": 0.0805}
    given = [[name, str(value)] for name, value in values.items()]
    (found,) = solved_in_page(tmp_path, [case(arm, set=given, shapes=[0])], True)
    other = jm.set_parameters(arm, values)
    truth = jm.natural_frequencies(other, MODES)
    np.testing.assert_allclose(found["omega"], truth.omega, rtol=1e-10, atol=0.0)
    assert found["certified"] == np.asarray(truth.certified).astype(int).tolist()
    shapes = jm.mode_shapes(other, 1, stations=PIECES + 1)
    compare_shape(found["shapes"][0], shapes, 0, 1e-7, "folded")


@needs_node
def test_every_kind_of_section_can_be_set(tmp_path):
    """Solid rectangles, whose torsion constant is a sum of exponentials, and sections known by their values, too."""
    solid = BAR.replace(section=jm.rectangle(0.05, 0.03, "cowper"))
    plain = BAR.replace(section=jm.spatial_section(1e-3, 2e-7, 3e-7, 4e-7, 0.8, 0.8))
    rod = BAR.replace(section=jm.circle(0.04, "cowper"))
    arm = jm.SpatialArm((solid, plain, rod, BAR.replace(rigid=True)))
    values = {
        "link1.section.width": 0.06,
        "link2.section.torsion_constant": 3e-7,
        "link3.section.diameter": 0.05,
    }
    case_of = case(arm, set=[[name, str(value)] for name, value in values.items()])
    (found,) = solved_in_page(tmp_path, [case_of], True)
    truth = jm.natural_frequencies(jm.set_parameters(arm, values), MODES)
    np.testing.assert_allclose(found["omega"], truth.omega, rtol=1e-10, atol=0.0)
    assert all(found["certified"])
    assert {"link4.length", "link4.section.outer_diameter"} & set(values_of(arm)) == {
        "link4.length"
    }


@needs_node
def test_offsets_mounts_and_rigid_lengths_are_set(tmp_path):
    """Bodies off the axis at both ends, a rotor, and a spring across the joint go with them; ports see the new tip."""
    column = BAR.replace(
        rigid=True,
        joint_axis=(0, 0, 1),
        joint_stiffness=4e4,
        joint_frame=(jm.Rotation((0.2, 1, 0), -1.2),),
        joint_springs=(jm.Spring("rotation", (0, 1, 0.3), 6e4),),
        base_offset=(0.0, 0.02, 0.1),
        end_offset=(0.03, 0.0, 0.0),
        hub=jm.RigidBody(4.0, (0.1, 0.0, 0.05), (0.05,) * 3),
        body=jm.RigidBody(3.0),
    )
    boom = BAR.replace(base_offset=(0.0, 0.1, 0.0), end_offset=(0.0, 0.0, 0.1), joint_stiffness=2e4)
    arm = jm.SpatialArm((column, boom.replace(stator=jm.RigidBody(1.0, (0.1, 0, 0))), BAR))
    values = {
        "link1.length": 0.45,
        "link1.joint_frame1.angle": -0.4,
        "link2.joint_angle": 0.7,
        "link1.base_offset.z": -0.1,
        "link1.end_offset.y": 0.2,
        "link1.hub.centre.y": 0.1,
        "link2.base_offset.y": -0.05,
        "link2.end_offset.z": 0.15,
        "payload.mass": 2.0,
    }
    given = [[name, str(x)] for name, x in values.items()]
    omega, inside, tip = (
        [70.0],
        *({"link": 0, "direction": "y"} | more for more in ({"station": 0.5}, {"direction": "z"})),
    )
    cases = [
        case(arm, set=given, ports=[[omega, x, x] for x in (inside, tip)], shapes=[0]),
        case(arm, set=[["link1.length", "-0.1"]]),
    ]
    found, refused = solved_in_page(tmp_path, cases, True)
    other = jm.set_parameters(arm, values)
    truth = jm.natural_frequencies(other, MODES)
    np.testing.assert_allclose(found["omega"], truth.omega, rtol=1e-10, atol=0.0)
    assert all(found["certified"])
    compare_shape(
        found["shapes"][0], jm.mode_shapes(other, 1, stations=PIECES + 1), 0, 1e-7, "moved"
    )
    names = "link_1@0.5.y", "tip_1.z"
    true = [jm.frequency_response(other, np.array(omega), x, x).magnitude.item() for x in names]
    np.testing.assert_allclose(np.ravel(found["answers"]), true, rtol=1e-8, atol=0.0)
    assert "link1.length = -0.1: no arm can have this value" in refused["error"]


@needs_node
def test_slides_are_set(tmp_path):
    arm = sliding()
    moved = {"link2.base_offset.x": 0.47, "link1.joint_angle": 0.8}
    truth = jm.natural_frequencies(jm.set_parameters(arm, moved), MODES)
    given = [[name, str(value)] for name, value in moved.items()]
    (found,) = solved_in_page(tmp_path, [case(arm, set=given)], True)
    np.testing.assert_allclose(found["omega"], truth.omega, rtol=1e-12, atol=0.0)
    assert "link2.joint_angle" not in values_of(arm)


def test_segments_have_nothing_to_set():
    arm = HARD["segments"]
    positions = [name for name in values_of(arm) if name.endswith("joint_angle")]
    assert positions == [f"link{k}.joint_angle" for k in arm.joints]
    assert len(positions) == 6


@needs_node
def test_what_the_page_refuses(tmp_path):
    wrong = {
        "link1.joint_axis.x": ("0.5", "link1.joint_axis.x is no value that can be moved"),
        "link3.length": ("-0.5", "link3.length = -0.5: no arm can have this value"),
        "link3.section.wall_thickness": ("1", "no arm can have this value"),
        "link2.body.mass": ("-1", "link2.body.mass = -1: must be 0 or more"),
        "payload.mass": ("-1", "payload.mass = -1: must be 0 or more"),
        "link2.body.inertia.xx": ("5", "link2.body.inertia.xx = 5: no arm can have this value"),
        "link2.joint_stiffness": ("-2", "0 or more, Infinity for a rigid one"),
        "link2.joint_angle": ("Infinity", "must be finite"),
        "link3.joint_angle": ("NaN", "must be a number"),
    }
    text = arm_json(SIX)
    cases = [
        {"arm": text, "modes": 1, "set": [[name, value]]} for name, (value, _) in wrong.items()
    ]
    cases.append({"arm": arm_json(jm.examples.two_link_flexible()), "modes": 1})
    told = [found["error"] for found in solved_in_page(tmp_path, cases, True)]
    for message, part in zip(told, (*(x for _, x in wrong.values()), "in the format"), strict=True):
        assert part in message
