"""Are modal quantities of many arms in space those of each arm alone, and honest where frequencies coincide?"""

import dataclasses
from types import SimpleNamespace

import numpy as np
import pytest

import jaxmodal as jm
import sweeps
from jaxmodal.modes.mode_shapes import assurance, known_motions
from jaxmodal.modes.spatial_batches import cell_derivatives
from jaxmodal.runtime.namespace import to_host
from sweeps import SweepError, linspace
from sweeps.analysis.tracking import track
from tests.spatial.cases import references, standing_arm, tube

SAME = 1e-9
"""Two paths to the same numbers; the frequencies of a batch are right to about 1e-13."""

ADDRESSES = (
    *("link2.joint_angle", "link*.density", "link1.body.inertia.yz", "link2.joint_axis.x"),
    "base_stiffness.k15",
)
ANGLES = np.array([0.4, np.nan, 1.3])
SHAPE_OUTPUTS = (
    *("sensitivity", "effective_mass", "effective_inertia", "effective_fraction"),
    *("participation_inertia", "strain_energy_fraction", "kinetic_energy_fraction"),
)


def on_host(table):
    """Arrays of NumPy, whose entries compile nothing."""
    fields = {field.name: getattr(table, field.name) for field in dataclasses.fields(table)}
    return SimpleNamespace(**{name: to_host(value) for name, value in fields.items()})


@pytest.fixture(scope="module")
def arm():
    return standing_arm()


@pytest.fixture(scope="module")
def result(arm):
    cells = {"link2.joint_angle": ANGLES}
    found = jm.natural_frequencies_batch(arm, cells, 3)
    return jm.modal_quantities_batch(arm, cells, found, addresses=ADDRESSES)


@pytest.fixture(scope="module")
def table(result):
    return on_host(result)


@pytest.fixture(scope="module")
def alone(arm):
    return to_host(jm.mode_shapes(arm.with_posture([ANGLES[2], *arm_angles(arm)]), 3, stations=2))


def arm_angles(arm):
    return [float(link.joint_angle) for link in arm.links[2:]]


def test_they_are_those_of_the_arm_alone(arm, table, alone):
    posed = arm.with_posture([ANGLES[2], *arm_angles(arm)])
    slopes = jm.sensitivities(posed, 3, addresses=ADDRESSES)
    np.testing.assert_allclose(table.derivative[2], slopes.derivative, rtol=SAME, atol=1e-12)
    np.testing.assert_allclose(table.logarithmic[2], slopes.logarithmic, rtol=SAME, atol=1e-12)
    for name in ("participation", "effective_mass", "total_mass"):
        expected = np.asarray(getattr(alone, name))
        scale = SAME * np.abs(expected).max()
        np.testing.assert_allclose(getattr(table, name)[2], expected, rtol=SAME, atol=scale)
    assert alone.energies.preload is None
    assert table.energies.preload is None
    kinds = {name: x for name, x in vars(alone.energies).items() if x is not None}
    for name, expected in kinds.items():
        found = getattr(table.energies, name)[2]
        np.testing.assert_allclose(found, expected, rtol=SAME, atol=1e-9)


def test_energies_balance_and_a_bad_cell_is_empty(result, table, alone):
    """A mode of unit modal mass has omega^2/2 of either energy."""
    half = 0.5 * np.asarray(alone.omega) ** 2
    np.testing.assert_allclose(table.energies.strain[2], half, rtol=1e-10)
    np.testing.assert_allclose(table.energies.kinetic[2], half, rtol=1e-10)
    for values in (table.derivative, table.participation, table.energies.torsion):
        assert np.isnan(values[1]).all()
        assert np.isfinite(values[0]).all()
    assert table.individual[2].all()
    dataset = result.to_xarray()
    assert dataset.excitation.values.tolist() == ["x", "y", "z", "about x", "about y", "about z"]
    assert "inertia z %" in str(result)


def test_a_pair_that_goes_on_beyond_the_list_has_means():
    """A tube with a body: with one mode asked for, the derivative is that of the mean of the pair."""
    arm = jm.SpatialArm((tube(body=jm.RigidBody(2.0, inertia=(4e-3, 4e-3, 4e-3))),))
    address, cells = "link1.body.inertia.yy", {"link1.length": [0.5, 0.7]}
    found = jm.natural_frequencies_batch(arm, cells, 1)
    table = on_host(jm.modal_quantities_batch(arm, cells, found, addresses=[address]))
    longer = jm.set_parameters(arm, {"link1.length": 0.7})
    pair = np.asarray(jm.directional_derivatives(longer, {address: 1.0}, 2))
    assert float(table.derivative[1, 0, 0]) == pytest.approx(float(np.mean(pair)), rel=1e-9)
    assert not table.individual.any()
    # of the two planes together: a base along y and along z sets the same mass in motion
    assert table.effective_mass[1, 0, 1] == pytest.approx(table.effective_mass[1, 0, 2], rel=1e-9)


def test_modes_of_zero_frequency_have_none():
    hinged = jm.SpatialArm((tube(), tube(joint_stiffness=0.0)))
    cells = {"link2.joint_angle": [0.3]}
    found = jm.natural_frequencies_batch(hinged, cells, 2)
    table = on_host(jm.modal_quantities_batch(hinged, cells, found, addresses=["link1.length"]))
    assert np.isnan(table.derivative[0, 0]).all()
    assert np.isfinite(table.derivative[0, 1]).all()


@pytest.fixture(scope="module")
def swept(arm):
    angles = linspace("theta_2", 0.4, 1.3, 2)
    sweep = sweeps.Sweep(
        arm, [angles], num_modes=3, outputs=SHAPE_OUTPUTS, sensitivity_to=ADDRESSES
    )
    return sweeps.run(sweep)


def test_sweeps_have_the_outputs_of_mode_shapes(swept, table, alone):
    cell = swept.isel(theta_2=1)
    close = {"rtol": SAME, "atol": 1e-9}
    np.testing.assert_allclose(cell.sensitivity, table.logarithmic[2], **close)
    np.testing.assert_allclose(cell.effective_mass, alone.effective_mass[:, :3], **close)
    np.testing.assert_allclose(cell.effective_inertia, alone.effective_mass[:, 3:], **close)
    np.testing.assert_allclose(cell.participation_inertia, alone.participation[:, 3:], **close)
    assert cell.effective_inertia.dims == ("mode", "rotation_axis")
    share = np.asarray(alone.energies.torsion) / np.asarray(alone.energies.strain)[:, None]
    np.testing.assert_allclose(
        cell.strain_energy_fraction.sel(strain_part="torsion"), share, **close
    )
    hub = np.asarray(alone.energies.hub) / np.asarray(alone.energies.kinetic)[:, None]
    np.testing.assert_allclose(cell.kinetic_energy_fraction.sel(kinetic_part="hub"), hub, **close)
    for name in ("strain_energy_fraction", "kinetic_energy_fraction"):
        total = swept[name].sum(["link", swept[name].dims[-1]])
        np.testing.assert_allclose(total, 1.0, rtol=1e-12)
    assert (swept.modal_status == jm.Status.resolved).all()


def test_branches_are_followed_in_space():
    """The least turn of a joint exchanges no modes."""
    near = sweeps.run(
        sweeps.Sweep(standing_arm(), [linspace("theta_2", 0.9, 0.901, 2)], num_modes=3)
    )
    said = []
    found = track(near, "theta_2", progress=lambda *counts: said.append(counts))
    assert found.branch.values[1].tolist() == [1, 2, 3]
    assert said == [(1, 2), (2, 2)]


@pytest.mark.parametrize("name", ["S02", "S19", "plane"])
def test_motions_of_known_frequencies_are_those_of_mode_shapes(name):
    """Of pairs of equal frequencies too, whose motions span the same space: their criterion is a rotation's."""
    arm, theory = jm.examples.three_link_industrial(), "timoshenko"
    if name != "plane":
        arm, theory = references()[name].arm, references()[name].theory
    shapes = jm.mode_shapes(arm, 5, theory=theory, stations=2)
    motions, masses = known_motions(arm, np.asarray(shapes.omega), theory)
    np.testing.assert_allclose(masses, shapes.masses, rtol=1e-14, atol=0)
    mac = assurance(masses, np.asarray(shapes.masses), motions, np.asarray(shapes.motions))
    together = np.asarray(shapes.frequencies.group)
    same = together[:, None] == together[None, :]
    np.testing.assert_allclose(np.sum(mac * same, axis=1), 1.0, rtol=1e-9, atol=0)
    np.testing.assert_allclose(mac * ~same, 0.0, rtol=0, atol=1e-9)


def test_outputs_of_loads_are_refused(arm):
    with pytest.raises(
        SweepError,
        match=r"'buckling_factor' is of loads that grow, and the arm bears none; give it loads",
    ):
        sweeps.Sweep(arm, [linspace("theta_2", 0.0, 1.0, 2)], outputs=["buckling_factor"])


def test_derivatives_of_cells_alone_are_central_differences(arm):
    angles, step = np.array([0.4, 1.3]), 1e-5
    density = float(arm.links[0].density)

    def at(turned=0.0, denser=0.0):
        cells = {"theta_2": angles + turned, "link*.density": np.full(2, density * (1.0 + denser))}
        return cells, to_host(jm.natural_frequencies_batch(arm, cells, 3))

    derivative = cell_derivatives(arm, *at(), ["theta_2", "link*.density"])
    by_angle = (at(turned=step)[1].omega - at(turned=-step)[1].omega) / (2.0 * step)
    by_density = (at(denser=step)[1].omega - at(denser=-step)[1].omega) / (2.0 * step)
    np.testing.assert_allclose(derivative[..., 0], by_angle, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(derivative[..., 1] * density, by_density, rtol=1e-6)


def test_an_address_is_known_without_the_list_of_all(monkeypatch):
    """The list was built anew for each of 154 addresses of six links."""
    near = (
        "links1.length",
        "link1",
        "link1.",
        "",
        "link1.section",
        "name",
        "link1.name",
        "payload",
    )
    near += ("link0.length", "link1.length.x", "link9.length", "link1.rigid", "link1.joint_limits")
    arms = [case.arm for case in references().values() if isinstance(case.arm, jm.SpatialArm)]
    for arm in arms:
        known = arm.addresses()
        assert all(arm.has(address) for address in known)
        wrong = [x[:-1] for x in known] + [f"{x}.x" for x in known] + [*near]
        wrong += [x.replace("link1", f"link{arm.num_links + 1}") for x in known if "link1" in x]
        assert not [x for x in wrong if arm.has(x) and x not in known]

    def listed(arm):
        raise AssertionError("the list of all")

    monkeypatch.setattr(jm.SpatialArm, "addresses", listed)
    assert jm.resolve_address(arms[0], "link*.length")[0] == "link1.length"
