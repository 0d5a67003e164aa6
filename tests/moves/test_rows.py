"""Rows of moves in datasets and tables: closed forms of what limits ask for, and of what two impulses leave."""

import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal import dynamics
from jaxmodal.moves import move_vibration, quickest_stretch, shape_move, time_optimal
from tests.moves.test_shaping import BEAM, MOVE, ONE


def test_shares_of_the_time_of_a_trapezoid_are_rows():
    """0.25 s up to 0.5 rad/s by 2 rad/s^2, as long down, and 2.15 s between."""
    limits = {"speed": 0.5, "acceleration": 2.0}
    found = time_optimal(
        jm.Arm((jm.Link(**BEAM),) * 2, jm.Payload(1.0)),
        dynamics.RestToRest([0.0, 0.3], [1.2, 0.3], 4.0),
        **limits,
    )
    whole = 1.2 / 0.5 + 0.5 / 2.0
    data = found.to_xarray()
    assert set(data) == {"limit", "reached"}
    rows = dict(zip(data.limit.values.tolist(), data.reached.values.tolist(), strict=True))
    shares = {"speed": 1.0 - 0.5 / whole, "acceleration": 0.5 / whole}
    assert rows.keys() == shares.keys()
    for (
        name,
        share,
    ) in shares.items():  # a part of the path more or less is within, next to a switch
        assert rows[name] == pytest.approx(share, rel=0.0, abs=0.02)
    (table,) = found.tables()
    assert table.rows == [[name, f"{100.0 * share:.1f}"] for name, share in rows.items()]
    assert f"the same path in {found.duration:.6g} s, as given 4 s" in str(found)


def test_what_limits_ask_of_a_stretched_move_are_rows():
    """When it would stop for each limit alone: the greatest speed of the polynomial 15/8, acceleration 10/sqrt(3)."""
    move = dynamics.RestToRest([0.0], [0.3], 1.0)
    limits = {"speed": 2.0, "acceleration": 5.0, "left_mm": 50.0}
    data = quickest_stretch(ONE, move, 1, theory="euler_bernoulli", **limits).to_xarray()
    assert data["limit"].values.tolist() == ["speed", "acceleration", "50 mm left"]
    assert data.asked_for_by.values[2] == "tip"
    slowest = np.sqrt(0.3 * 10.0 / np.sqrt(3.0) / 5.0)
    stops = [0.3 * 1.875 / 2.0, slowest, slowest]
    np.testing.assert_allclose(data.stop_s, stops, rtol=1e-6, atol=0)


def test_modes_of_a_shaped_move_are_rows():
    """Two impulses half a period apart leave nothing of mode 1, whose frequency stays; mode 2 has no band."""
    shaped = shape_move(ONE, MOVE, "zv", 2, theory="euler_bernoulli", modes=(1,))
    data = shaped.to_xarray()
    omega = np.asarray(jm.natural_frequencies(ONE, 2, theory="euler_bernoulli").omega)
    assert data["mode"].values.tolist() == [1, 2]
    for name in ("band_from_hz", "band_to_hz"):
        np.testing.assert_allclose(
            data[name], [omega[0] / (2.0 * np.pi), np.nan], rtol=1e-12, atol=0
        )
    np.testing.assert_allclose(data.bound, [0.0, np.nan], rtol=0, atol=1e-12)
    before = move_vibration(ONE, MOVE, 2, theory="euler_bernoulli").amplitudes_mm
    np.testing.assert_allclose(data.unshaped_mm, before, rtol=1e-12, atol=0)
    assert float(data.left_mm[0]) < 1e-4 * before[0]
    # a share |cos| of a mode whose frequency is that of another number of half periods
    share = abs(np.cos(0.5 * np.pi * omega[1] / omega[0]))
    np.testing.assert_allclose(data.left_mm[1] / before[1], share, rtol=1e-3, atol=0)
    np.testing.assert_allclose(data.largest_left_mm, data.left_mm, rtol=0, atol=0)
