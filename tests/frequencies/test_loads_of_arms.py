"""Are arms that bear loads of their own right in every posture, by every address, in batches as one by one?

Against the characteristic equation of a loaded cantilever with 40 digits, and finite elements whose axial force
varies along links.
"""

import dataclasses
import json

import jax
import mpmath
import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.modes import planar_batches
from tests.support import finite_elements
from tests.support.commands import run_command
from tests.support.real_arms import relative, steel

L, EI, LINE = 0.5, 2e11 * 0.04 * 0.02**3 / 12, 7800.0 * 8e-4
THEORY = "euler_bernoulli"


def cantilever(**values):
    """A cantilever along x with a body at its tip, under gravity at an angle and a force at its tip."""
    loads = {"gravity": 40.0, "gravity_direction": 0.4, "tip_force_x": -300.0, "tip_force_y": 70.0}
    return jm.set_parameters(
        jm.Arm((steel(),), jm.Payload(mass=2.0), loads=jm.Loads(**loads, pieces=1)), values
    )


def lowest(guess, length=L, mass=2.0, gravity=40.0, direction=0.4, along=-300.0):
    """The root near ``guess`` of the cantilever's equation, the force of its middle throughout; 40 digits."""
    mp = mpmath.mp
    density, area = mp.mpf(7800), mp.mpf(0.02) * mp.mpf(0.04)
    rigidity = mp.mpf(2e11) * mp.mpf(0.04) * mp.mpf(0.02) ** 3 / 12
    line = density * area
    force = gravity * mp.cos(direction) * (mass + line * length / 2) + along

    def condition(omega):
        n, b4 = force / rigidity, line * omega**2 / rigidity
        root = mp.sqrt(n * n / 4 + b4)
        a, b = mp.sqrt(root + n / 2), mp.sqrt(root - n / 2)
        x, y = a * length, b * length
        # w = A (cosh ax - cos bx) + B (sinh ax - a/b sin bx); M = 0, -EI w''' + N w' - omega^2 m w = 0
        bend = (a * a * mp.cosh(x) + b * b * mp.cos(y), a * a * mp.sinh(x) + a * b * mp.sin(y))
        w = (mp.cosh(x) - mp.cos(y), mp.sinh(x) - a / b * mp.sin(y))
        slope = (a * mp.sinh(x) + b * mp.sin(y), a * mp.cosh(x) - a * mp.cos(y))
        third = (a**3 * mp.sinh(x) - b**3 * mp.sin(y), a**3 * mp.cosh(x) + a * b**2 * mp.cos(y))
        tip = [-rigidity * third[k] + force * slope[k] - omega**2 * mass * w[k] for k in (0, 1)]
        return bend[0] * tip[1] - bend[1] * tip[0]

    return mp.findroot(condition, (guess * (1 - mp.mpf("1e-6")), guess * (1 + mp.mpf("1e-6"))))


NAMES = {
    "loads.gravity": ("gravity", 40.0),
    "loads.gravity_direction": ("direction", 0.4),
    "loads.tip_force_x": ("along", -300.0),
    "payload.mass": ("mass", 2.0),
    "link1.length": ("length", L),
}


def test_frequencies_and_derivatives_against_40_digits():
    """The payload's mass and the length change the axial force as well; a force across the link changes nothing."""
    arm = cantilever()
    found = jm.natural_frequencies(arm, 2, theory=THEORY)
    table = jm.sensitivities(arm, 2, theory=THEORY, addresses=[*NAMES, "loads.tip_force_y"])
    with mpmath.workdps(40):
        for k in range(2):
            truth = lowest(mpmath.mpf(float(found.omega[k])))
            assert abs(float(found.omega[k]) / truth - 1) <= 1e-13
            for i, (name, value) in enumerate(NAMES.values()):
                h = mpmath.mpf("1e-12") * value
                ends = [lowest(truth, **{name: mpmath.mpf(value) + s * h}) for s in (-1, 1)]
                rate = (ends[1] - ends[0]) / (2 * h) / (2 * mpmath.pi)
                assert abs(float(table.derivative_hz[k, i]) / rate - 1) <= 1e-10
            assert table.derivative_hz[k, len(NAMES)] == 0.0


def of_two(angle, payload, gravity, pieces=4, bound="middle"):
    loads = jm.Loads(gravity=gravity, tip_force_x=-400.0, pieces=pieces, bound=bound)
    first, second = steel(joint_angle=1.0, tip_mass=1.0), steel(joint_angle=angle)
    return jm.Arm((first, second), jm.Payload(mass=payload), loads=loads)


def truth_of(angle, payload, gravity):
    """Finite elements with the forces that statics by hand gives at the ends of the two links."""
    arm = of_two(angle, payload, gravity)
    ends, beyond = [], np.array([-400.0, -gravity * payload])
    for turned, body in ((1.0 + angle, 0.0), (1.0, 1.0)):
        along = np.array([np.cos(turned), np.sin(turned)])
        beyond = beyond + np.array([0.0, -gravity * body])
        at_start = beyond + np.array([0.0, -gravity * LINE * L])
        ends.insert(0, (float(along @ at_start), float(along @ beyond)))
        beyond = at_start
    case = finite_elements.case_from_arm(arm.replace(loads=None), "timoshenko")
    links = [dataclasses.replace(x, axial=n) for x, n in zip(case.links, ends, strict=True)]
    return finite_elements.frequencies(dataclasses.replace(case, links=tuple(links)), 3, 16)


CELLS = {
    "link2.joint_angle": np.array([-2.0, -0.3, 1.4]),
    "payload.mass": np.array([20.0, 5.0, 40.0]),
    "loads.gravity": np.array([9.81, 300.0, 50.0]),
}


def test_a_batch_over_postures_payloads_and_gravity():
    """Cell by cell between the bounds, which the loads of the arm ask for, and right when extrapolated."""
    truth = np.array([truth_of(*cell) for cell in zip(*CELLS.values(), strict=True)])

    def found(**more):
        return jm.natural_frequencies_batch(of_two(0.0, 1.0, 1.0, **more), CELLS, 3)

    four, eight = found(), found(pieces=8)
    assert four.certified.all()
    assert np.all(found(bound="lower").omega < truth)
    assert np.all(truth < found(bound="upper").omega)
    error = relative(eight.omega, four.omega) / 3  # of four pieces over 4, as docs say
    assert np.all(relative(eight.omega, truth) <= 1.2 * error + 1e-10)
    assert np.max(error) > 1e-6
    alone = [jm.natural_frequencies(of_two(*cell), 3) for cell in zip(*CELLS.values(), strict=True)]
    assert np.max(relative(four.omega, [x.omega for x in alone])) <= 1e-13
    as_arguments = of_two(-2.0, 20.0, 9.81).replace(loads=None)
    as_arguments = jm.preloaded(
        as_arguments, gravity=(0.0, -9.81), tip_force=(-400.0, 0.0), pieces=4
    )
    same = jm.natural_frequencies(as_arguments, 3)
    assert np.max(relative(same.omega, alone[0].omega)) <= 1e-13


def test_cells_that_buckle_or_that_nothing_holds():
    """A status each; one arm alone has a message."""
    arm = cantilever(**{"loads.gravity": 0.0})
    critical = np.pi**2 * EI / (4 * L**2)
    forces = {"loads.tip_force_x": np.array([-0.99, -1.01]) * critical}
    found = jm.natural_frequencies_batch(arm, forces, 2, theory=THEORY)
    assert found.status[:, 0].tolist() == [jm.Status.certified, jm.Status.unstable]
    hinged = arm.replace(links=(steel(joint_stiffness=0.0),))
    free = {"loads.tip_force_y": np.array([0.0, 5.0]), "loads.tip_force_x": np.full(2, 10.0)}
    hanging = jm.natural_frequencies_batch(
        hinged.replace(loads=hinged.loads.replace(tip_force_y=0.0)), free, 2, theory=THEORY
    )
    assert hanging.status[:, 0].tolist() == [jm.Status.certified, jm.Status.invalid_input]
    with pytest.raises(jm.ArmError, match=r"link1\.joint_stiffness = 0: nothing holds the arm"):
        jm.natural_frequencies(hinged, 1)
    with pytest.raises(jm.ArmError, match="loads: they press a link beyond -kappa G A"):
        jm.natural_frequencies(cantilever(**{"loads.tip_force_x": -4e8}), 1)


@pytest.mark.slow
def test_derivatives_of_traced_arms():
    """As `sensitivities`, by jax.grad outside of programs."""
    arm = cantilever()

    def omega(mass):
        changed = jm.set_parameters(arm, {"payload.mass": mass})
        return jm.natural_frequencies(changed, 1, theory=THEORY).omega[0]

    table = jm.sensitivities(arm, 1, theory=THEORY, addresses=["payload.mass"])
    rate = float(jax.grad(omega)(2.0)) / (2 * np.pi)
    assert abs(rate / float(table.derivative_hz[0, 0]) - 1) <= 1e-12


def test_shapes():
    """Those of the segments."""
    shapes = jm.mode_shapes(of_two(-0.3, 5.0, 100.0, pieces=2), 3)
    assert shapes.u.shape[1] == 4
    assert np.max(shapes.residuals) <= 1e-10


@pytest.mark.parametrize("in_numpy", [128, pytest.param(0, marks=pytest.mark.slow)])
def test_energies_of_batches(monkeypatch, in_numpy):
    """By link, and they add up as in the shapes; in NumPy and by the program."""
    monkeypatch.setattr(planar_batches, "_HOST_MODES", in_numpy)
    arm = of_two(-0.3, 5.0, 100.0, pieces=2)
    shapes = jm.mode_shapes(arm, 3)
    cells = {"payload.mass": np.array([5.0])}
    found = jm.natural_frequencies_batch(arm, cells, 3)
    quantities = jm.modal_quantities_batch(arm, cells, found, addresses=["loads.gravity"])
    bending = np.asarray(shapes.energies.bending).reshape(3, 2, 2).sum(axis=-1)
    assert np.max(relative(quantities.energies.bending[0], bending)) <= 1e-9
    table = jm.sensitivities(arm, 3, addresses=["loads.gravity"])
    assert np.max(relative(quantities.derivative[0], table.derivative_hz * 2 * np.pi)) <= 1e-8


def test_files_and_what_is_shown(tmp_path):
    arm = of_two(-0.3, 5.0, 100.0, pieces=7, bound="upper")
    path = tmp_path / "arm.toml"
    jm.write_arm(arm, path)
    assert jm.read_arm(path, check=False) == arm
    path.write_text(
        path.read_text().replace("gravity = 100.0", "gravity = 100.0\ngravity_direction_deg = 180")
    )
    turned = jm.read_arm(path, check=False)
    assert float(turned.loads.gravity_direction) == np.pi
    assert "loads: gravity 100 m/s^2" in str(arm)
    assert ("loads.gravity", 100.0, "m/s^2") in jm.check_arm(arm).features
    assert [a for a in jm.list_addresses(arm) if a.startswith("loads.")] == [
        "loads.gravity",
        "loads.gravity_direction",
        "loads.tip_force_x",
    ]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, r"loads: there is none; give one of gravity, tip_force_x"),
        (
            {"gravity": -9.81},
            r"loads\.gravity = -9\.81: must be finite and 0 or more.*gravity_direction",
        ),
        ({"gravity": 9.81, "pieces": 0}, r"loads\.pieces = 0: must be a whole number"),
        ({"gravity": 9.81, "bound": "both"}, r"loads\.bound = 'both': must be one of 'middle'"),
        ({"weight": 9.81}, "Loads has no field 'weight'"),
    ],
)
def test_bad_loads(given, message):
    with pytest.raises(jm.ArmError, match=message):
        jm.Loads(**given)


def test_what_takes_no_loads_says_so():
    arm = of_two(-0.3, 5.0, 100.0)
    with pytest.raises(jm.ArmError, match=r"'loads\.gravity' is not a parameter.*has no loads"):
        jm.set_parameters(arm.replace(loads=None), {"loads.gravity": 9.81})
    with pytest.raises(
        jm.ArmError, match=r"'loads\.tip_force_y' is not a parameter.*no value there"
    ):
        jm.set_parameters(arm, {"loads.tip_force_y": 9.81})
    with pytest.raises(jm.ArmError, match=r"loads = 9\.81: must be Loads"):
        arm.replace(loads=9.81)
    with pytest.raises(jm.ArmError, match="loads: the arm has some"):
        jm.postures_at(arm, 1.0)


def run(*words):
    return run_command("--no-check", *words)


def test_the_command_tells_arms_with_and_without_loads_apart(tmp_path, monkeypatch):
    """Loads of zero are none; json has the loads of the file, too, and what is said of joint 1 is true."""
    paths = {name: tmp_path / f"{name}.toml" for name in ("loaded", "zero", "bare")}
    arm = jm.Arm((steel(joint_angle=1.0),), loads=jm.Loads(gravity=9.81, tip_force_x=2.0, pieces=1))
    zero = jm.set_parameters(arm, {"loads.gravity": 0.0, "loads.tip_force_x": 0.0})
    for name, one in (("loaded", arm), ("zero", zero), ("bare", arm.replace(loads=None))):
        jm.write_arm(one, paths[name])
    same = run("frequencies", paths["zero"], paths["bare"], "--modes", "1", "--format", "json")
    of_zero, of_bare = (x["frequencies_hz"] for x in json.loads(same.stdout))
    assert of_zero == pytest.approx(of_bare, rel=1e-13)
    monkeypatch.setattr("jaxmodal.cli.frequencies.TOLERANCE", 1e-3)  # digits are not the question
    mixed = run("frequencies", paths["loaded"], paths["bare"])
    assert mixed.exit_code == 2
    assert f"{paths['bare']}: has no loads, and {paths['loaded']} has" in mixed.output
    for words in (("frequencies", "--modes", "1"), ("buckling",)):
        given = ("--tip-force", "1,-5", "--format", "json")
        found = json.loads(run(words[0], paths["loaded"], *words[1:], *given).stdout)
        loads = (found[0] if isinstance(found, list) else found)["loads"]
        assert loads == {"tip_force": [3.0, -5.0], "gravity": pytest.approx([0.0, -9.81])}
    refused = run("frequencies", paths["loaded"], "--posture-deg", "1,2")
    assert "takes 1 angle or none" in refused.output
    assert "posture 57.2958°" in str(arm)


def test_whole_numbers_of_numpy_are_taken():
    assert jm.Loads(gravity=9.81, pieces=np.int64(3)) == jm.Loads(gravity=9.81, pieces=3)


def test_commands_on_an_arm_that_its_loads_buckle(tmp_path):
    """JSON has null where a value is none; there is nothing to draw, and that is said."""
    path, picture = tmp_path / "arm.toml", tmp_path / "modes.png"
    arm = jm.Arm((steel(),), loads=jm.Loads(tip_force_x=-1e6))
    jm.write_arm(arm, path)
    for words in (("modes",), ("sensitivities", "--address", "link1.length")):
        found = run(*words, path, "--modes", "1", "--format", "json")
        assert found.exit_code == 1
        plain = json.loads(found.stdout, parse_constant=lambda name: pytest.fail(name))
        assert (plain[0] if isinstance(plain, list) else plain)["frequencies_hz"] == [None]
    drawn = run("modes", path, "--modes", "1", "--plot", picture)
    assert drawn.exit_code == 1
    assert "no picture: some modes have no shape" in drawn.stderr
    assert not picture.exists()
    shapes = jm.mode_shapes(arm, 1, throw=False)
    with pytest.raises(ValueError, match="mode 1 has no shape to draw: its status is unstable"):
        shapes.plot()
