"""Curves of responses show their peaks, poles and phases, whatever the frequencies asked for."""

import matplotlib
import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.plots import draw_bode, draw_nyquist
from jaxmodal.plots.figures import new_figure
from jaxmodal.response.forced.curves import refined
from tests.support import damped_cantilever
from tests.support.commands import run_command

matplotlib.use("Agg")

THEORY = "euler_bernoulli"
#: a damping ratio of 1e-4 in the first mode, 1e-3 in the second
DAMPING = 8e-7
BARE, DAMPED = (
    damped_cantilever.cantilever(**more) for more in ({}, {"kelvin_voigt_time": DAMPING})
)
#: roots of cos z cosh z = -1, from tables of beams, as frequencies
ROOTS = np.array([1.875104068711961, 4.694091132974174, 7.854757438237613])
NATURAL = (ROOTS / damped_cantilever.LENGTH) ** 2 * np.sqrt(
    damped_cantilever.YOUNG * damped_cantilever.MOMENT
    / (damped_cantilever.DENSITY * damped_cantilever.AREA)
)  # fmt: skip
COARSE = np.geomspace(0.3 * NATURAL[0], 1.2 * NATURAL[1], 12)
PORTS = ("tip.across", ["tip.across", "link_1@0.5.across"])


def pair():
    return tuple(new_figure(6.0, 4.0).subplots(2, 1))


def response(arm, outputs="tip.across", **options):
    return jm.frequency_response(arm, COARSE, "tip.across", outputs, theory=THEORY, **options)


def test_peaks_are_drawn_as_high_as_they_are():
    """Of twelve frequencies none lies near a peak: the picture showed a fraction of it."""
    found = response(DAMPED)
    peaks = jm.response_peaks(
        DAMPED, COARSE[0], COARSE[-1], "tip.across", "tip.across", theory=THEORY
    )
    curve = refined(DAMPED, found, peaks.omega)
    above, _ = draw_bode(curve, pair(), NATURAL[:2], [peaks])
    line, circles = above.lines[:2]
    hertz, sizes = line.get_data()
    for k, omega in enumerate(NATURAL[:2]):
        near = np.linspace(omega * (1.0 - 1e-3), omega * (1.0 + 1e-3), 200_001)
        true = np.abs(damped_cantilever.deflection(near, 1.0, 0.0, DAMPING)[0]).max()
        here = np.abs(2.0 * np.pi * hertz / omega - 1.0) < 1e-3
        assert sizes[here].max() == pytest.approx(true, rel=1e-6)
        assert circles.get_ydata()[k] == pytest.approx(true, rel=1e-6)
    assert np.abs(found.values).max() < 0.1 * sizes.max()
    assert set(np.asarray(found.frequencies_hz)) <= set(hertz)
    assert [text.get_text() for text in above.texts] == [f"{abs(x):.3g}" for x in peaks.values]


def test_chords_of_a_curve_stay_near_it():
    """Halfway between two points the closed form is a hundredth of its size away at most: circles are round."""
    curve = refined(DAMPED, response(DAMPED), NATURAL[:2])
    x, y = draw_nyquist(curve, new_figure(5.0, 5.0).add_subplot()).lines[0].get_data()
    omega = np.asarray(curve.omega)
    middle = np.sqrt(omega[:-1] * omega[1:])
    true = damped_cantilever.deflection(middle, 1.0, 0.0, DAMPING)[0]
    chord = 0.5 * (x[:-1] + x[1:] + 1j * (y[:-1] + y[1:]))
    assert np.all(np.abs(chord - true) <= 0.01 * np.abs(true))
    assert omega.size < 1000


def test_without_damping_resonances_are_infinite_and_shown_so():
    curve = refined(BARE, response(BARE, PORTS[1]), NATURAL)
    infinite = np.asarray(curve.omega)[np.isinf(curve.magnitude[0, 0])]
    np.testing.assert_allclose(infinite, NATURAL[:2], rtol=1e-9)
    above, _ = draw_bode(curve, pair(), NATURAL[:2])
    marks = [line for line in above.lines if line.get_marker() == "^"]
    assert len(marks) == 2 * len(PORTS[1])
    assert [text.get_text().strip() for text in above.texts] == ["∞"] * 4
    hertz, sizes = above.lines[0].get_data()
    assert np.all(sizes[np.isin(hertz, infinite / (2.0 * np.pi))] > above.get_ylim()[1])


def test_a_mode_that_does_not_answer_is_not_infinite():
    """Bending does not move a straight beam along itself, and a force along it bends nothing."""
    axial = 0.5 * np.pi / damped_cantilever.LENGTH * np.sqrt(7e10 / 2700.0)
    omega = np.array([0.5, 1.5]) * NATURAL[1]
    found = jm.frequency_response(BARE, omega, "tip.along", "tip.along", theory=THEORY)
    assert omega[1] < axial
    assert np.isfinite(refined(BARE, found, NATURAL).values).all()
    around = jm.frequency_response(BARE, axial * omega, "tip.along", "tip.along", theory=THEORY)
    assert around.ok
    wide = jm.frequency_response(
        BARE, axial * np.array([0.5, 1.5]), "tip.along", "tip.along", theory=THEORY
    )
    assert np.isinf(refined(BARE, wide, [axial]).magnitude).sum() == 1


@pytest.mark.parametrize(
    ("quantity", "start"),
    [
        ("receptance", 0.0),
        pytest.param("mobility", 90.0, marks=pytest.mark.slow),
        ("accelerance", 180.0),
    ],
)
def test_phases_have_no_jumps_and_those_without_damping_are_the_limit(quantity, start):
    """Resonances turn by -180, antiresonances of the same port by 180, elsewhere phases go on falling."""
    drawn = []
    for arm in (DAMPED, BARE):
        curve = refined(arm, response(arm, PORTS[1], quantity=quantity), NATURAL)
        _, below = draw_bode(curve, pair(), NATURAL[:2])
        drawn.append([line.get_data() for line in below.lines[:2]])
    for (hertz, phases), (at, limits) in zip(*drawn, strict=True):
        assert np.abs(np.diff(phases)).max() < 90.0
        for k, place in enumerate(COARSE / (2.0 * np.pi)):
            own, limit = phases[hertz == place].item(), limits[at == place].item()
            assert own == pytest.approx(limit, abs=2.0), k
        assert phases[0] == pytest.approx(start, abs=1.0)
    ends = [phases[-1] - phases[0] for _, phases in drawn[0]]
    assert ends == pytest.approx([-180.0, -360.0], abs=3.0)


def test_the_command_draws_what_it_knows(tmp_path, monkeypatch):
    """The peaks that its table prints are in its picture, however few the points."""
    taken = {}

    def keep(name):
        return lambda found, axes, *more: taken.update({name: (found, *more)})

    monkeypatch.setattr("jaxmodal.plots.responses.draw_bode", keep("bode"))
    monkeypatch.setattr("jaxmodal.plots.responses.draw_nyquist", keep("nyquist"))
    place, ports = str(tmp_path / "a.png"), ("--input", "tip.across", "--output", "tip.across")
    arguments = [
        "response",
        "example:two_link_flexible",
        *ports,
        "--plot",
        place,
        "--nyquist",
        place,
    ]
    few = ["--points", "5", "--band-hz", "0.1,5"]
    done = run_command(*arguments, *few, "--loss-factor", "0.01", "--format", "csv")
    assert done.exit_code == 0, done.output
    assert len(done.stdout.splitlines()) == 6  # the table is at the frequencies asked for
    found, _, (peaks,) = taken["bode"]
    assert found is taken["nyquist"][0]
    assert np.abs(found.values).max() == pytest.approx(np.abs(peaks.values).max(), rel=1e-12)
    assert run_command(*arguments, *few).exit_code == 0
    assert np.isinf(np.abs(taken["bode"][0].values)).any()
