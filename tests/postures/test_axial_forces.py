"""Do the postures of a frequency and the maps of a band take compressed arms, and notice buckled ones?

Two equal links, each pressed by a share of the Euler load of one: axial forces alone, which do no work where an arm
moves without turning, buckle them as one column of the double length, in every posture: at a quarter of it.
"""

import numpy as np
import pytest

import jaxmodal as jm
from tests.support.real_arms import steel

L, EI = 0.5, 2e11 * 0.04 * 0.02**3 / 12
EULER = np.pi**2 * EI / (4 * L**2)
THEORY = "euler_bernoulli"


def pressed(share):
    link = steel(axial_force=-share * EULER, joint_angle=0.4)
    return jm.Arm((link, link), jm.Payload(mass=1.0))


def test_postures_of_a_compressed_arm():
    arm = pressed(0.24)
    omega = float(jm.natural_frequencies(arm.with_posture([1.3]), 1, theory=THEORY).omega[0])
    found = jm.postures_at(arm, omega, theory=THEORY)
    np.testing.assert_allclose(np.asarray(found.angle)[:2], [-1.3, 1.3], rtol=0.0, atol=1e-9)
    assert found.status[:2].tolist() == [jm.Status.certified] * 2
    assert found.mode[:2].tolist() == [1, 1]
    free = jm.resonance_free(arm, 0.98 * omega, omega, theory=THEORY)
    border = np.asarray(free.border)[0]
    inside = np.asarray(free.modes_inside)[0]
    for k in range(np.isfinite(border).sum() + 1):
        ends = np.concatenate([[-np.pi], border[np.isfinite(border)], [np.pi]])[k : k + 2]
        own = jm.natural_frequencies(arm.with_posture([ends.mean()]), 2, theory=THEORY).omega
        assert inside[k] == np.sum((np.asarray(own) > 0.98 * omega) & (np.asarray(own) < omega))


def test_buckled_arms():
    """The second mode of a buckled arm still has its angles, which no mode number belongs to."""
    buckled = pressed(0.26)
    assert (
        jm.natural_frequencies(buckled, 1, theory=THEORY, throw=False).status[0]
        == jm.Status.unstable
    )
    omega = float(
        jm.natural_frequencies(pressed(0.24).with_posture([1.3]), 2, theory=THEORY).omega[1]
    )
    found = jm.postures_at(buckled, omega, theory=THEORY)
    there = np.isfinite(np.asarray(found.angle))
    assert there.any()
    assert set(np.asarray(found.status)[there].tolist()) == {int(jm.Status.unstable)}
    assert not np.asarray(found.mode).any()
    with pytest.raises(
        jm.ArmError, match=r"buckle the arm where joint 2 is at -180\.00 to 180\.00 degrees"
    ):
        jm.resonance_free(buckled, 0.9 * omega, omega, theory=THEORY)
    # across the force: the rows below the critical load alone
    forces = {"across": "link1.axial_force", "points": 3}
    stable = jm.resonance_free(
        pressed(0.2), 1.0, omega, theory=THEORY, values=(-0.2 * EULER, 0.0), **forces
    )
    assert stable.border.shape[0] == 3
    with pytest.raises(jm.ArmError, match=r"\(row 1 of 3\)"):
        jm.resonance_free(
            pressed(0.2), 1.0, omega, theory=THEORY, values=(-1.5 * EULER, 0.0), **forces
        )
    with pytest.raises(jm.ArmError, match="loads: the arm has some, and postures_at"):
        jm.postures_at(buckled.replace(loads=jm.Loads(gravity=9.81)), omega, theory=THEORY)
