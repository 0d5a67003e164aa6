"""Do datasets of responses hold the results, with labels, frequencies in Hz and the unit of every value?"""

import numpy as np
import pytest

import jaxmodal as jm

LINK = jm.Link(1.0, 7e10, 2700.0, jm.rectangle(0.02, 0.05), kelvin_voigt_time=1e-5)
ARM = jm.Arm((LINK,))
INPUTS, OUTPUTS = ["tip_1.across", "base.y"], ["tip_1.across", "tip_1.rotation"]
BENDING, MASS = 7e10 * 0.05 * 0.02**3 / 12.0, 2700.0 * 0.02 * 0.05
THEORY = "euler_bernoulli"
#: Hz, of the cantilever
FIRST_TWO = np.array([1.875104069, 4.694091133]) ** 2 * np.sqrt(BENDING / MASS) / (2.0 * np.pi)


@pytest.fixture(scope="module")
def model():
    return jm.modal_superposition(ARM, INPUTS, OUTPUTS, 3, theory=THEORY)


def test_a_sum_over_modes_can_be_made_of_its_dataset(model):
    data = model.to_xarray()
    assert data.frequency.values[:2] == pytest.approx(FIRST_TWO, rel=1e-9)
    assert data.frequency.units == "Hz"
    assert bool(data.certified.all())
    omega = 2.0 * np.pi * data.frequency
    static = (data.read * data.driven / omega**2).sum("mode") + data.residual
    # a cantilever under a force at its tip: deflection L^3 / (3 E I), rotation L^2 / (2 E I)
    bent = static.sel(input="tip_1.force_across")
    assert float(bent.sel(output="tip_1.rotation")) == pytest.approx(0.5 / BENDING, rel=1e-9)
    assert float(bent.sel(output="tip_1.across")) == pytest.approx(1.0 / (3.0 * BENDING), rel=1e-9)
    assert static.dims == ("output", "input")
    assert np.diag(data.damping) == pytest.approx(2.0 * data.damping_ratio * omega)


def test_units_of_a_sum_over_modes(model):
    data = model.to_xarray()
    assert data.residual_units.values.tolist() == [
        ["m/N", "m/(m/s^2)"],
        ["rad/N", "rad/(m/s^2)"],
    ]
    assert data.read_units.values.tolist() == ["kg^-0.5", "rad m^-1 kg^-0.5"]
    assert data.driven_units.values.tolist() == ["kg^-0.5", "kg^0.5"]
    assert data.carried_units.values.tolist() == [["1", "1"], ["1", "rad/m"]]
    assert (data.damping.units, data.structural.units) == ("1/s", "rad^2/s^2")
    # the tip of a beam of mass m: 2 / sqrt(m), and 0.78299 sqrt(m) is what the base's acceleration drives
    first = data.sel(mode=1)
    assert abs(first.read.sel(output="tip_1.across")) == pytest.approx(2.0 / MASS**0.5, rel=1e-4)
    assert abs(first.driven.sel(input="base.y")) == pytest.approx(0.78299 * MASS**0.5, rel=1e-4)
    frame = model.to_dataframe()
    assert frame.index.names == ["mode", "input", "output"]
    assert len(frame) == 3 * 2 * 2
    entry = frame.loc[2, "tip_1.force_across", "tip_1.rotation"]
    assert (entry["read"], entry["residual"]) == (model.read[1, 1], model.residual[1, 0])


def test_motions_in_time_by_port_and_time():
    signal = np.sin(2.0 * np.pi * np.arange(32) / 32.0)
    found = jm.time_response(
        ARM, signal, 0.01, "base.y", OUTPUTS, theory=THEORY, motion="velocity", periodic=True
    )
    data = found.to_xarray()
    assert data.velocity.dims == ("output", "time")
    assert data.units.values.tolist() == ["m/s", "rad/s"]
    assert data.time.units == "s"
    assert data.attrs["inputs"] == "base.y"
    assert float(data.velocity.sel(output="tip_1.rotation", time=0.05)) == found.values[1, 5]
    assert (
        found.to_dataframe().loc[("tip_1.across", found.time[3]), "velocity"] == found.values[0, 3]
    )


def test_root_mean_squares_by_port():
    found = jm.random_response(
        ARM,
        2.0,
        20.0,
        200.0,
        "base.y",
        OUTPUTS,
        theory=THEORY,
        motion="acceleration",
        tolerance=1e-3,
    )
    data = found.to_xarray()
    assert np.array_equal(data.rms.sel(output=OUTPUTS), found.rms)
    assert np.array_equal(data.error, found.error)
    assert data.units.values.tolist() == ["m/s^2", "rad/s^2"]
    ends = (data.attrs["frequency_min"], data.attrs["frequency_max"])
    assert ends == pytest.approx((20.0 / (2.0 * np.pi), 200.0 / (2.0 * np.pi)))
    assert found.to_dataframe().loc["tip_1.rotation", "rms"] == found.rms[1]


def test_peaks_and_dips_in_one_column_by_frequency():
    options = {"motion": "acceleration", "base_motion": "displacement"}
    found = jm.response_peaks(
        ARM, 50.0, 800.0, "tip_1.across", "tip_1.across", theory=THEORY, **options
    )
    data = found.to_xarray()
    assert data.kind.values.tolist() == ["peak", "dip", "peak"]
    # a peak of an acceleration lies above the natural frequency by the square of the damping ratio, 1e-5 here
    assert data.frequency.values[[0, 2]] == pytest.approx(FIRST_TWO, rel=1e-4)
    assert data.frequency.units == "Hz"
    assert data.response.units == data["size"].units == "m/s^2/N"
    assert np.array_equal(data.response[data.kind == "dip"], found.dip_values)
    assert np.array_equal(data["size"][data.kind == "peak"], np.abs(found.values))
    assert "size [m/s^2/N]" in str(found)
    assert found.to_dataframe().loc[2, "kind"] == "dip"


@pytest.mark.parametrize(
    ("motion", "base_motion", "unit"),
    [
        ("displacement", "acceleration", "rad/(m/s^2)"),
        ("velocity", "displacement", "rad/s/m"),
        ("acceleration", "acceleration", "rad/s^2/(m/s^2)"),
    ],
)
def test_units_of_what_a_base_drives(motion, base_motion, unit):
    found = jm.response_peaks(
        ARM,
        80.0,
        130.0,
        "base.y",
        "tip_1.rotation",
        theory=THEORY,
        motion=motion,
        base_motion=base_motion,
    )
    assert found.unit == found.to_xarray().response.units == unit


def test_errors_of_sums_by_ports_frequencies_and_modes(model):
    found = jm.truncation_error(model, omega=[50.0, 300.0])
    data = found.to_xarray()
    assert data.frequency.values == pytest.approx([50.0 / (2.0 * np.pi), 300.0 / (2.0 * np.pi)])
    at = {"output": "tip_1.rotation", "input": "base.y"}
    assert np.array_equal(data.exact.sel(at), found.exact[1, 1])
    assert np.array_equal(data.relative.sel(at), found.relative[1, 1])
    assert np.array_equal(data.error, found.error)
    assert np.array_equal(data["size"], found.size)
    assert str(data.units.sel(at).values) == "rad/(m/s^2)"
    assert found.to_dataframe().index.names == ["output", "input", "frequency"]

    needed = jm.modes_needed(ARM, "tip_1.across", "tip_1.across", 1.0, 300.0, theory=THEORY)
    data = needed.to_xarray()
    assert data.attrs["num_modes"] == needed.num_modes
    assert data.attrs["without_residual"] == needed.without_residual
    assert (data.attrs["tolerance"], data.worst.units) == (0.01, "1")
    assert float(data.worst.sel(modes=needed.num_modes)) <= 0.01
    assert needed.to_dataframe().loc[1, "worst_without"] == needed.worst_without[0]


def test_harmonic_motions_by_output_and_frequency():
    """Of a clamped beam under a force across its tip, in closed form, with E (1 + i omega tau)."""
    hertz, forces = np.array([10.0, 60.0]), {"tip_1.across": 2.0 - 1.0j}
    omega = 2.0 * np.pi * hertz
    found = jm.harmonic_response(ARM, omega, forces, OUTPUTS, theory=THEORY, motion="velocity")
    bending = BENDING * (1.0 + 1e-5j * omega)
    b = (MASS * omega**2 / bending) ** 0.25
    below = bending * (1.0 + np.cos(b) * np.cosh(b))
    moved = (np.sin(b) * np.cosh(b) - np.cos(b) * np.sinh(b)) / (b**3 * below)
    turned = np.sin(b) * np.sinh(b) / (b**2 * below)
    truth = 1j * omega * (2.0 - 1.0j) * np.stack([moved, turned])
    data = found.to_xarray()
    assert data.velocity.dims == ("output", "frequency")
    np.testing.assert_allclose(data.velocity, truth, rtol=1e-11, atol=0.0)
    np.testing.assert_allclose(data.frequency, hertz, rtol=1e-15, atol=0.0)
    assert (data.frequency.units, data.units.values.tolist()) == ("Hz", ["m/s", "rad/s"])
    assert data.output.values.tolist() == OUTPUTS
    assert data.attrs["inputs"] == "tip_1.force_across"
    assert data.status.values.tolist() == [[int(jm.Status.resolved)] * 2] * 2
    (table,) = found.tables()
    assert table.rows[1] == [
        "60",
        *(f"{abs(truth[0, 1]):.5g}", f"{np.degrees(np.angle(truth[0, 1])):.2f}"),
        *(f"{abs(truth[1, 1]):.5g}", f"{np.degrees(np.angle(truth[1, 1])):.2f}"),
    ]
    assert table.headings[1:3] == ["tip_1.across [m/s]", "phase [°]"]


def test_static_compliances_by_output_and_input():
    """L^3/(3 E I), L^2/(2 E I) and L/(E I) of a beam of length 1, and the first at half its length, 5/(48 E I)."""
    inputs, outputs = ["tip_1.across", "tip_1.rotation"], ["tip_1.rotation", "link_1@0.5.across"]
    data = jm.static_compliance(ARM, inputs, outputs, theory=THEORY).to_xarray()
    assert data.compliance.dims == ("output", "input")
    truth = np.array([[1.0 / 2.0, 1.0], [5.0 / 48.0, 1.0 / 8.0]]) / BENDING
    np.testing.assert_allclose(data.compliance, truth, rtol=1e-12, atol=0.0)
    assert data.units.values.tolist() == [["rad/N", "rad/(N m)"], ["m/N", "m/(N m)"]]
    assert data.output.values.tolist() == outputs
    assert data["input"].values.tolist() == ["tip_1.force_across", "tip_1.moment"]
    assert data.attrs["theory"] == THEORY
