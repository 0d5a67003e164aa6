"""Arms in space under loads: critical factors and frequencies beside elements, potentials and closed forms."""

import itertools
import json

import mpmath
import numpy as np
import pytest
from numpy.linalg import eigvalsh, inv

import jaxmodal as jm
from jaxmodal.dynamic_stiffness.beams import theory_flags
from jaxmodal.spatial.modes.modal_model import modal_model
from jaxmodal.spatial.preload.members import pieces_of
from tests.at_rest.bars import DOWN, EB, E, G, straight
from tests.at_rest.loaded_elements import (
    LoadedChain,
    buckling_factors,
    held_arm,
    require_same_factors_and_frequencies,
)
from tests.support.commands import run_command


@pytest.mark.parametrize(
    "seeds",  # the first are of all four theories
    [(0, 1, 2, 4), pytest.param((3, *range(5, 50)), marks=pytest.mark.slow, id="more")],
)
@pytest.mark.filterwarnings("ignore::jaxmodal.LargeDeflectionWarning")
def test_random_arms_beside_finite_elements(seeds):
    """Factors of both signs, and the frequencies at a third of the first: to 1e-10, where elements have converged."""
    for seed in seeds:
        document, theory, gravity, tip = held_arm(seed)
        chain, arm = LoadedChain(document, theory, 12), jm.arm_from_dict(document)
        require_same_factors_and_frequencies(arm, chain, theory, gravity, tip, 1e-10)


def rotation(vector):
    """That of a small rotation vector, to the third order."""
    x, y, z = vector
    s = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]], np.longdouble)
    return np.eye(3, dtype=np.longdouble) + s + s @ s / 2 + s @ s @ s / 6


def second_derivatives(potential, size):
    """The Hessian at 0 by central differences of the fourth order in 64 bits of mantissa: to 1e-9 of its largest."""
    h, found = np.longdouble(2e-3), np.zeros((size, size))
    one = np.eye(size, dtype=np.longdouble)
    weights = {1: np.longdouble(4) / 3, 2: -np.longdouble(1) / 12}
    for i, j in itertools.combinations_with_replacement(range(size), 2):
        if i == j:
            parts = [
                w
                * (
                    potential(k * h * one[i])
                    + potential(-k * h * one[i])
                    - 2 * potential(0 * one[i])
                )
                for k, w in weights.items()
            ]
            found[i, i] = sum(parts) / h**2
        else:
            parts = [
                s * t * w * potential(k * h * (s * one[i] + t * one[j])) / 4
                for k, w in ((1, np.longdouble(4) / 3), (2, -np.longdouble(1) / 12))
                for s in (1, -1)
                for t in (1, -1)
            ]
            found[i, j] = found[j, i] = sum(parts) / h**2
    return found


@pytest.mark.parametrize(
    "seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (2, 3))]
)
def test_rigid_chains_beside_their_potential(seed):
    """Rigid links on springs about three axes: all critical factors from the potential of exact rotations.

    Springs are stressed so that the posture is the equilibrium; nothing here knows a geometric stiffness. Its formulas
    for bodies, offsets, rigid links and moments in joints are what is asked.
    """
    rng = np.random.default_rng([seed, 31])
    n, stiffness = 3, 10 ** rng.uniform(1.0, 3.0, (3, 3))
    links, values = [], []
    for k in range(n):
        own = {
            "length": float(rng.uniform(0.2, 0.6)),
            "angle": float(rng.uniform(-2, 2)),
            "axis": rng.normal(size=3),
            "base": rng.normal(size=3) * 0.1,
            "end": rng.normal(size=3) * 0.1,
            "hub": (float(rng.uniform(0.5, 2)), rng.normal(size=3) * 0.1),
            "body": (float(rng.uniform(0.5, 2)), rng.normal(size=3) * 0.1),
        }
        values.append(own)
        springs = [
            jm.Spring("rotation", e, s) for e, s in zip(np.eye(3), stiffness[k], strict=True)
        ]
        links.append(
            jm.SpatialLink(
                own["length"],
                rigid=True,
                joint_axis=own["axis"],
                joint_angle=own["angle"],
                joint_springs=springs,
                base_offset=own["base"],
                end_offset=own["end"],
                hub=jm.RigidBody(*own["hub"]),
                body=jm.RigidBody(*own["body"]),
                section=jm.circle(0.02),
                youngs_modulus=E,
                density=2700.0,
                poisson_ratio=0.3,
            )
        )
    arm = jm.SpatialArm(tuple(links))
    gravity, force, moment = rng.normal(size=3) * 9.0, rng.normal(size=3) * 30.0, rng.normal(size=3)
    given = {"gravity": gravity, "tip_force": force, "tip_moment": moment}
    axes = [frame.axes for frame in arm.frames()]
    turns = [own.T @ before for own, before in zip(axes, [np.eye(3), *axes[:-1]], strict=True)]
    line = 2700.0 * np.pi * 0.02**2 / 4

    def potential(q):
        """Of the loads; that of the springs takes what is of first order, and their stiffness."""
        place, turned, work = np.zeros(3, np.longdouble), np.eye(3, dtype=np.longdouble), 0
        total = np.zeros(3, np.longdouble)  # the rotation vector of the tip, to second order
        for k, own in enumerate(values):
            turned = turned @ turns[k].T
            own_turn = axes[k] @ q[3 * k : 3 * k + 3]
            total = total + own_turn + np.cross(total, own_turn) / 2
            turned = turned @ rotation(q[3 * k : 3 * k + 3])
            mass, centre = own["hub"]
            work = work + mass * gravity @ (place + turned @ centre)
            place = place + turned @ own["base"]
            along = np.array([own["length"], 0, 0])
            work = work + line * own["length"] * gravity @ (place + turned @ along / 2)
            place = place + turned @ along + turned @ own["end"]
            mass, centre = own["body"]
            work = work + mass * gravity @ (place + turned @ centre)
        return -(work + force @ place + moment @ total)

    geometric = second_derivatives(potential, 9)
    expected = buckling_factors(geometric, np.diag(stiffness.ravel()))
    found = jm.buckling(arm, 9, theory=EB, both_signs=True, **given)
    np.testing.assert_allclose(found.factors, expected, rtol=1e-7, atol=0)


def test_euler_in_both_planes():
    """The loads of a cantilever, n odd: n^2 pi^2 E I/(4 L^2) of one plane and the other."""
    found = jm.buckling(
        jm.SpatialArm((straight(strong=4e-9, torsion=4e-9),)), 5, theory=EB, tip_force=(-1, 0, 0)
    )
    planes = np.sort(np.outer([1e-9, 4e-9], np.array([1, 3, 5, 7]) ** 2).ravel())
    np.testing.assert_allclose(found.factors, E * planes[:5] * np.pi**2 / 4, rtol=1e-12, atol=0)
    assert found.certified.all()
    twice = jm.buckling(
        jm.SpatialArm((straight(strong=1e-9, torsion=1e-9),)), 2, theory=EB, tip_force=(-1, 0, 0)
    )
    np.testing.assert_allclose(twice.factors, E * 1e-9 * np.pi**2 / 4, rtol=1e-12, atol=0)
    assert list(twice.multiplicity) == [2, 2]
    moved = twice.displacement[:, 0, -1]
    assert abs(np.linalg.det(moved[:, 1:])) > 0.5  # two shapes, not one twice


def test_the_cantilever_of_prandtl():
    """A force at the tip along the strong plane: zeros of the Bessel function of order -1/4 (L. Prandtl, 1899)."""
    zeros = [
        float(2 * mpmath.findroot(lambda x: mpmath.besselj(-0.25, x), x0)) for x0 in (2.0, 5.1)
    ]
    assert abs(zeros[0] - 4.0126) < 1e-4
    # so stiff in the strong plane that its deflection would not count, had it any place in the theory
    arm = jm.SpatialArm((straight(strong=1e-3),))
    found = jm.buckling(arm, 2, theory=EB, tip_force=(0, 1, 0))
    np.testing.assert_allclose(
        found.factors, np.array(zeros) * np.sqrt(E * 1e-9 * G * 3e-9), rtol=1e-12, atol=0
    )
    both = jm.buckling(arm, 2, theory=EB, tip_force=(0, 1, 0), both_signs=True)
    assert abs(both.factors[0] + both.factors[1]) < 1e-10 * abs(both.factors[0])
    assert np.abs(found.displacement[0, 0, -1]).argmax() == 2  # out of the plane of the force
    assert np.abs(found.rotation[0, 0, -1, 0]) > 0.1


def test_a_shaft_under_torque():
    """A cantilever under a semi-tangential torque buckles at pi E I/L, twice, on either side."""
    arm = jm.SpatialArm((straight(strong=1e-9, torsion=1.5e-9),))
    found = jm.buckling(arm, 2, theory=EB, tip_moment=(1, 0, 0), both_signs=True)
    np.testing.assert_allclose(np.abs(found.factors), np.pi * E * 1e-9, rtol=1e-12, atol=0)


def assembled(link, forces, count=8):
    """The stiffness of a link between free ends over the motions of its nodes, under forces that do not vary."""
    values = modal_model(jm.SpatialArm((link,)).model(EB)).values.links[0]
    pieces = pieces_of(
        values.beam, theory_flags(EB), lambda x: np.tile(forces, (x.size, 1)), 0.0, count
    )
    whole = np.zeros((6 * count + 6, 6 * count + 6))
    for k, (own, through, give) in enumerate(zip(*pieces, strict=True)):
        hard = inv(give)
        beside = -hard @ through
        piece = np.block([[own + through.T @ hard @ through, beside.T], [beside, hard]])
        whole[6 * k : 6 * k + 12, 6 * k : 6 * k + 12] += piece
    return whole


def unstable(stiffness, held):
    """Negative eigenvalues where some motions are held."""
    free = np.setdiff1d(np.arange(len(stiffness)), np.arange(len(stiffness))[held])
    own = stiffness[np.ix_(free, free)]
    scale = 1.0 / np.sqrt(np.abs(np.diag(own)))
    return int(np.sum(eigvalsh(own * scale[:, None] * scale) < 0.0))


def test_members_between_ends_that_no_arm_has():
    """Clamped ends under torque: tan x = x, 8.9868 E I/L; fork ends under a moment: pi sqrt(E I G J)/L."""
    shaft = straight(strong=1e-9, torsion=1.5e-9)
    critical = 2.0 * float(mpmath.findroot(lambda x: mpmath.tan(x) - x, 4.49)) * E * 1e-9
    assert abs(critical - 8.9868 * E * 1e-9) < 1e-4 * critical
    beam = straight()
    moment = np.pi * np.sqrt(E * 1e-9 * G * 3e-9)
    for close, more in ((1.0 - 1e-8, 0), (1.0 + 1e-8, 1)):
        clamped = assembled(shaft, np.array([0, 0, 0, critical * close, 0, 0]), 16)
        assert unstable(clamped, [*range(6), *range(-6, 0)]) == 2 * more
        forked = assembled(beam, np.array([0, 0, 0, 0, 0, moment * close]))
        assert unstable(forked, [0, 1, 2, 3, -5, -4, -3]) == more


FRAME = {"depth": 0.03, "width": 0.0006}


def leg(torsion=None, **changes):
    section = jm.rectangle(**FRAME)
    values = {"length": 0.24, "youngs_modulus": 71.24e9, "density": 1e-9, "poisson_ratio": 0.31}
    return jm.SpatialLink(**values, section=section, torsion_constant=torsion, **changes)


def test_the_right_angle_frame_under_end_moments():
    """Hinged at both ends, which turn about the axis of the moments and slide: pi sqrt(E I G J)/L, 622.2 N mm.

    J. H. Argyris' trap: how moments at rest turn with the corner decides, and straight beams do not show it.
    """
    torsion = FRAME["depth"] * FRAME["width"] ** 3 / 3.0
    weak = FRAME["depth"] * FRAME["width"] ** 3 / 12.0
    critical = np.pi / 0.24 * np.sqrt(71.24e9 * weak * 71.24e9 / 2.62 * torsion)
    assert abs(critical - 0.6222) < 5e-5
    turn = np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    for close, more in ((1.0 - 1e-7, 0), (1.0 + 1e-7, 1)):
        own = assembled(leg(torsion), np.array([0, 0, 0, 0, 0, critical * close]))
        size = len(own)
        turned = np.eye(size)
        turned[:6, :6] = np.kron(np.eye(2), turn)  # the corner in the axes of the first leg
        whole = np.zeros((2 * size - 6, 2 * size - 6))
        whole[:size, :size] += own
        whole[size - 6 :, size - 6 :] += turned.T @ own @ turned
        # the first end slides along its leg and turns about z; the other one turns about z
        assert unstable(whole, [1, 2, 3, 4, *range(-6, -1)]) == more


def test_the_right_angle_frame_as_a_cantilever():
    """A force at the tip that stretches the first leg: 1.088 N by elements in the literature; and against it."""
    torsion = FRAME["depth"] * FRAME["width"] ** 3 / 3.0
    arm = jm.SpatialArm((leg(torsion), leg(torsion, joint_angle=-np.pi / 2)))
    found = jm.buckling(arm, 2, theory=EB, tip_force=(1, 0, 0), both_signs=True)
    assert abs(found.factors[1] - 1.088) < 2e-3
    assert abs(found.factors[0] + 0.680) < 2e-3
    assert found.certified.all()


def test_planar_arms_as_arms_in_space():
    """What happens in the plane is what the planar room finds, which has other code; the rest is out of it."""
    arm = jm.examples.three_link_industrial().with_posture([-0.6, -0.8])
    arm = jm.set_parameters(arm, {"link1.joint_angle": 1.2, "payload.mass": 10.0})
    flat = jm.buckling(arm, 1, gravity=(0.0, -9.81))
    found = jm.buckling(jm.to_spatial(arm), 4, gravity=(0.0, -9.81, 0.0))
    out = np.abs(found.displacement[..., 2]).max(axis=(1, 2))
    np.testing.assert_allclose(found.factors[out < 1e-9], flat.factors, rtol=1e-12, atol=0)
    assert np.sum(out > 0.1) == 3
    planar = jm.preloaded_frequencies(arm, 2, gravity=(0.0, -9.81))
    every = jm.preloaded_frequencies(jm.to_spatial(arm), 3, gravity=(0.0, -9.81, 0.0)).omega
    for omega in planar.omega:
        assert np.abs(every / omega - 1.0).min() < 1e-8


def test_near_the_critical_load_equilibria_say_so():
    arm = jm.SpatialArm((straight(),))
    critical = jm.buckling(arm, 1, theory=EB, tip_force=(-1, 0, 0)).factors[0]
    with pytest.warns(
        jm.LargeDeflectionWarning, match=r"the critical load is (2|1\.99\d*|2\.00\d*) times"
    ):
        jm.static_equilibrium(arm, theory=EB, tip_force=(-critical / 2.0, 0, 0))
    with pytest.raises(jm.ArmError, match=r"the loads buckle the arm: its critical load is 0\.5"):
        jm.static_equilibrium(arm, theory=EB, tip_force=(-2.0 * critical, 0, 0))


def test_what_cannot_buckle_and_what_is_refused():
    arm = jm.SpatialArm((straight(),))
    pulled = jm.buckling(arm, 2, theory=EB, tip_force=(1, 0, 0))
    assert np.isposinf(pulled.factors).all()
    assert pulled.certified.all()
    for own, options, message in (
        (arm, {}, "no load"),
        (jm.SpatialArm((straight(joint_stiffness=0.0),)), {"tip_force": (-1, 0, 0)}, r"a mechanism without load"),
        (jm.SpatialArm((jm.SpatialLink(1.0, rigid=True),)), {"tip_force": (-1, 0, 0)}, "rigid throughout"),
        (jm.examples.three_link_industrial(), {"gravity": (0, -9.81), "tip_moment": 1.0}, "tip_moment = 1\\.0"),
    ):  # fmt: skip
        with pytest.raises(jm.ArmError, match=message):
            jm.buckling(own, 1, theory=EB, **options)
    with pytest.raises(jm.ArmError, match="rigid throughout"):
        jm.preloaded_frequencies(
            jm.SpatialArm((jm.SpatialLink(1.0, rigid=True),)), 1, tip_force=(1, 0, 0)
        )


def test_results_show_themselves_and_commands_take_arms_in_space(tmp_path):
    arm = jm.examples.six_axis_industrial()
    arm = arm.replace(links=arm.links[:3])
    found = jm.buckling(arm, 2, gravity=DOWN)
    assert "certified" in str(found)
    assert found.to_xarray().displacement.dims == ("factor", "link", "station", "axis")
    assert "buckling 1" in found.plot(view="x-z").get_title()
    with pytest.raises(jm.ArmError, match="view = 'front'"):
        found.plot(view="front")
    path = tmp_path / "arm.toml"
    jm.write_arm(arm, path)
    words = ["--no-check", "buckling", str(path), "--gravity", "0,0,-9.81", "--format", "json"]
    run = run_command(*words)
    assert run.exit_code == 0, run.output
    assert json.loads(run.stdout)["factors"][0]["load_factor"] == found.factors[0]
    words = ["--no-check", "frequencies", str(path), "--modes", "2", "--gravity", "0,0,-9.81"]
    run = run_command(*words, "--format", "json")
    assert run.exit_code == 0, run.output
    (entry,) = json.loads(run.stdout)
    omega = jm.preloaded_frequencies(arm, 2, gravity=DOWN).omega
    np.testing.assert_allclose(entry["frequencies_hz"], omega / (2 * np.pi), rtol=1e-15, atol=0)
