"""Do sensitivities of responses and of damped modes hold what forces at rest do: against differences of 40 digits?"""

import itertools

import mpmath
import numpy as np
import pytest

import jaxmodal as jm
from tests.response.arms import target
from tests.response.exact_chain import Chain
from tests.response.test_axial_forces import CRITICAL, TIP, column, pressed

FORCES = (-2e4, 3e4)
LOADED = ("loads.gravity", "loads.tip_force_x", "payload.mass", "link2.length")


def slope(size, centre):
    """Central differences of 40 digits with three corrections of Richardson's: 1e-14 of a smooth function."""
    with mpmath.workdps(40):
        table = []
        for k in range(4):
            step = max(abs(centre), 1e-3) * 2.0 ** -(9 + k)
            high, low = np.float64(centre + step), np.float64(centre - step)
            table.append((size(high) - size(low)) / (mpmath.mpf(high) - mpmath.mpf(low)))
        for order in (4, 16, 64):
            pairs = itertools.pairwise(table)
            table = [(order * b - a) / (order - 1) for a, b in pairs]
        return complex(table[0])


def under_loads():
    arm = jm.set_parameters(pressed(-2e3, 1e3), {"link1.joint_angle": 0.4})
    return arm.replace(
        links=(arm.links[0].replace(stator_mass=0.2), arm.links[1]),
        payload=jm.Payload(mass=0.7, inertia=1e-3, centre_x=0.05),
        loads=jm.Loads(gravity=9.81, tip_force_x=-900.0, pieces=2),
    )


def cut(arm):
    return arm if arm.loads is None else jm.preloaded(arm, gravity=(0.0, 0.0), pieces=2)


def answer(arm, omega, source, output):
    arm = cut(arm)
    return Chain(arm, omega).response(target(arm, source), [target(arm, output)])[0]


@pytest.mark.parametrize(
    ("arm", "names"),
    [
        (pressed(*FORCES), ["link1.axial_force", "link2.axial_force", "link1.base_offset_x"]),
        (pressed(*FORCES), ["link1.length", "link2.base_turning_stiffness", "link2.joint_angle"]),
        (under_loads(), list(LOADED[:2])),
        (under_loads(), [*LOADED[2:], "link1.joint_angle", "link2.loss_factor"]),
    ],
    ids=["forces", "geometry", "loads", "what loads act on"],
)
def test_responses_against_differences_of_40_digits(arm, names):
    omega = 130.0
    found = jm.response_sensitivities(arm, omega, TIP, TIP, addresses=names)
    scale = abs(answer(arm, omega, TIP, TIP))
    for p, name in enumerate(names):

        def changed(x, name=name):
            return answer(jm.set_parameters(arm, {name: float(x)}), omega, TIP, TIP)

        truth = slope(changed, found.values[p])
        size = max(abs(truth), float(scale) / max(abs(found.values[p]), 1.0))
        assert abs(found.derivative[0, 0, 0, p] - truth) <= 1e-10 * size
    if names[0] != "link1.axial_force":
        return
    by_omega = slope(lambda w: answer(arm, w, TIP, TIP), omega)
    assert abs(found.by_frequency[0, 0, 0] - by_omega) <= 1e-10 * abs(by_omega)


def test_static_column_in_closed_form():
    """Next to rest the tip gives L (tan(k L)/(k L) - 1)/P: its slopes by P, L and E."""
    force, theory = -0.7 * CRITICAL, "bending_only"
    arm = column(force, loss_factor=0.0)
    names = ["link1.axial_force", "link1.length", "link1.youngs_modulus"]
    found = jm.response_sensitivities(arm, 1e-4, TIP, TIP, addresses=names, theory=theory)
    modulus, second = mpmath.mpf(7e10), mpmath.mpf(0.04) * mpmath.mpf(0.01) ** 3 / 12

    def exact(pressing, length, modulus):
        k = mpmath.sqrt(-pressing / (modulus * second)) * length
        return (mpmath.tan(k) / k - 1) * length / -pressing

    with mpmath.workdps(40):
        at = (mpmath.mpf(force), mpmath.mpf(1.3), modulus)
        rates = [mpmath.diff(exact, at, order) for order in ((1, 0, 0), (0, 1, 0), (0, 0, 1))]
    np.testing.assert_allclose(found.derivative[0, 0, 0].real, [float(x) for x in rates], rtol=1e-9)


@pytest.mark.parametrize(
    ("arm", "names", "held", "middle"),
    [
        (
            column(-6.0 * CRITICAL, support_y_stiffness=np.inf),
            ["link1.axial_force", "link1.length"], "tip.y", "link_1@0.5.across",
        ),
        (
            # carried at both ends, and so with less in it than the weight
            column(None, support_x_stiffness=np.inf, tip_mass=0.5).replace(
                loads=jm.Loads(gravity=9.81, gravity_direction=0.0, tip_force_x=-300.0, pieces=2)
            ),
            ["loads.gravity", "link1.length", "link1.tip_mass"], "tip.x", "link_1@1.across",
        ),
    ],
    ids=["forces", "loads"],
)  # fmt: skip
def test_on_rigid_supports(arm, names, held, middle):
    """The arm free at its tip, less what the force there does that holds it."""
    port = "link_1@0.5.across"
    found = jm.response_sensitivities(arm, 60.0, port, port, addresses=names, theory="rayleigh")
    nothing = dict.fromkeys(("support_x_stiffness", "support_y_stiffness"))

    def exact(own):
        own = (
            jm.preloaded(own, theory="rayleigh", gravity=(0.0, 0.0), pieces=2) if own.loads else own
        )
        own = own.replace(links=tuple(link.replace(**nothing) for link in own.links))
        chain = Chain(own, 60.0, "rayleigh")
        at, tip = target(own, middle), target(own, held)
        own_motion, moved = chain.response(at, [at, tip])
        return own_motion - moved * moved / chain.response(tip, [tip])[0]

    truth = exact(arm)
    assert abs(found.response.values[0, 0] - truth) <= 1e-10 * abs(truth)
    for p, name in enumerate(names):
        truth = slope(lambda x, at=name: exact(jm.set_parameters(arm, {at: x})), found.values[p])
        assert abs(found.derivative[0, 0, 0, p] - truth) <= 1e-8 * abs(truth)


@pytest.mark.parametrize(
    ("arm", "names"),
    [(pressed(*FORCES), ["link1.axial_force", "link2.length"]), (under_loads(), LOADED[1:3])],
    ids=["forces", "loads"],
)
def test_damped_modes_against_differences_of_40_digits(arm, names):
    found = jm.damped_sensitivities(arm, 2, addresses=names)

    def determinant(own, root):
        return Chain(own, root).determinant()

    near = mpmath.mpmathify(complex(found.modes.roots[0]))
    guesses = (near, near * (1 + mpmath.mpf(10) ** -8))
    here = cut(arm)
    root = mpmath.findroot(lambda w: determinant(here, w), guesses, tol=1e-50, verify=False)
    by_root = mpmath.diff(lambda w: determinant(here, w), root, h=mpmath.mpf(10) ** -12)
    for p, name in enumerate(names):

        def at_root(x, name=name):
            return determinant(cut(jm.set_parameters(arm, {name: float(x)})), root) / by_root

        truth = -slope(at_root, found.values[p])
        assert abs(found.derivative[0, p] - truth) <= 1e-9 * abs(truth)


def test_the_frequencies_own_sensitivities():
    """Without damping a root moves as the frequency does."""
    arm = under_loads()
    nothing = dict.fromkeys(("loss_factor", "kelvin_voigt_time", "joint_damping"))
    arm = arm.replace(links=tuple(link.replace(**nothing) for link in arm.links))
    found = jm.damped_sensitivities(arm, 3, addresses=LOADED)
    truth = jm.sensitivities(arm, 3, addresses=LOADED)
    np.testing.assert_allclose(
        found.of_frequency_hz, np.asarray(truth.derivative_hz), rtol=1e-8, atol=1e-12
    )


def test_buckled_columns_have_none():
    arm = column(-1.01 * CRITICAL)
    found = jm.response_sensitivities(
        arm, [5.0, 40.0], TIP, TIP, addresses=["link1.axial_force"], theory="rayleigh"
    )
    assert (found.response.status == jm.Status.unstable).all()
    assert np.isnan(found.derivative).all()
    assert np.isnan(found.by_frequency).all()
    assert "unstable: the forces at rest buckle the arm" in str(found)
    with pytest.raises(jm.UncertifiedError, match="buckle"):
        jm.damped_sensitivities(arm, 1, theory="rayleigh", addresses=["link1.length"])
