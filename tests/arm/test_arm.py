"""Is an arm an immutable, well-behaved pytree, and does the physics receive its values?"""

import copy
import dataclasses
import functools
import json
import math
import pickle
from fractions import Fraction
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.arm import shapes
from jaxmodal.arm.arrays import beam_arrays, invalid_values
from jaxmodal.statics.beam_arrays import INNER, OUTER, WITHOUT_EFFECT, BeamArrays
from tests.support.arms import link, mixed_arm

ROUNDING = 4e-16
"""One or two float64 roundings: values computed by different but equal expressions."""

TABLES = json.loads((Path(__file__).parent.parent / "data/tables/parameters.json").read_text())

FIELDS = (
    "length", "youngs_modulus", "area", "second_moment", "density", "shear_modulus_effective",
    "tip_mass", "tip_inertia", "joint_angle", "joint_stiffness",
)  # fmt: skip


# ---- values ----------------------------------------------------------------------------------


def test_beam_arrays_link_by_link():
    arm = mixed_arm()
    beams = beam_arrays(arm)
    shear = 7e10 / 2.6
    expected = {
        "length": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
        "youngs_modulus": [7e10] * 6,
        "density": [2700.0] * 6,
        "area": [0.002, math.pi * 0.015**2, 0.001, 0.001, 0.0026, math.pi * 0.0009],
        "second_moment": [
            0.05 * 0.04**3 / 12,
            math.pi * 0.03**4 / 64,
            0.05 * 0.02**3 / 12,
            1e-7,
            (0.05 * 0.1**3 - 0.03 * 0.08**3) / 12,
            math.pi * (0.1**4 - 0.08**4) / 64,
        ],
        "shear_modulus_effective": [
            0.85 * shear, 7.8 / 8.8 * shear, 0.85 * shear, 1.5e10, 5 / 6 * shear, 0.6 * shear,
        ],
        "tip_mass": [0.1, 0.0, 0.0, 0.0, 0.3, 2.0],
        "tip_inertia": [0.0, 0.0, 0.2, 0.0, 0.0, 0.9],
        "joint_angle": [0.0, -0.4, 0.0, 0.0, 0.0, 0.7],
        "joint_stiffness": [math.inf, math.inf, 1e4, math.inf, math.inf, math.inf],
    }  # fmt: skip
    assert set(expected) == set(FIELDS)
    for name, values in expected.items():
        array = getattr(beams, name)
        assert array.shape == (6,)
        assert array.dtype == jnp.float64
        # the tubes' expected second moments are differences and lose a digit here
        np.testing.assert_allclose(array, values, rtol=3e-15, atol=0.0, err_msg=name)
    assert beams.has_shear is True


@pytest.mark.parametrize("transform", [lambda f: f, jax.jit], ids=["eager", "jit"])
def test_raw_values_reach_the_physics_bit_for_bit(transform):
    values = (0.1, 2.3e11, 7801.3, 1.7e-5, 3.3e-11, 7.7e10, 0.3, 1e-3, 1.1, 17.3)
    length, modulus, density, area, second, shear, mass, inertia, angle, spring = values
    arm = jm.Arm(
        (
            jm.Link(
                length, modulus, density, jm.raw_section(area, second, 1.0), shear_modulus=shear,
                tip_mass=mass, tip_inertia=inertia, joint_angle=angle, joint_stiffness=spring,
            ),
        )
    )  # fmt: skip
    beams = transform(beam_arrays)(arm)
    received = [float(getattr(beams, name)[0]) for name in FIELDS]
    given = [length, modulus, area, second, density, shear, mass, inertia, angle, spring]
    assert received == given


def test_without_shear_values_the_stiffness_is_infinite_and_marked():
    for lacking in (link(jm.circle(0.1)), link(poisson_ratio=None)):
        beams = beam_arrays(jm.Arm((link(), lacking)))
        assert beams.has_shear is False
        assert beams.shear_modulus_effective[1] == math.inf
        assert math.isfinite(beams.shear_modulus_effective[0])


def test_every_leaf_is_float64_whatever_number_it_came_from():
    given = (1, np.int32(2), np.float32(3), np.float64(4), np.array(5), jnp.float32(6), Fraction(7))
    for number, value in enumerate(given, start=1):
        length = link(length=value).length
        assert type(length) is np.float64
        assert length == number


def test_example_of_table_1_is_the_printed_table():
    table = {key: [Fraction(text) for text in column] for key, column in TABLES["table1"].items()}
    arm = jm.examples.two_link_flexible()
    beams = beam_arrays(arm)
    assert arm.num_links == 2
    assert beams.has_shear
    for i in range(2):
        length, depth, width = table["L_m"][i], table["h_mm"][i] / 1000, table["b_cm"][i] / 100
        truth = {
            "length": length,
            "area": depth * width,
            "second_moment": width * depth**3 / 12,
            "youngs_modulus": table["EI_Nm2"][i] / (width * depth**3 / 12),
            "density": table["m_link_kg"][i] / (length * depth * width),
            "tip_mass": table["M_tip_kg"][i],
            "tip_inertia": table["J_tip_kgm2"][i],
            "joint_angle": 0,
        }
        for name, value in truth.items():
            assert abs(float(getattr(beams, name)[i]) - float(value)) <= 4e-16 * float(value), name
        kappa_g = Fraction(85, 100) * truth["youngs_modulus"] / (2 * (1 + Fraction(3, 10)))
        assert abs(float(beams.shear_modulus_effective[i]) / float(kappa_g) - 1) <= ROUNDING


def test_example_of_table_8_is_the_printed_table():
    table = {
        key: [float(text) for text in column]
        for key, column in TABLES["table8"].items()
        if key != "labels"
    }
    beams = beam_arrays(jm.examples.three_link_industrial())
    mm = np.array(table["E_GPa"]) * 1e9
    truth = {
        "length": table["L_m"],
        "youngs_modulus": mm,
        "density": table["rho_kgm3"],
        "area": [66e-4] * 3,
        "second_moment": [2329.5e-8] * 3,
        "shear_modulus_effective": 0.44 * mm / 2.68,
        "tip_mass": table["M_tip_kg"],
        "tip_inertia": table["J_tip_kgm2"],
        "joint_angle": [0.0] * 3,
        "joint_stiffness": [math.inf] * 3,
    }
    assert set(truth) == set(FIELDS)
    for name, values in truth.items():
        np.testing.assert_allclose(getattr(beams, name), values, rtol=1e-15, err_msg=name)


def test_thickness_factor_of_the_example_reaches_every_link():
    thin, thick = (beam_arrays(jm.examples.two_link_flexible(s)) for s in (1.0, 100.0))
    np.testing.assert_allclose(thick.area / thin.area, 100.0, rtol=ROUNDING)
    np.testing.assert_allclose(thick.second_moment / thin.second_moment, 1e6, rtol=3 * ROUNDING)
    assert jnp.all(thick.youngs_modulus == thin.youngs_modulus)


def test_examples_are_listed_and_have_a_name():
    in_space = ["canadarm2_like", "six_axis_industrial", "space_station_arm"]
    assert jm.examples.names() == sorted([*in_space, "three_link_industrial", "two_link_flexible"])
    for name in in_space:
        assert jm.examples.load(name) == getattr(jm.examples, name)()
    assert jm.examples.load("two_link_flexible") == jm.examples.two_link_flexible()
    assert jm.examples.load("three_link_industrial") == jm.examples.three_link_industrial()
    assert jm.examples.two_link_flexible().name == "two-link flexible arm"


def test_total_mass_counts_links_bodies_and_payload():
    arm = jm.examples.two_link_flexible().with_payload(mass=2.0, inertia=9.0)
    assert abs(arm.total_mass - (0.121 + 0.129 + 0.61 + 0.224 + 2.0)) < 1e-15


# ---- posture ---------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [list, tuple, np.array, jnp.array], ids=lambda k: k.__name__)
def test_posture_takes_the_relative_angles_or_all(kind):
    arm = jm.Arm((link(joint_angle=0.1), link(), link(joint_angle=0.9)))
    assert [float(x.joint_angle) for x in arm.with_posture(kind([0.5, -0.6])).links] == [
        0.1, 0.5, -0.6,
    ]  # fmt: skip
    assert [float(x.joint_angle) for x in arm.with_posture(kind([0.2, 0.3, 0.4])).links] == [
        0.2, 0.3, 0.4,
    ]  # fmt: skip
    assert [float(x.joint_angle) for x in arm.links] == [0.1, 0.0, 0.9]


def test_posture_of_a_single_link():
    arm = jm.Arm((link(),))
    assert arm.with_posture([]) == arm
    assert arm.with_posture([0.3]).links[0].joint_angle == 0.3


@pytest.mark.parametrize("kind", [float, np.float64, np.array, jnp.asarray])
def test_a_single_angle_may_be_a_number(kind):
    """In radians and in degrees, in the plane and in space, of one link and of two."""
    flat = jm.examples.two_link_flexible()
    arms = [
        flat,
        jm.to_spatial(flat),
        jm.Arm(flat.links[:1]),
        jm.to_spatial(jm.Arm(flat.links[:1])),
    ]
    for arm in arms:
        assert arm.with_posture(kind(0.5)) == arm.with_posture([0.5])
        assert arm.with_posture_deg(kind(30.0)) == arm.with_posture([math.pi / 6.0])
    assert jax.eval_shape(lambda a: flat.with_posture(a).links[1].joint_angle, 0.5).shape == ()


def test_posture_under_jit_and_vmap():
    arm = jm.examples.three_link_industrial()

    def angles(posture):
        return beam_arrays(arm.with_posture(posture)).joint_angle

    postures = jnp.arange(8.0).reshape(4, 2)
    expected = np.column_stack([np.zeros(4), postures])
    np.testing.assert_array_equal(jax.vmap(angles)(postures), expected)
    np.testing.assert_array_equal(jax.jit(angles)(postures[1]), expected[1])
    np.testing.assert_array_equal(jax.jit(lambda a, b: angles([a, b]))(2.0, 3.0), expected[1])


# ---- the pytree ------------------------------------------------------------------------------


@pytest.mark.parametrize("record", [jm.Payload(1.0, 2.0), link(), mixed_arm()], ids=type)
def test_flattening_rebuilds_an_equal_record(record):
    leaves, structure = jax.tree.flatten(record)
    assert jax.tree.unflatten(structure, leaves) == record
    assert pickle.loads(pickle.dumps(record)) == record
    assert copy.deepcopy(record) == record
    assert jax.jit(lambda x: x)(record) == record


def test_unflattening_never_looks_at_the_leaves():
    arm = mixed_arm()
    negative = jax.tree.map(lambda leaf: -leaf, arm)
    assert float(negative.links[0].length) == -1.0
    for odd in (object(), None, "text", -1.0, math.nan, jnp.zeros(3)):
        filled = jax.tree.map(lambda leaf: odd, arm)  # noqa: B023
        assert filled.links[1].section.diameter is odd
        assert filled.name == "every shape"


def test_key_paths_are_attribute_paths():
    paths = [jax.tree_util.keystr(p) for p, _ in jax.tree_util.tree_leaves_with_path(mixed_arm())]
    assert ".links[3].section.second_moment" in paths
    assert ".payload.inertia" in paths


def test_gradient_with_respect_to_an_arm_is_an_arm():
    arm = mixed_arm()
    gradient = jax.jit(jax.grad(lambda x: -jnp.sum(beam_arrays(x).length ** 2)))(arm)
    assert [float(x.length) for x in gradient.links] == [-2.0, -4.0, -6.0, -8.0, -10.0, -12.0]
    assert float(gradient.payload.mass) == 0.0


def test_records_are_frozen_and_replace_validates():
    arm = mixed_arm()
    with pytest.raises(dataclasses.FrozenInstanceError):
        arm.links[0].length = 3.0
    with pytest.raises(dataclasses.FrozenInstanceError):
        arm.name = "x"
    with pytest.raises(jm.ArmError, match="length = -3"):
        arm.links[0].replace(length=-3.0)
    assert arm.replace(name="other").links == arm.links


def test_equality_needs_structure_and_every_value():
    arm = mixed_arm()
    assert arm == mixed_arm()
    assert arm != arm.replace(name="other")
    assert arm != arm.with_payload(2.0, 0.6)
    assert arm != jm.Arm(arm.links[:-1], arm.payload, arm.name)
    assert link(jm.circle(0.1, "cowper")) != link(jm.circle(0.1, "5/6"))
    assert link() != "link"
    leaves, structure = jax.tree.flatten(arm)
    for position, leaf in enumerate(leaves):
        nearly = list(leaves)
        nearly[position] = np.nextafter(leaf, 0.0) if leaf else 5e-324
        assert arm != jax.tree.unflatten(structure, nearly)
    with pytest.raises(TypeError, match="unhashable"):
        hash(arm)


def test_repr_shows_numbers_and_evaluates_to_the_same_arm():
    arm = mixed_arm()
    assert "float64" not in repr(arm)
    assert "thickness_factor=2.0" in repr(arm)
    assert "joint_stiffness=inf" not in repr(arm)
    assert eval(repr(arm), vars(shapes) | vars(jm)) == arm
    traced = []
    jax.jit(lambda x: traced.append(repr(link(length=x))))(1.0)
    assert "length=<traced float64[]>" in traced[0]


# ---- values that only show when traced --------------------------------------------------------


def test_valid_arms_have_no_invalid_values():
    assert not invalid_values(mixed_arm())
    assert not invalid_values(jm.examples.two_link_flexible())
    assert not jax.jit(invalid_values)(mixed_arm())


LANES = {
    "link3.length": ([1.0, 0.0, -1.0, math.nan, math.inf], [0, 1, 1, 1, 1]),
    "link3.youngs_modulus": ([1e9, 0.0, math.nan], [0, 1, 1]),
    "link3.density": ([1.0, 0.0, -5.0], [0, 1, 1]),
    "link1.poisson_ratio": ([-0.99, 0.0, 0.5, -1.0, 0.51, math.nan], [0, 0, 0, 1, 1, 1]),
    "link4.shear_modulus": ([1e9, 0.0, math.nan], [0, 1, 1]),
    "link2.tip_mass": ([0.0, 1e9, -1e-9, math.inf, math.nan], [0, 0, 1, 1, 1]),
    "link2.tip_inertia": ([0.0, -1e-9], [0, 1]),
    "link5.joint_angle": ([-9.0, 9.0, math.nan, math.inf, -math.inf], [0, 0, 1, 1, 1]),
    "link2.joint_stiffness": ([1e-3, math.inf, 0.0, -1.0, math.nan], [0, 0, 0, 1, 1]),
    "link1.thickness_factor": ([1e-3, 100.0, 0.0, -1.0, math.nan, 1e200], [0, 0, 1, 1, 1, 1]),
    "link1.section.depth": ([0.1, 0.0, math.nan], [0, 1, 1]),
    "link1.section.shear_coefficient": ([0.1, 0.0, math.nan], [0, 1, 1]),
    "link2.section.diameter": ([0.1, 0.0, 1e-100], [0, 1, 1]),
    "link4.section.area": ([0.1, 0.0], [0, 1]),
    "link5.section.wall_thickness": ([0.01, 0.024, 0.025, 0.04, -0.01], [0, 0, 1, 1, 1]),
    "link6.section.wall_thickness": ([0.01, 0.049, 0.05, 0.0], [0, 0, 1, 1]),
    "payload.mass": ([0.0, -1.0, math.nan], [0, 1, 1]),
    "payload.inertia": ([0.0, -1.0, math.inf], [0, 1, 1]),
}


@pytest.fixture(scope="module")
def marked():
    """The marks of all lanes by address, of one program."""

    def of(address, value):
        return invalid_values(jm.set_parameters(mixed_arm(), {address: value}))

    def marks(lanes):
        return {x: jax.vmap(functools.partial(of, x))(values) for x, values in lanes.items()}

    return jax.jit(marks)({address: np.array(values) for address, (values, _) in LANES.items()})


@pytest.mark.parametrize("address", LANES)
def test_traced_bad_values_are_marked_in_their_lane(address, marked):
    _, expected = LANES[address]
    assert marked[address].astype(int).tolist() == expected


@pytest.mark.parametrize("address", LANES)
def test_the_mark_agrees_with_construction(address):
    """The same value, concrete, is refused exactly where the mask says that it is bad."""
    values, expected = LANES[address]
    owner = address.rsplit(".", 1)[0].replace(".", r"\.")
    for value, bad in zip(values, expected, strict=True):
        if bad:
            with pytest.raises(jm.ArmError, match=owner):
                jm.set_parameters(mixed_arm(), {address: value})
        else:
            jm.set_parameters(mixed_arm(), {address: value})


def test_traced_thickness_factor_of_a_shape_without_one():
    def marked(factor):
        tube = link(jm.hollow_circle(0.1, 0.01), thickness_factor=factor)
        return invalid_values(jm.Arm((tube,)))

    assert jax.vmap(marked)(jnp.array([1.0, 1.5])).tolist() == [False, True]


def test_batched_values_pass_construction_and_go_through_vmap():
    lengths = jnp.array([0.5, -0.5, 1.0])
    batched = jm.Arm((link(length=lengths),))
    axes = jax.tree.map(lambda leaf: 0 if np.ndim(leaf) else None, batched)
    marked = jax.vmap(invalid_values, in_axes=(axes,))(batched)
    assert marked.tolist() == [False, True, False]
    with pytest.raises(jm.ArmError, match=r"links\[0\]\.length.*jax\.vmap"):
        beam_arrays(batched)


def test_every_field_of_beams_is_of_a_member_or_has_a_value_without_effect():
    member = {"length", "youngs_modulus", "area", "second_moment", "density"}
    member |= {"shear_modulus_effective", "has_shear"}
    assert {f.name for f in dataclasses.fields(BeamArrays)} == member | set(WITHOUT_EFFECT)
    assert not set(INNER) & set(OUTER)
