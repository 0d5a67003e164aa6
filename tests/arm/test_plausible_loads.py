"""Does `check` warn of arms that their loads bend far, or buckle?"""

import numpy as np
import pytest

import jaxmodal as jm
from tests.support.real_arms import steel

L, EI = 0.5, 2e11 * 0.04 * 0.02**3 / 12
EULER = np.pi**2 * EI / (4 * L**2)


def remarks(arm):
    return [str(x) for x in jm.check_arm(arm).remarks]


@pytest.mark.parametrize(
    ("share", "words"),
    [
        (0.78, ""),
        (0.82, "more than 80 % of the critical load"),
        (0.98, "more than 80 % of the critical load"),
        (1.01, "beyond the critical load"),
        (-3.0, ""),
    ],
)
def test_critical_loads(share, words):
    """Of a force at the tip, and of one given to the link; shear makes less than 1 % of difference."""
    force = -share * EULER
    for arm in (
        jm.Arm((steel(),), loads=jm.Loads(tip_force_x=force)),
        jm.Arm((steel(axial_force=force),)),
    ):
        found = remarks(arm)
        assert len(found) == bool(words)
        if words:
            assert words in found[0]
            name = "loads.tip_force_x" if arm.loads is not None else "link1.axial_force"
            assert found[0].startswith(f"{name} = {force:.6g}: ")


def test_large_deflections():
    """F L^2/(2 E I) = 0.1 rad is the border; the load across is what bends."""
    border = 0.1 * 2 * EI / L**2
    for share, large in ((0.7, False), (1.1, True)):
        arm = jm.Arm((steel(),), loads=jm.Loads(tip_force_y=share * border))
        found = remarks(arm)
        assert len(found) == large
        assert not large or "the arm bends by 0.11 rad" in found[0]


def test_nothing_holds_the_arm():
    loose = jm.Arm((steel(joint_stiffness=0.0),), loads=jm.Loads(gravity=9.81))
    assert "nothing holds the arm at this joint" in remarks(loose)[0]
    assert remarks(jm.Arm((steel(),), loads=jm.Loads(gravity=0.0))) == []


@pytest.mark.parametrize("rigid", [False, True])
def test_pendulums_that_stand_and_hang(rigid):
    """On a free joint; the frequencies say the same, unstable and certified."""
    for angle, falls in ((0.5 * np.pi, True), (-0.5 * np.pi, False)):
        link = steel(joint_stiffness=0.0, joint_angle=angle, rigid=rigid)
        arm = jm.Arm((link,), jm.Payload(mass=1.0), loads=jm.Loads(gravity=9.81))
        found = remarks(arm)
        assert len(found) == falls
        assert not falls or "push the arm out of this posture" in found[0]
        status = jm.natural_frequencies(arm, 1, theory="rayleigh", throw=False).status[0]
        assert status == (jm.Status.unstable if falls else jm.Status.certified)


def test_gravity_in_another_unit():
    """Of an arm that it bends by little, so that the unit is all there is to say."""
    for size, words in ((981.0, []), (9810.0, ["if this is in mm/s^2, write 9.81"])):
        found = remarks(jm.Arm((steel(length=0.05),), loads=jm.Loads(gravity=size)))
        assert [word in remark for word, remark in zip(words, found, strict=True)] == [True] * len(
            words
        )
        assert all(remark.startswith("loads.gravity = 9810: m/s^2 expected") for remark in found)
