"""Free, sliding and sprung bases, supports at tips: exact frequencies, counts and zeros? Against closed forms, finite
elements, and derivatives in 40 digits."""

import math
from functools import cache

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import jaxmodal as jm
from tests.support import finite_elements
from tests.support.many_arms import solved_together
from tests.support.problems import COUNT_DISTANCE, ORACLE
from tests.support.real_arms import STRUCTURES, random_arm, relative, steel
from tests.support.supported_arms import supported_two

BETA = 1e-13
"""Relative error of beta L: frequencies are right to the last digits."""

SHAPES = 1e-10
ORTHOGONAL = 1e-12
RAYLEIGH = 1e-12

INF = math.inf
FREE = {"joint_stiffness": 0.0, "joint_axial_stiffness": 0.0, "joint_shear_stiffness": 0.0}
PINNED = {"support_x_stiffness": INF, "support_y_stiffness": INF}
LOOSE = dict.fromkeys(
    ("support_x_stiffness", "support_y_stiffness", "support_torsional_stiffness"), 0.0
)
HELD = PINNED | {"support_torsional_stiffness": INF}
SPRING, TWIST = 10.0, 3.0


def _sin(b):
    return mpmath.sin(b)


def _free(b):
    return mpmath.cos(b) * mpmath.cosh(b) - 1


def _propped(b):
    return mpmath.sin(b) * mpmath.cosh(b) - mpmath.cos(b) * mpmath.sinh(b)


def _guided(b):
    return mpmath.sin(b) * mpmath.cosh(b) + mpmath.cos(b) * mpmath.sinh(b)


def _sprung(b):
    """Clamped, a spring across at the tip: R. D. Blevins, Formulas for Natural Frequency and Mode Shape, table 8-1."""
    c, s, ch, sh = mpmath.cos(b), mpmath.sin(b), mpmath.cosh(b), mpmath.sinh(b)
    return b**3 * (1 + c * ch) + SPRING * (s * ch - c * sh)


def _twisted(b):
    """Clamped, a torsional spring at the tip."""
    c, s, ch, sh = mpmath.cos(b), mpmath.sin(b), mpmath.cosh(b), mpmath.sinh(b)
    return b * (1 + c * ch) + TWIST * (s * ch + c * sh)


BEAMS = {
    "pinned-pinned": ({"joint_stiffness": 0.0} | PINNED, _sin, 0, (1, 1)),
    "clamped-pinned": ({"support_y_stiffness": INF}, _propped, 0, (1, 0)),
    "clamped-clamped": (HELD, _free, 0, (1, 1)),
    "clamped-sliding": ({"support_torsional_stiffness": INF}, _guided, 0, (1, 0)),
    "sliding-free": ({"joint_shear_stiffness": 0.0}, _guided, 1, (1, 0)),
    "sliding-pinned": ({"joint_shear_stiffness": 0.0, "support_y_stiffness": INF},
                       lambda b: mpmath.cos(b), 0, (1, 0)),
    "pinned-free": ({"joint_stiffness": 0.0}, _propped, 1, (1, 0)),
    "free-pinned": (FREE | PINNED, _propped, 1, (0, 1)),
    "free-free": (FREE, _free, 3, (0, 0)),
    "free-clamped": (FREE | HELD, lambda b: 1 + mpmath.cos(b) * mpmath.cosh(b), 0, (0, 1)),
    "spring across": ({"support_y_stiffness": SPRING}, _sprung, 0, (1, 0)),
    "torsional spring": ({"support_torsional_stiffness": TWIST}, _twisted, 0, (1, 0)),
}  # fmt: skip


def roots(equation, count):
    """The lowest positive roots, each between two signs on a fine grid."""
    with mpmath.workdps(40):
        found, step = [], mpmath.mpf("0.05")
        b, here = step, equation(step)
        while len(found) < count:
            there = equation(b + step)
            if here * there < 0:
                ends = (b, b + step)
                found.append(mpmath.findroot(equation, ends, solver="anderson", tol=1e-50))
            b, here = b + step, there
    return np.array([float(x) for x in found])


@pytest.mark.parametrize("name", BEAMS)
def test_beams_with_supports(name):
    """E = I = rho = L = 1, A = 100: bending at beta^2/10, and the rod, whose ends are held or not."""
    supports, equation, zeros, axial = BEAMS[name]
    arm = jm.Arm((jm.Link(1.0, 1.0, 1.0, jm.raw_section(100.0, 1.0), **supports),))
    bending = roots(equation, 6) ** 2 / 10
    k = np.arange(1, 20)
    rod = np.pi * (k if axial[0] == axial[1] else k - 0.5)
    truth = np.sort(np.concatenate([np.zeros(zeros), bending, rod[rod < bending[-1]]]))
    result = jm.natural_frequencies(arm, truth.size, theory="euler_bernoulli")
    assert np.all(np.asarray(result.certified))
    assert np.all(np.asarray(result.omega)[:zeros] == 0.0)
    assert np.max(relative(result.omega, truth)) <= 2.0 * BETA, name
    counts = np.asarray(
        jm.count_below(arm, np.array([1e-9, 0.5 * truth[zeros]]), theory="euler_bernoulli")
    )
    assert np.array_equal(counts, [zeros, zeros])


def supported_arm(seed, theory):
    """A random arm with any feature, any base and any supports; how the supports stand to the links is random, too."""
    rng = np.random.default_rng(seed)
    arm = random_arm(seed, str(rng.choice([*STRUCTURES])))
    links = []
    for number, link in enumerate(arm.links):
        changes = {}
        across = float(link.youngs_modulus * link.second_moment / link.length**3)
        if number == 0:
            for name in FREE:
                if rng.random() < 0.4:
                    changes[name] = 0.0
        elif number == 1 and rng.random() < 0.2:
            changes["joint_shear_stiffness"] = 0.0
        sizes = {"x": across, "y": across, "torsional": across * float(link.length) ** 2}
        for name, size in sizes.items():
            draw = rng.random()
            stiff = size * 10 ** rng.uniform(-2, 3)
            rigid = not link.rigid and (name == "torsional" or theory != "bending_only")
            changes[f"support_{name}_stiffness"] = (
                0.0 if draw < 0.6 else INF if draw < 0.75 and rigid else stiff
            )
        links.append(link.replace(**changes))
    return arm.replace(links=tuple(links))


MODES, DEGREE = 8, 30


def compare(seed, arm, theory, result, pivots):
    """Frequencies, zeros, and counts at up to 16 frequencies, that of the first on pivots of the elements, too."""
    assert np.all(np.asarray(result.certified)), (seed, np.asarray(result.status))
    case = finite_elements.case_from_arm(arm, theory)
    truth = finite_elements.frequencies(case, MODES + 2, DEGREE)
    error = relative(result.omega, truth[:MODES])
    assert np.max(error) <= ORACLE, (seed, error)
    draws = np.exp(
        np.random.default_rng(seed).uniform(np.log(truth[truth > 0][0] / 3), np.log(truth[-2]), 16)
    )
    clear = (
        np.min(np.abs(draws[:, None] / np.where(truth > 0, truth, 1e-300) - 1), axis=1)
        > COUNT_DISTANCE
    )
    omega = draws[clear]
    counts = np.asarray(jm.count_below(arm, omega, theory=theory))
    assert np.array_equal(counts, np.searchsorted(truth, omega)), seed
    if pivots:
        assert counts[0] == finite_elements.count_below(case, omega[0], DEGREE)


@settings(max_examples=4, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), theory=st.sampled_from(jm.THEORIES))
def test_random_supports_against_finite_elements(seed, theory):
    arm = supported_arm(seed, theory)
    result = jm.natural_frequencies(arm, MODES, theory=theory, throw=False)
    compare(seed, arm, theory, result, pivots=True)


@pytest.mark.slow
@pytest.mark.parametrize("theory", jm.THEORIES)
def test_hundreds_of_arms(theory):
    """150 arms in each theory: frequencies, zeros and counts; all in batches, every fifth by itself as well."""
    by_structure = {}
    for seed in range(150):
        arm = supported_arm(seed, theory)
        by_structure.setdefault(arm.name.split()[0], []).append((seed, arm))
    assert set(by_structure) == set(STRUCTURES)
    for several in by_structure.values():
        found = solved_together([arm for _, arm in several], MODES, theory)
        for (seed, arm), result in zip(several, found, strict=True):
            alone = seed % 5 == 0
            compare(seed, arm, theory, result, pivots=alone)
            if alone:
                by_itself = jm.natural_frequencies(arm, MODES, theory=theory)
                assert np.max(relative(by_itself.omega, result.omega)) <= ORACLE, seed


def test_free_bent_arms():
    """In space, bent at their joints: three zeros, the rest those of finite elements."""
    for angles in ([0.7, -1.2], [math.pi / 2, math.pi / 2], [0.0, 0.0]):
        arm = jm.examples.three_link_industrial().with_posture(angles)
        arm = arm.replace(links=(arm.links[0].replace(**FREE), *arm.links[1:]))
        truth = finite_elements.frequencies(finite_elements.case_from_arm(arm, "timoshenko"), 8, 30)
        result = jm.natural_frequencies(arm, 8)
        assert np.all(np.asarray(result.omega)[:3] == 0.0)
        assert np.all(truth[:3] == 0.0)
        assert np.max(relative(result.omega, truth)) <= ORACLE


ZEROS = [
    ({}, {}, 0),
    ({"joint_stiffness": 0.0}, {}, 1),
    (FREE, {}, 3),
    (FREE, {"support_x_stiffness": 1e5}, 2),
    (FREE, {"support_torsional_stiffness": 1e5}, 2),
    (FREE, PINNED, 1),
    (FREE, HELD, 0),
    ({"joint_stiffness": 0.0}, {"support_y_stiffness": 1e5}, 0),
    ({"joint_stiffness": 0.0}, {"support_x_stiffness": 1e5}, 1),  # points at the joint
    ({"joint_stiffness": 0.0}, {"support_x_stiffness": INF}, 1),
    ({"joint_axial_stiffness": 0.0}, {"support_y_stiffness": 1e5}, 1),
]


@cache
def in_one_line(angle):
    """The arms of `ZEROS` and their frequencies, solved side by side."""
    arms = [
        jm.Arm((steel(length=0.7, **base), steel(joint_angle=angle, **LOOSE | tip)))
        for base, tip, _ in ZEROS
    ]
    return list(zip(arms, solved_together(arms, 5), strict=True))


@pytest.mark.parametrize(("base", "tip", "zeros"), ZEROS)
@pytest.mark.parametrize("angle", [0.0, math.pi])
def test_zeros_by_rule(base, tip, zeros, angle):
    """Two links in one line, straight or folded back: what supports leave of what the base lets go."""
    arm, result = in_one_line(angle)[ZEROS.index((base, tip, zeros))]
    assert np.all(np.asarray(result.certified))
    assert int(np.sum(np.asarray(result.omega) == 0.0)) == zeros
    assert int(jm.count_below(arm, 1e-3 * result.omega[zeros])) == zeros


@pytest.mark.parametrize("crank", [INF, 0.0])
def test_four_bar_linkages(crank):
    """Three links from pin to pin: with a loose crank one motion is left, the mechanism's."""
    hinged = {"joint_stiffness": 0.0}
    links = (
        steel(length=0.2, joint_angle=1.2, joint_stiffness=crank),
        steel(length=0.6, joint_angle=-1.0, **hinged),
        steel(length=0.4, joint_angle=-1.5, **hinged, **PINNED),
    )
    arm = jm.Arm(links)
    truth = finite_elements.frequencies(finite_elements.case_from_arm(arm, "timoshenko"), 5, 30)
    result = jm.natural_frequencies(arm, 5)
    assert int(np.sum(np.asarray(result.omega) == 0.0)) == (1 if crank == 0.0 else 0)
    assert np.max(relative(result.omega, truth)) <= ORACLE
    shapes = jm.mode_shapes(arm, 3, stations=2)
    assert np.max(np.asarray(shapes.residuals)[1:]) <= SHAPES


def test_where_a_link_ends_does_not_matter():
    """A spring at a station of a link is one at the tip of a segment; a support at a joint is at the tip before."""
    spring = {"support_x_stiffness": 3e5, "support_y_stiffness": 2e6}
    whole = jm.Arm((steel(), steel(joint_angle=0.6, joint_stiffness=0.0)))
    cut = jm.Arm((steel(length=0.25), steel(length=0.25, segment=True), whole.links[1]))
    assert (
        np.max(
            relative(
                jm.natural_frequencies(cut, 5).omega,
                np.asarray(jm.natural_frequencies(whole, 5).omega),
            )
        )
        <= 1e-13
    )
    held = cut.replace(links=(cut.links[0].replace(**spring), *cut.links[1:]))
    truth = finite_elements.frequencies(finite_elements.case_from_arm(held, "timoshenko"), 5, 30)
    assert np.max(relative(jm.natural_frequencies(held, 5).omega, truth)) <= ORACLE


def test_turning_the_whole_arm_turns_the_supports():
    """Springs of one size hold alike from every side; of two sizes they do not, and a quarter turn exchanges them."""

    def lowest(angle, x, y):
        first = steel(joint_angle=angle)
        second = steel(joint_angle=0.4, support_x_stiffness=x, support_y_stiffness=y)
        return np.asarray(jm.natural_frequencies(jm.Arm((first, second)), 3).omega)

    assert np.max(np.abs(lowest(0.0, 1e6, 1e6) / lowest(1.1, 1e6, 1e6) - 1)) <= 1e-13
    assert np.max(np.abs(lowest(0.0, 1e6, 1e4) / lowest(math.pi / 2, 1e4, 1e6) - 1)) <= 1e-12
    assert np.max(np.abs(lowest(0.0, 1e6, 1e4) / lowest(1.1, 1e6, 1e4) - 1)) >= 1e-3


@pytest.mark.parametrize(
    "seed", [k if k < 4 else pytest.param(k, marks=pytest.mark.slow) for k in range(40)]
)
def test_mode_shapes(seed):
    theory = jm.THEORIES[seed % 4]
    shapes = jm.mode_shapes(supported_arm(seed, theory), 6, theory=theory, stations=2)
    free = int(np.sum(np.asarray(shapes.omega) == 0.0))
    assert np.max(np.asarray(shapes.residuals)[free:]) <= SHAPES
    gram = np.asarray(shapes.orthogonality)[free:, free:]
    assert np.max(np.abs(gram - np.eye(6 - free))) <= ORTHOGONAL
    quotient = np.asarray(shapes.rayleigh_quotient)[free:]
    assert np.max(np.abs(quotient / np.asarray(shapes.omega)[free:] ** 2 - 1)) <= RAYLEIGH


REFUSED = [
    ({"support_y_stiffness": -1.0}, ["support_y_stiffness = -1.0", "0 (no support) or more"]),
    ({"support_y_stiffness": INF, "rigid": True}, ["support_y_stiffness = inf", "rigid link"]),
    ({"joint_axial_stiffness": -1.0}, ["joint_axial_stiffness = -1.0", "0 (a free slide) or more"]),
]


@pytest.mark.parametrize(("values", "fragments"), REFUSED)
def test_refused_values(values, fragments):
    with pytest.raises(jm.ArmError) as error:
        steel(**values)
    assert all(fragment in str(error.value) for fragment in fragments)


def test_what_takes_no_supports_says_so():
    rigid = jm.Arm((steel(support_y_stiffness=INF),))
    with pytest.raises(jm.ArmError, match="support_y_stiffness = inf: links of the theory"):
        jm.natural_frequencies(rigid, 2, theory="bending_only")
    sprung = jm.Arm((steel(), steel(joint_angle=0.4, support_y_stiffness=1e5)))
    cells = {"link2.support_y_stiffness": np.array([1.0, INF])}
    with pytest.raises(jm.ArmError, match="support_y_stiffness = inf: links of the theory"):
        jm.natural_frequencies_batch(sprung, cells, 2, theory="bending_only")
    with pytest.raises(jm.ArmError, match="characteristic matrix"):
        jm.characteristic_matrix(rigid, 10.0)
    assert jm.to_spatial(sprung).links[1].supports
    damped = jm.Arm((steel(loss_factor=0.01),))
    assert jm.to_spatial(damped).links[0].loss_factor == 0.01


def test_static_compliance():
    """A propped cantilever under a force in its middle: 7 F L^3/(768 E I); on a spring by superposition."""
    beam = jm.Link(1.0, 1.0, 1.0, jm.raw_section(1.0, 1.0), support_y_stiffness=INF)
    found = jm.static_compliance(
        jm.Arm((beam,)), "link_1@0.5.across", "link_1@0.5.across", theory="rayleigh"
    ).values
    assert abs(float(found[0, 0]) * 768 / 7 - 1) <= 1e-13
    sprung = jm.Arm((beam.replace(support_y_stiffness=SPRING),))
    found = jm.static_compliance(sprung, "tip.across", "tip.across", theory="rayleigh").values
    assert abs(float(found[0, 0]) * (3.0 + SPRING) - 1) <= 1e-13


def test_modes_add_up_to_the_static_compliance():
    arm = supported_two(support_x_stiffness=2e5, support_y_stiffness=INF)
    names = ["tip.x", "link_1@0.5.across"]
    static = jm.static_compliance(arm, names, names).values
    shapes = jm.mode_shapes(arm, 40, stations=[0.5, 1.0])
    x, y = (np.asarray(shapes.displacement)[:, -1, -1, k] for k in range(2))
    read = np.stack([x, np.asarray(shapes.v)[:, 0, 0]], axis=1)
    summed = np.einsum("ka,kb,k->ab", read, read, 1.0 / np.asarray(shapes.omega) ** 2)
    assert np.max(np.abs(y)) <= 1e-12 * np.max(np.abs(x))
    assert np.max(np.abs(summed - static)) <= 1e-3 * np.max(np.abs(static))
    assert np.all(np.diag(summed) < np.diag(static))
