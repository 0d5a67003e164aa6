"""Values at the ends of double precision: a message, a warning or a status, and never an error of arithmetic."""

import contextlib
import math
import warnings

import jax
import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.arm.addresses import list_addresses
from tests.support.commands import run_command

EXTREMES = (1.7e308, 1e200, 1e-200, 5e-324)
ARMS = {"plane": jm.examples.two_link_flexible, "space": jm.examples.six_axis_industrial}


def extreme_arms(arm):
    """The arm with each value of its first link and its payload in turn at each extreme, where it may be."""
    for address in list_addresses(arm):
        if not address.startswith(("link1.", "payload.")):
            continue
        for value in EXTREMES:
            with contextlib.suppress(jm.ArmError):
                yield address, value, jm.set_parameters(arm, {address: value})


@pytest.mark.parametrize("kind", ARMS)
def test_extreme_values_are_remarked_and_never_an_error_of_arithmetic(kind):
    made = list(extreme_arms(ARMS[kind]()))
    assert len(made) > 20
    for address, value, arm in made:
        found = jm.check_arm(arm)
        assert [(remark.address, remark.value) for remark in found.remarks] == [(address, value)]


@pytest.mark.parametrize("kind", ["plane", pytest.param("space", marks=pytest.mark.slow)])
def test_extreme_values_give_a_status(kind):
    """The scale of the search, sqrt(E I/(rho A)) over the square of the length, leaves double precision."""
    for value in (1.7e308, 5e-324):
        arm = jm.set_parameters(ARMS[kind](), {"link1.length": value})
        found = jm.natural_frequencies(arm, 1, throw=False)
        assert not np.any(found.certified)


ARM_FILE = """
[[links]]
length = {length}
youngs_modulus = 7e10
density = 2700.0
poisson_ratio = 0.3
section = {{ shape = "rectangle", depth = 0.01, width = 0.05, shear_coefficient = 0.85 }}
"""


def test_commands_say_what_is_out_of_range(tmp_path):
    path = tmp_path / "arm.toml"
    path.write_text(ARM_FILE.format(length="1e308"))
    for command in ("frequencies", "check", "modes"):
        result = run_command(command, path)
        assert result.exception is None or isinstance(result.exception, SystemExit), command
        assert "link1.length = 1e+308: nothing measured" in result.output
    for command in (
        ("frequencies",),
        ("modes",),
        ("postures", "--frequency", "3"),
        ("response", "--input", "tip.force_y", "--output", "tip.y"),
        ("statics",),
    ):
        result = run_command(
            command[0], "example:two_link_flexible", *command[1:], "--posture-deg", "1e300"
        )
        assert result.exit_code == 2, result.output
        assert "--posture-deg 1e+300: link2.joint_angle = " in result.output, command


@pytest.mark.parametrize("kind", ARMS)
def test_counts_end_where_they_are_exact(kind):
    """Far up the number of modes grows with the frequency: waves that fit into each link, of known speeds."""
    arm = ARMS[kind]()
    high = np.array([1e12, 1e13, 1e14])
    counts = np.asarray(jm.count_below(arm, high), float)
    np.testing.assert_allclose(counts / high, counts[0] / high[0], rtol=1e-6)
    last = 0.9 * 2.0**53 / (counts[2] / 1e14)
    assert abs(int(jm.count_below(arm, last)) / (0.9 * 2.0**53) - 1.0) < 1e-6
    for omega in (2.0 * last, 1e60, 1e100, 1e160, 1.7e308):
        with pytest.raises(ValueError, match=r"2\^53 = 9,007,199,254,740,992"):
            jm.count_below(arm, np.array([1.0, omega]))


def test_a_traced_frequency_beyond_what_can_be_counted_gives_minus_one():
    arm = jm.examples.two_link_flexible()
    omega = np.array([0.0, 1e3, 1e60, 1e160, math.inf, -1.0])
    counts = jax.jit(lambda x: jm.count_below(arm, x))(omega)
    assert counts.tolist() == [0, int(jm.count_below(arm, 1e3)), -1, -1, -1, -1]


def test_what_is_read_is_warned_of(tmp_path):
    path = tmp_path / "arm.toml"
    path.write_text(ARM_FILE.format(length="1e-200"))
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        jm.read_arm(path)
    assert ["link1.length = 1e-200: nothing measured" in str(w.message) for w in seen] == [True]
