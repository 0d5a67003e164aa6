"""Buckling factors as callers meet them: derivatives, shapes, tables, refusals, the command."""

import json

import mpmath
import numpy as np
import pytest

import jaxmodal as jm
from tests.at_rest.columns import BEAM, EB, PUSH, close, column
from tests.support.commands import run_command


def bent(**changes):
    first = BEAM.replace(length=0.8, joint_angle=1.4, tip_mass=0.3, end_offset_y=0.05)
    second = BEAM.replace(
        joint_angle=-1.0, joint_stiffness=3.0, section=jm.raw_section(0.8, 0.6), hub_mass=0.2,
        support_y_stiffness=2.0,
    )  # fmt: skip
    arm = jm.Arm((first, second), jm.Payload(mass=0.5, centre_x=0.1))
    return jm.set_parameters(arm, changes) if changes else arm


def test_derivatives_against_40_digits():
    """A heavy column on a spring with a body at its tip, E I t'' + f g (q (L - x) + m) t = 0: Airy's functions."""
    mp = mpmath.mp
    values = {
        "length": 1.3,
        "modulus": 2.0,
        "spring": 3.0,
        "line": 0.7,
        "mass": 0.4,
        "gravity": 1.9,
    }
    link = jm.Link(1.3, 2.0, 0.7, jm.raw_section(1.0, 1.0), joint_stiffness=3.0)
    loads = jm.Loads(gravity=1.9, gravity_direction=np.pi)
    arm = jm.Arm((link,), jm.Payload(mass=0.4), loads=loads)
    names = ("length", "youngs_modulus", "joint_stiffness", "density")
    addresses = [*(f"link1.{x}" for x in names), "payload.mass", "loads.gravity"]
    found = jm.buckling(arm, 2, theory=EB, addresses=addresses)

    def factor(guess, length, modulus, spring, line, mass, gravity):
        def condition(f):
            c = (f * gravity * line / modulus) ** (mp.mpf(1) / 3)
            base, tip = -c * (length + mass / line), -c * mass / line
            rows = [
                modulus * c * airy(base, derivative=1) - spring * airy(base)
                for airy in (mp.airyai, mp.airybi)
            ]
            ends = [airy(tip, derivative=1) for airy in (mp.airyai, mp.airybi)]
            return rows[0] * ends[1] - rows[1] * ends[0]

        return mp.findroot(condition, (guess * 0.9999, guess * 1.0001))

    with mpmath.workdps(40):
        exact = {name: mp.mpf(value) for name, value in values.items()}
        for k in range(2):
            truth = factor(mp.mpf(float(found.factors[k])), **exact)
            assert abs(found.factors[k] / truth - 1) <= 1e-12
            for place, name in enumerate(values):
                step = exact[name] * mp.mpf(10) ** -12
                ends = [factor(truth, **exact | {name: exact[name] + s * step}) for s in (-1, 1)]
                rate = (ends[1] - ends[0]) / (2 * step)
                assert abs(found.derivatives[k, place] / rate - 1) <= 1e-10


def test_derivatives_of_factors_of_both_signs():
    """A stubby link that is pulled: pressed by the reverse it needs more pieces. Reversed loads, reversed factors."""
    section = jm.rectangle(0.2, 0.1, shear_coefficient=0.85)
    arm = jm.Arm((jm.Link(0.5, 7e10, 2700.0, section, poisson_ratio=0.3),))
    pulled, pressed = (
        jm.buckling(arm, 3, tip_force=(f, 0.0), both_signs=f > 0.0, addresses=["link1.length"])
        for f in (1e6, -1e6)
    )
    np.testing.assert_allclose(pulled.factors, -pressed.factors, rtol=1e-13)
    np.testing.assert_allclose(pulled.derivatives, -pressed.derivatives, rtol=1e-10)


LOADS = {"gravity": (0.2, -1.0), "tip_force": (-0.5, -1.0)}


def varied(arm):
    """Addresses by which differences can be taken, and their sizes: a mass of 0 has no value below."""
    signed = ("joint_angle", "end_offset_x", "centre_y")
    sizes = {}
    for name in jm.list_addresses(arm):
        value = float(jm.get_parameter(arm, name))
        own = name.rsplit(".", 1)[1]
        known = np.isfinite(value) and ("section" not in name or own == "area")
        if known and (value > 2e-4 or own in signed):
            sizes[name] = max(abs(value), 0.1)
    return sizes


def difference(arm, steps):
    """Of five points, error of order h^4: the rate of both factors along steps by address."""
    start = {name: float(jm.get_parameter(arm, name)) for name in steps}

    def factors(k):
        changed = {name: value + k * steps[name] for name, value in start.items()}
        return jm.buckling(jm.set_parameters(arm, changed), 2, theory=EB, **LOADS).factors

    return 2 / 3 * (factors(1) - factors(-1)) - 1 / 12 * (factors(2) - factors(-2))


def test_derivatives_by_all_addresses():
    """All at once, up or down: against differences of the factors themselves, forces at rest and reactions included."""
    arm, h = bent(), 1e-4
    sizes = varied(arm)
    infinite = [n for n in jm.list_addresses(arm) if np.isinf(float(jm.get_parameter(arm, n)))]
    assert len(sizes) >= 19
    assert infinite
    found = jm.buckling(arm, 2, theory=EB, addresses=[*sizes, *infinite], **LOADS)
    assert np.all(found.derivatives[:, len(sizes) :] == 0.0)
    rng = np.random.default_rng(2)
    for _ in range(4):
        steps = {name: h * size * rng.choice([-1.0, 1.0]) for name, size in sizes.items()}
        rate = found.derivatives[:, : len(sizes)] @ np.array(list(steps.values())) / h
        truth = difference(arm, steps) / h
        assert np.all(np.abs(rate - truth) <= 1e-8 * np.abs(found.factors))


@pytest.mark.slow
def test_derivatives_by_every_address():
    """One after the other."""
    arm, h = bent(), 1e-3
    sizes = varied(arm)
    found = jm.buckling(arm, 2, theory=EB, addresses=list(sizes), **LOADS)
    for place, (name, size) in enumerate(sizes.items()):
        truth = difference(arm, {name: h * size}) / (h * size)
        scale = np.abs(found.factors) / size
        assert np.all(np.abs(found.derivatives[:, place] - truth) <= 1e-8 * scale), (name, truth)


def test_shapes():
    """A pinned column buckles as a sine; a bent arm's shape holds together at its joint and at its supports."""
    found = jm.buckling(column("pinned-pinned"), 2, theory=EB, **PUSH)
    x = found.stations
    for k in (1, 2):
        sine = np.sin(k * np.pi * x)
        shape = found.displacement[k - 1, 0, :, 1]
        sign = np.sign(shape[5])
        assert np.max(np.abs(sign * shape - sine)) <= 1e-10
    shape = jm.buckling(bent(), 2, theory=EB, gravity=(0.0, -1.0))
    turn = shape.rotation[:, 0, -1]
    at_joint = shape.displacement[:, 0, -1] + turn[:, None] * _offset(0.05, 1.4)
    assert np.max(np.abs(at_joint - shape.displacement[:, 1, 0])) <= 1e-12


def test_the_shape_on_a_base_that_gives():
    """A base that slides across, tip pinned: a quarter of a cosine, the largest at the base, 0 at the rigid support."""
    arm = column("clamped-pinned").replace(base_stiffness=np.diag([1e6, 1e-12, np.inf]))
    found = jm.buckling(arm, 1, theory=EB, **PUSH)
    np.testing.assert_allclose(found.factors, np.pi**2 / 4, rtol=1e-10)
    cosine = np.cos(0.5 * np.pi * found.stations)
    np.testing.assert_allclose(found.displacement[0, 0, :, 1], cosine, rtol=0.0, atol=1e-10)


def _offset(across, angle):
    """What a unit turn moves the end of an offset across a link by."""
    return -across * np.array([np.cos(angle), np.sin(angle)])


def test_results_show_themselves():
    found = jm.buckling(bent(), 2, theory=EB, gravity=(0.0, -1.0), addresses=["link1.length"])
    assert "certified" in str(found)
    assert "link1.length" in str(found)
    dataset = found.to_xarray()
    assert dataset.sizes == {
        "factor": 2,
        "link": 2,
        "end": 2,
        "station": 41,
        "axis": 2,
        "address": 1,
    }
    axes = found.plot(factor=2)
    assert "buckling 2" in axes.get_title()
    for wrong in (3, True):
        with pytest.raises(jm.ArmError, match=f"factor = {wrong}: choose one from 1 to 2"):
            found.plot(factor=wrong)


@pytest.mark.parametrize(
    ("arm", "options", "message"),
    [
        (BEAM, {}, "no load: give gravity"),
        (BEAM, {"gravity": 9.81}, "gravity = 9.81: must be two finite numbers"),
        (BEAM, {"gravity": (0.0, np.nan)}, "gravity = .*must be two finite numbers"),
        (BEAM, {"num_factors": 0, **PUSH}, "num_factors = 0; expected a whole number"),
        (
            BEAM.replace(joint_stiffness=0.0),
            PUSH,
            r"moves without strain \(link1.joint_stiffness = 0\)",
        ),
        (
            BEAM.replace(joint_stiffness=0.0),
            {"tip_force": (0.0, 1.0)},
            "nothing holds the arm at this joint",
        ),
        (BEAM.replace(rigid=True), PUSH, "rigid throughout"),
        (BEAM, {"addresses": ["link1.lenght"], **PUSH}, "Did you mean"),
        (BEAM, {"both_signs": "no", **PUSH}, "both_signs = 'no': must be True or False"),
    ],
)
def test_refused(arm, options, message):
    with pytest.raises(ValueError, match=message):
        jm.buckling(jm.Arm((arm,)), theory=EB, **options)


@pytest.mark.parametrize("theory", [EB, "timoshenko"])
@pytest.mark.parametrize("load", [1e-310, 1e305])
def test_loads_near_the_ends_of_float64_have_no_certificate(load, theory):
    """One of them failed with an error of NumPy."""
    section = jm.rectangle(0.02, 0.04, shear_coefficient=0.85)
    arm = jm.Arm((jm.Link(1.0, 7e10, 2700.0, section, poisson_ratio=0.3),))
    with np.errstate(all="ignore"):
        assert not jm.buckling(arm, 1, theory=theory, tip_force=(-load, 0.0)).certified.any()


def test_command(tmp_path):
    path = tmp_path / "column.toml"
    jm.write_arm(column("clamped-free"), path)
    asked = ("--no-check", "buckling", path, "--gravity=-1,0", "--theory", EB)
    run = run_command(*asked, "--format", "json", "--address", "link1.youngs_modulus")
    assert run.exit_code == 0, run.output
    found = json.loads(run.output)
    assert found["loads"] == {"gravity": [-1.0, 0.0]}
    (factor,) = found["factors"]
    assert (factor["count_below"], factor["count_above"]) == (0, 1)
    assert factor["bracket"][0] < factor["load_factor"] < factor["bracket"][1]
    close(factor["load_factor"], 7.837347438943488, 1e-12)
    close(factor["derivatives"]["link1.youngs_modulus"], factor["load_factor"], 1e-10)
    bad = run_command("buckling", path, "--gravity", "9.81")
    assert bad.exit_code == 2
    assert "is not a pair of finite numbers" in bad.output
    picture = tmp_path / "shape.png"
    rest = ["--no-check", "buckling", str(path), "--theory", EB, "--plot", str(picture)]
    pulled = run_command(*rest, "--gravity=1,0")
    assert pulled.exit_code == 0, pulled.exception
    assert "no picture" in pulled.stderr
    assert not picture.exists()
    drawn = run_command(*rest, "--gravity=-1,0")
    assert drawn.exit_code == 0
    assert picture.stat().st_size > 5000
