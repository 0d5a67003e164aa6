"""Arms whose supports are far stiffer than what else holds them, under loads and without: closed forms, limits."""

import math

import mpmath
import numpy as np
import pytest

import jaxmodal as jm
from tests.explorer.test_held_loads_in_page import held_by_many
from tests.spatial.cases import tube
from tests.spatial.loaded_arms import arm_with_everything, of_zero
from tests.spatial.random_arms import THEORIES

LENGTH, SIDE, DENSITY = 0.5, 0.02, 2700.0


def rods(gravity, stiffness, angle):
    """Two rigid rods on free hinges, one below the other, the end on a horizontal support; a spring across it."""
    rod = jm.SpatialLink(
        LENGTH,
        section=jm.rectangle(SIDE, SIDE),
        rigid=True,
        joint_axis=(0, 1, 0),
        joint_stiffness=0.0,
        youngs_modulus=7e10,
        density=DENSITY,
        poisson_ratio=0.33,
    )
    across = (jm.Spring("translation", (0, 1, 0), 1e5),)
    first = rod.replace(joint_angle=angle, joint_springs=across)
    held = rod.replace(supports=(jm.Support("translation", (1, 0, 0), stiffness),))
    return jm.SpatialArm((first, held), loads=jm.SpatialLoads(gravity_z=-gravity))


def swings(gravity, stiffness):
    """The lower frequency of the rods in 40 digits, by their angles to the vertical."""
    with mpmath.workdps(40):
        length, side = mpmath.mpf(LENGTH), mpmath.mpf(SIDE)
        mass = DENSITY * side**2 * length
        own = mass * (length**2 / 3 + side**2 / 12)
        weight, spring = mass * mpmath.mpf(gravity) * length, mpmath.mpf(stiffness) * length**2
        m = mpmath.matrix(
            [[own + mass * length**2, mass * length**2 / 2], [mass * length**2 / 2, own]]
        )
        if math.isinf(stiffness):
            a = mpmath.matrix([1, -1])
            return float(mpmath.sqrt(2 * weight / (a.T * m * a)[0]))
        k = mpmath.matrix([[1.5 * weight + spring, spring], [spring, 0.5 * weight + spring]])
        square = [m[0, 0] * m[1, 1] - m[0, 1] ** 2, 0, k[0, 0] * k[1, 1] - k[0, 1] ** 2]
        square[1] = m[0, 0] * k[1, 1] + m[1, 1] * k[0, 0] - 2 * m[0, 1] * k[0, 1]
        root = mpmath.sqrt(square[1] ** 2 - 4 * square[0] * square[2])
        return float(mpmath.sqrt(2 * square[2] / (square[1] + root)))


def of_flat_rods(gravity, stiffness, angle):
    """The frequencies of the same rods in the plane."""
    rod = jm.Link(LENGTH, 7e10, DENSITY, jm.rectangle(SIDE, SIDE), rigid=True, joint_stiffness=0.0)
    links = rod.replace(joint_angle=angle), rod.replace(support_x_stiffness=stiffness)
    arm = jm.Arm(links, loads=jm.Loads(gravity=gravity))
    return jm.natural_frequencies(arm, 1, theory="rayleigh")


@pytest.mark.parametrize("stiffness", [1e3, 1e6, 1e10])
def test_flat_rods_swing_where_their_support_holds_one_of_two_motions(stiffness):
    for gravity in (1e-9, 9.81):
        hanging = of_flat_rods(gravity, stiffness, -0.5 * math.pi)
        expected = swings(gravity, stiffness)
        np.testing.assert_allclose(hanging.omega[0], expected, rtol=1e-13, atol=0)
        with pytest.raises(jm.UncertifiedError, match="the forces at rest buckle the arm"):
            of_flat_rods(gravity, stiffness, 0.5 * math.pi)
    assert of_flat_rods(0.0, stiffness, 0.4).omega[0] == 0.0
    with pytest.raises(jm.ArmError, match=r"link[12].joint_stiffness = 0: nothing holds the arm"):
        of_flat_rods(9.81, stiffness, 0.4)


@pytest.mark.parametrize("stiffness", [1e3, 1e6, 1e10, math.inf])
def test_rods_swing_however_light_their_loads_and_stiff_their_support(stiffness):
    """Hanging they have a closed form, without loads a frequency of zero; standing they fall."""
    for gravity in (1e-9, 1e-6, 9.81):
        hanging = jm.natural_frequencies(rods(gravity, stiffness, 0.5 * math.pi), 1)
        assert hanging.certified.all()
        expected = swings(gravity, stiffness)
        np.testing.assert_allclose(hanging.omega[0], expected, rtol=1e-11, atol=0)
        with pytest.raises(jm.UncertifiedError, match="the forces at rest buckle the arm"):
            jm.natural_frequencies(rods(gravity, stiffness, -0.5 * math.pi), 1)
    for angle in (0.5, -0.5):
        still = jm.natural_frequencies(rods(0.0, stiffness, angle * math.pi), 1)
        assert still.certified.all()
        assert still.omega[0] == 0.0


@pytest.mark.parametrize(
    "seeds", [(1, 2, 10, 20), pytest.param(range(21, 60), marks=pytest.mark.slow, id="more")]
)
def test_random_arms_under_loads_of_zero(seeds):
    """Supports as stiff as 1e12 N/m, of which some hold only one of the motions of free joints."""
    for seed in seeds:
        arm, rng = held_by_many(seed)[0], np.random.default_rng([seed, 3])
        given = {f"link{k + 1}.joint_stiffness": 0.0 for k in range(arm.num_links)}
        given = {name: x for name, x in given.items() if rng.random() < 0.6}
        for number, link in enumerate(arm.links, start=1):
            for k in range(len(link.supports)):
                if rng.random() < 0.7:
                    given[f"link{number}.support{k + 1}.stiffness"] = 10 ** rng.uniform(2, 12)
        under, without = of_zero(jm.set_parameters(arm, given))
        theory = THEORIES[seed % 4]
        found, expected = (jm.natural_frequencies(x, 5, theory=theory) for x in (under, without))
        assert found.certified.all()
        np.testing.assert_array_equal(found.omega == 0.0, expected.omega == 0.0)
        np.testing.assert_allclose(found.omega, expected.omega, rtol=2e-11, atol=0)


@pytest.mark.parametrize("stiffness", [1e6, 1e12])
def test_derivatives_and_energies_beside_a_stiff_spring(stiffness):
    arm, along = arm_with_everything(), ((0, 1, 0), (0, 0, 1))
    held = tuple(jm.Support("translation", each, stiffness) for each in along)
    arm = arm.replace(links=(*arm.links[:2], arm.links[2].replace(supports=held)))
    names = ["link1.length", "link3.joint_stiffness"]
    tables = [jm.sensitivities(x, 3, addresses=names).derivative_hz for x in of_zero(arm)]
    np.testing.assert_allclose(*tables, rtol=1e-11, atol=0)
    strain = [jm.mode_shapes(x, 3).energies.strain for x in of_zero(arm)]
    np.testing.assert_allclose(*strain, rtol=1e-12, atol=0)


@pytest.mark.parametrize("loads", [jm.SpatialLoads(gravity_z=0.0), None], ids=["loads", "none"])
@pytest.mark.parametrize("stiffness", [1e4, 1e9, 1e13])
def test_compliance_beside_a_stiff_spring(stiffness, loads):
    """A cantilever whose tip leans on a spring aslant: its own compliance less what the force of the spring takes."""
    link = tube(length=1.2, supports=(jm.Support("translation", (1, 2, 2), stiffness),))
    values, e = link.section_values, 7e10
    bent = [1.2**3 / (3.0 * e * x) for x in (values.second_moment_z, values.second_moment_y)]
    alone = np.diag([1.2 / (e * values.area), *bent])
    row = alone @ np.array([1.0, 2.0, 2.0]) / 3.0
    given = 1.0 / stiffness + row @ np.array([1.0, 2.0, 2.0]) / 3.0
    expected = alone - np.outer(row, row) / given
    tip = ["tip.x", "tip.y", "tip.z"]
    arm = jm.SpatialArm((link,), loads=loads)
    found = jm.static_compliance(arm, tip, tip, theory="euler_bernoulli").values
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13 * np.abs(expected).max())
    slow = jm.frequency_response(arm, 1e-4, tip, tip, theory="euler_bernoulli").values
    np.testing.assert_allclose(slow.real, expected, rtol=0, atol=1e-11 * np.abs(expected).max())


TIP = ("tip.x", "tip.y", "tip.z")


def held(seed, stiffness):
    """A random arm without loads on a soft base, its rigid supports as springs of one stiffness."""
    arm = held_by_many(seed)[0].replace(loads=None)
    names = {
        f"link{number}.support{k + 1}.stiffness": stiffness
        for number, link in enumerate(arm.links, start=1)
        for k, support in enumerate(link.supports)
        if math.isinf(support.stiffness)
    }
    return jm.set_parameters(arm, names) if names else arm


@pytest.mark.parametrize(
    "seeds", [(2, 5), pytest.param((*range(6, 13), 14, 15), marks=pytest.mark.slow, id="more")]
)
def test_what_a_stiff_support_gives_is_one_over_its_stiffness(seeds):
    """In compliances, responses and damped modes: a thousand times less at 1e13 N/m than at 1e10 N/m."""
    for seed in seeds:
        theory = THEORIES[seed % 4]

        def answers(arm, theory=theory):
            yield jm.static_compliance(arm, TIP, TIP, theory=theory).values
            yield jm.frequency_response(arm, [1e-3, 5.0], TIP, TIP, theory=theory).values
            damped = arm.replace(
                links=tuple(x if x.rigid else x.replace(loss_factor=0.02) for x in arm.links)
            )
            yield jm.damped_modes(damped, 2, theory=theory).roots

        every = zip(*(answers(held(seed, k)) for k in (math.inf, 1e10, 1e13)), strict=True)
        for rigid, firm, firmer in every:
            size = np.abs(rigid).max()
            given, less = (np.abs(x - rigid).max() / size for x in (firm, firmer))
            assert given > 1e-9
            assert less == pytest.approx(1e-3 * given, rel=1e-3, abs=2e-14)


@pytest.mark.parametrize("stiffness", [1e3, 1e9, 1e12])
def test_a_response_changes_with_a_stiff_support_by_what_its_force_does(stiffness):
    """A cantilever whose tip leans on a spring aslant, slowly: the derivative is that of its compliance."""
    link = tube(length=1.2, supports=(jm.Support("translation", (1, 2, 2), stiffness),))
    values, e = link.section_values, 7e10
    bent = [1.2**3 / (3.0 * e * x) for x in (values.second_moment_z, values.second_moment_y)]
    alone = np.diag([1.2 / (e * values.area), *bent])
    direction = np.array([1.0, 2.0, 2.0]) / 3.0
    row = alone @ direction
    given = 1.0 + stiffness * (row @ direction)
    expected = -np.outer(row, row) / given**2
    found = jm.response_sensitivities(
        jm.SpatialArm((link,)),
        [1e-4],
        TIP,
        TIP,
        addresses=["link1.support1.stiffness"],
        theory="euler_bernoulli",
    )
    slopes = np.squeeze(np.asarray(found.derivative))
    np.testing.assert_allclose(slopes.real, expected, rtol=0, atol=1e-9 * np.abs(expected).max())


@pytest.mark.parametrize("stiffness", [1e6, 1e10, 1e16])
@pytest.mark.parametrize("several", [2, 3])
def test_springs_that_hold_the_same_motion_are_one_of_their_sum(stiffness, several):
    """Their forces against each other had a stiffness of rounding: what stands was told to swing with frequency 0."""

    def on_several(gravity, angle):
        first, held = rods(gravity, stiffness, angle).links
        arm = rods(gravity, stiffness, angle)
        return arm.replace(links=(first, held.replace(supports=held.supports * several)))

    for gravity in (1e-9, 9.81):
        hanging = jm.natural_frequencies(on_several(gravity, 0.5 * math.pi), 1)
        expected = swings(gravity, several * stiffness)
        np.testing.assert_allclose(hanging.omega[0], expected, rtol=1e-11, atol=0)
        with pytest.raises(jm.UncertifiedError, match="the forces at rest buckle the arm"):
            jm.natural_frequencies(on_several(gravity, -0.5 * math.pi), 1)
    assert jm.natural_frequencies(on_several(0.0, 0.5), 1).omega[0] == 0.0


@pytest.mark.parametrize("stiffness", [1e17, 1e20])
def test_stiff_springs_of_which_none_knows_its_share_are_refused(stiffness):
    """A bar held twice at its tip, where a rod stands on a free hinge."""
    (bar, rod) = rods(9.81, 0.0, -0.5 * math.pi).links
    bar = bar.replace(rigid=False, joint_stiffness=1e4, joint_springs=())

    def held(each, number):
        supports = (jm.Support("translation", (1, 0, 0), each),) * number
        return jm.SpatialArm(
            (bar.replace(supports=supports), rod.replace(supports=())),
            loads=jm.SpatialLoads(gravity_z=-9.81),
        )

    for each, number in ((stiffness, 1), (1e10, 2)):
        with pytest.raises(jm.UncertifiedError, match="the forces at rest buckle the arm"):
            jm.natural_frequencies(held(each, number), 1, theory="rayleigh")
    with pytest.raises(jm.ArmError, match=r"link1.support[12].stiffness = 1e\+.*lost in rounding"):
        jm.natural_frequencies(held(stiffness, 2), 1, theory="rayleigh")


def test_supports_too_soft_to_be_inverted_are_refused_in_words():
    soft = jm.Link(LENGTH, 7e10, DENSITY, jm.rectangle(SIDE, SIDE), support_y_stiffness=1e-320)
    with pytest.raises(jm.ArmError, match="not finite in float64"):
        jm.static_equilibrium(jm.Arm((soft,)), theory="rayleigh", gravity=(0.0, -9.81))


@pytest.mark.parametrize("held", [(), (jm.Support("translation", (0, 0, 1), math.inf),)])
def test_what_passes_a_stiff_clamp_is_small_and_not_nothing(held):
    """Springs in all six directions at the tip of link 1; a rigid support of link 2 parts no more than it does."""
    directions = ((1, 0, 0), (0, 1, 0), (0, 0, 1))

    def passed(stiffness):
        clamp = [
            jm.Support(kind, along, stiffness)
            for kind in ("translation", "rotation")
            for along in directions
        ]
        first, second = tube(length=0.8, supports=tuple(clamp)), tube(length=0.6, joint_angle=0.3)
        arm = jm.SpatialArm((first, second.replace(supports=held)))
        across = ["link_1@0.5.y"], ["tip.y"]
        yield jm.static_compliance(arm, *across).values
        yield jm.frequency_response(arm, [30.0], *across).values
        yield jm.response_sensitivities(arm, [30.0], *across, addresses=["link2.length"]).derivative

    for firm, firmer, rigid in zip(passed(1e11), passed(1e15), passed(math.inf), strict=True):
        assert np.all(np.abs(firm) > 0.0)
        np.testing.assert_allclose(1e4 * firmer, firm, rtol=1e-4, atol=0)
        np.testing.assert_array_equal(rigid, 0.0)
