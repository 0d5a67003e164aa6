"""Are the written terms those of the reference cases, of the explicit two-link model and of `jaxmodal.dynamics`?"""

import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.dynamics import flexible_arm
from jaxmodal.symbolic import QUANTITIES, function, operation_counts, written_equations
from tests.support.dynamics_cases import (
    CASES,
    VARIANTS,
    model_of,
    state_of,
    uniform_link,
    vector_of,
)
from tests.support.explicit_two_links import inertia, mended, printed_coefficients, velocity_forces
from tests.support.symbolic_arms import (
    PAPER,
    POSED,
    USUAL,
    arm_with_everything,
    chain,
    own_terms,
    states,
    worst,
)

DIGITS = 1e-11
"""The reference file gives 12 significant digits of each number."""
ROUNDING = 1e-13
"""Both sides add up some hundred products: differences are some units of the last place of the largest."""
EVERYTHING = list(QUANTITIES)
COMPARED = ["B", "h", "g", "c", "tau"]

NAMED = [
    (name, variant)
    for name in CASES
    for variant in VARIANTS
    if not (name == "P4" and variant != "full_rotation")  # rigid links: its variants are one
]


@pytest.mark.parametrize("integrals", ["symbolic", "numeric"])
@pytest.mark.parametrize(("name", "variant"), NAMED)
def test_reference_cases(name, variant, integrals):
    model = model_of(name).posed(*VARIANTS[variant])
    compute = function(written_equations(model, ["B", "h", "g", "tau"], integrals=integrals))
    for entry in CASES[name]["evaluations"]:
        q, rate = state_of(entry)
        acceleration = vector_of(
            entry, "joint_accelerations_rad_per_s2", "modal_tip_deflection_accelerations_m_per_s2"
        )
        found, expected = compute(q, rate, acceleration), entry[variant]
        size = np.abs(found["B"]).max()
        pairs = [
            (found["h"], expected["bias_vector"], size * np.sum(rate**2)),
            (found["g"], expected["gravity_vector"], None),
            (found["tau"], expected["inverse_dynamics_generalised_forces"], None),
        ]
        if "inertia_matrix" in expected:
            pairs.append((found["B"], expected["inertia_matrix"], size))
        else:
            product = expected["inertia_matrix_times_accelerations"]
            pairs.append((found["B"] @ acceleration, product, None))
        for value, known, scale in pairs:
            scale = np.abs(known).max() if scale is None else scale
            assert np.abs(value - np.asarray(known)).max() <= DIGITS * scale


@pytest.mark.parametrize("draw", range(3))
def test_two_links_are_the_explicit_closed_form_model(draw):
    rng = np.random.default_rng(20 + draw)
    l1, l2, rho1, rho2, hub, payload = rng.uniform(0.3, 0.9, 6)
    links = (
        uniform_link(l1, 1.3, rho1, hub_inertia=0.11),
        uniform_link(l2, 0.7, rho2, hub_mass=hub, hub_inertia=0.13, joint_angle=1.0),
    )
    arm = jm.Arm(links, jm.Payload(payload, 0.02))
    model = flexible_arm(arm, 2, inertia_order="first", frames="linear", foreshortening=False)
    gram, ends = np.asarray(model.gram), payload * model.tip[1]
    parameters = {
        "l1": l1, "l2": l2, "d2": 0.5 * l2, "m1": rho1 * l1, "m2": rho2 * l2, "mp": payload,
        "mh2": hub, "Jh1": 0.11, "Jh2": 0.13, "Jp": 0.02,
        "Jo1": rho1 * l1**3 / 3.0, "Jo2": rho2 * l2**3 / 3.0,
        "phi1e": model.tip[0], "dphi1e": model.tip_slope[0],
        "phi2e": model.tip[1], "dphi2e": model.tip_slope[1],
        "w1": gram[0, 1, 2:4], "v2": gram[1, 0, 2:4] - ends, "w2": gram[1, 1, 2:4] - l2 * ends,
    }  # fmt: skip
    right = mended(printed_coefficients(parameters))
    compute = function(written_equations(model, ["B", "h"]))
    for _ in range(20):
        q = np.concatenate([rng.uniform(-3, 3, 2), rng.uniform(-0.2, 0.2, 4)])
        rate = rng.uniform(-1, 1, 6)
        found, matrix = compute(q, rate), inertia(right, q)
        size = np.abs(matrix).max()
        # the printed model takes shapes as orthonormal, which they are to 1e-12
        np.testing.assert_allclose(found["B"], matrix, rtol=0, atol=1e-12 * size)
        scale = 1e-12 * size * np.sum(rate**2)
        np.testing.assert_allclose(found["h"], velocity_forces(right, q, rate), rtol=0, atol=scale)


@pytest.mark.parametrize(
    ("model", "integrals"),
    [
        pytest.param(lambda: chain(1), "symbolic", marks=pytest.mark.slow),
        pytest.param(lambda: chain(3), "numeric", marks=pytest.mark.slow),
        (arm_with_everything, "symbolic"),
        (lambda: arm_with_everything("beyond_spring"), "symbolic"),
    ],
    ids=["one link", "three links", "everything", "a rotor beyond its spring"],
)
def test_terms_of_the_dynamics(model, integrals):
    model = model()
    check_terms(model, integrals, 50)


@pytest.mark.slow
@pytest.mark.parametrize("posed", POSED, ids=str)
def test_every_way_to_pose_them(posed):
    check_terms(arm_with_everything().posed(*posed), "symbolic", 200)


def check_terms(model, integrals, count):
    """Everything against the dynamics at random states, and what must hold whatever the numbers."""
    q, rate, acceleration = states(model, count)
    terms = {k: np.asarray(v) for k, v in own_terms(model, q, rate, acceleration).items()}
    found = function(written_equations(model, EVERYTHING, integrals=integrals))(
        q, rate, acceleration
    )
    for name, value in worst(found, terms, model, rate).items():
        assert value < ROUNDING, name
    for name, own in (("K", model.stiffness), ("D", model.damping)):
        np.testing.assert_allclose(found[name][0], own, rtol=0, atol=1e-15 * np.abs(own).max())
    inputs = np.zeros((model.num_coordinates, model.num_links))
    inputs[model.layout.driven, np.arange(model.num_links)] = 1.0
    np.testing.assert_array_equal(found["Q"], np.broadcast_to(inputs, found["Q"].shape))
    # C q' is h, and B' - 2 C is skew: B' by central differences along the motion, their error of order step^2
    size = np.abs(terms["B"]).max(axis=(1, 2))[:, None] * np.sum(rate**2, axis=1)[:, None]
    assert np.all(np.abs(np.einsum("sij,sj->si", found["C"], rate) - terms["h"]) < ROUNDING * size)
    compute = function(written_equations(model, ["B"]))
    step = 1e-5
    change = compute(q + step * rate, rate)["B"] - compute(q - step * rate, rate)["B"]
    rest = change / (2.0 * step) - 2.0 * found["C"]
    assert np.abs(rest + np.swapaxes(rest, 1, 2)).max() < 1e-7 * np.abs(terms["B"]).max()
    assert np.abs(rest).max() > 1e-3 * np.abs(terms["B"]).max()  # skew, not zero


def test_any_quantities_alone_are_those_of_all_together():
    model = chain(2)
    q, rate, acceleration = states(model, 4)
    together = function(written_equations(model, EVERYTHING))(q, rate, acceleration)
    for name in QUANTITIES:
        arguments = (q, rate, acceleration) if name == "tau" else (q, rate)
        alone = function(written_equations(model, [name]))(*arguments)
        assert list(alone) == [name]
        np.testing.assert_allclose(alone[name], together[name], rtol=1e-12, atol=1e-12)


def test_what_an_arm_has_not_leaves_no_symbol():
    plain = flexible_arm(jm.Arm((uniform_link(0.5, 1.0, 0.6),) * 2), 1, foreshortening=False)
    written = written_equations(plain, EVERYTHING)
    names = set(written.symbols)
    assert not {name for name in names if name.startswith(("J_", "N_", "g_", "f_", "Gamma"))}
    assert {"l_1", "m_2", "md_2", "v_2_1", "w_1_1", "phi_1_1", "dphi_1_1"} <= names
    assert all(entry.is_zero for entry in written.quantities["g"])
    numeric = written_equations(plain, EVERYTHING, integrals="numeric")
    assert not [s for s in numeric.symbols.values() if s.kind == "constant"]


@pytest.mark.parametrize("posed", [USUAL, PAPER, ("full", "rotation", False)], ids=str)
def test_operations_grow_with_the_square_of_the_links(posed):
    """Twice the links, at most four times the operations, and a little for what comes once."""
    counts = {n: operation_counts(written_equations(chain(n, 2, posed))).total for n in (2, 4, 8)}
    assert counts[8] < 4.6 * counts[4] < 4.6**2 * 1.25 * counts[2]


def test_forces_grow_with_the_links():
    counts = [operation_counts(written_equations(chain(n), ["h", "g"])).total for n in (2, 4, 8)]
    assert counts[2] - counts[1] < 2.1 * (counts[1] - counts[0])
