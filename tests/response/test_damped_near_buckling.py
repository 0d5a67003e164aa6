"""Damped roots of pressed bars next to their critical load, in closed form; what is no root is not given as one."""

import mpmath
import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.response.damped import damped_roots

BAR = jm.Link(1.0, 1.0, 1.0, jm.raw_section(1.0, 1.0))
CRITICAL = np.pi**2 / 4


def pressed(share, loss_factor):
    return jm.Arm((BAR.replace(axial_force=-CRITICAL * (1.0 - share), loss_factor=loss_factor),))


def closed_form(arm, root):
    """The root near one of a clamped bar whose modulus is 1 + i eta, under the load that keeps its direction."""
    link = arm.links[0]
    with mpmath.workdps(40):
        modulus = 1 + 1j * mpmath.mpf(link.loss_factor)
        load = mpmath.mpf(-link.axial_force) / modulus

        def determinant(square):
            middle = mpmath.sqrt(load**2 / 4 + square / modulus)
            a, b = mpmath.sqrt(middle + load / 2), mpmath.sqrt(middle - load / 2)
            c, s, ch, sh = mpmath.cos(a), mpmath.sin(a), mpmath.cosh(b), mpmath.sinh(b)
            moments = (-(a**2) * c - b**2 * ch, -a * s - b * sh)
            forces = (a**3 * s - b**3 * sh - load * (a * s + b * sh), None)
            second = -(a**2) * c - b**2 * ch + load * (c - ch)
            return moments[0] * second - moments[1] * forces[0]

        return complex(mpmath.sqrt(mpmath.findroot(determinant, mpmath.mpc(root) ** 2)))


@pytest.mark.parametrize(
    ("share", "loss_factor"),
    [
        pytest.param(share, loss, marks=() if loss == 0.1 or share == 1e-8 else pytest.mark.slow)
        for share in (0.5, 1e-2, 1e-4, 1e-6, 1e-8)
        for loss in (1e-3, 0.1, 2.0)
    ],
)
def test_pressed_bars_in_closed_form(share, loss_factor):
    arm = pressed(share, loss_factor)
    found = jm.damped_modes(arm, 2, theory="bending_only")
    assert found.ok
    assert (found.decay_rate > 0.0).all()
    truth = [closed_form(arm, root) for root in found.roots]
    np.testing.assert_allclose(found.roots, truth, rtol=1e-11)


#: a root that grows, the other one of its square, and a place beside it
STRAYS = {"grows": np.conj, "other": lambda root: -root, "beside": lambda root: 1.01 * root}


@pytest.mark.parametrize("stray", STRAYS)
def test_what_is_no_root_is_not_given(monkeypatch, stray):
    arm = pressed(0.1, 0.2)
    true = damped_roots.followed

    def followed(*given):
        ends = true(*given)
        ends[:, :, 0] = STRAYS[stray](ends[:, :, 0])
        return ends

    monkeypatch.setattr(damped_roots, "followed", followed)
    found = jm.damped_modes(arm, 2, theory="bending_only")
    assert not found.ok
    assert np.isnan(found.roots[0])
    np.testing.assert_allclose(found.roots[1], closed_form(arm, found.roots[1]), rtol=1e-11)
    assert "nan: what was followed there is no root" in " ".join(str(found).split())
    cells = {"link1.loss_factor": [0.2, 0.2]}
    many = jm.damped_modes_batch(arm, cells, 2, theory="bending_only")
    assert (many.status[:, 0] == jm.Status.no_value).all()
