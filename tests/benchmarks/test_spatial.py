"""The chain form in space is right, and so is what it is beside: they share no formula."""

import numpy as np

import jaxmodal as jm
from benchmarks.spatial import MODES, columns, exact, largest, postures
from benchmarks.spatial_chain_form import SpatialChainForm
from tests.spatial.cases import bent_arm


def test_chain_form_and_batch_agree_on_the_six_axis_example():
    arm = jm.examples.six_axis_industrial()
    angles = postures(arm, 20, seed=3)
    batch = jm.natural_frequencies_batch(arm, columns(angles), MODES)
    rival = SpatialChainForm(arm, 7).frequencies(angles, MODES)
    assert (
        largest(np.asarray(batch.omega), rival) < 2e-13
    )  # eigvalsh of a matrix with a wide spectrum
    assert largest(exact(arm, angles[:4]), rival[:4]) < 2e-13


def test_chain_form_knows_every_part_of_an_arm():
    """Rolls, offsets, stators, hubs, springs in two kinds, a rotor: against the exact frequencies."""
    arm = bent_arm()
    angles = np.array([[float(link.joint_angle) for link in arm.links]])
    found = SpatialChainForm(arm, 14).frequencies(angles, 6)[0]
    np.testing.assert_allclose(found, np.asarray(jm.natural_frequencies(arm, 6).omega), rtol=1e-11)
