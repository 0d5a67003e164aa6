"""Extremes over ranges: closed forms of rigid arms, ends of ranges, random postures, and what is refused or told."""

import json
import math
import shutil
from pathlib import Path

import jax
import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.runtime.statuses import Status
from jaxmodal.workspace import improvement
from tests.support.commands import run_command

SPRING, MASS = 2e4, 3.0
NEAR, FAR, ASIDE = 0.5, 0.7, 0.3
#: angle of the elbow that puts the body farthest from the shoulder: the way to it is then straight
STRAIGHT = -math.atan2(ASIDE, FAR)


def elbow_arm(**first):
    """A spring at the shoulder, an elbow that is rigid, and a point mass aside of the tip; no other mass."""
    upper = jm.SpatialLink(NEAR, rigid=True, joint_axis=(0, 0, 1), joint_stiffness=SPRING, **first)
    lower = jm.SpatialLink(FAR, rigid=True, joint_axis=(0, 0, 1))
    body = jm.RigidBody(MASS, centre=(0.0, ASIDE, 0.0))
    return jm.SpatialArm((upper, lower), payload=body)


def hertz_at(angle, mass=MASS):
    """sqrt(k / m) over the distance of the mass from the shoulder."""
    reach = math.hypot(FAR, ASIDE)
    square = NEAR**2 + reach**2 + 2.0 * NEAR * reach * math.cos(angle - STRAIGHT)
    return math.sqrt(SPRING / (mass * square)) / (2.0 * math.pi)


def test_a_whole_turn_finds_the_closed_form_at_its_angle():
    found = jm.extremes(elbow_arm())
    assert found.addresses == ("link2.joint_angle",)
    assert found.certified
    assert found.lowest.frequency_hz == pytest.approx(hertz_at(STRAIGHT), rel=1e-12)
    assert found.highest.frequency_hz == pytest.approx(hertz_at(STRAIGHT + math.pi), rel=1e-12)
    # sqrt of the rounding of a frequency that is stationary there
    assert found.lowest.values[0] == pytest.approx(STRAIGHT, abs=1e-6)
    assert found.highest.values[0] == pytest.approx(STRAIGHT + math.pi, abs=1e-6)


def test_ends_of_ranges_hold_and_a_seam_of_a_turn_does_not():
    low, high = STRAIGHT + 0.4, STRAIGHT + 1.7
    found = jm.extremes(elbow_arm(), {"theta_2": (low, high)}, starts=20)
    assert (found.lowest.values[0], found.highest.values[0]) == (low, high)
    assert found.lowest.frequency_hz == pytest.approx(hertz_at(low), rel=1e-12)
    assert found.highest.frequency_hz == pytest.approx(hertz_at(high), rel=1e-12)
    # a whole turn that begins just behind the angle sought, where the best start lies across the seam
    seam = (STRAIGHT - 1e-3, STRAIGHT - 1e-3 + 2.0 * math.pi)
    turned = jm.extremes(elbow_arm(), {"theta_2": seam}, starts=7, climbs=1)
    assert turned.lowest.frequency_hz == pytest.approx(hertz_at(STRAIGHT), rel=1e-12)


def test_any_parameter_may_have_a_range_and_the_payload_another_mass():
    ranges = {"payload.mass": (1.0, 4.0), "theta_2": (-math.pi, math.pi)}
    found = jm.extremes(elbow_arm(), ranges, starts=64)
    assert found.lowest.values[0] == 4.0
    assert found.lowest.frequency_hz == pytest.approx(hertz_at(STRAIGHT, 4.0), rel=1e-12)
    assert found.highest.frequency_hz == pytest.approx(hertz_at(STRAIGHT + math.pi, 1.0), rel=1e-12)
    body = jm.RigidBody(1.5, centre=(0.0, ASIDE, 0.0))
    loaded = jm.extremes(elbow_arm(), payload=body, starts=64)
    assert loaded.lowest.frequency_hz == pytest.approx(hertz_at(STRAIGHT, 1.5), rel=1e-12)
    assert float(loaded.lowest.arm.payload.mass) == 1.5
    point = jm.extremes(elbow_arm(), payload=2.0, starts=64)
    straight = math.sqrt(SPRING / 2.0) / (NEAR + FAR) / (2.0 * math.pi)
    assert point.lowest.frequency_hz == pytest.approx(straight, rel=1e-12)


def test_the_highest_where_two_modes_cross_is_the_crossing():
    """A beam of width b on a pitch spring: sideways it gets stiffer with b, and its pitch slower; they do not couple.

    Mode 1 is the lower of both, and highest where they cross, which no gradient of mode 1 sees.
    """
    section = jm.rectangle(0.05, 0.05, 0.85)
    steel = {"youngs_modulus": 2.1e11, "density": 7850.0, "poisson_ratio": 0.3}
    beam = jm.SpatialLink(1.0, **steel, section=section, joint_stiffness=4e4)
    arm = jm.SpatialArm((beam,))
    ranges = {"link1.section.width": (0.01, 0.2)}
    grid = np.linspace(*ranges["link1.section.width"], 4001)
    first, second = np.asarray(
        jm.natural_frequencies_batch(arm, {"link1.section.width": grid}, 2).frequencies_hz
    ).T
    peak = np.argmax(first)
    assert 0 < peak < 4000
    assert second[peak] == pytest.approx(first[peak], rel=5e-3)
    found = jm.extremes(arm, ranges, starts=20, climbs=2)
    assert first[peak] * (1.0 - 1e-12) <= found.highest.frequency_hz <= second[peak]
    pair = jm.natural_frequencies(found.highest.arm, 2).frequencies_hz
    assert float(pair[0]) == pytest.approx(float(pair[1]), rel=1e-5)


def test_both_rise_along_the_shortest_mean_of_two_gradients():
    a, b = np.array([1.0, 0.2]), np.array([-0.8, 0.2])
    step = improvement._both_rise(a, b)
    assert step @ a == pytest.approx(step @ b)
    assert step @ a > 0.0
    np.testing.assert_array_equal(improvement._both_rise(a, np.full(2, np.nan)), a)


def random_extremes(arm, number, seed):
    rng = np.random.default_rng(seed)
    hertz = []
    for part in np.array_split(rng.uniform(-np.pi, np.pi, (number, 5)), max(number // 5000, 1)):
        cells = {f"theta_{k}": part[:, k - 2] for k in range(2, 7)}
        found = jm.natural_frequencies_batch(arm, cells, 1)
        assert found.certified.all()
        hertz.append(np.asarray(found.frequencies_hz)[:, 0])
    return np.min(hertz), np.max(hertz)


@pytest.mark.slow
def test_the_worst_posture_of_the_six_axis_arm_is_below_random_postures():
    arm = jm.examples.six_axis_industrial()
    found = jm.extremes(arm, climbs=3)
    low, high = random_extremes(arm, 4_000, seed=5)
    assert found.certified
    assert found.lowest.frequency_hz <= low
    assert found.highest.frequency_hz >= high
    again = jm.natural_frequencies(found.lowest.arm, 1)
    assert float(again.omega[0]) == found.lowest.omega
    assert np.all(found.lowest.reached <= np.nanmin(found.starts) * (1.0 + 1e-12))


def test_planar_arms_and_higher_modes_are_the_extremes_of_a_fine_grid():
    arm = jm.examples.two_link_flexible()
    angles = np.linspace(-np.pi, np.pi, 2001)
    grid = np.asarray(jm.natural_frequencies_batch(arm, {"theta_2": angles}, 3).frequencies_hz)
    for mode in (1, 3):
        found = jm.extremes(arm, mode=mode, starts=100)
        low, high = grid[:, mode - 1].min(), grid[:, mode - 1].max()
        assert low * (1.0 - 1e-5) <= found.lowest.frequency_hz <= low * (1.0 + 1e-12)
        assert high * (1.0 - 1e-12) <= found.highest.frequency_hz <= high * (1.0 + 1e-5)


def test_shares_are_those_of_the_closed_form_within_their_errors():
    half = 1.1
    omega = 2.0 * math.pi * hertz_at(STRAIGHT + half)
    found = jm.share_below(elbow_arm(), omega, samples=4000)
    exact = half / math.pi
    assert abs(found.share - exact) < 4.0 * found.error
    assert found.error == pytest.approx(math.sqrt(exact * (1.0 - exact) / 4000), rel=0.05)
    assert found.interval[0] < exact < found.interval[1]
    assert "not certified" not in str(found)
    none = jm.share_below(elbow_arm(), 1e-3, samples=100)
    assert (none.share, none.error, none.interval[0]) == (0.0, 0.0, 0.0)
    assert none.interval[1] == pytest.approx(3.84146 / 103.84146, rel=1e-5)  # z^2 / (n + z^2)


def test_a_share_is_a_row_of_a_dataset_and_a_line():
    """Of 1000 cells a quarter: sqrt(3/16000), and Wilson's interval."""
    found = jm.ShareBelow(2.0 * math.pi * 7.0, 250, 1000, 1008, 3, "timoshenko")
    data = found.to_xarray()
    assert data.sizes == {"row": 1}
    z = 1.959963984540054
    middle, half = 250 + z * z / 2, z * math.sqrt(1000 * 3 / 16 + z * z / 4)
    truth = {
        "limit_hz": 7.0,
        "share": 0.25,
        "error": math.sqrt(3.0 / 16000.0),
        "low": (middle - half) / (1000 + z * z),
        "high": (middle + half) / (1000 + z * z),
        "below": 250,
        "certified": 1000,
        "samples": 1008,
    }
    assert list(data) == list(truth)
    for name, value in truth.items():
        np.testing.assert_allclose(data[name], [value], rtol=1e-14, atol=0.0)
    assert found.status is Status.uncertified
    assert not found.ok
    text = str(found)
    assert "mode 3 lies below 7.0000 Hz in 25.00 % of the ranges, standard error 1.37 %" in text
    assert "95 % interval 22.42 to 27.78 % (timoshenko)" in text
    assert "of 1,000 independent random postures" in text
    assert "8 more are not certified" in text


def test_cells_without_a_certificate_are_told_and_left_out(monkeypatch):
    solve = improvement.natural_frequencies_batch

    def spoilt(arm, cells, *rest, **how):
        found = solve(arm, cells, *rest, **how)
        status = np.array(found.status)
        bad = np.abs(cells["link2.joint_angle"] - STRAIGHT) < 0.5
        status[bad] = int(Status.uncertified)
        return type(found)(**vars(found) | {"status": status})

    monkeypatch.setattr(improvement, "natural_frequencies_batch", spoilt)
    found = jm.extremes(elbow_arm(), starts=100)
    left = int(np.isnan(found.starts).sum())
    assert left > 10
    assert found.lowest.frequency_hz >= hertz_at(STRAIGHT + 0.5) * (1.0 - 1e-12)
    assert f"{left} more are not certified, and were left out" in str(found)
    share = jm.share_below(elbow_arm(), 1e4, samples=300)
    assert share.certified < share.samples == 300
    assert "more are not certified" in str(share)


def test_what_is_claimed_is_printed():
    found = jm.extremes(elbow_arm(), starts=50)
    text = str(found)
    assert "certified: that these postures have these frequencies; not claimed: that none" in text
    assert "starts: 50 spread evenly" in text
    assert "theta_2 [°] -180 to 180" in text
    assert f"{found.lowest.frequency_hz:#.5g} (5)" in text
    data = found.to_xarray()
    assert data["link2.joint_angle"].attrs["units"] == "degree"
    np.testing.assert_allclose(data.frequency.sel(side="lowest"), found.lowest.frequency_hz)


REFUSED = {
    "empty": ({"ranges": {}}, r"ranges is empty; expected a range for one address or more"),
    "one number": (
        {"ranges": {"theta_2": 1.0}},
        r"ranges\['theta_2'\] = 1\.0: expected two finite",
    ),
    "upside down": ({"ranges": {"theta_2": (1.0, -1.0)}}, r"the lower first, in SI units and rad"),
    "not finite": ({"ranges": {"theta_2": (0.0, math.inf)}}, r"expected two finite numbers"),
    "degrees": (
        {"ranges": {"theta_2": (-90, 90)}},
        r"is more than a whole turn, 2 pi; angles are in",
    ),
    "unknown": ({"ranges": {"theta_7": (0.0, 1.0)}}, r"'theta_7' is not a parameter of this arm"),
    "twice": (
        {"ranges": {"theta_2": (0.0, 1.0), "link2.joint_angle": (0.0, 1.0)}},
        r"'link2\.joint_angle' is given twice",
    ),
    "forbidden": ({"ranges": {"payload.mass": (-1.0, 1.0)}}, r"ranges\['payload\.mass'\]: .*-1"),
    "payload": ({"payload": "heavy"}, r"payload = 'heavy': must be a RigidBody, or its mass in kg"),
    "no mode": (
        {"mode": 2},
        r"mode = 2: none of the 8 starts has a certified frequency of this mode",
    ),
    "mode 0": ({"mode": 0}, r"mode = 0; expected a whole number of at least 1"),
    "climbs": ({"climbs": 0}, r"climbs = 0; expected a whole number"),
    "theory": ({"theory": "einstein"}, r"einstein"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refusals_name_the_value_and_the_remedy(case):
    given, message = REFUSED[case]
    with pytest.raises(ValueError, match=message):
        jm.extremes(elbow_arm(), **{"starts": 8} | given)


def test_other_refusals():
    with pytest.raises(ValueError, match=r"omega = -1\.0: expected a frequency above 0"):
        jm.share_below(elbow_arm(), -1.0)
    with pytest.raises(ValueError, match=r"seed = 0\.5; expected a whole number"):
        jm.share_below(elbow_arm(), 1.0, seed=0.5)
    with pytest.raises(ValueError, match=r"one joint, which changes no frequency; give the ranges"):
        jm.extremes(jm.SpatialArm(elbow_arm().links[:1], payload=jm.RigidBody(1.0)))
    with pytest.raises(jm.ArmError, match=r"arm\.toml"):
        jm.extremes("arm.toml")

    def traced(angle):
        return jm.extremes(elbow_arm().with_posture([angle])).lowest.omega

    with pytest.raises(
        ValueError, match=r"arm: holds traced values; extremes and share_below need"
    ):
        jax.jit(traced)(0.3)


def run(*arguments):
    return run_command("worst", *arguments)


@pytest.mark.slow
def test_the_command_tells_the_same_and_keeps_the_limits_of_a_urdf(tmp_path):
    shutil.copy(Path(__file__).parents[1] / "data" / "small_arm.urdf", tmp_path / "small.urdf")
    path = tmp_path / "robot.toml"
    path.write_text('urdf = "small.urdf"\njoint_stiffness = { "*" = 2e4 }\n')
    shown = run(str(path), "--starts", "60", "--format", "json", "--below", "17")
    assert shown.exit_code == 0, shown.output
    entry = json.loads(shown.output)
    ranges = {
        f"link{k}.joint_angle": ends for k, ends in ((2, (-2, 2)), (3, (-3, 3)), (4, (-2, 2)))
    }
    assert entry["ranges"] == {name: list(ends) for name, ends in ranges.items()}
    assert entry["proved_over_all_of_the_ranges"] is False
    assert 0.0 < entry["share_below"]["share"] < 1.0
    found = jm.extremes(jm.read_arm(path), ranges, starts=60)
    assert entry["lowest"]["frequency_hz"] == found.lowest.frequency_hz
    lines = run("example:two_link_flexible", "--range", "theta_2=20,150", "--starts", "30").output
    assert "not claimed: that none has a lower or higher one" in lines
    assert "20.0000" in lines
    rows = run("example:two_link_flexible", "--starts", "30", "--format", "csv").output.splitlines()
    assert rows[0] == "side,mode,frequency_hz,certified,link2.joint_angle"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--range", "theta_2"), "give ADDRESS=FROM,TO, the lower first"),
        (("--range", "theta_2=90,-90"), "give ADDRESS=FROM,TO, the lower first"),
        (("--range", "theta_2=0,1", "--range", "theta_2=1,2"), "theta_2 is given twice"),
        (("--range", "theta_2=-400,400"), "is more than a whole turn"),
        (("--range", "theta_9=0,1"), "'theta_9' is not a parameter of this arm"),
        (("--below", "-3"), "--below -3.0: expected a frequency above 0, in Hz"),
    ],
)
def test_the_command_refuses_in_one_message(arguments, message):
    result = run("example:two_link_flexible", *arguments)
    assert result.exit_code == 2
    assert message in " ".join(result.output.split())


def test_joints_are_known_by_their_names():
    arm = jm.examples.six_axis_industrial()
    names = {number: f"axis_{number}" for number in range(1, arm.num_links + 1)}
    links = (link.replace(name=names[k]) for k, link in enumerate(arm.links, start=1))
    named = arm.replace(links=tuple(links))
    found = jm.extremes(named, {"axis_3": (-1.0, 1.0)}, starts=16, climbs=2)
    same = jm.extremes(arm, {"link3.joint_angle": (-1.0, 1.0)}, starts=16, climbs=2)
    assert found.lowest.omega == same.lowest.omega
    assert found.addresses == ("link3.joint_angle",)
    assert "axis_3 [°]" in str(found)
    assert "link3.joint_angle" in found.to_xarray()
    shown = jm.share_below(named, 80.0, {"axis_3": (-1.0, 1.0)}, samples=32)
    assert shown.share == jm.share_below(arm, 80.0, {"theta_3": (-1.0, 1.0)}, samples=32).share
    with pytest.raises(jm.ArmError, match="axis_9"):
        jm.extremes(named, {"axis_9": (-1.0, 1.0)})


def test_a_mode_of_frequency_zero_has_no_other():
    link = jm.Link(0.5, 7e10, 2700.0, jm.rectangle(0.02, 0.05))
    arm = jm.Arm((link, link, link.replace(joint_stiffness=0.0)))
    found = jm.extremes(arm, {"theta_2": (0.0, 1.0)}, starts=16, theory="euler_bernoulli")
    assert found.lowest.frequency_hz == found.highest.frequency_hz == 0.0
    assert found.certified
