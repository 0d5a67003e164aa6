"""Buckling factors as callers meet them: derivatives, shapes, tables, refusals, the command."""

import json

import mpmath
import numpy as np
import pytest
from click.testing import CliRunner

import jaxmodal as jm
from jaxmodal.cli.commands import main
from tests.at_rest.columns import BEAM, EB, PUSH, close, column


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
    found = jm.buckling(arm, 2, EB, addresses=addresses)

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


def test_derivatives_by_all_addresses():
    """Against differences of high order of the factors themselves, forces at rest and reactions included."""
    arm, loads = bent(), {"gravity": (0.2, -1.0), "tip_force": (-0.5, -1.0)}
    names = [name for name in jm.addresses(arm) if "section" not in name or name.endswith("area")]
    found = jm.buckling(arm, 2, EB, addresses=names, **loads)
    weights = {1: 2 / 3, 2: -1 / 12}  # of five points, error h^4 / 30
    for place, name in enumerate(names):
        value = float(jm.get_parameter(arm, name))
        if not np.isfinite(value):
            assert np.all(found.derivatives[:, place] == 0.0)
            continue
        h = 1e-3 * max(abs(value), 0.1)
        if value - 2 * h < 0.0 and name.rsplit(".", 1)[1] not in (
            "joint_angle",
            "end_offset_x",
            "centre_y",
        ):
            continue  # a mass of 0 has no value below
        truth = sum(
            w / h * (jm.buckling(bent(**{name: value + k * h}), 2, EB, **loads).factors
                     - jm.buckling(bent(**{name: value - k * h}), 2, EB, **loads).factors)
            for k, w in weights.items()
        )  # fmt: skip
        scale = np.abs(found.factors) / max(abs(value), 0.1)
        assert np.all(np.abs(found.derivatives[:, place] - truth) <= 1e-8 * scale), (name, truth)


def test_shapes():
    """A pinned column buckles as a sine; a bent arm's shape holds together at its joint and at its supports."""
    found = jm.buckling(column("pinned-pinned"), 2, EB, **PUSH)
    x = found.stations
    for k in (1, 2):
        sine = np.sin(k * np.pi * x)
        shape = found.displacement[k - 1, 0, :, 1]
        sign = np.sign(shape[5])
        assert np.max(np.abs(sign * shape - sine)) <= 1e-3 + (k == 1) * -1e-3 + 1e-10
    shape = jm.buckling(bent(), 2, EB, gravity=(0.0, -1.0))
    turn = shape.rotation[:, 0, -1]
    at_joint = shape.displacement[:, 0, -1] + turn[:, None] * _offset(0.05, 1.4)
    assert np.max(np.abs(at_joint - shape.displacement[:, 1, 0])) <= 1e-12


def _offset(across, angle):
    """What a unit turn moves the end of an offset across a link by."""
    return -across * np.array([np.cos(angle), np.sin(angle)])


def test_results_show_themselves():
    found = jm.buckling(bent(), 2, EB, gravity=(0.0, -1.0), addresses=["link1.length"])
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
    with pytest.raises(jm.ArmError, match="factor = 3: choose one from 1 to 2"):
        found.plot(factor=3)


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
    ],
)
def test_refused(arm, options, message):
    with pytest.raises(ValueError, match=message):
        jm.buckling(jm.Arm((arm,)), theory=EB, **options)


def test_command(tmp_path):
    path = tmp_path / "column.toml"
    jm.write_arm(column("clamped-free"), path)
    run = CliRunner().invoke(
        main,
        ["--no-check", "buckling", str(path), "--gravity=-1,0", "--theory", EB, "--format", "json",
         "--derivative", "link1.youngs_modulus"],
    )  # fmt: skip
    assert run.exit_code == 0, run.output
    found = json.loads(run.output)
    assert found["loads"] == {"gravity": [-1.0, 0.0]}
    (factor,) = found["factors"]
    assert (factor["count_below"], factor["count_above"]) == (0, 1)
    assert factor["bracket"][0] < factor["load_factor"] < factor["bracket"][1]
    close(factor["load_factor"], 7.837347438943488, 1e-12)
    close(factor["derivatives"]["link1.youngs_modulus"], factor["load_factor"], 1e-10)
    bad = CliRunner().invoke(main, ["buckling", str(path), "--gravity", "9.81"])
    assert bad.exit_code == 2
    assert "is not a pair of finite numbers" in bad.output
    picture = tmp_path / "shape.png"
    drawn = CliRunner().invoke(
        main,
        [
            "--no-check",
            "buckling",
            str(path),
            "--gravity=-1,0",
            "--theory",
            EB,
            "--plot",
            str(picture),
        ],
    )
    assert drawn.exit_code == 0
    assert picture.stat().st_size > 5000
