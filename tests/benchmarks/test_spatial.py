"""The chain form in space is right, and so is what it is beside: they share no formula."""

import numpy as np
import pytest

import jaxmodal as jm
from benchmarks import opensees, series_in_space
from benchmarks.spatial import MODES, columns, exact, largest, postures, six_tubes
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


@pytest.fixture
def opensees_here():
    if opensees.missing() is not None:
        pytest.skip(opensees.missing())


def test_opensees_in_space_converges_to_the_exact_frequencies(opensees_here):
    """Of second order, for stretching is linear in an element: extrapolation leaves a hundredth."""
    arm = six_tubes()
    angles = postures(arm, 1, seed=2)
    truth = np.asarray(jm.natural_frequencies(arm.with_posture(angles[0]), MODES).omega)
    errors = [
        largest(opensees.OpenSeesInSpace(elements).frequencies(arm, angles, MODES), truth[None])
        for elements in ((6,), (12,), (6, 12))
    ]
    assert 3.0 < errors[0] / errors[1] < 5.0
    assert errors[2] < 0.05 * errors[1]


def test_opensees_in_space_refuses_what_it_does_not_model(opensees_here):
    arm = jm.examples.six_axis_industrial()
    with pytest.raises(ValueError, match=r"link 1 has a joint spring"):
        opensees.OpenSeesInSpace().frequencies(arm, postures(arm, 1))


@pytest.mark.slow
def test_the_series_and_the_general_path_in_space_agree(monkeypatch):
    monkeypatch.setattr(series_in_space, "GENERAL_CELLS", 700)
    monkeypatch.setattr(series_in_space, "REFERENCE", 4)
    found = series_in_space.measured((3,), {}, 1000, 1)
    assert found["certified"] == 1.0
    assert found["by_sign_changes"] > 0.99
    assert found["largest_error"] < 1e-13
    assert found["largest_difference_to_the_general_path"] < 1e-12
