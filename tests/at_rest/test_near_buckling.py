"""What the linear theory of arms at rest says next to a critical load, and what static compliance has there."""

import re
import warnings

import mpmath
import numpy as np
import pytest

import jaxmodal as jm

BAR = jm.Link(1.0, 1.0, 1.0, jm.raw_section(1.0, 1.0))
CRITICAL = float(mpmath.pi**2 / 4)
NEAR = r"the critical load is ([\d.]+) times these loads"
PRESSED = {"theory": "bending_only"}


def pressed(factor, arm=None):
    """At rest under a share of the critical load, and a small force across."""
    column = jm.Arm((BAR,)) if arm is None else arm
    return jm.static_equilibrium(column, tip_force=(-CRITICAL * factor, 1e-6), **PRESSED)


@pytest.mark.parametrize("below", [0.5, 1e-3, 1e-6, 1e-9, 1e-12])
def test_loads_near_the_critical_one_are_warned_of(below):
    """The bar bends ``1/below`` times as far as the linear theory has it."""
    with pytest.warns(jm.LargeDeflectionWarning, match=NEAR) as told:
        found = pressed(1.0 - below)
    (text,) = (str(each.message) for each in told)
    factor = float(re.search(NEAR, text).group(1))
    assert abs(factor * (1.0 - below) - 1.0) <= 1e-11
    assert abs(found.tip_displacement[1] * 3e6 - 1.0) <= 1e-12
    assert below < 0.5 or "by some 1e+02 %" in text


@pytest.mark.parametrize("beyond", [0.0, 1e-14, 1e-9, 1e-6, 0.2, 30.0])
def test_loads_at_and_beyond_the_critical_one_are_refused(beyond):
    message = r"the loads buckle the arm: its critical load is [\d.]+ times them"
    with pytest.raises(jm.ArmError, match=message):
        pressed(1.0 + beyond)
    borne = jm.Arm((BAR,), loads=jm.Loads(tip_force_x=-CRITICAL * (1.0 + beyond)))
    with pytest.raises(jm.ArmError, match=message):
        jm.static_equilibrium(borne, **PRESSED)


def test_loads_that_are_small_or_pull_are_not_warned_of():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pressed(0.05)
        pressed(-3.0)


def test_a_posture_in_which_nothing_holds_the_arm():
    """A bar upright on a hinge is in equilibrium under its weight, hanging too; only hanging it stays there."""
    for angle, message in ((np.pi / 2, "push the arm out of this posture"), (-np.pi / 2, "")):
        arm = jm.Arm((BAR.replace(joint_angle=angle, joint_stiffness=0.0),))
        if message:
            with pytest.raises(jm.ArmError, match=message):
                jm.static_equilibrium(arm, gravity=(0.0, -1e-3), **PRESSED)
        else:
            jm.static_equilibrium(arm, gravity=(0.0, -1e-3), **PRESSED)


@pytest.mark.parametrize("below", [0.5, 1e-3, 1e-6, 1e-8, 1e-10, 1e-11])
def test_compliance_loses_what_rounding_moves_the_critical_load_by(below):
    """``(tan kL - kL)/(k P)`` of a column under a force P, ``k^2 = P/(E I)``: 1e-15 of it over the distance."""
    force = CRITICAL * (1.0 - below)
    arm = jm.Arm((BAR.replace(axial_force=-force),))
    found = jm.static_compliance(arm, "tip.across", "tip.across", **PRESSED).values[0, 0]
    with mpmath.workdps(40):
        k = mpmath.sqrt(force)
        truth = (mpmath.tan(k) - k) / (k * force)
    assert abs(found / truth - 1) <= 3e-15 / below


@pytest.mark.parametrize("beyond", [-1e-14, 0.0, 1e-12, 1e-6, 0.5])
def test_compliance_at_and_beyond_the_critical_load_is_refused(beyond):
    arm = jm.Arm((BAR.replace(axial_force=-CRITICAL * (1.0 + beyond)),))
    with pytest.raises(jm.UncertifiedError, match="no static compliance"):
        jm.static_compliance(arm, "tip.across", "tip.across", **PRESSED)
