"""Are responses of single beams, of arms at rest and on supports those of closed forms?"""

import mpmath
import numpy as np
import pytest
from mpmath import mpf

import jaxmodal as jm
from tests.response.arms import bent


@mpmath.workdps(40)
def test_tip_of_one_slender_beam_in_closed_form():
    """cos cosh + 1 and the like, of a cantilever after Euler and Bernoulli; 1e-12 away from resonance."""
    link = jm.Link(1.3, 7e10, 2700.0, jm.rectangle(0.01, 0.04, 0.85), poisson_ratio=0.3)
    arm = jm.Arm((link,))
    rigidity, line = (mpf(float(x)) for x in (7e10 * link.second_moment, 2700.0 * link.area))
    length = mpf(1.3)
    omega = np.array([0.5, 20.0, 300.0, 4e3])
    ports = ("tip.across", "tip.rotation", "link_1@0.25.across")
    found = jm.frequency_response(arm, omega, "tip.across", ports, theory="euler_bernoulli")
    for k, w in enumerate(omega):
        b = (line * mpf(w) ** 2 / rigidity) ** mpf("0.25")
        c, s, ch, sh = (f(b * length) for f in (mpmath.cos, mpmath.sin, mpmath.cosh, mpmath.sinh))
        force = 1 / (rigidity * b**3 * (1 + c * ch))
        # v = A (cosh - cos) + B (sinh - sin) with no moment and a shear of 1 at the end
        a1, b1 = force * (s + sh) / 2, -force * (c + ch) / 2
        x = b * length / 4
        station = a1 * (mpmath.cosh(x) - mpmath.cos(x)) + b1 * (mpmath.sinh(x) - mpmath.sin(x))
        tip = a1 * (ch - c) + b1 * (sh - s)
        turn = b * (a1 * (sh + s) + b1 * (ch - c))
        np.testing.assert_allclose(
            found.values[:, 0, k], [float(tip), float(turn), float(station)], rtol=1e-12
        )
        np.testing.assert_allclose(float(tip), float(force * (c * sh - s * ch) * -1), rtol=1e-12)


def test_tip_of_one_stout_beam_in_closed_form():
    """Timoshenko's cantilever: four exponentials whose factors meet the conditions at both ends; 1e-12."""
    link = jm.Link(0.4, 7e10, 2700.0, jm.rectangle(0.1, 0.04, 0.85), poisson_ratio=0.3)
    rigidity, line, turning = (
        mpf(float(x))
        for x in (7e10 * link.second_moment, 2700.0 * link.area, 2700.0 * link.second_moment)
    )
    shear = mpf(float(link.shear_modulus_effective)) * mpf(float(link.area))
    length = mpf(0.4)
    cutoff = float(mpmath.sqrt(shear / turning))
    omega = np.array([50.0, 4e3, 0.9 * cutoff, 1.2 * cutoff])
    ports = ("tip.across", "tip.rotation", "link_1@0.25.across")
    found = jm.frequency_response(jm.Arm((link,)), omega, ports[:2], ports)
    for k, w in enumerate(map(mpf, omega)):
        # shear (v'' - psi') = -line w^2 v; rigidity psi'' + shear (v' - psi) = -turning w^2 psi
        a, b = line * w**2 / shear, turning * w**2 / rigidity
        middle, last = a + b, a * b - line * w**2 / rigidity
        root = mpmath.sqrt(middle**2 / 4 - last)
        slopes = [
            sign * mpmath.sqrt(-middle / 2 + part) for part in (root, -root) for sign in (1, -1)
        ]
        turns = [(x**2 + a) / x for x in slopes]
        rows = mpmath.matrix(4, 4)
        for j, (x, g) in enumerate(zip(slopes, turns, strict=True)):
            grown = mpmath.exp(x * length)
            rows[0, j], rows[1, j] = 1, g
            rows[2, j], rows[3, j] = rigidity * g * x * grown, shear * (x - g) * grown
        for into, (moment, force) in enumerate(((0, 1), (1, 0))):
            factors = mpmath.lu_solve(rows, mpmath.matrix([0, 0, moment, force]))
            waves = [(f, x, g) for f, x, g in zip(factors, slopes, turns, strict=True)]
            truth = [
                sum(f * mpmath.exp(x * length) for f, x, _ in waves),
                sum(f * g * mpmath.exp(x * length) for f, x, g in waves),
                sum(f * mpmath.exp(x * length / 4) for f, x, _ in waves),
            ]
            np.testing.assert_allclose(
                found.values[:, into, k], [float(mpmath.re(x)) for x in truth], rtol=1e-12
            )


def test_static_limit_is_the_compliance_of_the_bent_cantilever():
    """Work of linear bending moments, of normal and of shear forces, and of the spring; 1e-6 of the first frequency."""
    arm = bent(joint_stiffness=3e4)
    first = float(jm.natural_frequencies(arm, 1).omega[0])
    found = jm.frequency_response(
        arm, 1e-6 * first, ["tip.x", "tip.y", "tip.moment"], ["tip.x", "tip.y", "tip.moment"]
    )
    angles = np.array([0.0, 1.1])
    along = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    lengths = np.array([0.8, 0.5])
    ends = np.concatenate([[[0.0, 0.0]], np.cumsum(lengths[:, None] * along, axis=0)])
    loads = [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)]

    def moments(load):
        arms_of_force = ends[-1] - ends
        return load[2] + arms_of_force[:, 0] * load[1] - arms_of_force[:, 1] * load[0]

    compliance = np.zeros((3, 3))
    for i, one in enumerate(loads):
        for j, other in enumerate(loads):
            m, n = moments(one), moments(other)
            for k, link in enumerate(arm.links):
                bending = (
                    2 * m[k] * n[k] + m[k] * n[k + 1] + m[k + 1] * n[k] + 2 * m[k + 1] * n[k + 1]
                ) / 6
                across = np.array([-along[k, 1], along[k, 0]])
                normal = (along[k] @ one[:2]) * (along[k] @ other[:2])
                shear = (across @ one[:2]) * (across @ other[:2])
                length = lengths[k]
                compliance[i, j] += length * bending / (7e10 * link.second_moment)
                compliance[i, j] += length * normal / (7e10 * link.area)
                compliance[i, j] += length * shear / (link.shear_modulus_effective * link.area)
            compliance[i, j] += m[1] * n[1] / 3e4
    np.testing.assert_allclose(found.values.real, compliance, rtol=3e-12, atol=1e-20)


def test_supports_are_springs():
    """At rest against Castigliano's compliances; 1e-6 of the first frequency."""
    supports = {
        "support_x_stiffness": 3e4,
        "support_y_stiffness": 1e5,
        "support_torsional_stiffness": 2e3,
    }
    arm = bent(end_offset_x=0.1, joint_shear_stiffness=3e6)
    turned = arm.links[0].replace(joint_angle=0.3, end_offset_y=-0.05, **supports)
    arm = arm.replace(links=(turned, arm.links[1]))
    names = ["tip.x", "tip_1.y", "tip.moment"]
    omega = np.asarray(jm.natural_frequencies(arm, 3).omega)
    found = jm.frequency_response(arm, 1e-6 * omega[0], names, names).values.real
    np.testing.assert_allclose(found, jm.static_compliance(arm, names, names).values, rtol=1e-11)
    at = jm.frequency_response(arm, omega, "tip.x", "tip.x")
    assert (at.status == jm.Status.resonance).all()
    rigid = {"link1.support_x_stiffness": [1e5, np.inf]}
    with pytest.raises(jm.ArmError, match=r"link1\.support_x_stiffness = inf: .* a support varies"):
        jm.frequency_response(arm, 3.0, "tip.x", "tip.x", parameters=rigid)
