"""An elastic base: closed forms, finite elements, forty digits, and the rigid link on springs that stands for one."""

import itertools
import math

import mpmath
import numpy as np
import pytest

import jaxmodal as jm
from tests.support import exact_derivatives, finite_elements
from tests.support.elastic_bases import FULL, TWO, on_base, on_rigid_link
from tests.support.many_arms import solved_together
from tests.support.problems import ORACLE
from tests.support.real_arms import relative, steel
from tests.support.supported_arms import TIPS, held_arm


def test_a_rigid_body():
    """Mass and inertia on the matrix, in 40 digits."""
    angle, length, mass, inertia = 0.3, 0.7, 3.0, 0.05
    bar = steel(rigid=True, length=length, joint_angle=angle, tip_mass=mass, tip_inertia=inertia)
    found = jm.natural_frequencies(on_base(links=(bar,)), 3, theory="rayleigh")
    with mpmath.workdps(40):
        mpf, line = mpmath.mpf, mpmath.mpf(7800.0) * mpmath.mpf(float(bar.area))
        c, s, reach = mpmath.cos(mpf(angle)), mpmath.sin(mpf(angle)), mpf(length)
        rod = line * reach
        first = rod * reach / 2 + mpf(mass) * reach
        second = rod * reach**2 / 3 + mpf(7800.0) * mpf(float(bar.second_moment)) * reach
        second += mpf(mass) * reach**2 + mpf(inertia)
        total = rod + mpf(mass)
        mass_matrix = mpmath.matrix(
            [[total, 0, -s * first], [0, total, c * first], [-s * first, c * first, second]]
        )
        root = mpmath.cholesky(mass_matrix) ** -1
        values = mpmath.eigsy(root * mpmath.matrix(FULL) * root.T, eigvals_only=True)
        truth = np.array([float(mpmath.sqrt(x)) for x in values])
    assert bool(found.certified.all())
    assert np.max(relative(found.omega, truth)) <= 4e-16


def random_base(rng):
    """A matrix of any posture and size; each direction free or rigid now and then."""
    size = 10 ** rng.uniform([3, 3, 2], [8, 8, 6])
    turned = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    matrix = (turned * 10 ** rng.uniform(-2, 0, 3)) @ turned.T
    matrix = matrix * np.sqrt(size[:, None] * size)
    for k in range(3):
        if rng.random() < 0.25:
            matrix[k] = matrix[:, k] = 0.0
            matrix[k, k] = rng.choice([0.0, math.inf])
    return (matrix + matrix.T) / 2


def random_arm(seed):
    rng = np.random.default_rng(seed)
    base = random_base(rng)
    loose = base[2, 2] > 0.0 and rng.random() < 0.3
    first = steel(
        joint_angle=rng.uniform(-2, 2), joint_stiffness=0.0 if loose else 10 ** rng.uniform(3, 7),
        joint_axial_stiffness=10 ** rng.uniform(5, 9), hub_mass=0.5, hub_inertia=1e-3,
        base_offset_x=0.02, base_offset_y=-0.03,
    )  # fmt: skip
    support = {"support_x_stiffness": rng.choice([0.0, 1e5])}
    second = steel(
        joint_angle=rng.uniform(-2, 2), joint_stiffness=rng.choice([0.0, 1e4]), **support
    )
    return jm.Arm((first, second), jm.Payload(0.4, 1e-3), base_stiffness=base)


@pytest.mark.parametrize("theory", finite_elements.THEORIES)
def test_random_arms_against_finite_elements(theory):
    """Frequencies, the zeros among them, and counts between them: of arms side by side, and of three by themselves."""
    arms = [random_arm(seed) for seed in range(12)]
    for seed, (arm, found) in enumerate(zip(arms, solved_together(arms, 6, theory), strict=True)):
        case = finite_elements.case_from_arm(arm, theory)
        truth = finite_elements.frequencies(case, 6, 24)
        if seed % 4 == 0:
            alone = jm.natural_frequencies(arm, 6, theory=theory)
            assert np.max(relative(alone.omega, truth)) <= ORACLE, seed
        zeros = int(np.sum(truth == 0.0))
        assert np.sum(found.omega == 0.0) == zeros, seed
        assert bool(found.certified.all()), seed
        assert np.max(relative(found.omega, truth)) <= ORACLE, seed
        between = float(np.sqrt(truth[4] * truth[5]))
        counted = int(jm.count_below(arm, between, theory=theory))
        assert counted == finite_elements.count_below(case, between, 24), seed


@pytest.mark.parametrize(
    "theory", ["timoshenko", pytest.param("euler_bernoulli", marks=pytest.mark.slow)]
)
def test_derivatives_against_forty_digits(theory):
    """By every entry of the matrix, by the angle that turns the arm against it, and all else."""
    first = steel(
        joint_angle=0.4, joint_stiffness=1e5, joint_axial_stiffness=4e7, joint_shear_stiffness=1e6
    )
    arm = on_base(links=(first, TWO[1]), payload=jm.Payload(0.2, 1e-4))
    exact_derivatives.assert_sensitivities(arm, ["rectangle"] * 2, theory, (0, 1, 4), ORACLE, 1e-10)


def test_the_ground_stays_where_it_is():
    """Turned with the base the arm has the same frequencies, turned against it others; rigid is clamped."""
    turn = 1.1
    c, s = math.cos(turn), math.sin(turn)
    rotation = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    turned = rotation @ np.array(FULL) @ rotation.T
    arm = on_base()
    here = jm.natural_frequencies(arm, 4).omega
    moved = arm.with_posture([0.4 + turn, 0.7])
    both = moved.replace(base_stiffness=(turned + turned.T) / 2)
    assert np.max(relative(jm.natural_frequencies(both, 4).omega, here)) <= 1e-15
    assert np.max(relative(jm.natural_frequencies(moved, 4).omega, here)) > 1e-3
    clamped = jm.natural_frequencies(arm.replace(base_stiffness=None), 4).omega
    rigid = jm.natural_frequencies(arm.replace(base_stiffness=[math.inf] * 3), 4).omega
    assert np.array_equal(rigid, clamped)
    series = arm.replace(links=(TWO[0].replace(joint_stiffness=math.inf), TWO[1]))
    give = 1e5 * 3e4 / (1e5 + 3e4)
    on_joint = series.links[0].replace(joint_stiffness=give)
    one = jm.natural_frequencies(arm.replace(base_stiffness=[math.inf, math.inf, 3e4]), 4).omega
    other = jm.natural_frequencies(jm.Arm((on_joint, TWO[1])), 4).omega
    assert np.max(relative(one, other)) <= 4e-16


def test_mode_shapes():
    """Every condition holds, energies balance; the base has its share among the springs."""
    shapes = jm.mode_shapes(on_base(), 5)
    assert np.max(shapes.residuals) <= 1e-12
    assert np.max(np.abs(shapes.rayleigh_quotient / np.asarray(shapes.omega) ** 2 - 1)) <= 1e-12
    old = jm.mode_shapes(on_rigid_link(on_base()), 5)
    joint = np.asarray(shapes.energies.joint)
    both = np.asarray(old.energies.joint)
    assert np.max(np.abs(joint[:, 0] / (both[:, 0] + both[:, 1]) - 1)) <= 1e-10
    loose = jm.mode_shapes(on_base([0.0, math.inf, 3e4]), 4)
    assert np.all(np.isnan(loose.residuals[0]))  # of frequency zero
    assert np.max(loose.residuals[1:]) <= 1e-12


def test_batches():
    """Cells with free, sprung and rigid directions against single arms; traced values are those of supports, too."""
    arm = on_base([2e6, 1e6, 4e4])
    rng = np.random.default_rng(5)
    cells = {
        "base_stiffness.k11": 10 ** rng.uniform(4, 8, 20), "base_stiffness.k33": 10 ** rng.uniform(3, 6, 20),
        "base_stiffness.k12": np.zeros(20), "base_stiffness.k13": np.zeros(20),
        "link1.joint_angle": rng.uniform(-2, 2, 20),
    }  # fmt: skip
    cells["base_stiffness.k11"][:2] = 0.0, math.inf
    cells["base_stiffness.k33"][2] = 0.0
    cells["base_stiffness.k12"][3] = 1e9
    cells["base_stiffness.k13"][4:] = (
        0.5 * np.sqrt(cells["base_stiffness.k11"] * cells["base_stiffness.k33"])[4:]
    )
    batch = jm.natural_frequencies_batch(arm, cells, 5)
    assert np.all(np.asarray(batch.status)[3] == int(jm.Status.invalid_input))
    good = np.delete(np.arange(20), 3)
    assert bool(batch.certified[good].all())
    assert np.all(np.isnan(batch.omega[3]))
    for cell in (0, 1, 2, 4, 11):
        one = jm.natural_frequencies(
            jm.set_parameters(arm, {a: float(v[cell]) for a, v in cells.items()}), 5
        )
        assert np.max(relative(batch.omega[cell], np.asarray(one.omega))) <= ORACLE
        assert np.array_equal(batch.count_below[cell], one.count_below)


def test_forces_at_rest_against_finite_elements():
    """Dead loads on the base: the forces do not depend on it, the stiffness does."""
    arm = on_base(links=(steel(joint_angle=1.3), steel(joint_angle=0.4, tip_mass=40.0)))
    arm = arm.replace(links=tuple(x.replace(axial_force=-2000.0) for x in arm.links))
    for theory in ("timoshenko", "bending_only"):
        truth = finite_elements.frequencies(finite_elements.case_from_arm(arm, theory), 5, 24)
        found = jm.natural_frequencies(arm, 5, theory=theory)
        assert bool(found.certified.all())
        assert np.max(relative(found.omega, truth)) <= 1e-11


def test_a_rigid_column_buckles_on_its_base():
    """P L over the rotation that the base gives: det of K - P L e e^T in closed form."""
    length = 0.8
    column = steel(length=length, rigid=True, joint_angle=0.5 * math.pi)
    found = jm.buckling(on_base(links=(column,)), 1, tip_force=(0.0, -1.0))
    give = np.linalg.inv(np.array(FULL))[2, 2]
    assert abs(float(found.factors[0]) * length * give - 1) <= 1e-12


@pytest.mark.parametrize(
    ("base", "links", "fragments"),
    [
        ([1e6, 1e6], TWO, "three rows of three numbers"),
        ([[1e6, 1.0, 0.0], [2.0, 1e6, 0.0], [0.0, 0.0, 1e4]], TWO, "2 1 is 2, farther apart than rounding"),
        ([1e6, -1.0, 1e4], TWO, "base_stiffness.k22 = -1.0: must be 0"),
        ([[1e6, 2e6, 0.0], [2e6, 1e6, 0.0], [0.0, 0.0, 1e4]], TWO, "smallest_eigenvalue = -1.0: must be greater"),
        ([[1e6, 1e6, 0.0], [1e6, 1e6, 0.0], [0.0, 0.0, 1e4]], TWO, "smallest_eigenvalue = 0.0: must be greater"),
        (["1e6", "1e6", "1e4"], TWO, "base_stiffness = ['1e6', '1e6', '1e4']: must be three rows of three numbers"),
        ([True, 1e6, 1e4], TWO, "must be three rows of three numbers"),
        ([10**400, 1e6, 1e4], TWO, "must be three rows of three numbers"),
        ([None, 1e6, 1e4], TWO, "must be three rows of three numbers"),
        ([math.nan, 1e6, 1e4], TWO, "base_stiffness.k11 = nan: must be 0 (free) or more"),
        ([[math.inf, 1.0, 0.0], [1.0, 1e6, 0.0], [0.0, 0.0, 1e4]], TWO, "base_stiffness.k12 = 1.0: must be 0"),
        ([1e6, 1e6, 1e4], (steel(stator_mass=2.0),), "link1.stator_mass = 2.0: must be 0 with a base_stiffness"),
        ([1e6, 1e6, 0.0], (steel(joint_stiffness=0.0),), "link1.joint_stiffness = 0.0: must be greater than 0"),
        ([1e6, 1e6, 1.0], (steel(joint_shear_stiffness=0.0),), "link1.joint_shear_stiffness = 0.0"),
        ([1e6, 0.0, 1.0], (steel(axial_force=5.0),), "base_stiffness.k22 = 0.0: must be greater than 0"),
    ],
)  # fmt: skip
def test_refused_values(base, links, fragments):
    with pytest.raises(jm.ArmError) as caught:
        jm.Arm(links, base_stiffness=base)
    assert fragments in str(caught.value)


def test_what_takes_no_elastic_base_says_so():
    arm = on_base()
    with pytest.raises(jm.ArmError, match=r"base_stiffness: .*6 x 6"):
        jm.to_spatial(arm)
    with pytest.raises(jm.ArmError, match="base_stiffness = 5: must be three rows"):
        on_base(5)
    with pytest.raises(
        jm.ArmError, match=r"'base_stiffness.k11' is not a parameter of this arm: it has no elastic"
    ):
        jm.get_parameter(jm.Arm(TWO), "base_stiffness.k11")
    with pytest.raises(jm.ArmError, match=r"base_stiffness.k22 = 0"):
        jm.static_equilibrium(on_base([1e6, 0.0, 1e4]), gravity=(0.0, -9.81))
    with pytest.raises(jm.ArmError, match=r"base_stiffness.k22 = 0"):
        jm.static_compliance(on_base([1e6, 0.0, 1e4]), "tip.y", "tip.y")


def test_the_characteristic_matrix_on_a_base_with_springs_at_tips():
    """Its determinant changes sign where the count does."""
    arm = held_arm(**TIPS["springs"]).replace(base_stiffness=FULL)
    omega = np.asarray(jm.natural_frequencies(arm, 4).omega)
    for low, high in itertools.pairwise(omega):
        between = float(np.sqrt(low * high))
        sign, _ = jm.log_determinant(arm, between)
        assert int(sign) == (-1) ** int(jm.count_below(arm, between))
