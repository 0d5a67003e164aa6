"""Means over circles of frequencies, of functions that are known: what is kept, replaced, and not told."""

import numpy as np
import pytest

from jaxmodal.response.receptance.circle_means import kept_digits

OMEGA = np.array([50.0])


def smooth(omega):
    """A response far from resonances."""
    return 3.0 + 1.0 / (1.0 - (omega / 90.0) ** 2)


def with_pole(omega):
    """One with a resonance at 1.003 times the frequency, within the first two circles and without the last."""
    return smooth(omega) + 0.2 / (omega / OMEGA[0] - 1.003)


def unsteady(omega):
    """What has another mean on every circle."""
    return 3.0 + np.abs(omega - OMEGA[0]) + 0j


def kept(function, value, growth):
    def responses(_, omega):
        return function(omega)[None, None]

    with np.errstate(all="ignore"):
        found = kept_digits(responses, np.array([[[value]]]), np.array([growth]), OMEGA)
    return found[0, 0, 0]


@pytest.mark.parametrize("growth", [1e3, 1e6, 1e9, np.inf, np.nan])
@pytest.mark.parametrize("function", [smooth, with_pole])
def test_wrong_values_are_replaced(function, growth):
    """Also where the growth is thought to be small: two circles agree."""
    truth = function(OMEGA)[0]
    np.testing.assert_allclose(kept(function, truth + 0.3, growth), truth, rtol=1e-11, atol=0.0)


def test_means_that_differ_from_each_other_and_from_what_has_digits_are_not_told():
    assert np.isnan(kept(unsteady, 3.0, 1e3))
