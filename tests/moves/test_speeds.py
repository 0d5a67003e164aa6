"""Are the speeds at which orders meet modes those of closed forms, and of the frequencies of each posture?"""

import numpy as np
import pytest

import jaxmodal as jm
from benchmarks.quiet_moves import arm
from jaxmodal import dynamics
from jaxmodal.moves import Order, crossings_along, speeds_to_avoid
from tests.support.commands import run_command

TWO = arm()
ORDERS = [Order(2, 200.0, "wave generator"), Order(1, 81.0)]
THEORY = "euler_bernoulli"


def omega_at(angle, modes=2):
    return np.asarray(
        jm.natural_frequencies(TWO.with_posture([0.0, angle]), modes, theory=THEORY).omega
    )


def test_an_order_meets_a_mode_at_its_frequency_over_pushes():
    found = speeds_to_avoid(TWO, ORDERS, 2, theory=THEORY, margin=0.0)
    expected = omega_at(0.0) / np.array([[200.0], [81.0]])
    np.testing.assert_allclose(found.speeds[:, :, 0], expected, rtol=1e-12, atol=0)
    np.testing.assert_allclose(found.speeds[:, :, 1], expected, rtol=1e-12, atol=0)
    assert found.certified.all()
    assert found.orders[1].name == "81 per turn"
    # a steady acceleration of a joint bends the tip by its share of the static deflection: all modes add up to it
    assert found.driven_mm.shape == (2, 2)
    one = jm.Arm((jm.Link(1.0, 7e10, 2700.0, jm.rectangle(depth=0.01, width=0.05)),))
    driven = speeds_to_avoid(one, [Order(1, 2.0)], 6, theory=THEORY).driven_mm[0]
    stiffness = 7e10 * 0.05 * 0.01**3 / 12.0
    # a beam under the load q = rho A x: w(L) = 11 q(L) L^4/(120 EI)
    expected = 1e3 * 11.0 * 2700.0 * 0.01 * 0.05 / (120.0 * stiffness)
    signed = driven * (-1.0) ** np.arange(6)
    np.testing.assert_allclose(abs(signed.sum()), expected, rtol=2e-3, atol=0)


def test_bands_reach_over_postures_and_ranges():
    postures = np.array([[0.0, 0.4], [0.3, 1.6], [0.0, 1.0]])
    found = speeds_to_avoid(TWO, ORDERS, 2, theory=THEORY, postures=postures, margin=0.1)
    omega = np.array([omega_at(angle) for angle in postures[:, 1]])
    np.testing.assert_allclose(found.omega[:, 0], omega.min(axis=0), rtol=1e-11, atol=0)
    np.testing.assert_allclose(
        found.speeds[0, :, 1], 1.1 * omega.max(axis=0) / 200.0, rtol=1e-11, atol=0
    )
    np.testing.assert_allclose(
        found.speeds[1, :, 0], 0.9 * omega.min(axis=0) / 81.0, rtol=1e-11, atol=0
    )
    over = speeds_to_avoid(TWO, ORDERS, 1, theory=THEORY, ranges={"theta_2": (0.4, 1.6)}, starts=16)
    np.testing.assert_allclose(over.omega[0], [omega[0, 0], omega[1, 0]], rtol=1e-9, atol=0)
    assert over.driven_mm is None
    assert "speeds to avoid, over ranges of theta_2" in str(over)


def test_a_crossing_of_one_link_is_where_the_closed_form_has_it():
    """Its frequency stays: with a steady acceleration a it is met at omega/(m a), and as long before the stop."""
    one = jm.Arm((jm.Link(1.0, 7e10, 2700.0, jm.rectangle(depth=0.01, width=0.05)),))
    omega = float(jm.natural_frequencies(one, 1, theory=THEORY).omega[0])
    move = dynamics.trapezoid([0.0], [1.0], 0.8, 2.0)
    found = crossings_along(one, move, [Order(1, 100.0)], 1, theory=THEORY)
    first = omega / (100.0 * 2.0)
    times = [met.time for met in found.crossings]
    np.testing.assert_allclose(times, [first, move.breaks[-1] - first], rtol=1e-9, atol=0)
    np.testing.assert_allclose(found.crossings[0].speed, omega / 100.0, rtol=1e-9, atol=0)
    # within 5 %: from 0.95 to 1.05 of that speed, to a step of the samples
    step = move.breaks[-1] / 4000.0
    np.testing.assert_allclose(found.crossings[0].within, 0.1 * first, rtol=0, atol=2.0 * step)


def test_a_crossing_is_met_by_the_frequency_of_its_posture():
    """Few postures are interpolated badly; each crossing is solved with its own frequency."""
    move = dynamics.RestToRest([0.0, 0.3], [0.4, 1.8], 1.0)
    found = crossings_along(TWO, move, ORDERS, 2, theory=THEORY, num_postures=4)
    assert len(found.crossings) >= 4
    for met in found.crossings:
        angles, rates, _ = (np.asarray(x) for x in move(met.time))
        np.testing.assert_allclose(met.angles, angles, rtol=0, atol=1e-9)
        pushes = met.order.per_turn * abs(rates[met.order.joint - 1])
        np.testing.assert_allclose(pushes, omega_at(angles[1])[met.mode - 1], rtol=1e-8, atol=0)
    assert "crossings of orders" in str(found)


def test_an_arm_of_rigid_links_has_no_modes_beyond_its_springs():
    """One turning spring and a body at the end of a rigid link: sqrt(k/(m L^2)), met as it speeds up and slows down."""
    link = jm.SpatialLink(0.5, rigid=True, joint_stiffness=8e3, name="hub")
    one = jm.SpatialArm((link,), payload=jm.RigidBody(2.0))
    omega = np.sqrt(8e3 / (2.0 * 0.5**2))
    move = dynamics.RestToRest([0.0], [1.0], 1.0)
    found = crossings_along(one, move, [Order("hub", 100.0)], 1, num_postures=2)
    np.testing.assert_allclose([x.omega for x in found.crossings], [omega] * 2, rtol=1e-12, atol=0)
    for asked in (speeds_to_avoid, lambda *rest: crossings_along(rest[0], move, *rest[1:])):
        with pytest.raises(jm.ArmError, match="num_modes = 2: must be at most 1, for rigid links"):
            asked(one, [Order("hub", 100.0)], 2)


@pytest.mark.parametrize(
    ("orders", "options", "words"),
    [
        ([], {}, "one or more"),
        ([(1, 2.0)], {}, r"orders\[0\] = .*: must be an Order"),
        ([Order(3, 2.0)], {}, "must be one joint of the arm, by number or name: 1, 2"),
        ([Order(1, 0.0)], {}, r"orders\[0\].per_turn = 0.0: must be a number greater than 0"),
        (ORDERS, {"margin": 1.0}, "margin = 1.0: must be a share"),
        (ORDERS, {"postures": [0.0, 1.0]}, r"must be \(P, 2\)"),
        (ORDERS, {"postures": [[0.0, 1.0]], "ranges": {}}, "must not both be given"),
    ],
)
def test_speeds_that_cannot_be_are_refused(orders, options, words):
    with pytest.raises(jm.ArmError, match=words):
        speeds_to_avoid(TWO, orders, 1, theory=THEORY, **options)


def test_crossings_are_those_of_an_arm():
    with pytest.raises(jm.ArmError, match="arm = 'x'"):
        crossings_along("x", dynamics.RestToRest([0.0], [1.0], 1.0), ORDERS, 1)


def test_the_commands(tmp_path):
    (tmp_path / "move.csv").write_text("0,0,57\n0.1,1,56\n0.3,5,52\n0.5,9,50\n")
    jm.write_arm(TWO, tmp_path / "arm.toml")
    place, path = str(tmp_path / "arm.toml"), str(tmp_path / "move.csv")
    usual = ["--theory", THEORY, "--modes", "1"]

    def run(*arguments, status=0):
        done = run_command(*arguments, *usual)
        assert done.exit_code == status, done.output
        return done

    picture = tmp_path / "speeds.png"
    orders = ["--order", "2:2x100:generator", "--order", "1:81"]
    shown = run("speeds", place, *orders, "--plot", str(picture))
    assert "generator" in shown.output
    assert picture.read_bytes().startswith(b"\x89PNG")
    rows = run("speeds", place, *orders, "--move", path, "--format", "csv").stdout.splitlines()
    assert rows[0].startswith("time_s,joint,order,per_turn,mode,frequency_hz")
    assert len(rows) > 1
    assert (
        "both choose the postures"
        in run("speeds", place, *orders, "--workspace", "--move", path, status=2).output
    )
    assert "give JOINT:PUSHES" in run("speeds", place, "--order", "2", status=2).output

    made = ["move", place, path, "--postures", "3"]
    out, settings = tmp_path / "shaped.csv", tmp_path / "shaper.cfg"
    files = ["--out", str(out), "--settings", str(settings), "--plot", str(picture)]
    shown = run(*made, "--shape", "ei", "--payload-error", "0.1", *files)
    assert "ei:" in shown.output
    assert out.read_text().startswith("time [s],joint 1 [degree],joint 2 [degree]\n0,0,57\n")
    assert "shaper_type_x: ei" in settings.read_text()
    table = run(*made, "--compare", "--format", "csv").stdout.splitlines()
    assert [row.split(",")[0] for row in table] == ["kind", "none", "zv", "zvd", "ei", "wide"]
    quick = run(*made, "--speed", "60", "--format", "json")
    assert '"kept_by": "speed"' in quick.stdout
    for options, words in (
        (["--compare", "--shape", "zv"], "compares all kinds"),
        (["--out", "x.csv"], "no such move to write"),
        (["--shape", "s_curve", "--speed", "3"], "own timing"),
        (["--shape", "zv", "--shape-modes", "0"], "list of modes"),
        (["--shape", "zv", "--out", "x.txt"], "ends in .csv"),
    ):
        assert words in run(*made, *options, status=2).output


def test_a_command_ends_with_the_message_of_a_frequency_that_is_not_certified(
    tmp_path, monkeypatch
):
    def fails(*_, **__):
        raise jm.UncertifiedError("not every frequency is certified")

    monkeypatch.setattr("jaxmodal.moves.speeds.modes_in", fails)
    jm.write_arm(TWO, tmp_path / "arm.toml")
    done = run_command("speeds", tmp_path / "arm.toml", "--order", "1:20")
    assert done.exit_code == 1
    assert done.output == "Error: not every frequency is certified\n"
