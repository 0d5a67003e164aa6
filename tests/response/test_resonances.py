"""An undamped resonance is inf and says so, of every structure, at every port and by every function."""

import jax
import mpmath
import numpy as np
import pytest

import jaxmodal as jm
from tests.response.arms import bent, target
from tests.response.exact_chain import Chain
from tests.support import real_arms

RESONANCE = jm.Status.resonance
BAR = jm.Link(1.0, 1.0, 1.0, jm.raw_section(1.0, 1.0))
#: the wave numbers whose squares are natural frequencies of a bar of unit values, bending alone
CLAMPED = (lambda x: mpmath.cos(x) * mpmath.cosh(x) + 1, (1.875, 4.694, 7.855, 10.996))
PINNED = (lambda x: mpmath.tan(x) - mpmath.tanh(x), (3.927, 7.069, 10.210, 13.352))
FREE = (lambda x: mpmath.cos(x) * mpmath.cosh(x) - 1, (4.730, 7.853, 10.996, 14.137))
STEEL = jm.Link(0.7, 2.1e11, 7850.0, jm.rectangle(0.03, 0.05, 0.85), poisson_ratio=0.3)


def squares(equation):
    function, starts = equation
    return np.array([float(mpmath.findroot(function, x) ** 2) for x in starts])


def arm(**values):
    return jm.Arm((BAR.replace(**values),))


def in_pieces(count, **values):
    """The bar in pieces, which the recursion meets as so many links."""
    piece = BAR.replace(length=1.0 / count)
    return jm.Arm((piece.replace(**values), *(piece.replace(segment=True),) * (count - 1)))


HALVES = np.pi / 2 * np.array([1.0, 3.0, 5.0, 7.0])
SPUN = BAR.replace(rigid=True, joint_stiffness=0.0, support_y_stiffness=5.0)
#: by name: arm, natural frequencies in closed form, theory, ports that feel all of these modes
CLOSED = {
    "bar": (arm(), squares(CLAMPED), "bending_only", ["tip.across", "tip.moment"]),
    "bar in 2": (in_pieces(2), squares(CLAMPED), "bending_only", ["tip.across", "tip.moment"]),
    "bar in 3": (in_pieces(3), squares(CLAMPED), "bending_only", ["tip.across", "tip.moment"]),
    "cut": (arm(), squares(CLAMPED), "bending_only", ["link_1@0.41.across", "tip.across"]),
    "along": (arm(), HALVES, "euler_bernoulli", ["tip.along", "link_1@0.3.along"]),
    "along in 2": (in_pieces(2), HALVES, "euler_bernoulli", ["tip.along"]),
    "hinge": (
        *(arm(joint_stiffness=0.0), squares(PINNED), "bending_only"),
        ["joint_1.torque", "tip.across", "tip.moment"],
    ),
    "hinge in 2": (in_pieces(2, joint_stiffness=0.0), squares(PINNED), "bending_only", ["tip.y"]),
    "free": (
        # higher ones are those of the bar on a rigid base to 1e-6, where the recursion has few digits
        *(arm().replace(base_stiffness=[0.0, 0.0, 0.0]), squares(FREE)[:2], "euler_bernoulli"),
        ["tip.across", "joint_1.y", "tip.moment"],
    ),
    "free along": (
        *(arm().replace(base_stiffness=[0.0, 0.0, 0.0]), np.pi * np.arange(1.0, 5.0)),
        *("euler_bernoulli", ["tip.along", "joint_1.x"]),
    ),
    "rigid on a spring": (jm.Arm((SPUN,)), np.sqrt([15.0]), "euler_bernoulli", ["tip.y"]),
    "damping of 0": (
        *(arm(loss_factor=0.0, kelvin_voigt_time=0.0), squares(CLAMPED), "bending_only"),
        ["tip.across"],
    ),
}


def responded(name, quantity="receptance"):
    structure, omega, theory, ports = CLOSED[name]
    return structure, omega, theory, ports, {"theory": theory, "quantity": quantity}


@pytest.mark.parametrize(
    ("name", "quantity"),
    [
        *((name, "receptance") for name in CLOSED),
        *(
            pytest.param(name, quantity, marks=() if name == "bar" else pytest.mark.slow)
            for name in CLOSED
            for quantity in ("mobility", "accelerance")
        ),
    ],
)
def test_at_frequencies_in_closed_form(name, quantity):
    structure, omega, _, ports, options = responded(name, quantity)
    found = jm.frequency_response(structure, omega, ports, ports, **options)
    assert (found.status == RESONANCE).all()
    assert np.isinf(found.magnitude).all()
    beside = jm.frequency_response(structure, omega * (1.0 + 1e-9), ports, ports, **options)
    assert beside.ok


@pytest.mark.parametrize("name", CLOSED)
def test_of_many_arms_traced_and_by_amplitudes(name):
    structure, omega, theory, ports, _ = responded(name)
    cells = {"link1.density": [1.0, 1.2, 1.0]}
    if len(structure.links) == 1:
        found = jm.frequency_response(
            structure, omega, ports, ports, theory=theory, parameters=cells
        )
        assert (found.status[[0, 2]] == RESONANCE).all()
        assert (found.status[1] == jm.Status.resolved).all()
    amplitudes = jm.harmonic_response(
        structure, omega, {ports[0]: 2.0 - 1.0j}, ports, theory=theory
    ).values
    assert np.isinf(amplitudes).all()
    speeds = {"motion": "velocity", "theory": theory}
    both = dict.fromkeys(ports, 1.0)
    assert np.isinf(jm.harmonic_response(structure, omega, both, ports, **speeds).values).all()


@pytest.mark.parametrize(
    "name",
    [
        *("bar", "free along"),
        *(pytest.param(x, marks=pytest.mark.slow) for x in ("along", "hinge", "bar in 2")),
    ],
)
def test_traced(name):
    structure, omega, theory, ports, _ = responded(name)
    port = ports[0]

    def status(omega):
        found = jm.frequency_response(structure, omega, port, port, theory=theory)
        return found.status, found.magnitude

    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        codes, sizes = jax.jit(status)(np.concatenate([omega, omega * (1.0 + 1e-9)]))
    count = omega.size
    assert (codes[..., :count] == RESONANCE).all()
    assert np.isinf(sizes[..., :count]).all()
    assert (codes[..., count:] == jm.Status.resolved).all()


@pytest.mark.parametrize("pieces", [1, 2, 3])
def test_driven_by_the_base(pieces):
    omega = squares(CLAMPED)
    given = (in_pieces(pieces), omega, "base.y", ["tip.across", "tip.rotation"])
    found = jm.frequency_response(*given, quantity="transmissibility", theory="bending_only")
    assert (found.status == RESONANCE).all()


@pytest.mark.parametrize("pieces", [1, 2, 3])
def test_held_stiffness_at_antiresonances(pieces):
    """The tip held still, the bar is clamped and pinned; beside it the values are those of the closed form."""
    bar, omega = in_pieces(pieces), squares(PINNED)
    options = {"theory": "bending_only"}
    port = "tip.across"
    held = jm.frequency_response(bar, omega, port, port, quantity="dynamic_stiffness", **options)
    assert (held.status == RESONANCE).all()
    moved = {"quantity": "transmissibility", **options}
    assert (
        jm.frequency_response(bar, omega, port, "tip.moment", **moved).status == RESONANCE
    ).all()
    still = jm.frequency_response(bar, omega, port, port, **options)
    assert still.ok
    assert (still.magnitude < 1e-14).all()
    # at its own resonances the bar does not resist, and ratios of its motions are those of the mode
    own = squares(CLAMPED)
    free = jm.frequency_response(bar, own, port, port, quantity="dynamic_stiffness", **options)
    assert free.ok
    assert (free.magnitude < 1e-11).all()
    x = np.sqrt(own)
    ratio = jm.frequency_response(bar, own, port, "tip.moment", **moved).values[0, 0]
    sigma = (np.sinh(x) - np.sin(x)) / (np.cosh(x) + np.cos(x))
    tip = np.cosh(x) - np.cos(x) - sigma * (np.sinh(x) - np.sin(x))
    slope = x * (np.sinh(x) + np.sin(x) - sigma * (np.cosh(x) - np.cos(x)))
    np.testing.assert_allclose(ratio.real, slope / tip, rtol=1e-9)


#: structures whose natural frequencies are certified ones
OTHERS = {
    "steel": jm.Arm((STEEL,)),
    "soft joint": jm.Arm((STEEL.replace(joint_stiffness=2e3),)),
    "light payload": jm.Arm((STEEL,), jm.Payload(mass=1e-13)),
    "payload": jm.Arm((STEEL,), jm.Payload(mass=3.0, inertia=0.02)),
    "compressed": jm.Arm((STEEL.replace(axial_force=-1e4),)),
    "on a spring": jm.Arm((STEEL.replace(support_y_stiffness=5e6),)),
    "held at the tip": jm.Arm((STEEL.replace(support_y_stiffness=np.inf),)),
    "on a base": jm.Arm((STEEL,), base_stiffness=[1e8, 2e8, 1e4]),
    "free": jm.Arm((STEEL,), base_stiffness=[0.0, 0.0, 0.0]),
    "straight": jm.Arm((STEEL, STEEL)),
    "bent": bent(),
    "hinges": bent(joint_stiffness=0.0).replace(base_stiffness=[1e7, 1e7, 0.0]),
    "slides": bent(joint_axial_stiffness=1e6, joint_shear_stiffness=1e7, joint_stiffness=3e3),
    "held between": jm.Arm(
        (
            STEEL.replace(
                **dict.fromkeys(
                    ("support_x_stiffness", "support_y_stiffness", "support_torsional_stiffness"),
                    1e15,
                )
            ),
            STEEL.replace(length=0.55, joint_angle=0.4),
        )
    ),
}
PORTS = ("tip.across", "tip.along", "tip.moment", "link_1@0.37.across", "link_1@0.37.along")


@pytest.mark.parametrize("name", OTHERS)
def test_at_certified_frequencies_no_entry_passes_as_an_answer(name):
    """Each mode is seen, and what is finite at its frequency is so beside it: a port that this mode does not move."""
    structure = OTHERS[name]
    omega = np.asarray(jm.natural_frequencies(structure, 9).omega)
    omega = omega[omega > 0.0]
    found = jm.frequency_response(structure, omega, PORTS, PORTS)
    infinite = np.asarray(found.status) == RESONANCE
    assert infinite.any(axis=(0, 1)).all()
    beside = np.abs(jm.frequency_response(structure, omega * (1 + 1e-4), PORTS, PORTS).values)
    own = np.sqrt(np.einsum("iif->if", beside))
    size = own[:, None] * own[None] + beside
    assert (np.abs(np.where(infinite, 0.0, found.values)) <= 10.0 * size).all()


#: the exact chain has no supports
SUPPORTED = ("held at the tip", "held between", "on a spring")
CHAINS = [name for name, x in OTHERS.items() if x.base_stiffness is None and name not in SUPPORTED]


@pytest.mark.parametrize("name", CHAINS)
def test_beside_certified_frequencies_in_40_digits(name):
    """At 1e-9 of a resonance six digits are left: rounding moves it by some 1e-15."""
    structure = OTHERS[name]
    omega = np.asarray(jm.natural_frequencies(structure, 4).omega) * (1.0 + 1e-9)
    ports = ["tip.across", "tip.along"]
    found = jm.frequency_response(structure, omega, ports, ports)
    assert found.ok
    targets = [target(structure, each) for each in ports]
    for k, at in enumerate(omega):
        chain = Chain(structure, float(at))
        truth = np.array([[complex(x) for x in chain.response(each, targets)] for each in targets])
        allowed = 3e-6 * np.abs(truth).max()
        assert np.abs(found.values[:, :, k] - truth.T).max() <= allowed


@pytest.mark.parametrize(("seed", "structure"), [(3, "springs"), (4, "springs"), (5, "bodies")])
def test_resonances_of_arms_on_soft_springs_in_space(seed, structure):
    """Where numbers hardly grow: at every certified frequency the response is infinite, beside it it is not."""
    planar = real_arms.random_arm(seed, structure)
    omega = np.asarray(jm.natural_frequencies(planar, 6).omega)
    arm = jm.to_spatial(planar)
    at = jm.frequency_response(arm, omega, "tip.x", "tip.x")
    assert (at.status == jm.Status.resonance).all()
    assert jm.frequency_response(arm, omega * (1.0 + 1e-9), "tip.x", "tip.x").ok
