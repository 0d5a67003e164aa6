"""Does a move leave what closed forms and simulations say, and is what moves do not know refused?"""

import itertools
import math

import jax
import numpy as np
import pytest
from click.testing import CliRunner
from scipy.integrate import quad

import jaxmodal as jm
from jaxmodal import dynamics
from jaxmodal.cli.commands import main
from jaxmodal.moves import move_vibration, read_move, write_move
from jaxmodal.moves.paths import moved

BEAM = {"length": 0.5, "youngs_modulus": 7e10, "density": 2700.0}
FLAT = jm.rectangle(depth=0.005, width=0.04)
ONE = jm.Arm((jm.Link(**BEAM, section=FLAT),), jm.Payload(0.3))
TWO = jm.Arm(
    (
        jm.Link(**BEAM, section=FLAT, hub_inertia=0.01),
        jm.Link(**BEAM, section=FLAT, hub_mass=0.5, hub_inertia=0.01),
    ),
    jm.Payload(0.2),
)


def fifth(share):
    """Second derivative of the fifth-order polynomial from 0 to 1."""
    return 60.0 * share - 180.0 * share**2 + 120.0 * share**3


@pytest.mark.parametrize("ratio", [0.0, 0.07])
@pytest.mark.parametrize(
    "move",
    [
        dynamics.trapezoid([0.2], [0.5], 1.0, 4.0),
        dynamics.s_curve([0.2], [0.1], 0.8, 4.0, 40.0),
        dynamics.RestToRest([0.0], [0.3], 0.4),
    ],
    ids=["trapezoid", "S-curve", "fifth order"],
)
def test_one_link_is_an_oscillator(move, ratio):
    """Duhamel's integral of the acceleration, with the exact mode's participation by the turn of the base."""
    found = move_vibration(ONE, move, 2, theory="euler_bernoulli", damping_ratio=ratio)
    shapes = jm.mode_shapes(ONE, 2, theory="euler_bernoulli", stations=2)
    omega, driven = np.asarray(shapes.omega), np.asarray(shapes.participation)[:, 2]
    times = [float(x) for x in getattr(move, "breaks", [0.0, found.stop])]

    def acceleration(t):
        if isinstance(move, dynamics.RestToRest):
            return 0.3 * fifth(t / 0.4) / 0.4**2
        piece = min(np.searchsorted(times, t, side="right"), len(times) - 1) - 1
        _, _, half, sixth = move.coefficients[piece, :, 0]
        return 2.0 * half + 6.0 * sixth * (t - times[piece])

    for k in range(2):
        turned = omega[k] * np.sqrt(1.0 - ratio**2)

        def part(t, which, k=k, turned=turned):
            push = -driven[k] * acceleration(t)
            after = times[-1] - t
            return push * np.exp(-ratio * omega[k] * after) * which(turned * after) / turned

        def over(which, part=part):
            ends = itertools.pairwise(times)
            return sum(quad(part, a, b, (which,), 0, 1e-14, 1e-11, 200)[0] for a, b in ends)

        tip = abs(float(np.asarray(shapes.v)[k, 0, -1]))
        expected = 1e3 * tip * np.hypot(over(np.sin), over(np.cos))
        np.testing.assert_allclose(found.amplitudes_mm[k], expected, rtol=1e-6, atol=1e-7)


def test_a_trapezoid_of_whole_periods_leaves_nothing():
    period = 2.0 * np.pi / float(jm.natural_frequencies(ONE, 1, theory="euler_bernoulli").omega[0])
    whole = dynamics.trapezoid([0.0], [0.2 * period**2], 0.1 * period, 0.1)
    np.testing.assert_allclose(np.diff(whole.breaks), [period, period, period], rtol=1e-12, atol=0)
    rest = move_vibration(ONE, whole, 1, theory="euler_bernoulli")
    half = dynamics.trapezoid([0.0], [0.25 * period**2], 0.1 * period, 0.2)
    shaken = move_vibration(ONE, half, 1, theory="euler_bernoulli")
    assert rest.amplitudes_mm[0] < 1e-6 * shaken.amplitudes_mm[0]


def test_what_is_left_decays_and_moves_the_tip():
    move = dynamics.RestToRest([0.3], [0.5], 0.2)
    found = move_vibration(ONE, move, 1, theory="euler_bernoulli", damping_ratio=0.02)
    times = np.linspace(0.0, found.decay_times[0], 4001)
    moved = 1e3 * np.linalg.norm(found.tip_vibration(times), axis=1)
    envelope = found.amplitudes_mm[0] * np.exp(-0.02 * found.omega[-1, 0] * times)
    assert np.all(moved <= envelope * (1.0 + 1e-9))
    np.testing.assert_allclose((moved / envelope).max(), 1.0, rtol=1e-3, atol=0)
    tenth = found.settling_time(0.1 * found.amplitudes_mm[0])
    np.testing.assert_allclose(tenth, found.decay_times[0], rtol=1e-9, atol=0)
    undamped = move_vibration(ONE, move, 1, theory="euler_bernoulli")
    assert undamped.settling_time(1e-3) == np.inf
    assert undamped.settling_time(1e3) == 0.0


def test_gravity_alone_bends_and_leaves_little_where_nothing_turns():
    """A joint that turns far bends the arm anew under its weight; the way there adds to what is left."""
    move = dynamics.RestToRest([0.0], [0.5], 0.3)
    bare = move_vibration(ONE, move, 2, theory="euler_bernoulli")
    heavy = move_vibration(ONE, move, 2, theory="euler_bernoulli", gravity=(0.0, -9.81))
    assert heavy.forces == ("rates", "gravity")
    np.testing.assert_allclose(
        heavy.amplitudes_by_force_mm[:, :2], bare.amplitudes_by_force_mm, rtol=1e-6, atol=1e-9
    )
    weight = 1e3 * np.linalg.norm(heavy.tips[0, 0]) * heavy.coordinates[0, 0]
    sag = jm.static_equilibrium(
        ONE.replace(loads=jm.Loads(gravity=9.81)), theory="euler_bernoulli"
    ).displacement[-1, -1, 1]
    np.testing.assert_allclose(abs(weight), 1e3 * abs(float(sag)), rtol=5e-3, atol=0)


def simulated_mm(model, move, found, periods=3.0, **how):
    """Amplitudes of the tip in the modes of ``found``, by least squares from a simulation after the stop."""
    omega = found.omega[-1]
    after = np.linspace(0.0, periods * 2.0 * np.pi / omega[0], 241)
    # with fixed steps each interval has as many as the longest: the move itself in intervals no longer than those after
    number = math.ceil(found.stop / after[1]) if "step" in how else 1
    before = np.linspace(0.0, found.stop, number, endpoint=False)
    times = np.concatenate([before, found.stop + after])
    rest = np.asarray(dynamics.static_state(model, np.asarray(move.angles(0.0))))
    how = {"rtol": 1e-7, "atol": 1e-9} | how
    motion = dynamics.simulate(model, times, rest, motion=move, **how)
    assert motion.attrs["status"] == "finished"
    turned = np.outer(after, omega)
    columns = np.concatenate([np.ones((after.size, 1)), np.cos(turned), np.sin(turned)], axis=1)
    tip = motion["tip_position"].values[before.size :]
    fit = np.linalg.lstsq(columns, tip, rcond=None)[0]
    k = omega.size
    return 1e3 * np.linalg.norm(np.hypot(fit[1 : 1 + k], fit[1 + k :]), axis=1)


@pytest.mark.slow
def test_two_links_leave_what_a_simulation_leaves():
    """A small move; within 1 % of the first mode of a model with four shapes for each link."""
    model = dynamics.flexible_arm(TWO, 4, shapes="polynomial")
    move = dynamics.RestToRest(np.array([0.0, 1.0]), np.array([0.06, 0.94]), duration=0.3)
    found = move_vibration(TWO, move, 3, theory="euler_bernoulli")
    assert found.certified.all()
    simulated = simulated_mm(model, move, found)
    np.testing.assert_allclose(found.amplitudes_mm[0], simulated[0], rtol=1e-2, atol=0)


@pytest.mark.slow
def test_three_links_on_springs_leave_what_a_simulation_leaves():
    """A trapezoid; the first two modes within 1 %, the second leaves a thousandth of the first."""
    spring = {"rotor_inertia": 1e-5, "gear_ratio": 50.0, "motor": "held"}
    links = (
        TWO.links[0],
        TWO.links[1].replace(joint_stiffness=2e3, **spring),
        jm.Link(**BEAM, section=FLAT, hub_mass=0.3, joint_stiffness=1e3, **spring),
    )
    arm = jm.Arm(links, jm.Payload(0.2))
    move = dynamics.trapezoid([0.0, 0.5, -0.4], [0.01, 0.515, -0.385], 0.1, 1.0)
    found = move_vibration(arm, move, 4, theory="euler_bernoulli")
    simulated = simulated_mm(dynamics.flexible_arm(arm, 4, shapes="polynomial"), move, found)
    np.testing.assert_allclose(found.amplitudes_mm[:2], simulated[:2], rtol=1e-2, atol=0)


@pytest.mark.slow
def test_an_arm_in_space_leaves_what_a_simulation_leaves():
    """Three joints on springs, two booms that bend and twist: the two modes that are left, within 2 %."""
    tube = jm.hollow_circle(outer_diameter=0.06, wall_thickness=0.003)
    boom = {"youngs_modulus": 7e10, "density": 2700.0, "section": tube, "poisson_ratio": 0.33}
    geared = {"rotor_inertia": 2e-5, "gear_ratio": 100.0, "motor": "held"}
    up = (jm.Rotation((0, 1, 0), -np.pi / 2),)
    first = jm.SpatialLink(0.5, rigid=True, joint_frame=up, joint_stiffness=5e4, **geared)
    second = jm.SpatialLink(2.0, joint_axis=(0, 1, 0), joint_stiffness=4e4, **boom, **geared)
    third = second.replace(length=1.5, joint_angle=1.0)
    arm = jm.SpatialArm((first, second, third), jm.RigidBody(5.0, inertia=(0.01, 0.05, 0.05)))
    move = dynamics.RestToRest([0.0, 1.2, 1.0], [0.03, 1.18, 1.02], 0.5)
    found = move_vibration(arm, move, 3, theory="euler_bernoulli")
    shapes = {"bending_xy": 2, "bending_xz": 2, "torsion": 1, "stretch": 0}
    model = dynamics.flexible_arm(arm, shapes)
    # steps of 1 ms change the amplitudes by 1e-3
    simulated = simulated_mm(model, move, found, 2.0, method="linearly_implicit", step=2e-3)
    np.testing.assert_allclose(found.amplitudes_mm[:2], simulated[:2], rtol=2e-2, atol=0)


def test_modes_of_the_way_are_those_of_the_arm():
    move = dynamics.RestToRest(np.array([0.0, 1.0]), np.array([0.4, -0.5]), duration=0.5)
    found = move_vibration(TWO, move, 3, theory="euler_bernoulli", num_postures=9)
    for k in (0, 4, 8):
        there = TWO.with_posture(found.angles[k].tolist())
        omega = np.asarray(jm.natural_frequencies(there, 3, theory="euler_bernoulli").omega)
        np.testing.assert_allclose(found.omega[k], omega[found.number[k] - 1], rtol=1e-12, atol=0)
    np.testing.assert_allclose(found.angles[[0, -1]], [[0.0, 1.0], [0.4, -0.5]], rtol=0, atol=1e-9)
    assert found.assurance.min() > 0.9
    data = found.to_xarray()
    assert dict(data["participation"].sizes) == {"posture": 9, "mode": 3, "joint": 2}
    assert "left at the tip [mm]" in str(found)


REFUSED = {
    "base": (lambda: TWO.replace(base_stiffness=np.diag([1e6, 1e6, 1e5])), "base_stiffness"),
    "loads": (lambda: TWO.replace(loads=jm.Loads(gravity=9.81)), "give gravity to move_vibration"),
    "no arm": (lambda: 3.0, "must be an Arm or a SpatialArm"),
    "free joint": (
        lambda: TWO.replace(links=(TWO.links[0], TWO.links[1].replace(joint_stiffness=0.0))),
        "link2: joint_stiffness = 0",
    ),
    "rigid": (
        lambda: jm.SpatialArm((jm.SpatialLink(0.5, rigid=True), jm.SpatialLink(0.5, rigid=True))),
        "nothing gives way",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_arms_that_moves_do_not_know_are_refused(name):
    make, words = REFUSED[name]
    with pytest.raises(jm.ArmError, match=words):
        move_vibration(make(), dynamics.RestToRest([0.0, 0.0], [0.1, 0.0], 0.2))


@pytest.mark.parametrize(
    ("move", "options", "words"),
    [
        (dynamics.RestToRest([0.0], [0.1], 0.2), {}, "one for each joint"),
        (dynamics.SpinUp([1.0, 0.0], 0.5), {}, "begin and end at rest"),
        (dynamics.Hold([0.0, 0.0]), {}, "give duration"),
        (dynamics.RestToRest([0.0, 0.0], [0.1, 0.0], 0.2), {"damping_ratio": 1.0}, "below 1"),
        (dynamics.RestToRest([0.0, 0.0], [0.1, 0.0], 0.2), {"gravity": 9.81}, "gravity"),
    ],
)
def test_moves_that_are_none_are_refused(move, options, words):
    with pytest.raises((jm.ArmError, ValueError), match=words):
        move_vibration(TWO, move, 2, theory="euler_bernoulli", **options)


def test_what_looks_wrong_is_told_once(recwarn):
    """Angles in degrees, and deflections that are no small vibrations; nothing of a move that is neither."""
    calm = dynamics.RestToRest([0.0, 0.0], [0.02, 0.01], 1.0)
    assert not move_vibration(TWO, calm, 2, theory="euler_bernoulli", num_postures=3).is_large
    assert not recwarn.list
    wild = dynamics.RestToRest([0.0, 0.0], [20.0, 30.0], 0.3)
    found = move_vibration(TWO, wild, 2, theory="euler_bernoulli", num_postures=5)
    told = [str(each.message) for each in recwarn.list]
    assert sum("rad expected, more than two turns" in text for text in told) == 1
    assert (
        sum("of the arm's length; more than 10 % is no small vibration" in text for text in told)
        == 1
    )
    assert len(told) == 2
    assert found.is_large
    assert found.how_large in str(found)
    # never less than what the tip does after the stop
    after = np.linalg.norm(found.tip_vibration(np.linspace(0.0, 3.0, 2000)), axis=1).max()
    assert after <= found.largest_deflection
    assert found.reach == 1.0


def test_other_arms_that_are_refused():
    slide = jm.SpatialLink(0.0, rigid=True, prismatic=True, body=jm.RigidBody(1.0))
    beam = jm.SpatialLink(**BEAM, section=FLAT, poisson_ratio=0.3)
    with pytest.raises(jm.ArmError, match="link1: its joint slides"):
        move_vibration(
            jm.SpatialArm((slide, beam)), dynamics.RestToRest([0.0, 0.0], [0.1, 0.1], 0.2)
        )

    def amplitude(mass):
        arm = TWO.with_payload(mass=mass)
        move = dynamics.RestToRest([0.0, 0.0], [0.1, 0.0], 0.2)
        return move_vibration(arm, move, 1).amplitudes_mm[0]

    with pytest.raises(jm.ArmError, match="arm: holds traced values"):
        jax.jit(amplitude)(1.0)


def test_profiles_keep_their_limits_and_arrive():
    ends = np.array([0.3, -0.2]), np.array([1.3, 0.1])
    for profile, *limits in (
        (dynamics.trapezoid, [0.8, 0.5], 2.0),
        (dynamics.trapezoid, [0.8, 0.1], 2.0),
        (dynamics.trapezoid, 9.0, 2.0),
        (dynamics.s_curve, 0.8, 2.0, 9.0),
        (dynamics.s_curve, 9.0, 2.0, 9.0),
        (dynamics.s_curve, 9.0, 90.0, 9.0),
        (dynamics.s_curve, 0.1, 90.0, 9.0),
    ):
        move = profile(*ends, *limits)
        times = np.linspace(0.0, move.breaks[-1], 400)
        angle, rate, change = moved(move, times)
        top = np.polynomial.polynomial.polyder(move.coefficients.transpose(1, 0, 2), 3)[0]
        shares = [
            np.max(np.abs(values) / limit)
            for values, limit in zip((rate, change, top), limits, strict=False)
        ]
        assert 1.0 - 1e-4 < max(shares) < 1.0 + 1e-9, "as fast as the limits allow, and no faster"
        np.testing.assert_allclose(angle[0], ends[0], rtol=0, atol=1e-12)
        np.testing.assert_allclose(angle[-1], ends[1], rtol=0, atol=1e-12)
        np.testing.assert_allclose(rate[-1], 0.0, rtol=0, atol=1e-12)
        steps, middle = np.diff(angle, axis=0) / times[1], 0.5 * (rate[1:] + rate[:-1])
        np.testing.assert_allclose(steps, middle, rtol=0, atol=1e-2)
        np.testing.assert_allclose(rate[0], 0.0, rtol=0, atol=1e-12)


def test_a_written_move_has_both_of_its_ends(tmp_path):
    """With rows farther apart than it is long, too: the file once had its end alone and could not be read."""
    move, path = dynamics.RestToRest([0.1], [0.5], 2.0), tmp_path / "move.csv"
    for step in (0.3, 2.0, 5.0, 1e300):
        write_move(move, path, sample_time=step)
        back = read_move(path)
        assert np.asarray(back.breaks)[[0, -1]] == pytest.approx([0.0, 2.0], rel=1e-9, abs=1e-12)
        ends = [float(back.angles(time)[0]) for time in (0.0, 2.0)]
        assert ends == pytest.approx([0.1, 0.5], rel=1e-9)
    with pytest.raises(jm.ArmError, match="cannot be written"):
        write_move(move, tmp_path / "none" / "move.csv")
    with pytest.raises(jm.ArmError, match="path = 3: must be the name of a file"):
        write_move(move, 3)


def test_moves_from_files(tmp_path):
    path = tmp_path / "move.csv"
    path.write_text("time [s],q1,q2\n0,0,10\n0.1,1,12\n0.3,5,20\n")
    move = read_move(path, 2)
    np.testing.assert_allclose(np.degrees(move(0.1)[0]), [1.0, 12.0], rtol=1e-12, atol=0)
    np.testing.assert_allclose(move(0.1)[2], move(0.1 - 1e-9)[2], rtol=1e-5, atol=0)
    for text, words in (
        ("0,0,10\n0,1,12\n", "line 2: time 0 s; must be later"),
        ("0,0,10\n1,1\n", "line 2: 2 numbers; must be 3"),
        ("0,0,10\n1,1,x\n", "line 2: .* finite numbers"),
        ("t,a,b\n", "0 rows"),
    ):
        path.write_text(text)
        with pytest.raises(jm.ArmError, match=words):
            read_move(path, 2)
    with pytest.raises(jm.ArmError, match=r"missing\.csv"):
        read_move(tmp_path / "missing.csv")
    path.write_bytes(b"\x89PNG\r\n\x1a\n")
    with pytest.raises(jm.ArmError, match=r"move\.csv"):
        read_move(path)


def test_the_command(tmp_path):
    (tmp_path / "move.csv").write_text("0,0,57\n0.1,1,55\n0.3,5,50\n")
    jm.write_arm(TWO, tmp_path / "arm.toml")
    picture = tmp_path / "move.png"
    run = ["move", str(tmp_path / "arm.toml"), str(tmp_path / "move.csv")]
    options = ["--theory", "euler_bernoulli", "--modes", "2", "--postures", "5"]
    done = CliRunner().invoke(
        main, [*run, *options, "--plot", str(picture), "--damping-ratio", "0.01"]
    )
    assert done.exit_code == 0, done.output
    assert "left at the tip [mm]" in done.output
    assert picture.read_bytes().startswith(b"\x89PNG")
    rows = CliRunner().invoke(main, [*run, *options, "--format", "csv"]).stdout.splitlines()
    assert rows[0] == "mode,stop_hz,lowest_hz,highest_hz,certified,left_mm"
    assert len(rows) == 3
    (tmp_path / "move.csv").write_text("0,0\n1,1\n")
    refused = CliRunner().invoke(main, [*run, *options])
    assert refused.exit_code == 2
    assert "must be 3" in refused.output


def left_by(kind, ratio, share):
    """Residual of a shaper at a share of its frequency beside that of one impulse at its last, without damping."""
    delays, weights = dynamics.shaper([2.0], ratio, kind)
    omega = 2.0 * share
    after = np.exp(ratio * omega * (delays - delays[-1]))
    return abs(np.sum(weights * after * np.exp(1j * omega * np.sqrt(1.0 - ratio**2) * delays)))


@pytest.mark.parametrize("ratio", [0.0, 0.05])
@pytest.mark.parametrize("kind", ["zv", "zvd"])
def test_shapers_leave_nothing_at_their_frequency(kind, ratio):
    assert left_by(kind, ratio, 1.0) < 1e-14
    slope = (left_by(kind, ratio, 1.0 + 1e-4) - left_by(kind, ratio, 1.0)) / 1e-4
    assert (slope < 1e-3) if kind == "zvd" else (slope > 1.0)


def test_an_extra_insensitive_shaper_leaves_a_twentieth_over_a_wide_range():
    """5 % at the frequency and at the two ends, where cos(pi x) = (3 V - 1)/(1 + V); nothing between."""
    end = np.arccos(-0.85 / 1.05) / np.pi
    shares = np.linspace(end, 2.0 - end, 101)
    left = [left_by("ei", 0.0, share) for share in shares]
    np.testing.assert_allclose(np.array(left)[[0, 50, 100]], 0.05, rtol=1e-12, atol=0)
    assert max(left) <= 0.05 * (1.0 + 1e-12)
    assert end < 0.801
    for kind in ("zv", "zvd"):
        assert left_by(kind, 0.0, end) > 0.05
    for given in (([1.0], 0.1, "ei"), ([1.0], 0.0, "zero"), (np.ones(8), 0.0, "zvd")):
        with pytest.raises(jm.ArmError, match=r"kind|at most 7"):
            dynamics.shaper(*given)
