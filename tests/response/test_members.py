"""Members of driven arms: functions of wave numbers at the edges of their forms, and slow members."""

import mpmath
import numpy as np
import pytest

from jaxmodal.arithmetic.operations import Arithmetic
from jaxmodal.dynamic_stiffness.beams import prepared_values, waves_from
from jaxmodal.dynamic_stiffness.member import FreeEndMember
from jaxmodal.dynamic_stiffness.preload import member_waves
from jaxmodal.response.driven.members import _hyperbolic, _with_slow, member_at
from tests.response.arms import bent

#: a slow one between two that are not
OMEGA = np.array([3e4, 1e-3, 5e4])
SLOW = np.array([False, True, False])


@pytest.fixture
def beam():
    beams, theory = prepared_values(bent(), "timoshenko")
    return beams, theory


def one_link(beams):
    fields = {name: getattr(beams, name) for name in beams.__dataclass_fields__}
    return type(beams)(
        **{name: x[0] if isinstance(x, np.ndarray) else x for name, x in fields.items()}
    )


def static(link):
    """Closed forms of a beam with shear at rest."""
    bending = link.youngs_modulus * link.second_moment
    shear = link.shear_modulus_effective * link.area
    return {
        "h_vv": 1.0,
        "h_vp": link.length,
        "h_pp": 1.0,
        "r_vv": link.length**3 / (3.0 * bending) + link.length / shear,
        "r_vp": link.length**2 / (2.0 * bending),
        "r_pp": link.length / bending,
    }


READ_ONLY = np.broadcast_to(np.array([7.0]), OMEGA.shape)


@pytest.mark.parametrize(
    "given", [np.full(3, 7.0), READ_ONLY, np.float64(7.0), np.array(7.0)],
    ids=["shared", "read-only", "number", "no axis"],
)  # fmt: skip
def test_slow_members_replace_none_of_what_they_are_given(beam, given):
    """All fields share the memory of one array here."""
    beams, theory = beam
    link = one_link(beams)
    waves = member_waves(link, theory, OMEGA, Arithmetic.float64)
    size = len(FreeEndMember._fields)
    axial = (np.float64(0.0),) * 4
    made = _with_slow(FreeEndMember(*[given] * size), waves, SLOW, axial)
    assert np.all(given == 7.0)
    assert all(x.shape == OMEGA.shape and np.all(x[~SLOW] == 7.0) for x in made)
    for name, exact in static(link).items():
        np.testing.assert_allclose(getattr(made, name)[1], exact, rtol=1e-9, atol=0.0)


@pytest.mark.parametrize("omega", [1e-3, np.float64(1e-3), np.array(1e-3)])
def test_a_slow_member_at_one_frequency_has_no_axis(beam, omega):
    beams, theory = beam
    link = one_link(beams)
    found = member_at(link, theory, omega)
    for name, exact in static(link).items():
        assert np.shape(getattr(found, name)) == ()
        np.testing.assert_allclose(getattr(found, name), exact, rtol=1e-9, atol=0.0)


def test_an_imaginary_characteristic_value_is_not_positive():
    """With 0 as its real part, alpha is the root of -z1, and its functions are those of z1 all the same."""
    z = np.array(
        [2j, -2j, 1e-3j, 0.0j, complex(-0.0, 3.0), 2.0 + 1j, -2.0 + 1j, -4.0 + 0j, 1e-20 + 5j]
    )
    one = np.ones_like(z)
    w = waves_from(one, one, 2.0 * one, one, z, one, one, one, one, one)
    imaginary = z.real <= 0.0
    np.testing.assert_allclose(w.alpha[imaginary] ** 2, -z[imaginary], rtol=1e-15, atol=1e-15)
    np.testing.assert_allclose(w.alpha[~imaginary] ** 2, z[~imaginary], rtol=1e-15, atol=1e-15)
    decay, c, s = _hyperbolic(w.z1, w.alpha)
    for k, each in enumerate(z.tolist()):
        root = mpmath.sqrt(each)
        growth = mpmath.exp(-root.real)
        ratio = mpmath.sinh(root) / root if each else mpmath.mpf(1.0)
        exact = [complex(growth * x) for x in (1.0, mpmath.cosh(root), ratio)]
        found = [decay[k], c[k], s[k]]
        if each:
            np.testing.assert_allclose(found, exact, rtol=1e-14, atol=1e-14)
