"""What a move of its joints excites of an arm: the exact modes along the way, each an oscillator, and what is left."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jaxmodal.arm.arm import Arm
from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.dynamics.drives.motions import Motion
from jaxmodal.moves.evaluation import question_of, vibration_of, warn_of_the_way
from jaxmodal.moves.results import MoveVibration
from jaxmodal.spatial.arms.arm import SpatialArm


def move_vibration(
    arm: Arm | SpatialArm,
    move: Motion,
    num_modes: int = 6,
    *,
    theory: TheoryName = "timoshenko",
    damping_ratio: Any = 0.0,
    gravity: Any = None,
    duration: float | None = None,
    num_postures: int = 33,
    progress: Callable[[int, int], None] | None = None,
) -> MoveVibration:
    """What a move excites: certified frequencies along it, and the vibration of the tip that it leaves.

    Parameters
    ----------
    arm : Arm or SpatialArm
        A clamped arm without loads, concrete. Its motors follow the move exactly; springs of joints lie beyond them.
    move : Motion
        Angles of all joints by time, from rest to rest: `RestToRest`, `trapezoid`, `s_curve`, `cubic_spline`, `Shaped`
        or another of `jaxmodal.dynamics`.
    num_modes, theory
        As for `natural_frequencies`. Of an arm of rigid links no more than it has springs.
    damping_ratio
        Of the modes, one number for all or ``(num_modes,)``, from 0 to below 1.
    gravity
        In m/s^2 along the axes of the ground, two numbers in the plane and three in space. It moves the arm from its
        rest there, and changes no frequency. Left out for none.
    duration
        Time of the stop, s, from the move's beginning at 0; only for a motion that does not know it.
    num_postures
        In how many postures, evenly spread over the way, modes are computed.
    progress
        Called with (postures done, all of them).

    Returns
    -------
    MoveVibration
        Modes are numbered as at the stop.

    Raises
    ------
    ArmError
        The arm floats, stands on springs or supports, bears loads, has free joints or joints that slide, is traced, or
        nothing of it gives way; the move does not begin and end at rest, or is not one of this arm.
    UncertifiedError
        A frequency could not be certified.

    Warns
    -----
    ImplausibleWarning
        The tip is bent by more than a tenth of the arm's length, where small vibrations say little; an angle is beyond
        two turns, or beyond the limits of its joint.

    Notes
    -----
    Each mode, of unit mass, is an oscillator with the force of inertia of the rigid arm on its way, accelerations
    towards the centre and gyroscopic moments included. That modes change with the posture enters by their frequencies
    and forces, which are interpolated between postures. What their change of shape adds, and what the vibration does to
    the motion, is left out: both are small where the joints turn little in a period, and deflections are small.

    Examples
    --------
    >>> import jax; jax.config.update("jax_enable_x64", True)
    >>> import jaxmodal as jm
    >>> from jaxmodal import dynamics
    >>> from jaxmodal.moves import move_vibration
    >>> arm = jm.Arm((jm.Link(1.0, 7e10, 2700.0, jm.rectangle(depth=0.01, width=0.05)),))
    >>> found = move_vibration(arm, dynamics.RestToRest([0.0], [0.1], 0.3), 2, theory="euler_bernoulli")
    >>> f"{found.frequencies_hz[0]:.3f} Hz leaves {found.amplitudes_mm[0]:.2f} mm"
    '8.225 Hz leaves 3.61 mm'
    """
    question = question_of(arm, num_modes, theory, damping_ratio, gravity, num_postures)
    found = vibration_of(arm, move, question, duration, progress=progress)
    warn_of_the_way(arm, found)
    return found
