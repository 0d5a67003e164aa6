"""Do results show themselves: as a table, as HTML, as a dataset, with their certificates?"""

import jax
import numpy as np
import pytest
import xarray as xr

import jaxmodal as jm
import sweeps
from jaxmodal.arm.arrays import beam_arrays

ARM = jm.examples.two_link_flexible().with_posture([0.5])


@pytest.fixture(scope="module")
def found():
    return jm.natural_frequencies(ARM, 3)


@pytest.fixture(scope="module")
def table():
    return jm.sensitivities(ARM, 2, addresses=["theta_2", "link1.length", "link1.joint_angle"])


def test_frequencies_are_shown_in_hz_with_certificates(found):
    text = str(found)
    for hertz in np.asarray(found.frequencies_hz):
        assert f"{hertz:#.5g}" in text
    assert text.count("certified") == 3
    assert repr(found) == "<NaturalFrequencies: 3 natural frequencies (timoshenko)>"
    assert found._repr_html_().count("<tr>") == 4


def test_what_is_not_certified_says_so_with_its_remedy(found):
    import dataclasses

    odd = dataclasses.replace(found, status=np.array([0, 1, 2]))
    assert "NOT certified: uncertified" in str(odd)
    assert "NOT certified: not_converged" in str(odd)
    assert jm.Status.uncertified.remedy in str(odd)


def test_a_batch_is_shown_by_its_ranges():
    batch = jm.natural_frequencies_batch(ARM, {"theta_2": np.linspace(0.0, 1.0, 4)}, 2)
    assert "4 of 4" in str(batch)
    assert f"{float(batch.frequencies_hz[:, 1].min()):#.5g}" in str(batch)
    assert batch.to_xarray().frequency.dims == ("cell", "mode")


def test_datasets_may_be_written_as_netcdf(found, table, tmp_path):
    """By any engine: SciPy's takes neither an attribute named mode nor a dim without entries."""
    batch = jm.natural_frequencies_batch(ARM, {"theta_2": np.linspace(0.0, 1.0, 4)}, 2)
    cells = {"theta_2": np.linspace(0.0, 1.0, 4)}
    range_ = {"theta_2": (0.0, 1.0)}
    quantities = jm.modal_quantities_batch(ARM, cells, batch)
    assert quantities.to_dataframe().shape == (8, 1)
    buckled = jm.buckling(ARM, 1, theory="euler_bernoulli", gravity=(-1.0, 0.0))
    for result in (found, table, batch, quantities, buckled, jm.extremes(ARM, range_, starts=8)):
        data = result.to_xarray()
        data.to_netcdf(tmp_path / "result.nc", engine="scipy")
        with xr.open_dataset(tmp_path / "result.nc", engine="scipy") as again:
            assert set(again.variables) == set(data.variables)
            for name, column in data.variables.items():
                written = again[name].values
                assert np.array_equal(written, column.values.astype(written.dtype)), name
        assert all("long_name" in each.attrs for each in data.data_vars.values())


def test_datasets_hold_hz_and_flags(found, table):
    for data in (found.to_xarray(), table.to_xarray()):
        assert data.frequency.units == "Hz"
        assert data.status.dtype == np.int8
        assert data.status.flag_meanings.split()[0] == "certified"
    assert np.array_equal(found.to_xarray().frequency, found.frequencies_hz)
    assert np.array_equal(table.to_xarray().derivative_hz, table.derivative_hz)
    frame = found.to_dataframe()
    assert frame.index.name == "mode"
    assert frame.loc[2, "frequency"] == float(found.frequencies_hz[1])


def test_a_verdict_on_a_list_is_a_dataset(found):
    omega = np.asarray(found.omega) * [1.0, 1.001, 1.0]
    verdict = jm.certify(ARM, omega)
    data = verdict.to_xarray()
    assert data.certified.values.tolist() == [True, False, True]
    assert data.status.attrs["flag_meanings"].split()[0] == "certified"
    for entry in (1, 3):
        own = data.sel(entry=entry)
        assert own.bracket_lower < omega[entry - 1] / (2.0 * np.pi) < own.bracket_upper
        assert (int(own.count_below), int(own.count_above)) == (entry - 1, entry)
    assert (data.bracket_lower.units, int(data.left_out)) == ("Hz", 0)
    assert verdict.to_dataframe().loc[3, "multiplicity"] == 1


def test_long_tables_are_cut(found):
    """Of a verdict, as of frequencies: the first and the last rows."""
    verdict = jm.certify(ARM, np.asarray(found.omega)[0] * np.arange(1.0, 101.0))
    (shown,) = verdict.tables()
    assert len(shown.rows) == 60
    assert [shown.rows[k][0] for k in (0, -5, -1)] == ["1", "...", "100"]


def test_the_modes_of_a_band_keep_their_numbers():
    """The second and third of a clamped beam: squares of roots of cos x cosh x = -1."""
    beam = jm.Arm((jm.Link(1.0, 1.0, 1.0, jm.raw_section(1.0, 1.0)),))
    omega = np.array([4.694091132974175, 7.854757438237613]) ** 2
    band = jm.frequencies_in_band(beam, 10.0, 100.0, theory="bending_only")
    data = band.to_xarray()
    assert data.mode.values.tolist() == [2, 3]
    np.testing.assert_allclose(data.frequency, omega / (2.0 * np.pi), rtol=1e-13, atol=0.0)
    (table,) = band.tables()
    shown = [[str(k), f"{w / (2.0 * np.pi):#.5g}"] for k, w in zip((2, 3), omega, strict=True)]
    assert [[row[0], row[1].split()[0]] for row in table.rows] == shown
    assert band.to_dataframe().index.tolist() == [2, 3]


def test_traced_results_have_one_line():
    lines = []

    def solve(mass):
        lines.append(str(beam_arrays(ARM.with_payload(mass=mass)).has_shear))
        lines.append(str(ARM.with_payload(mass=mass)))
        return mass

    jax.eval_shape(solve, 1.0)
    assert "traced" in lines[1]


def test_an_arm_shows_its_links_joints_and_bodies():
    geared = ARM.replace(
        links=(ARM.links[0], ARM.links[1].replace(joint_stiffness=50.0, hub_mass=3.0))
    )
    text = str(geared.with_payload(mass=0.25))
    for part in ("two-link flexible arm: 2 links, posture 28.6479°", "50 N m/rad", "hub_mass 3 kg", "mass 0.25 kg",
                 "clamped", "rectangle, 0.61 x 51 mm"):  # fmt: skip
        assert part in text
    assert "joint_stiffness" in str(geared.links[1])
    assert "meaning" in geared.links[1]._repr_html_()


def test_angles_are_per_degree_and_noise_is_zero(table):
    """The derivative by an angle is never relative to it; that of link 1 changes nothing."""
    from jaxmodal.modes.sensitivity_results import by_size, sensitivities_table, shown_sensitivities

    values, units = shown_sensitivities(table)
    assert units == ["% per °", "% per %", "% per °"]
    per_degree = np.radians(1.0) * np.asarray(table.derivative_hz)[:, 0]
    assert values[:, 0] == pytest.approx(
        100.0 * per_degree / np.asarray(table.frequencies.frequencies_hz)
    )
    assert values[:, 1] == pytest.approx(np.asarray(table.logarithmic)[:, 1])
    assert np.all(values[:, 2] == 0.0)
    assert by_size(table)[-1] == 2
    own, names = shown_sensitivities(table, "derivative")
    assert names == ["Hz per °", "Hz per m", "Hz per °"]
    assert own[:, 0] == pytest.approx(per_degree)
    assert len(sensitivities_table(table, top=1).rows) == 1


def test_damping_is_said_to_move_no_undamped_frequency():
    damped = ARM.replace(links=(ARM.links[0].replace(loss_factor=0.01), ARM.links[1]))
    table = jm.sensitivities(damped, 1, addresses=["link1.loss_factor", "payload.mass"])
    assert float(table.derivative[0, 0]) == 0.0
    (note,) = [line for line in str(table).splitlines() if "damped_modes" in line]
    assert note.startswith("link1.loss_factor: undamped frequencies do not depend on damping")
    assert "damped_modes" not in str(jm.sensitivities(damped, 1, addresses=["payload.mass"]))
    with pytest.warns(jm.ImplausibleWarning, match="not change along link1.loss_factor; ask for"):
        sweeps.Sweep(damped, [sweeps.linspace("link1.loss_factor", 0.001, 0.1, 3)], num_modes=1)


def test_angles_to_avoid():
    """The intervals are where counts at many angles find a frequency in the band."""
    low, high = 2.0 * np.pi * 0.21, 2.0 * np.pi * 0.24
    free = jm.resonance_free(ARM, low, high)
    assert [tuple(round(x, 2) for x in span) for span in free.avoid] == [
        (-82.0, -42.14),
        (42.14, 82.0),
    ]
    for angle in np.linspace(-179.0, 179.0, 41):
        counts = jm.count_below(ARM.with_posture_deg([float(angle)]), np.array([low, high]))
        inside = any(first < angle < last for first, last in free.avoid)
        assert inside == bool(counts[1] > counts[0])
    text = str(free)
    assert "avoid, of joint 2: -82.0° to -42.1°, 42.1° to 82.0°" in text
    assert "82.0" in text
    assert free.to_xarray().border_angle.units == "degree"


def test_angles_with_a_frequency():
    found = jm.postures_at(ARM, 2.0 * np.pi * 0.23)
    assert "-71.690" in str(found)
    assert "2 angles of joint 2 with 0.23 Hz" in repr(found)
    assert np.allclose(found.to_xarray().angle[:2], np.degrees(found.angle[:2]))


def test_a_sweep_shows_its_axes():
    sweep = sweeps.Sweep(ARM, [sweeps.linspace("theta_2", 0, 90, 3, unit="degree")], num_modes=2)
    for part in ("theta_2", "link2.joint_angle", "3 cells", "degree", "90"):
        assert part in str(sweep)
    assert "two-link flexible arm" in repr(sweep)


def test_shapes_and_tapers_show_themselves():
    shapes = jm.mode_shapes(ARM, 2, stations=3)
    assert "bending %" in str(shapes)
    assert shapes.to_dataframe().shape == (12, 6)
    beam = jm.Link(1.0, 7e10, 2700.0, jm.rectangle(0.02, 0.05))

    def build(pieces, bound):
        return jm.Arm(jm.tapered(beam, jm.rectangle(0.01, 0.05), pieces, bound))

    found = jm.tapered_frequencies(build, 1, theory="bending_only", tolerance=1e-2)
    assert "bounds [Hz]" in str(found)
    data = found.to_xarray()
    assert data.lower.units == data.frequency.units == data.upper.units == "Hz"
    assert bool((data.lower < data.frequency).all() and (data.frequency < data.upper).all())
    assert np.array_equal(2.0 * np.pi * data.frequency, found.omega)
    assert np.array_equal(data.relative_error, found.error)
    assert data.attrs["pieces"] == found.pieces
    assert found.to_dataframe().index.name == "mode"


def test_modal_quantities_of_many_arms_show_ranges_and_what_matters():
    masses = {"payload.mass": np.linspace(0.1, 0.5, 3)}
    found = jm.natural_frequencies_batch(ARM, masses, 3)  # as many as in the tests of sweeps
    shown = jm.modal_quantities_batch(ARM, masses, found, addresses=["link1.length", "theta_2"])
    text = str(shown)
    assert text.startswith("modal quantities of 3 arms, 3 modes")
    shares = 100.0 * np.asarray(shown.effective_mass)[:, 0, 0] / np.asarray(shown.total_mass)[:, 0]
    assert f"{shares.min():.3g} to {shares.max():.3g}" in text
    assert "link1.length" in text
    assert repr(shown) == "<ModalQuantities: modal quantities of 3 arms, 3 modes>"
    assert shown._repr_html_().count("<tr>") == 4
    data = shown.to_xarray()
    assert data.derivative_hz.dims == ("cell", "mode", "parameter")
    assert np.array_equal(data.derivative_hz, np.asarray(shown.derivative) / (2.0 * np.pi))
    assert np.array_equal(data.energy_bending.sel(link=2), shown.energies.bending[..., 1])
    assert list(data.unit.values) == ["m", "rad"]
    assert shown.to_dataframe().shape == (18, 5)


def test_damped_modes_as_a_dataset_and_a_picture():
    from jaxmodal.plots.figures import new_figure

    joint = ARM.links[1].replace(joint_stiffness=50.0, joint_damping=0.02)
    found = jm.damped_modes(ARM.replace(links=(ARM.links[0], joint)), 2)
    data = found.to_xarray()
    assert data.frequency.units == "Hz"
    assert np.array_equal(data.damping_ratio, found.damping_ratio)
    assert list(found.to_dataframe()["mode"]) == [1, 2]
    axes = new_figure(5.0, 4.0).add_subplot()
    assert found.plot(axes) is axes
    (dots,) = axes.lines[:1]
    assert np.allclose(dots.get_xdata(), found.frequencies_hz)
    assert np.allclose(dots.get_ydata(), 100.0 * found.damping_ratio)
    assert axes.get_xlabel() == "frequency [Hz]"


def test_a_posture_series_shows_what_it_covers():
    series = jm.posture_series(jm.examples.three_link_industrial(), 2.0 * np.pi * 50.0)
    text = str(series)
    assert "to 50 " in text
    assert "2, any values" in text
    assert len(repr(series)) < 100


def test_equations_and_linearisations_show_themselves():
    import jaxmodal.dynamics as dynamics
    from jaxmodal.symbolic import to_sympy, written_equations

    model = dynamics.flexible_arm(ARM, modes=1)
    small = dynamics.linearise(model, np.zeros(model.num_coordinates))
    hertz = np.asarray(small.natural_frequencies()) / (2.0 * np.pi)
    assert f"{hertz[-1]:.5g}" in str(small)
    assert "link1.mode1" in small._repr_html_()
    written = written_equations(model)
    for part in ("inertia matrix", "4 x 4", "coordinates: "):
        assert part in str(written)
    assert "B (4, 4)" in repr(to_sympy(written))
    assert "B = " in to_sympy(written)._repr_html_()
