"""Fine sweeps of undamped arms in space: resonances among many frequencies, and digits beside held resonances."""

import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.response.driven.ports import ports
from jaxmodal.response.driven.spatial_systems import spatial_system
from jaxmodal.response.receptance.denominators_in_space import Told, may_resonate
from jaxmodal.response.receptance.in_space import growth_in_space
from jaxmodal.response.receptance.lost_digits import LARGE_GROWTH
from tests.spatial.exact_frequencies import receptance
from tests.spatial.random_arms import random_arm
from tests.support import real_arms

RESONANCE = jm.Status.resonance


def counted(omega, resonances, lost=()):
    """What denominators tell where an eighth of the counts is known, and digits are lost at some places."""
    below = np.where(np.arange(omega.size) % 8 == 0, np.searchsorted(resonances, omega), np.nan)
    growth = np.ones(omega.size)
    growth[list(lost)] = 2.0 * LARGE_GROWTH
    return Told(growth, below)


def test_only_frequencies_about_a_resonance_and_at_the_ends_are_looked_at():
    omega = np.random.default_rng(1).permutation(np.linspace(1.0, 2.0, 1600))
    resonances = np.array([1.25, 1.5000001, 1.5000002, 1.9])
    looked = may_resonate(omega, counted(omega, resonances), 1e-6)
    assert looked.mean() < 0.1
    distance = np.abs(omega[:, None] - resonances).min(axis=1)
    assert looked[distance < 1e-3].all()
    assert looked[[omega.argmin(), omega.argmax()]].all()


def test_counts_beside_a_resonance_and_without_digits_tell_nothing():
    """Rounding decides on which side of a resonance the nearest frequencies lie."""
    near = 1.5 * (1.0 + np.arange(-40, 41) * 1e-15)
    omega = np.concatenate([np.linspace(1.0, 2.0, 160), near])
    lost = np.flatnonzero(np.abs(omega - 1.2) < 0.05)
    told = counted(omega, np.array([1.5]), lost)
    told.below[160:] = np.where(np.isnan(told.below[160:]), np.nan, 7.0)
    looked = may_resonate(omega, told, 1e-6)
    assert looked[160:].all()
    told.below[lost] = np.where(np.isnan(told.below[lost]), np.nan, 3.0)
    np.testing.assert_array_equal(may_resonate(omega, told, 1e-6), looked)
    assert may_resonate(omega, Told(np.full(omega.shape, np.nan), told.below), 1e-6).all()


@pytest.mark.parametrize(
    "arm",
    [
        jm.examples.six_axis_industrial(),
        jm.to_spatial(real_arms.random_arm(3, "springs")),
        jm.to_spatial(real_arms.random_arm(5, "bodies")),
    ],
    ids=["six axes", "soft springs", "bodies"],
)
def test_every_mode_is_a_resonance_of_a_fine_sweep_and_nothing_else(arm):
    modes = np.asarray(jm.natural_frequencies(arm, 6).omega)
    between = np.geomspace(0.3 * modes[0], 1.1 * modes[-1], 800)
    between = between[np.abs(between[:, None] / modes - 1.0).min(axis=1) > 1e-9]
    omega = np.concatenate([between, modes])
    order = np.random.default_rng(2).permutation(omega.size)
    names = ["tip.x", "tip.y", "tip.z", "tip.rx"]
    found = jm.frequency_response(arm, omega[order], names, names)
    infinite = np.asarray(found.status == RESONANCE)[..., np.argsort(order)]
    assert infinite[..., between.size :].any(axis=(0, 1)).all()
    assert not infinite[..., : between.size].any()


def stiffly_jointed(seed):
    """A random arm without rigid links, none of whose joints is free, at rest or damped."""
    document, _ = random_arm(seed, 3)
    document["links"] = [link for link in document["links"] if not link["rigid"]]
    for link in document["links"]:
        link["joint"]["stiffness"] = link["joint"]["stiffness"] or 300.0
    document["payload"] = {"mass": 0.4, "centre": [0.1, 0.2, 0.3], "inertia": np.eye(3).tolist()}
    return jm.arm_from_dict(document)


@pytest.mark.parametrize("seed", range(4))
def test_beside_held_resonances_in_eighty_digits(seed):
    """Where the recursion loses digits, half a circle of frequencies tells them: to 1e-11 of each pair's size."""
    arm = stiffly_jointed(seed)
    names = [f"tip.{x}" for x in ("x", "y", "z", "rx", "ry", "rz")]
    inputs, outputs = ports(names, arm, "inputs"), ports(names, arm, "outputs")
    system = spatial_system(arm, arm.model("timoshenko"), "receptance", inputs, outputs)
    modes = np.asarray(jm.natural_frequencies(arm, 8).omega)
    sweep = np.geomspace(0.5 * modes[0], modes[-1], 4000)
    growth = growth_in_space(system, sweep)
    growth[np.abs(sweep[:, None] / modes - 1.0).min(axis=1) < 1e-2] = (
        0.0  # rounding moves resonances
    )
    worst = np.argsort(growth)[-1:]
    assert growth[worst] > LARGE_GROWTH
    found = np.asarray(jm.frequency_response(arm, sweep[worst], names, names).values)[..., 0]
    exact = np.array(receptance(arm, "timoshenko", sweep[worst][0]).tolist(), complex).real
    size = np.sqrt(np.abs(np.diag(exact)))
    assert (np.abs(found - exact) / np.outer(size, size)).max() < 1e-11
