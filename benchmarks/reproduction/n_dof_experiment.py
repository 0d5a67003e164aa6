"""The experiment of the N-DOF paper: free vibration under gravity, and tracking of a circle by PD control.

Its Table 2 gives lengths, masses, stiffnesses, lumped masses, gears and friction. The text does not give the shapes,
frames, hubs, rotors and friction of the simulation. Several choices are therefore compared, and none is fitted.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxmodal.arm.arm import Arm
from jaxmodal.arm.links import Link
from jaxmodal.arm.sections import raw_section
from jaxmodal.dynamics import (
    FeedForward,
    FlexibleArm,
    FlexibleModel,
    Hold,
    JointPD,
    Law,
    TipCircle,
    flexible_arm,
    linearise,
    simulate,
    static_state,
)
from jaxmodal.dynamics.drives.rules import holder, numbers
from jaxmodal.frequencies.one_arm import natural_frequencies

if TYPE_CHECKING:
    import xarray

PRINTED = (12.246, 40.82)
START = np.radians([45.0, -45.0])
GEAR = np.array([64.0, 32.0])
RATED = np.array([0.5, 0.32]) * GEAR
PROPORTIONAL, DERIVATIVE = 125.0, 25.0
LENGTHS = (0.475, 0.435)
CENTRE, RADIUS, RATE = (0.67, 0.34), 0.1, 0.2 * np.pi
#: the printed 2.06e11 "GPa" is in Pa
MODULUS = 2.06e11
SAMPLES = np.linspace(0.0, 10.0, 501)

CHOICES = """\
- The modulus, printed 2.06e11 GPa, is in Pa. M1 stands at joint 2, M2 at the tip; no hubs, no payload.
- Free vibration: joints locked, straight links released under gravity, 10 s sampled every 20 ms as in the experiment;
  Hann window, zero-padded 16 times. The printed frequencies lie at multiples of 0.05 Hz (1.95 and 6.5 Hz), so they are
  good to about 0.16 rad/s.
- Circle: start at rest at (45, -45) deg, sagging, elbow as there, once around in 10 s; friction reflected by the
  gears, smoothed over 0.02 rad/s; rotors of 1e-5 kg m^2; Kelvin-Voigt damping of the links, 2e-4 s. Whether the gains
  act at the joint or at the motor is not said, nor is a compensation of gravity."""


def table_2_arm(geared: bool = False) -> Arm:
    """The arm of the paper's Table 2 in the posture (45, -45) deg, with rotors if ``geared``."""
    rows = ((0.475, 0.374, 16e-11, 2.94), (0.435, 0.29, 6.75e-11, 0.343))
    links = []
    for (length, mass, second_moment, lumped), gear, angle in zip(rows, GEAR, START, strict=True):
        rotor = (
            {"rotor_inertia": 1e-5, "gear_ratio": float(gear), "motor": "held"} if geared else {}
        )
        section = raw_section(area=1e-4, second_moment=second_moment)
        density = mass / length / 1e-4
        more: dict[str, Any] = {"tip_mass": lumped, "joint_angle": float(angle), **rotor}
        links.append(Link(length, MODULUS, density, section, **more))
    return Arm(tuple(links), name="N-DOF paper, Table 2")


class Vibration(NamedTuple):
    """Two angular frequencies in rad/s of a model of the locked arm, and the positions of its peaks; NaN if missing."""

    what: str
    small: np.ndarray
    peaks: np.ndarray


WAYS = (
    ("clamped-mass, 2 modes, linear frames", "clamped_mass", 2, "linear", False),
    ("clamped-mass, 2 modes, rotation, foreshortening", "clamped_mass", 2, "rotation", True),
    ("clamped-free, 2 modes, linear frames", "clamped_free", 2, "linear", False),
    ("clamped-free, 2 modes, rotation, foreshortening", "clamped_free", 2, "rotation", True),
)


def free_vibration() -> tuple[list[Vibration], xarray.Dataset]:
    """Frequencies of the locked arm for several models, and the motion of the first model."""
    unknown = np.full(2, np.nan)
    exact = np.asarray(natural_frequencies(table_2_arm(), 2, theory="bending_only").omega)
    found = [Vibration("exact beams, straight links (the engine)", exact, unknown)]
    many = _locked("polynomial", 6, "rotation", True)
    found.append(Vibration("polynomials, 6 modes, rotation, foreshortening", _small(many), unknown))
    shown: xarray.Dataset | None = None
    for what, family, modes, frames, foreshortening in WAYS:
        model = _locked(family, modes, frames, foreshortening)
        start = np.concatenate([START, np.zeros(model.num_coordinates - 2)])
        # steps of 1 ms, the simulation interval of the paper
        motion = simulate(model, SAMPLES, start, motion=Hold(START), method="rk4", step=1e-3)
        found.append(Vibration(what, _small(model), spectrum_peaks(motion)))
        shown = motion if shown is None else shown
    assert shown is not None
    return found, shown


def _locked(family: str, modes: int, frames: str, foreshortening: bool) -> FlexibleArm:
    return flexible_arm(
        table_2_arm(),
        modes,
        shapes=family,
        gravity=(0.0, -9.81),
        frames=frames,
        foreshortening=foreshortening,
    )


def _small(model: FlexibleArm) -> np.ndarray:
    """The two lowest angular frequencies of small vibrations about the sagging equilibrium, rad/s."""
    state = static_state(model, START)
    return linearise(model, state, joints="locked").natural_frequencies()[:2]


def spectrum(motion: xarray.Dataset) -> tuple[np.ndarray, np.ndarray]:
    """Angular frequencies in rad/s, and the amplitudes of the vertical tip acceleration at these."""
    times, signal = motion["time"].values, motion["tip_acceleration"].values[:, 1]
    windowed = (signal - signal.mean()) * np.hanning(signal.size)
    size = 16 * signal.size
    amplitudes = np.abs(np.fft.rfft(windowed, size)) * 4.0 / signal.size
    return 2.0 * np.pi * np.fft.rfftfreq(size, times[1] - times[0]), amplitudes


def spectrum_peaks(motion: xarray.Dataset) -> np.ndarray:
    """Highest peaks from 5 to 20 and from 25 to 60 rad/s."""
    omega, amplitude = spectrum(motion)
    found = []
    for low, high in ((5.0, 20.0), (25.0, 60.0)):
        inside = np.flatnonzero((omega > low) & (omega < high))
        found.append(omega[inside[amplitude[inside].argmax()]])
    return np.array(found)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class TrackingLaw(Law):
    """PD control along a path, with a fraction of the rigid arm's gravity torques, saturated at a limit."""

    pd: JointPD = holder("a JointPD", lambda value: isinstance(value, JointPD))
    compensation: Any = numbers("finite")
    limit: Any = numbers("greater than 0, one for each joint (N m)", lambda value: value > 0.0)

    def __call__(self, time: Any, q: Any, rate: Any, model: FlexibleModel) -> Any:
        held = FeedForward(self.pd.motion, gravity_alone=True)(time, q, rate, model)
        asked = self.pd(time, q, rate, model) + self.compensation * held
        return jnp.clip(asked, -self.limit, self.limit)


class Tracking(NamedTuple):
    """Largest errors of both joints in degrees, largest torques in N m, and tip error after 2 s, m."""

    what: str
    first_second: np.ndarray
    later: np.ndarray
    torques: np.ndarray
    later_torques: np.ndarray
    off_circle: float
    balance: float


def circle() -> TipCircle:
    """Path of the paper's second case."""
    return TipCircle(CENTRE, RADIUS, RATE, LENGTHS, elbow=-1.0)


def tracking() -> tuple[list[Tracking], xarray.Dataset]:
    """Results for the circle with three controllers, and the motion with the last one."""
    model = flexible_arm(
        table_2_arm(geared=True),
        2,
        gravity=(0.0, -9.81),
        viscous_friction=np.array([0.0037, 0.0023]) * GEAR**2,
        coulomb_friction=np.array([0.0345, 0.0226]) * GEAR,
        coulomb_width=0.02,
        kelvin_voigt_time=2e-4,
    )
    no_limit, path = np.full(2, 1e9), circle()
    at_joint = JointPD(path, PROPORTIONAL * np.ones(2), DERIVATIVE * np.ones(2))
    at_motor = JointPD(path, PROPORTIONAL * GEAR, DERIVATIVE * GEAR)
    laws = {
        "A: gains at the joint": TrackingLaw(at_joint, 0.0, no_limit),
        "B: A with the rigid arm's gravity torques": TrackingLaw(at_joint, 1.0, no_limit),
        "C: gains times the gear ratio, rated limits": TrackingLaw(at_motor, 0.0, RATED),
    }
    wanted = np.array([path(time)[0] for time in SAMPLES])
    turned = RATE * SAMPLES
    on_circle = np.stack(
        [CENTRE[0] + RADIUS * np.cos(turned), CENTRE[1] + RADIUS * np.sin(turned)], axis=-1
    )
    start = np.asarray(static_state(model, START))
    found = []
    for what, law in laws.items():
        # gains at the motor, times inertias of a link's end: rates of 1e4 1/s and more
        method = "kvaerno5" if law.pd is at_motor else "dopri8"
        motion = simulate(model, SAMPLES, start, torque=law, method=method, rtol=1e-6, atol=1e-8)
        error = np.abs(np.degrees(motion["joint_angle"].values - wanted))
        torques = np.abs(motion["torque"].values)
        away = np.hypot(*(motion["tip_position"].values - on_circle).T)
        late = SAMPLES >= 2.0
        found.append(
            Tracking(
                what,
                error[SAMPLES <= 1.0].max(axis=0),
                error[late].max(axis=0),
                torques.max(axis=0),
                torques[late].max(axis=0),
                float(away[late].max()),
                float(motion.attrs["energy_balance_error"]),
            )
        )
    return found, motion
