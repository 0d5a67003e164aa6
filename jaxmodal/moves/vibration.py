"""Vibration that a move of the joints excites: exact modes along the path, each integrated as an oscillator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.dynamics.drives.motions import Motion
from jaxmodal.moves.evaluation import question_of, vibration_of, warn_of_the_way
from jaxmodal.moves.results import MoveVibration
from jaxmodal.spatial.arms.arm import AnyArm


def move_vibration(
    arm: AnyArm,
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
    """Compute the vibration that a move excites: certified frequencies along it, and residual tip vibration.

    Parameters
    ----------
    arm : Arm or SpatialArm
        A clamped arm without loads, with concrete values; it may stand on supports that give way, unstrained in its
        own posture. Its motors follow the move exactly; the joint springs are between motor and link.
    move : Motion
        Angles of all joints over time, from rest to rest: `RestToRest`, `trapezoid`, `s_curve`, `cubic_spline`,
        `Shaped` or another motion of `jaxmodal.dynamics`.
    num_modes, theory
        As for `natural_frequencies`. An arm of rigid links has at most as many modes as springs.
    damping_ratio
        Damping ratio of the modes, one number for all or ``(num_modes,)``, from 0 to below 1.
    gravity
        Gravity along the axes of the ground, m/s^2: two numbers in the plane, three in space. It changes the rest
        position of the arm, but no frequency. None by default.
    duration
        Time of the stop, s, from the start of the move at 0; required only if the motion has no end time of its own.
    num_postures
        Number of postures, evenly spaced along the path, in which modes are computed.
    progress
        Called with (postures done, total number of postures).

    Returns
    -------
    MoveVibration
        The result; modes are numbered as at the stop.

    Raises
    ------
    ArmError
        If the arm floats, has an elastic base or rigid supports, bears loads, has free or prismatic joints, is traced,
        or has no flexibility; or if the move does not begin and end at rest, does not fit the arm, or turns a tip in
        space by half a turn against a support.
    UncertifiedError
        If a frequency could not be certified.

    Warns
    -----
    ImplausibleWarning
        If the tip deflects by more than a tenth of the arm's length, where the theory of small vibrations is
        inaccurate; or if an angle exceeds two turns or the limits of its joint.

    Notes
    -----
    Each mode of unit modal mass is an oscillator driven by the inertia forces of the rigid arm along the path,
    including centripetal accelerations and gyroscopic moments, by gravity and by the supports that it strains. The
    dependence of the modes on the posture enters through their frequencies and forces, which are interpolated between
    postures. Two effects are neglected: forces due to the change of the mode shapes, and the reaction of the vibration
    on the motion. Both are small if the joints turn little in a period and deflections are small.

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
