"""Are areas, second moments and shear coefficients those of the shapes?"""

import math
from fractions import Fraction

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import jaxmodal as jm
from tests.support import saint_venant

ROUNDING = 1e-15
"""A few float64 operations without cancellation: 4 to 5 roundings of 1.1e-16 at most."""

GALERKIN = 1e-10
"""Spectral elements of degree 10 on smooth sections; measured 8e-12."""

THIN_WALL = 2e-3
"""A box formula for zero wall thickness against walls of 1/50 and 1/100, extrapolated linearly:
what is left is quadratic in the wall; measured 2e-3 at the worst ratio of the sides, 5e-4 at 2:1.
The formula with the roles of flange and web exchanged is off by a factor of 2.5 or more."""

NU = [-0.5, 0.0, 0.3, 0.5]
sizes = st.floats(1e-4, 10.0)


def error(value, truth):
    return abs(float(value) / float(truth) - 1.0)


def exact_tube(depth, width, wall):
    h, b, t = Fraction(depth), Fraction(width), Fraction(wall)
    return b * h - (b - 2 * t) * (h - 2 * t), (b * h**3 - (b - 2 * t) * (h - 2 * t) ** 3) / 12


@given(depth=sizes, width=sizes)
def test_rectangle(depth, width):
    section = jm.rectangle(depth, width)
    assert error(section.area_at(1.0), Fraction(depth) * Fraction(width)) < ROUNDING
    truth = Fraction(width) * Fraction(depth) ** 3 / 12
    assert error(section.second_moment_at(1.0), truth) < ROUNDING


@given(depth=sizes, width=sizes, share=st.floats(1e-9, 0.499))
def test_hollow_rectangle_keeps_its_digits_for_any_wall(depth, width, share):
    wall = share * min(depth, width)
    section = jm.hollow_rectangle(depth, width, wall)
    area, second_moment = exact_tube(depth, width, wall)
    # h - 2t loses up to the factor h/(h - 2t) = 500, but is then small beside what it adds to
    assert error(section.area_at(1.0), area) < ROUNDING
    assert error(section.second_moment_at(1.0), second_moment) < ROUNDING


def test_hollow_rectangle_of_the_industrial_arm():
    section = jm.hollow_rectangle(depth=0.15, width=0.20, wall_thickness=0.01)
    assert error(section.area_at(1.0), 66e-4) < ROUNDING
    assert error(section.second_moment_at(1.0), 2329.5e-8) < ROUNDING


@pytest.mark.parametrize("wall", [1e-7, 0.01, 0.1, 0.2499])
def test_round_sections_by_integration_over_the_height(wall):
    """A and I of a disc as integrals of the chord; the tube is a disc less a disc."""
    with mpmath.workdps(30):

        def disc(radius, power):
            # y = radius sin(phi): chord 2 radius cos(phi), smooth integrand
            return mpmath.quad(
                lambda phi: (
                    2 * radius ** (2 + power) * mpmath.sin(phi) ** power * mpmath.cos(phi) ** 2
                ),
                [-mpmath.pi / 2, 0, mpmath.pi / 2],
            )

        outer, inner = mpmath.mpf(0.25), mpmath.mpf(0.25) - mpmath.mpf(wall)
        area, second = (disc(outer, k) - disc(inner, k) for k in (0, 2))
        solid_area, solid_second = disc(outer, 0), disc(outer, 2)
    tube, solid = jm.hollow_circle(0.5, wall), jm.circle(0.5)
    assert error(tube.area_at(1.0), area) < ROUNDING
    assert error(tube.second_moment_at(1.0), second) < ROUNDING
    assert error(solid.area_at(1.0), solid_area) < ROUNDING
    assert error(solid.second_moment_at(1.0), solid_second) < ROUNDING


def test_thickness_factor_scales_a_rectangle_as_a_thicker_rectangle():
    thin, thick = jm.rectangle(0.01, 0.05), jm.rectangle(0.04, 0.05)
    assert thin.area_at(4.0) == thick.area_at(1.0)
    assert thin.second_moment_at(4.0) == thick.second_moment_at(1.0)


@given(area=st.floats(1e-300, 1e300), second_moment=st.floats(1e-300, 1e300))
def test_raw_section_is_taken_bit_for_bit(area, second_moment):
    section = jm.raw_section(area, second_moment)
    assert section.area_at(np.float64(1.0)) == area
    assert section.second_moment_at(np.float64(1.0)) == second_moment


def test_thickness_factor_of_a_raw_section():
    section = jm.raw_section(3.0, 5.0)
    assert section.area_at(2.0) == 6.0
    assert section.second_moment_at(2.0) == 40.0


@pytest.mark.parametrize("nu", NU)
@pytest.mark.parametrize(("depth", "width"), [(1.0, 2.0), (2.0, 1.0)])
def test_cowper_rectangle_from_saint_venant(depth, width, nu):
    truth = saint_venant.shear_coefficient([(0.0, depth / 2, 0.0, width / 2)], nu)
    value = jm.rectangle(depth, width, "cowper").shear_coefficient_value(nu)
    assert error(value, truth) < GALERKIN


@pytest.mark.parametrize("nu", NU)
@pytest.mark.parametrize("inner", [0.3, 0.6, 0.95])
def test_cowper_hollow_circle_from_saint_venant(inner, nu):
    quarter = [(inner, 1.0, 0.0, math.pi / 2)]
    truth = saint_venant.shear_coefficient(quarter, nu, saint_venant.polar, degree=14)
    value = jm.hollow_circle(2.0, 1.0 - inner, "cowper").shear_coefficient_value(nu)
    assert error(value, truth) < GALERKIN


@pytest.mark.parametrize("nu", [-0.5, 0.5])  # the formula's inverse has two terms in nu
@pytest.mark.parametrize(("depth", "width"), [(1.0, 1.0), (2.0, 1.0), (1.0, 2.0)])
def test_cowper_box_from_saint_venant(depth, width, nu):
    """Centre lines depth x width, the wall going to zero; the sides are not interchangeable."""
    thick, thin = (
        saint_venant.shear_coefficient(
            saint_venant.box_quarter(depth + wall, width + wall, wall), nu, degree=8
        )
        for wall in (0.02, 0.01)
    )
    wall = 1e-9
    section = jm.hollow_rectangle(depth + wall, width + wall, wall, "cowper")
    assert error(section.shear_coefficient_value(nu), 2 * thin - thick) < THIN_WALL


@pytest.mark.parametrize("nu", NU)
def test_cowper_limits(nu):
    """Known closed forms: circle, thin round tube, thin square tube; and degenerate shapes."""
    circle = jm.circle(1.0, "cowper").shear_coefficient_value(nu)
    assert error(circle, 6 * (1 + nu) / (7 + 6 * nu)) < ROUNDING
    almost_solid = jm.hollow_circle(1.0, 0.5 - 1e-9, "cowper").shear_coefficient_value(nu)
    assert error(almost_solid, circle) < 1e-15
    thin_tube = jm.hollow_circle(1.0, 1e-12, "cowper").shear_coefficient_value(nu)
    assert error(thin_tube, 2 * (1 + nu) / (4 + 3 * nu)) < 1e-11
    square_tube = jm.hollow_rectangle(1.0, 1.0, 1e-3, "cowper").shear_coefficient_value(nu)
    assert error(square_tube, 20 * (1 + nu) / (48 + 39 * nu)) < ROUNDING
    two_webs = jm.hollow_rectangle(1.0, 1e-6, 1e-9, "cowper").shear_coefficient_value(nu)
    rectangle = jm.rectangle(1.0, 1.0, "cowper").shear_coefficient_value(nu)
    assert error(two_webs, rectangle) < 1e-5


@pytest.mark.parametrize(
    ("section", "printed"),
    [
        (jm.circle(1.0, "cowper"), 0.886),
        (jm.rectangle(1.0, 1.0, "cowper"), 0.850),
        (jm.hollow_circle(1.0, 1e-6, "cowper"), 0.531),
        (jm.hollow_rectangle(1.0, 1.0, 1e-6, "cowper"), 0.436),
    ],
)
def test_cowper_values_as_commonly_tabulated_for_nu_0_3(section, printed):
    assert abs(float(section.shear_coefficient_value(0.3)) - printed) < 5e-4


def test_cowper_box_uses_centre_lines():
    """The industrial arm's tube: 14 cm by 19 cm between centre lines, not 15 by 20."""
    ratio, nu = Fraction(19, 14), Fraction(34, 100)
    m = n = ratio
    truth = (10 * (1 + nu) * (1 + 3 * m) ** 2) / (
        12 + 72 * m + 150 * m**2 + 90 * m**3
        + nu * (11 + 66 * m + 135 * m**2 + 90 * m**3)
        + 10 * n**2 * ((3 + nu) * m + 3 * m**2)
    )  # fmt: skip
    section = jm.hollow_rectangle(0.15, 0.20, 0.01, "cowper")
    assert error(section.shear_coefficient_value(0.34), truth) < ROUNDING * 2


def test_shear_coefficient_by_value_by_rule_and_none():
    assert jm.rectangle(1.0, 1.0).shear_coefficient_value(0.3) is None
    assert jm.rectangle(1.0, 1.0, 0.7).shear_coefficient_value(0.3) == 0.7
    assert jm.raw_section(1.0, 1.0, "5/6").shear_coefficient_value(None) == 5 / 6
    assert jm.circle(1.0, "5/6").shear_coefficient_value(0.3) == 5 / 6


def test_a_rule_is_structure_and_a_value_is_a_leaf():
    by_rule, by_value = jm.circle(1.0, "cowper"), jm.circle(1.0, 0.9)
    assert jax.tree.leaves(by_rule) == [1.0]
    assert jax.tree.leaves(by_value) == [1.0, 0.9]
    assert jax.tree.structure(by_rule) != jax.tree.structure(jm.circle(1.0, "5/6"))


@pytest.mark.parametrize(
    ("section", "field", "power"),
    [
        (jm.rectangle(0.02, 0.05), "depth", 3),
        (jm.rectangle(0.02, 0.05), "width", 1),
        (jm.circle(0.02), "diameter", 4),
        (jm.raw_section(1e-4, 1e-9), "second_moment", 1),
    ],
)
def test_derivatives_follow_the_power_law(section, field, power):
    """I ~ size^p: dI/dsize = p I / size, forward and reverse."""

    def second_moment(size):
        return section.replace(**{field: size}).second_moment_at(1.0)

    size = jnp.float64(getattr(section, field))
    truth = power * float(section.second_moment_at(1.0)) / float(size)
    both = jax.jit(lambda x: (jax.grad(second_moment)(x), jax.jacfwd(second_moment)(x)))(size)
    assert max(error(one, truth) for one in both) < ROUNDING


def test_vmap_over_a_dimension():
    walls = jnp.array([0.001, 0.002, 0.003])
    areas = jax.vmap(lambda wall: jm.hollow_rectangle(0.1, 0.05, wall).area_at(1.0))(walls)
    truth = [float(jm.hollow_rectangle(0.1, 0.05, w).area_at(1.0)) for w in walls.tolist()]
    assert np.allclose(areas, truth, rtol=ROUNDING, atol=0.0)


def test_a_rule_may_be_set_as_a_shear_coefficient():
    section = jm.rectangle(0.2, 0.1)
    assert section.replace(shear_coefficient="cowper") == jm.rectangle(0.2, 0.1, "cowper")
    for wrong in ("cowpre", 0.0):
        with pytest.raises(jm.ArmError, match=r"section\.shear_coefficient = .*greater than 0"):
            section.replace(shear_coefficient=wrong)
    with pytest.raises(jm.ArmError, match="the rule 'cowper' is given as well"):
        jm.rectangle(0.2, 0.1, "cowper").replace(shear_coefficient="5/6")
