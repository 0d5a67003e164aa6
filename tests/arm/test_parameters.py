"""Does every address name exactly one value, for reading and for writing?"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.arm.arrays import beam_arrays
from tests.support.arms import link, mixed_arm

ARM = mixed_arm()
ALL = jm.list_addresses(ARM)


def leaf_paths(arm):
    """The tree's own names of the leaves, rewritten as addresses."""
    found = {}
    for path, leaf in jax.tree_util.tree_leaves_with_path(arm):
        name = jax.tree_util.keystr(path).lstrip(".")
        for index in range(arm.num_links):
            name = name.replace(f"links[{index}]", f"link{index + 1}")
        found[name] = leaf
    return found


def test_addresses_are_the_leaves_of_the_tree_that_may_change():
    unscaled = {f"link{n}.thickness_factor" for n in (2, 5, 6)}
    assert set(ALL) == set(leaf_paths(ARM)) - unscaled
    assert len(ALL) == len(set(ALL))


@pytest.mark.parametrize("address", ALL)
def test_get_reads_the_leaf(address):
    assert jm.get_parameter(ARM, address) == leaf_paths(ARM)[address]


@pytest.mark.parametrize("address", ALL)
def test_set_changes_that_leaf_and_no_other(address):
    before = leaf_paths(ARM)
    value = 0.25 if before[address] == 0.0 else float(before[address]) * 0.75
    after = leaf_paths(jm.set_parameters(ARM, {address: value}))
    assert after.pop(address) == value
    before.pop(address)
    assert after == before


def test_star_stands_for_every_link():
    arm = jm.Arm((link(length=1.0), link(length=2.0), link(length=3.0)))
    assert jm.resolve_address(arm, "link*.length") == [
        "link1.length",
        "link2.length",
        "link3.length",
    ]
    assert jm.get_parameter(arm, "link*.length").tolist() == [1.0, 2.0, 3.0]
    changed = jm.set_parameters(arm, {"link*.length": 7.0, "link2.tip_mass": 1.5})
    assert jm.get_parameter(changed, "link*.length").tolist() == [7.0, 7.0, 7.0]
    assert jm.get_parameter(changed, "link*.tip_mass").tolist() == [0.0, 1.5, 0.0]
    scaled = jm.set_parameters(arm, {"link*.thickness_factor": 3.0})
    assert scaled == arm.with_thickness_factor(3.0)


@pytest.mark.parametrize("address", ["link1..length", "link*..length"])
def test_a_dot_too_many_is_no_address(address):
    """Setting such a value did nothing once."""
    for use in (
        lambda: jm.get_parameter(ARM, address),
        lambda: jm.set_parameters(ARM, {address: 1.0}),
    ):
        with pytest.raises(jm.ArmError, match="is not a parameter of this arm"):
            use()


def test_values_that_only_fit_together_are_set_together():
    arm = jm.Arm((link(jm.hollow_rectangle(0.1, 0.1, 0.01)),))
    both = {"link1.section.depth": 1.0, "link1.section.wall_thickness": 0.2}
    with pytest.raises(jm.ArmError, match="half the width"):
        jm.set_parameters(arm, both)
    for mapping in (both | {"link1.section.width": 2.0}, {"link1.section.width": 2.0} | both):
        section = jm.set_parameters(arm, mapping).links[0].section
        assert section == jm.hollow_rectangle(1.0, 2.0, 0.2)


def test_no_values_is_the_same_arm():
    assert jm.set_parameters(ARM, {}) == ARM


def test_traced_values_and_their_derivatives():
    arm = jm.Arm((link(), link(jm.circle(0.03))))

    def total(values):
        changed = jm.set_parameters(
            arm, {"link1.section.width": values[0], "link*.length": values[1]}
        )
        return changed.total_mass

    values = jnp.array([0.05, 2.0])
    slopes = jax.jit(jax.grad(total))(values)
    rectangle, circle = (float(x) for x in beam_arrays(arm).area)
    expected = [2700.0 * 0.02 * 2.0, 2700.0 * (rectangle + circle)]
    np.testing.assert_allclose(slopes, expected, rtol=1e-15)
    masses = jax.vmap(total)(jnp.stack([values, 2.0 * values]))
    by_hand = [float(total(values)), float(total(2.0 * values))]
    np.testing.assert_allclose(masses, by_hand, rtol=1e-15)


def test_batched_values_are_kept_as_they_are():
    lengths = jnp.array([1.0, 2.0])
    changed = jm.set_parameters(ARM, {"link1.length": lengths})
    assert changed.links[0].length is lengths


def test_units_and_descriptions():
    units = {
        "link1.length": "m",
        "link2.youngs_modulus": "Pa",
        "link3.density": "kg/m^3",
        "link4.shear_modulus": "Pa",
        "link1.poisson_ratio": "1",
        "link1.tip_mass": "kg",
        "link1.tip_inertia": "kg m^2",
        "link1.joint_angle": "rad",
        "link*.joint_stiffness": "N m/rad",
        "link*.thickness_factor": "1",
        "link5.section.wall_thickness": "m",
        "link4.section.area": "m^2",
        "link4.section.second_moment": "m^4",
        "link1.section.shear_coefficient": "1",
        "payload.mass": "kg",
        "payload.inertia": "kg m^2",
    }
    for address, unit in units.items():
        assert jm.unit_of_address(address) == unit
    assert all(jm.unit_of_address(address) and jm.describe_address(address) for address in ALL)
    assert jm.describe_address("link12.joint_angle").endswith("(link 12)")
    assert jm.describe_address("link*.joint_angle").endswith("(every link)")
    assert jm.describe_address("payload.mass") == "mass of the payload"
