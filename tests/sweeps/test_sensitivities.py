"""Sensitivities, energies and effective masses as outputs of sweeps: numbers, labels, pictures, refusals."""

from pathlib import Path

import numpy as np
import pytest

import jaxmodal as jm
import sweeps
from sweeps.commands.report import summary_lines, work_lines
from sweeps.plots.sensitivities import sensitivity_lines, sensitivity_map
from sweeps.store.export import as_table
from tests.support.commands import run_command

SAME = 1e-9
"""One path in batches, the other arm by arm."""

DOUBLE_ROOT_DEG = (-155.009952919027194, -64.1983428536445678)
"""Modes 2 and 3 of the three-link arm coincide there."""

WALLS = [f"link{n}.section.wall_thickness" for n in (1, 2, 3)]
MODAL = [name for name, quantity in sweeps.QUANTITIES.items() if quantity.part == "modal"]


def postures(**options):
    axes = [
        sweeps.axis("theta_2", [DOUBLE_ROOT_DEG[0], 0.0, 90.0], unit="degree"),
        sweeps.axis("theta_3", [DOUBLE_ROOT_DEG[1], 45.0], unit="degree"),
    ]
    defaults = {"num_modes": 3, "outputs": MODAL, "sensitivity_to": [*WALLS, "payload_mass"]}
    return sweeps.Sweep("example:three_link_industrial", axes, **defaults | options)


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    path = tmp_path_factory.mktemp("sensitivities") / "walls.zarr"
    sweeps.run(postures(), path, chunk_cells=2)
    return path


@pytest.fixture(scope="module")
def ds(stored):
    return sweeps.open_result(stored).load()


def test_a_cell_has_the_numbers_of_its_arm(ds):
    arm = jm.examples.three_link_industrial().with_posture(np.deg2rad([90.0, 45.0]))
    cell = ds.sel(theta_2=90.0, theta_3=45.0)
    alone = jm.sensitivities(arm, 3, addresses=[*WALLS, "payload.mass"])
    close = {"rtol": SAME, "atol": SAME}
    np.testing.assert_allclose(cell.sensitivity, alone.logarithmic, **close)
    np.testing.assert_allclose(cell.frequency_derivative, alone.derivative_hz, **close)
    shapes = jm.mode_shapes(arm, 3, stations=2)
    np.testing.assert_allclose(cell.effective_mass, shapes.effective_mass[:, :2], **close)
    np.testing.assert_allclose(cell.effective_inertia, shapes.effective_mass[:, 2], **close)
    np.testing.assert_allclose(cell.participation_factor, shapes.participation[:, :2], **close)
    np.testing.assert_allclose(cell.participation_inertia, shapes.participation[:, 2], **close)
    fraction = np.asarray(shapes.effective_mass) / np.asarray(shapes.total_mass)
    np.testing.assert_allclose(cell.effective_fraction, fraction, **close)
    shear = np.asarray(shapes.energies.shear) / np.asarray(shapes.energies.strain)[:, None]
    found = cell.strain_energy_fraction.sel(strain_part="shear")
    np.testing.assert_allclose(found, shear, **close)
    body = np.asarray(shapes.energies.body_translation)
    expected = body / np.asarray(shapes.energies.kinetic)[:, None]
    found = cell.kinetic_energy_fraction.sel(kinetic_part="body_translation")
    np.testing.assert_allclose(found, expected, **close)


def test_shares_of_energy_add_up_to_one(ds):
    for name in ("strain_energy_fraction", "kinetic_energy_fraction"):
        kind = ds[name].dims[-1]
        np.testing.assert_allclose(ds[name].sum(["link", kind]), 1.0, rtol=1e-14)
        assert float(ds[name].min()) >= 0.0


def test_a_double_root_is_flagged_and_has_means(ds):
    crossing = ds.isel(theta_2=0, theta_3=0)
    assert crossing.modal_status.values.tolist() == [
        jm.Status.resolved,
        jm.Status.cluster_mean,
        jm.Status.cluster_mean,
    ]
    assert ds.modal_status.attrs["flag_meanings"].split()[1] == "cluster_mean"
    assert np.all(np.isfinite(crossing.sensitivity))
    np.testing.assert_array_equal(crossing.sensitivity[1], crossing.sensitivity[2])
    np.testing.assert_array_equal(crossing.effective_mass[1], crossing.effective_mass[2])
    others = ds.isel(theta_2=slice(1, None))
    assert np.all(others.modal_status == jm.Status.resolved)


def test_labels_and_units(ds):
    assert ds.sensitivity.dims == ("theta_2", "theta_3", "mode", "parameter")
    assert ds.strain_energy_fraction.dims[-2:] == ("link", "strain_part")
    assert ds.parameter.values.tolist() == [*WALLS, "payload.mass"]
    assert ds.parameter_unit.values.tolist() == ["m", "m", "m", "kg"]
    assert ds.link.values.tolist() == [1, 2, 3]
    assert ds.effective_mass.attrs["units"] == "kg"
    assert "parameter_unit" not in ds.frequency.coords


def test_memory_and_store_hold_the_same_numbers(ds):
    """Other chunks, other blocks of the solver; the same arms to rounding."""
    whole = sweeps.run(postures())
    for name in MODAL:
        np.testing.assert_allclose(whole[name], ds[name], rtol=1e-7, atol=1e-9, err_msg=name)


def test_a_resumed_store_has_the_same_bytes(stored):
    chunk = stored / "sensitivity" / "c.1.0.0.0"
    before = chunk.read_bytes()
    chunk.unlink()
    sweeps.run(postures(), stored)
    assert chunk.read_bytes() == before


def test_invalid_cells_have_no_value_and_say_so():
    axes = [
        sweeps.axis("link1.section.depth", [0.15, 0.015]),
        sweeps.axis("link1.section.width", [0.2]),
    ]
    # three modes as everywhere here: one program
    options = {"num_modes": 3, "outputs": ["sensitivity"], "sensitivity_to": ["link1.length"]}
    ds = sweeps.run(sweeps.Sweep("example:three_link_industrial", axes, **options))
    assert ds.modal_status.values.reshape(2, 3).tolist() == [
        [jm.Status.resolved] * 3,
        [jm.Status.no_value] * 3,
    ]
    assert np.isnan(ds.sensitivity.values.reshape(2, 3)).tolist() == [[False] * 3, [True] * 3]


def test_all_parameters_are_taken_unless_told_otherwise():
    sweep = postures(outputs=["sensitivity"], sensitivity_to=[])
    assert list(sweep.sensitivity_to) == jm.list_addresses(jm.examples.three_link_industrial())
    assert sweep.outputs == ("frequency", "status", "certified", "modal_status", "sensitivity")
    assert postures(outputs=[], sensitivity_to=[]).sensitivity_to == ()


def test_a_file_names_the_parameters(tmp_path):
    path = tmp_path / "sweep.toml"
    path.write_text(
        'arm = "example:two_link_flexible"\noutputs = ["sensitivity"]\n'
        'sensitivity_to = ["thickness_factor", "theta_2"]\n'
        '[[axes]]\nparameter = "theta_2"\nvalues = [1.0]\n'
    )
    assert sweeps.read_sweep(path).sensitivity_to == ("link*.thickness_factor", "link2.joint_angle")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"sensitivity_to": ["link1.lenght"]}, ("sensitivity_to", "link1.length")),
        ({"sensitivity_to": "link1.length"}, ("sensitivity_to", "list of parameters")),
        ({"sensitivity_to": [3]}, ("address = 3", "text")),
        ({"sensitivity_to": ["theta_2", "link2.joint_angle"]}, ("link2.joint_angle", "twice")),
        ({"outputs": []}, ("sensitivity_to is given", "add 'sensitivity'")),
        ({"outputs": ["sensitivty"]}, ("Did you mean 'sensitivity'",)),
    ],
)
def test_wrong_definitions_are_refused(options, words):
    with pytest.raises(sweeps.SweepError) as refused:
        postures(**options)
    for word in words:
        assert word in str(refused.value)


def test_the_plan_and_the_summary_speak_of_sensitivities(ds):
    assert "modal_status, sensitivity" in "\n".join(work_lines(postures()))
    lines = summary_lines(ds)
    start = next(k for k, line in enumerate(lines) if line.startswith("largest logarithmic"))
    largest = np.abs(ds.sensitivity.sel(mode=1).values).argmax(axis=-1)
    share = 100.0 * np.mean(largest == 0)
    assert f"mode 1: {WALLS[0]} {share:.3g}" in lines[start + 1]
    unknown = summary_lines(ds.assign(sensitivity=ds.sensitivity * np.nan))
    assert unknown[-1] == "  mode 3: no values"


def test_the_table_has_a_column_for_each_parameter(ds):
    table = as_table(ds)
    assert len(table) == ds.frequency.size
    column = table[f"sensitivity[{WALLS[1]}]"].to_numpy()
    np.testing.assert_array_equal(column, ds.sensitivity.sel(parameter=WALLS[1]).values.ravel())


# ---- pictures ----


def texts(figure):
    import matplotlib.text

    return " ".join(entry.get_text() for entry in figure.findobj(matplotlib.text.Text))


def test_the_map_shows_which_parameter_matters_most(ds):
    walls = ds.sel(parameter=WALLS)
    figure = sensitivity_map(walls, "theta_2", "theta_3", modes=[1, 2])
    words = texts(figure)
    for word in ("which link's wall thickness matters most", "link 1", "mode 2", "[°]"):
        assert word in words
    (patch,) = {
        tuple(handle.get_facecolor()[:3])
        for handle in figure.legends[0].legend_handles
        if handle.get_label() == "link 1"
    }
    drawn = np.asarray(figure.axes[0].collections[0].get_array()).reshape(2, 3, -1)[..., :3]
    first = (
        np.abs(walls.sensitivity.sel(mode=1)).argmax("parameter").transpose("theta_3", "theta_2")
    )
    np.testing.assert_array_equal(np.all(drawn == patch, axis=-1), first == 0)
    assert len(figure.axes[1].lines) == 1  # the double root is marked


def test_the_map_of_one_parameter_shows_its_values(ds):
    figure = sensitivity_map(ds, "theta_2", "theta_3", parameter="payload.mass", modes=[3])
    drawn = figure.axes[0].collections[0].get_array()
    expected = ds.sensitivity.sel(mode=3, parameter="payload.mass").transpose("theta_3", "theta_2")
    np.testing.assert_array_equal(np.asarray(drawn).reshape(expected.shape), expected)
    assert "payload.mass" in texts(figure)
    assert "which parameter" in texts(sensitivity_map(ds, "theta_2", "theta_3"))


def test_lines_over_one_axis(ds):
    figure = sensitivity_lines(ds.isel(theta_3=1), "theta_2")
    assert [line.get_label() for line in figure.axes[0].lines] == [*WALLS, "payload.mass"]
    expected = ds.sensitivity.isel(theta_3=1).sel(mode=2, parameter=WALLS[2])
    np.testing.assert_array_equal(figure.axes[1].lines[2].get_ydata(), expected)
    (line,) = sensitivity_lines(ds.isel(theta_3=1), "theta_2", parameter=WALLS[2]).axes[1].lines
    np.testing.assert_array_equal(line.get_ydata(), expected)


def test_the_command_draws_them(stored, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def plot(*arguments):
        return run_command("sweep", "plot", stored, "--out", "w", *arguments)

    drawn = plot()
    assert drawn.exit_code == 0, drawn.output
    assert "w_sensitivities.png" in drawn.stdout.split()
    one = plot("--kind", "sensitivities", "--address", WALLS[0], "--to", "svg")
    assert one.exit_code == 0, one.output
    assert Path("w_sensitivities.svg").stat().st_size > 1000
    for arguments, words in (
        (("--kind", "sensitivities", "--address", "link1.wall"), "link1.section.wall_thickness"),
        (("--kind", "maps", "--address", WALLS[0]), "--kind sensitivities"),
        (("--address", WALLS[0]), "--kind sensitivities"),
        (("--at", "theta_2=0", "--at", "theta_3=45"), "needs more axes than the 0 that are left"),
    ):
        refused = plot(*arguments)
        assert refused.exit_code == 2
        assert words in refused.stderr


def test_a_dataset_without_sensitivities_is_refused(ds):
    with pytest.raises(sweeps.SweepError, match="add 'sensitivity' to the outputs"):
        sensitivity_map(ds.drop_vars("sensitivity"), "theta_2", "theta_3")
