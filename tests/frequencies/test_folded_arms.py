"""Are equal links certified right where all of them resonate at once: folded, straight, at right angles?"""

import numpy as np
import pytest

import jaxmodal as jm

LINK = jm.Link(0.5, 7e10, 2700.0, jm.rectangle(0.16, 0.05, 0.85), poisson_ratio=0.3)
#: rounding of the values of two parts, beside those of one link
ROUNDING = 2e-14


def folded(angles):
    """Three equal links."""
    return jm.Arm((LINK, *(LINK.replace(joint_angle=angle) for angle in angles)))


def in_parts(arm):
    """The same arm of two or three links cut in two, whose parts resonate at other frequencies than the links."""
    links = []
    for share, link in zip((0.3, 0.41, 0.67), arm.links, strict=False):
        length = float(link.length)
        links += [link.replace(length=share * length)]
        links += [LINK.replace(length=(1.0 - share) * length, segment=True)]
    return arm.replace(links=tuple(links))


@pytest.mark.parametrize("theory", ["timoshenko", "euler_bernoulli"])
@pytest.mark.parametrize("beside", [0.0, 1e-10, 1e-8, 1e-6, 1e-5, 1e-4])
@pytest.mark.parametrize(
    "turns", [(np.pi, np.pi), (0.0, 0.0), (0.0, np.pi), (np.pi / 2, np.pi / 2)]
)
def test_equal_links_have_the_frequencies_of_their_parts(turns, beside, theory):
    arm = folded((turns[0] - beside, turns[1] + 0.7 * beside))
    found, parts = (jm.natural_frequencies(each, 8, theory=theory) for each in (arm, in_parts(arm)))
    assert found.ok
    assert parts.ok
    np.testing.assert_allclose(found.omega, parts.omega, rtol=ROUNDING)
    assert (
        np.asarray(found.omega_error) < 3e-12
    ).all()  # of two that coincide, the width of their bracket
    below = jm.count_below(arm, np.asarray(parts.omega) * (1.0 - 1e-11), theory=theory)
    above = jm.count_below(arm, np.asarray(parts.omega) * (1.0 + 1e-11), theory=theory)
    assert (below <= np.arange(8)).all()  # modes may coincide
    assert (above >= np.arange(1, 9)).all()


@pytest.mark.parametrize("theory", ["timoshenko", "euler_bernoulli"])
@pytest.mark.parametrize("turns", [(np.pi,), (np.pi, np.pi), (0.0, np.pi)])
def test_equal_links_that_float_freely(turns, theory):
    links = (LINK, *(LINK.replace(joint_angle=angle) for angle in turns))
    arm = jm.Arm(links, base_stiffness=(0.0, 0.0, 0.0))
    found, parts = (jm.natural_frequencies(each, 8, theory=theory) for each in (arm, in_parts(arm)))
    assert found.ok
    np.testing.assert_array_equal(found.omega[:3], 0.0)
    np.testing.assert_allclose(found.omega, parts.omega, rtol=ROUNDING)
