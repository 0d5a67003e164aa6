"""The solver in the page against the library: frequencies, counts, certificates, shapes, values set, refusals."""

import math

import jax.numpy as jnp
import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.runtime.errors import ArmError
from sweeps.explorer.solver import arm_json
from sweeps.explorer.solver.tapes import tape_of_function
from tests.explorer.page_arms import THEORIES, case, needs_node, random_arm, solved_in_page
from tests.support.compiled_programs import names_of_programs
from tests.support.real_arms import steel

MODES, STATIONS = 8, 6
BAR = steel(length=0.5)
BACK = BAR.replace(joint_angle=math.pi)
HELD = dict.fromkeys(
    ("support_x_stiffness", "support_y_stiffness", "support_torsional_stiffness"), math.inf
)
#: poles that coincide, a double root, extreme bodies and springs, many links, free joints, links beyond a rigid support
HARD = {
    "folded": jm.Arm((BAR, BACK, BACK)),
    "double root": jm.examples.three_link_industrial().with_posture(
        np.deg2rad([-155.009952919027194, -64.1983428536445678])
    ),
    "heavy": jm.Arm((BAR, BAR.replace(joint_angle=0.3)), jm.Payload(1e8, 1e6)),
    "springs": jm.Arm((BAR.replace(joint_stiffness=1e15), BAR.replace(joint_stiffness=1e-6))),
    "twelve": jm.Arm(tuple(BAR.replace(joint_angle=0.1 * k) for k in range(12))),
    "hinges": jm.Arm((BAR.replace(joint_stiffness=0.0),) * 3),
    "slender": jm.Arm((BAR.replace(length=50.0),)),
    "held": jm.Arm((BAR.replace(**HELD), BAR)),
}


def same_as_library(tmp_path, arms, theories, shape_error):
    """Solve all in the page and compare."""
    truths, cases = [], []
    for arm, theory in zip(arms, theories, strict=True):
        shapes = jm.mode_shapes(arm, MODES, theory=theory, stations=STATIONS, throw=False)
        found, drawn = shapes.frequencies, np.asarray(shapes.displacement)
        omega = np.asarray(found.omega)
        above = np.flatnonzero(omega > 0.0)
        probes = np.append(omega[above] * (1.0 + 1e-7), [0.5 * omega[above[0]], 3.3 * omega[-1]])
        counts = np.asarray(jm.count_below(arm, probes, theory=theory)).tolist()
        truths.append((found, counts, above, drawn))
        more = {"below": probes.tolist(), "shapes": above.tolist(), "points": STATIONS}
        cases.append(case(arm, theory, **more))
    for k, (truth, got) in enumerate(zip(truths, solved_in_page(tmp_path, cases), strict=True)):
        found, counts, above, drawn = truth
        assert "error" not in got, (k, got)
        np.testing.assert_allclose(got["omega"], found.omega, rtol=1e-10, atol=0.0, err_msg=str(k))
        assert got["counts"] == counts, k
        assert got["certified"] == np.asarray(found.certified).astype(int).tolist(), k
        inside = np.array(got["omega"])[above]
        assert np.all(np.array(got["lower"])[above] <= inside), k
        assert np.all(np.array(got["upper"])[above] >= inside), k
        for mode, shape in zip(above, got["shapes"], strict=True):
            if found.multiplicity[mode] > 1:
                continue  # any motion of the pair is a mode
            mine = np.stack([shape["u"], shape["v"]], axis=-1)
            assert np.max(np.hypot(mine[..., 0], mine[..., 1])) == pytest.approx(1.0, abs=1e-12)
            share = np.sum(mine * drawn[mode]) / np.sum(drawn[mode] ** 2)
            assert np.max(np.abs(mine - share * drawn[mode])) < shape_error, (k, mode)


@needs_node
@pytest.mark.parametrize("first", [0, pytest.param(12, marks=pytest.mark.slow)])
def test_random_arms(tmp_path, first):
    """Every kind of joint, rigid links, offsets, bodies, supports, elastic bases; all theories."""
    seeds = range(first, 12 if first == 0 else 80)
    theories = [THEORIES[seed % 4] for seed in seeds]
    same_as_library(tmp_path, [random_arm(seed) for seed in seeds], theories, 1e-8)


@needs_node
def test_hard_arms(tmp_path):
    same_as_library(tmp_path, HARD.values(), ["timoshenko"] * len(HARD), 1e-8)


@needs_node
def test_values_are_set(tmp_path):
    """Lengths, sections, posture, payload and springs: the arm is that of the library with these values."""
    arm = jm.Arm((BAR.replace(joint_stiffness=1e5), BAR.replace(joint_angle=0.4)), jm.Payload(1.0))
    values = {
        "link2.joint_angle": -1.1,
        "link*.length": 0.7,
        "link1.joint_stiffness": 3e4,
        "payload.mass": 5.0,
    }
    first = next(name for name in jm.list_addresses(arm) if name.startswith("link1.section."))
    values[first] = 1.3 * float(jm.get_parameter(arm, first))
    truth = jm.natural_frequencies(jm.set_parameters(arm, values), MODES)
    aliases = {"link2.joint_angle": "theta_2", "payload.mass": "payload_mass"}
    short = [[aliases.get(name, name), value] for name, value in values.items()]
    for given in (list(values.items()), short):
        (found,) = solved_in_page(tmp_path, [case(arm, set=given)])
        np.testing.assert_allclose(found["omega"], truth.omega, rtol=1e-10)
        assert all(found["certified"])


@needs_node
def test_what_the_page_refuses(tmp_path):
    arm = jm.Arm((BAR,))
    wrong = [["link1.lenght", 1.0]], [["link1.length", -1.0]], [["link1.length", "NaN"]]
    cases = [case(arm, set=given) for given in wrong] + [case(arm) | {"modes": 0}]
    cases.append({"arm": '{"format": "other"}', "modes": 1})
    told = [found["error"] for found in solved_in_page(tmp_path, cases)]
    expected = ("link1.lenght is no value", "link1.length = -1", "must be a number", "nModes = 0")
    for message, part in zip(told, (*expected, "in the format other"), strict=True):
        assert part in message


THREE = jm.examples.three_link_industrial().with_posture([0.4, -1.1, 0.8])
ELBOW = jm.Arm(
    (
        BAR.replace(joint_angle=1.4, joint_stiffness=3e4, end_offset_x=0.05, end_offset_y=0.02),
        BAR.replace(joint_angle=-2.2, base_offset_x=0.03, hub_mass=0.4, hub_inertia=0.01, stator_mass=0.6),
        BAR.replace(rigid=True, joint_angle=0.3, tip_mass=1.0, tip_centre_x=0.1),
    ),
    jm.Payload(2.0, 0.05, centre_x=0.1),
)  # fmt: skip
BASE = np.array([[1e6, 2e4, 1e5], [2e4, 3e6, -1e4], [1e5, -1e4, 5e5]])
PROP = jm.Link(
    0.6, 7e10, 2700.0, jm.hollow_circle(0.05, 0.003, "cowper"), poisson_ratio=0.33, joint_stiffness=1e4,
    base_offset_x=0.05, tip_mass=3.0, tip_centre_x=0.05,
)  # fmt: skip
LEANING = jm.Loads(gravity=9.81, tip_force_x=-2000.0, tip_force_y=500.0, pieces=2)

#: forces at rest: of given size in the links, of loads in pieces, of bounds; of a hinge that hangs
AT_REST = {
    "timoshenko": THREE.replace(loads=jm.Loads(gravity=300.0, tip_force_y=-2e5, pieces=2)),
    "rayleigh": ELBOW.replace(loads=jm.Loads(gravity=9.81, tip_force_x=-300.0, bound="lower", pieces=2)),
    "euler_bernoulli": jm.Arm(
        (
            BAR.replace(joint_angle=-1.5707963267948966, joint_stiffness=0.0),
            BAR.replace(axial_force=3e3),
        ),
        loads=jm.Loads(tip_force_y=-5e3),
    ),
    "supports": jm.Arm(
        (PROP.replace(support_y_stiffness=1e5), PROP.replace(joint_angle=0.7, support_x_stiffness=math.inf)),
        base_stiffness=BASE, loads=LEANING,
    ),
    "base": jm.Arm((PROP, PROP.replace(joint_angle=0.7)), base_stiffness=BASE, loads=LEANING),
    "bending_only": THREE.replace(
        links=tuple(x.replace(axial_force=f) for x, f in zip(THREE.links, (1e5, -2e5, 3e5), strict=True))
    ),
}  # fmt: skip


@needs_node
def test_forces_at_rest(tmp_path):
    """The equilibrium is computed in the page, in every posture: frequencies, counts, certificates, shapes."""
    theories = [name if name in THEORIES else "timoshenko" for name in AT_REST]
    same_as_library(tmp_path, AT_REST.values(), theories, 1e-8)
    values = {
        "link2.joint_angle": -0.4,
        "loads.gravity": 20.0,
        "loads.tip_force_y": 1e5,
        "payload.mass": 50.0,
    }
    arm = AT_REST["timoshenko"]
    moved = jm.natural_frequencies(jm.set_parameters(arm, values), MODES)
    held = AT_REST["supports"]
    bent = {"link2.joint_angle": -0.4, "loads.tip_force_x": -2500.0, "base_stiffness.k33": 3e5}
    cases = [case(arm, set=list(values.items())), case(held, set=list(bent.items()))]
    found, propped = solved_in_page(tmp_path, cases)
    np.testing.assert_allclose(found["omega"], moved.omega, rtol=1e-10)
    truth = jm.natural_frequencies(jm.set_parameters(held, bent), MODES).omega
    np.testing.assert_allclose(propped["omega"], truth, rtol=1e-10, atol=0.0)
    assert np.max(np.abs(moved.omega / jm.natural_frequencies(arm, MODES).omega - 1.0)) > 0.01


@needs_node
def test_an_arm_that_buckles_has_no_frequencies(tmp_path):
    pressed = jm.Arm((BAR.replace(axial_force=0.0),))
    force = -0.9999 * 0.25 * math.pi**2 * BAR.youngs_modulus * BAR.second_moment / BAR.length**2
    sprung = jm.Arm((BAR.replace(joint_stiffness=1e5),), loads=jm.Loads(tip_force_y=1.0))
    cases = [
        case(pressed, "rayleigh", set=[["link1.axial_force", f]]) for f in (force, 1.0002 * force)
    ]
    cases.append(case(sprung, set=[["link1.joint_stiffness", 0.0]]))
    near, beyond, loose = solved_in_page(tmp_path, cases)
    truth = jm.natural_frequencies(
        jm.set_parameters(pressed, {"link1.axial_force": force}), 1, theory="rayleigh"
    )
    # next to the critical load a rounding of the force by 1e-16 moves the frequency by 1e-12
    np.testing.assert_allclose(near["omega"][0], truth.omega[0], rtol=1e-10)
    assert "buckle" in beyond["error"]
    assert "nothing holds a free joint" in loose["error"]


def test_arms_that_are_not_written():
    """Free joints of supported arms under forces at rest, by name."""
    swings = BAR.replace(joint_stiffness=0.0)
    held = jm.Arm((swings, swings.replace(axial_force=10.0, support_y_stiffness=1e5)))
    with pytest.raises(ArmError, match="joint_stiffness = 0: the solver in the page has no free"):
        arm_json(held)


@needs_node
def test_what_is_no_base_is_refused(tmp_path):
    """Of a base that is stiff against all motions alone; one that couples as much as there is has no stiffness left."""
    arm = THREE.replace(base_stiffness=BASE)
    found = solved_in_page(
        tmp_path, [case(arm, modes=2, set=[["base_stiffness.k13", k]]) for k in (6.9e5, 7.1e5)]
    )
    truth = jm.natural_frequencies(jm.set_parameters(arm, {"base_stiffness.k13": 6.9e5}), 2).omega
    np.testing.assert_allclose(found[0]["omega"], truth, rtol=1e-10, atol=0.0)
    assert "base_stiffness.k13 = 710000: no arm can have this value" in found[1]["error"]


def test_moves_of_numbers_compile_nothing():
    """What a traced function only rearranges is known as registers: here rows of six inputs, turned and cut."""

    def moved(*x):
        rows = jnp.stack([jnp.stack(x[:3]), jnp.stack(x[3:])])
        turned = rows[::-1].T[:, None]
        return [jnp.concatenate([turned[1:, 0, ::2], rows[:, :2]], 1).ravel()]

    with names_of_programs() as programs:
        tape = tape_of_function(moved, 6)
    assert programs == []
    assert tape["code"] == []
    assert tape["outputs"] == [4, 0, 1, 5, 3, 4]
