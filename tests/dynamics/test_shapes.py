"""Are the assumed shapes those of the printed example, of closed forms, and what they claim to be?"""

import json
from pathlib import Path

import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.dynamics import EndBody, end_bodies, flexible_arm, link_shapes
from jaxmodal.dynamics.frequency_equation import end_conditions, wave_numbers
from jaxmodal.dynamics.shapes import (
    clamped_mass_shapes,
    monomial_shapes,
    polynomial_shapes,
    sampled_shapes,
    shapes_of_functions,
)
from tests.support.dynamics_cases import CASES, model_of, uniform_link

DELUCA = json.loads((Path(__file__).parent.parent / "data" / "deluca.json").read_text())


def example_arm(angle=np.pi / 2):
    """Section VII of De Luca and Siciliano, nominal payload."""
    links = (
        uniform_link(0.5, 1.0, 0.2, hub_inertia=0.1),
        uniform_link(0.5, 1.0, 0.2, hub_mass=1.0, hub_inertia=0.1, joint_angle=angle),
    )
    return jm.Arm(links, jm.Payload(0.1, 0.0005))


def example_numbers():
    """The quantities of section VII by the paper's names, computed."""
    arm = example_arm()
    model = flexible_arm(arm, 2)
    found = {}
    for i, body in enumerate(end_bodies(arm), start=1):
        waves = wave_numbers(
            body.mass / 0.1, body.inertia / (0.1 * 0.25), body.first_moment / 0.05, 2
        )
        for j in (1, 2):
            found[f"f{i}{j}"] = (waves[j - 1] / 0.5) ** 2 * np.sqrt(1.0 / 0.2) / (2.0 * np.pi)
            found[f"phi{i}{j}e"] = model.tip[i - 1, j - 1]
            found[f"dphi{i}{j}e"] = model.tip_slope[i - 1, j - 1]
            bare = model.gram[i - 1]
            ends = (
                0.1 * model.tip[1] if i == 2 else np.zeros(2)
            )  # the payload is in link 2's matrix
            found[f"v{i}{j}"] = bare[0, 1 + j] - ends[j - 1]
            found[f"w{i}{j}"] = bare[1, 1 + j] - 0.5 * ends[j - 1]
    return found


def test_the_printed_numbers_of_the_two_link_example():
    found = example_numbers()
    agreeing = [
        name
        for name, text in DELUCA["printed"].items()
        if f"{found[name]:.{len(text.partition('.')[2])}f}" == text
    ]
    assert sorted(agreeing) == sorted(DELUCA["printed"])
    assert len(agreeing) == 20


def test_the_same_numbers_to_twelve_digits():
    for name, value in example_numbers().items():
        np.testing.assert_allclose(value, float(DELUCA["values"][name]), rtol=2e-12)


def test_what_link_one_carries_is_equation_28():
    first, second = end_bodies(example_arm(angle=0.7), first_moments=True)
    inertia = 0.1 * 0.25 / 3.0 + 0.1 + 0.0005 + 0.1 * 0.25
    np.testing.assert_allclose([first.mass, first.inertia], [1.2, inertia], rtol=1e-14)
    np.testing.assert_allclose(
        first.first_moment, (0.1 * 0.25 + 0.1 * 0.5) * np.cos(0.7), rtol=1e-14
    )
    assert (second.mass, second.inertia, second.first_moment) == (0.1, 0.0005, 0.0)


def test_modal_stiffness_is_the_square_of_the_frequency_times_the_mass():
    """Eq (24g) with second derivatives: K = omega^2 m, off-diagonal entries 0; eq (31)."""
    model, numbers = flexible_arm(example_arm(), 2), example_numbers()
    expected = [0.1 * (2.0 * np.pi * numbers[f"f{i}{j}"]) ** 2 for i in (1, 2) for j in (1, 2)]
    np.testing.assert_allclose(model.stiffness[2:, 2:], np.diag(expected), rtol=1e-11, atol=1e-9)


def test_clamped_free_wave_numbers():
    """Roots of 1 + cos cosh = 0 to ten digits, in any table of beams."""
    known = [1.8751040687, 4.6940911330, 7.8547574382, 10.9955407349]
    np.testing.assert_allclose(wave_numbers(0.0, 0.0, 0.0, 4), known, rtol=1e-10)


@pytest.mark.parametrize(
    "body", [(0.0, 0.0, 0.0), (12.0, 5.0, 0.0), (12.0, 5.0, 7.0), (0.3, 1e-3, 0.01)]
)
def test_every_wave_number_is_a_root_and_none_is_missing(body):
    """The frequency equation with a fine scan: as many changes of sign as roots, where they are."""
    waves = wave_numbers(*body, 6)
    scan = np.linspace(0.05, 0.5 * (waves[-1] + waves[-2]), 20001)
    signs = np.sign(np.linalg.det(end_conditions(scan, *body)))
    crossings = scan[:-1][np.diff(signs) != 0]
    np.testing.assert_allclose(crossings, waves[:-1], rtol=0.0, atol=scan[1] - scan[0])


def test_equation_22_where_no_first_moment_couples():
    mass, inertia = 1.7, 0.3
    z = wave_numbers(mass, inertia, 0.0, 5)
    sin, cos, sinh, cosh = np.sin(z), np.cos(z), np.sinh(z), np.cosh(z)
    terms = [
        1.0 + cos * cosh,
        -mass * z * (sin * cosh - cos * sinh),
        -inertia * z**3 * (sin * cosh + cos * sinh),
        mass * inertia * z**4 * (1.0 - cos * cosh),
    ]
    assert np.all(np.abs(np.sum(terms, axis=0)) < 1e-12 * np.abs(terms).max(axis=0))


def test_shapes_are_orthogonal_with_what_they_carry():
    """Twenty shapes, the first moment kept: products under link and body are the link's mass or 0."""
    body = EndBody(0.5, 0.08, 0.15)
    shapes = clamped_mass_shapes(20, body, 0.4, 1.3)
    nodes, weights = np.polynomial.legendre.leggauss(120)
    phi, _, _ = shapes.evaluate(0.5 * (nodes + 1.0))
    tip, slope, _ = (row[0] for row in shapes.evaluate(np.ones(1)))
    slope = slope / 1.3
    products = 0.4 * (phi.T * (0.5 * weights)) @ phi + 0.5 * np.outer(tip, tip)
    products += 0.08 * np.outer(slope, slope) + 0.15 * (np.outer(tip, slope) + np.outer(slope, tip))
    np.testing.assert_allclose(products / 0.4, np.eye(20), rtol=0.0, atol=1e-10)


@pytest.mark.parametrize("make", [polynomial_shapes, monomial_shapes])
def test_derivatives_of_polynomial_shapes(make):
    shapes = make(5)
    step = 1e-5
    low, middle, high = (shapes.evaluate(np.array([0.3, 0.8]) + h) for h in (-step, 0.0, step))
    for order in (1, 2):
        difference = (high[order - 1] - low[order - 1]) / (2.0 * step)
        np.testing.assert_allclose(middle[order], difference, rtol=1e-6, atol=1e-7)


def test_samples_and_functions_give_the_same_model():
    functions = [
        (lambda x: x**2, lambda x: 2.0 * x, lambda x: 2.0 + 0.0 * x),
        (lambda x: 1.0 - np.cos(x), np.sin, np.cos),
    ]
    stations = 0.5 - 0.5 * np.cos(np.linspace(0.0, np.pi, 30))
    samples = np.stack([f[0](stations) for f in functions], axis=-1)
    arm = example_arm()
    by_function, by_sample = (
        flexible_arm(arm, shapes=(shapes, shapes))
        for shapes in (shapes_of_functions(functions), sampled_shapes(stations, samples))
    )
    np.testing.assert_allclose(by_sample.gram, by_function.gram, rtol=0.0, atol=1e-10)
    np.testing.assert_allclose(by_sample.stiffness, by_function.stiffness, rtol=1e-6, atol=1e-6)


def test_a_segment_changes_nothing():
    """A link cut in two without a body is the same link: same shapes, same integrals."""
    whole = example_arm()
    cut = jm.attach_body(whole, 2, 0.2, 0.0)
    shapes = link_shapes(whole, 2)
    one, two = flexible_arm(whole, shapes=shapes), flexible_arm(cut, shapes=shapes)
    for name in ("gram", "stiffness", "shortening", "tip_slope"):
        np.testing.assert_allclose(getattr(two, name), getattr(one, name), rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ((-1.0, 0.0, 0.0), "mass = -1.0: must be finite and 0 or more"),
        ((1.0, np.nan, 0.0), "inertia = nan"),
        (("heavy", 1.0, 0.0), "mass = 'heavy': must be finite"),
        ((1.0, [1.0], 0.0), r"inertia = \[1.0\]: must be finite"),
        ((1.0, 1.0, None), "first_moment = None: must be finite"),
        ((1.0, 1.0, 1e300), "square must be at most mass times inertia"),
        ((1.0, 0.1, 1.0), "square must be at most mass times inertia"),
    ],
)
def test_bodies_that_no_body_is(body, words):
    with pytest.raises(jm.ArmError, match=words):
        EndBody(*body)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda arm: flexible_arm(arm, 2, shapes="clamped"), "Did you mean 'clamped_"),
        (lambda arm: flexible_arm(arm, (2, 2, 2)), "must be one number, or 2"),
        (lambda arm: flexible_arm(arm, True), "whole numbers from 0"),
        (lambda arm: flexible_arm(arm, 2, frames="linar"), "Did you mean 'linear'"),
        (lambda arm: flexible_arm(arm, 2, inertia_order="second"), "'full', 'first'"),
        (lambda arm: flexible_arm(arm, 2, foreshortening=1), "must be True or False"),
        (lambda arm: flexible_arm(arm, 2, coordinates="tip"), "must be one of 'as_given'"),
        (lambda arm: flexible_arm(arm, 2, gravity=9.81), "two numbers in m/s"),
        (lambda arm: flexible_arm(arm, 2, gravity=(0.0, np.nan)), "must be finite"),
        (lambda arm: flexible_arm(arm, 2, damping_ratio=-0.1), "damping_ratio = -0.1"),
        (lambda arm: flexible_arm(arm, 2, viscous_friction=(1.0,)), "must be one, or 2"),
        (lambda arm: flexible_arm(arm, 2, coulomb_width=0.0), "coulomb_width = 0.0"),
        (lambda arm: link_shapes(arm, 2, "polynomial", [EndBody()] * 2), "only clamped-mass"),
    ],
)
def test_choices_that_are_none(call, words):
    with pytest.raises(jm.ArmError, match=words):
        call(example_arm())


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"end_offset_x": 0.1},
            r"link2.end_offset_x = 0.1: .*give jm.to_spatial\(arm\), whose dynamics take it",
        ),
        ({"joint_shear_stiffness": 1e6}, "link2.joint_shear_stiffness"),
        ({"joint_axial_stiffness": 0.0}, "link2.joint_axial_stiffness = 0.0"),
        ({"support_y_stiffness": np.inf}, "link2.support_y_stiffness = inf"),
        ({"joint_stiffness": 0.0}, "every joint turns"),
        ({"joint_stiffness": 1e3}, "rotor_inertia is missing"),
    ],
)
def test_arms_with_what_these_dynamics_do_not_know(changes, words):
    arm = example_arm()
    arm = arm.replace(links=(arm.links[0], arm.links[1].replace(**changes)))
    with pytest.raises(jm.ArmError, match=words):
        flexible_arm(arm)


@pytest.mark.parametrize(
    ("stations", "values", "words"),
    [
        (np.linspace(0, 1, 9), np.linspace(0, 1, 9)[:, None], "miss them by"),
        (np.linspace(0, 2, 9), np.zeros((9, 1)), "from 0 to 1"),
        (np.linspace(0, 1, 9), np.zeros(9), r"must be \(s, m\)"),
    ],
)
def test_samples_that_are_no_shape(stations, values, words):
    with pytest.raises(jm.ArmError, match=words):
        sampled_shapes(stations, values)


def test_functions_whose_derivatives_are_others():
    with pytest.raises(jm.ArmError, match="slope of shape 1"):
        shapes_of_functions([(lambda x: x**2, lambda x: x, lambda x: 1.0 + 0.0 * x)])
    with pytest.raises(jm.ArmError, match="clamped at the base"):
        shapes_of_functions([(lambda x: x, lambda x: 1.0 + 0.0 * x, lambda x: 0.0 * x + 1e-9 * x)])


def test_a_model_of_a_case_has_its_constants():
    for name in ("P1", "P3", "P5", "P6", "P7", "P8"):
        model, case = model_of(name), CASES[name]
        for i, entry in enumerate(case["shape_constants"]):
            slopes = entry["end_slope_per_tip_deflection_per_m"]
            np.testing.assert_allclose(model.tip_slope[i], slopes, rtol=5.1e-12)  # half of digit 12
