"""Lumped arms: chains of rigid pieces with springs fitted to certified frequencies in many postures."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.optimize import least_squares
from scipy.stats import qmc

from jaxmodal.arm.arguments import is_whole, reals, require_truth, whole
from jaxmodal.arm.quantities import shown
from jaxmodal.dynamic_stiffness.beams import TheoryName, theory_flags
from jaxmodal.exchange.chain import IN_PLANE, WAYS, Chain, chain_of, joint_names
from jaxmodal.exchange.refusals import arm_in_space, require_lumpable
from jaxmodal.exchange.results import LumpedArm
from jaxmodal.exchange.vibration import Stance, springs_of
from jaxmodal.frequencies.one_arm import natural_frequencies
from jaxmodal.runtime import limits
from jaxmodal.runtime.array_types import Bools, Floats
from jaxmodal.runtime.errors import ArmError
from jaxmodal.spatial.arms.arm import AnyArm, SpatialArm

#: weight of the logarithm of a spring's factor against relative errors of frequencies: keeps undetermined springs
#: unchanged
_PULL = 1e-3
#: largest factor of a spring in a fit, and the inverse of the smallest
_MOST_FACTOR = 4.0
#: least number of postures in which springs are fitted
_FEWEST = 8
#: most postures in which errors are reported
MOST_POSTURES = 1000
#: most points of a link
_MOST_PIECES = 32


def lumped(
    arm: AnyArm,
    *,
    pieces: int | Sequence[int] = 4,
    num_modes: int = 5,
    postures: Any = 20,
    theory: TheoryName = "timoshenko",
    slides: bool | None = None,
) -> LumpedArm:
    """Return an arm as rigid pieces on hinges with springs, fitted to its certified frequencies.

    Parameters
    ----------
    arm
        An arm in space, or a planar arm, which stays in its plane.
    pieces
        Number of flexible points in each flexible link, 1 to 32, or one number per link. A link has one more rigid
        piece than points.
    num_modes
        Number of frequencies that are fitted and reported.
    postures
        Number of postures in which errors are reported, in addition to that of the arm; or the postures themselves, (P,
        n), in rad (prismatic joints: m).
    theory
        Beam theory of the certified frequencies.
    slides
        True if the points also slide: along the link if the theory has axial motion, and across it if it has shear.
        None: only in links that shear makes more compliant by over 1 %. Slides add fast oscillations, which force small
        steps in a simulator.

    Returns
    -------
    LumpedArm
        The lumped arm with its frequency errors in all postures, for printing, or for `write_mjcf` and `write_urdf`.

    Raises
    ------
    ArmError
        If an argument is invalid, or the arm has features that rigid pieces cannot represent: see `docs/exchange.md`.

    Notes
    -----
    The points are those of Gauss quadrature. Each has separate springs in bending about y and z, in torsion, and in
    sliding if present. Mass, centre of gravity and inertia of all links are preserved. A factor on each spring is
    fitted by least squares of the relative frequency errors, with the error of mode k divided by k^2. The fit uses
    other postures than the report, at least eight: low-discrepancy points within the joint limits. Springs of joints
    are unchanged.

    Examples
    --------
    >>> import jax; jax.config.update("jax_enable_x64", True)
    >>> import jaxmodal as jm
    >>> found = lumped(jm.examples.two_link_flexible(), postures=3, num_modes=2)
    >>> found.frequencies_hz.shape, bool(abs(found.errors).max() < 1e-3)
    ((4, 2), True)
    """
    require_lumpable(arm)
    counts = _counts(pieces, arm.num_links)
    wanted = whole("num_modes", num_modes, 1, limits.MODES)
    if slides is not None:
        require_truth("slides", slides)
    in_space, planar = arm_in_space(arm)
    chain = chain_of(in_space, counts, _ways(planar, theory), slides)
    own = np.array([in_space.value_at(f"link{k}.{in_space.position_of(k)}") for k in arm.joints])
    stated, fitted = _postures(in_space, own, postures)
    stances = [Stance(chain, posture, True) for posture in stated]
    stiffness = springs_of(chain)
    wanted = min(wanted, *(len(stance.modes(stiffness)[0]) for stance in stances))
    factors = np.ones(len(chain.groups))
    if chain.groups:
        exact, _ = _certified(arm, fitted, wanted, theory)
        factors = _fitted(chain, fitted, exact)
    chain = chain.scaled(factors)
    exact, certified = _certified(arm, stated, wanted, theory)
    stiffness = springs_of(chain)
    found = [stance.modes(stiffness)[0][:wanted] for stance in stances]
    return LumpedArm(
        arm=arm.name,
        theory=theory,
        joints=tuple(joint_names(in_space)),
        postures=stated,
        exact=exact,
        certified=certified,
        omega=np.array(found),
        factors=dict(zip(chain.groups, map(float, factors), strict=True)),
        chain=chain,
        lost=_lost(in_space),
    )


def as_lumped(
    arm: AnyArm | LumpedArm,
    pieces: int | Sequence[int],
    modes: int,
    postures: Any,
    theory: TheoryName,
    slides: bool | None,
) -> LumpedArm:
    """Return `lumped` of an arm; a lumped arm is returned unchanged."""
    if isinstance(arm, LumpedArm):
        return arm
    return lumped(
        arm, pieces=pieces, num_modes=modes, postures=postures, theory=theory, slides=slides
    )


def _ways(planar: bool, theory: TheoryName) -> list[str]:
    """Return the kinds of flexibility of a link in a theory."""
    flags = theory_flags(theory)
    none = [] if flags.shear else ["shear_y", "shear_z"]
    none += [] if flags.axial else ["stretch"]
    return [way for way in (IN_PLANE if planar else WAYS) if way not in none]


def _fitted(chain: Chain, postures: Floats, exact: Floats) -> Floats:
    """Return the factors of the groups by least squares of relative frequency errors divided by k^2."""
    stances = [Stance(chain, posture, True) for posture in postures]
    stiffness, groups = springs_of(chain), stances[0].groups
    fit = groups >= 0
    members = np.zeros((groups.size, len(chain.groups)))
    members[np.flatnonzero(fit), groups[fit]] = 1.0
    modes = exact.shape[1]
    weights = 1.0 / np.arange(1, modes + 1) ** 2  # low modes are more important than high ones

    def at(logarithms: Floats) -> tuple[Floats, Floats]:
        scaled = stiffness * np.exp(members @ logarithms)
        errors, slopes = [_PULL * logarithms], [_PULL * np.eye(logarithms.size)]
        for stance, wanted in zip(stances, exact, strict=True):
            omega, shares = stance.modes(scaled)
            errors.append(weights * np.log(omega[:modes] / wanted))
            slopes.append(0.5 * weights[:, None] * (shares[:modes] @ members))
        return np.concatenate(errors), np.concatenate(slopes)

    most = math.log(_MOST_FACTOR)
    solved = least_squares(
        lambda x: at(x)[0],
        np.zeros(len(chain.groups)),
        jac=lambda x: at(x)[1],
        bounds=(-most, most),
        xtol=1e-6,
    )
    return np.asarray(np.exp(solved.x))


def _certified(
    arm: AnyArm, postures: Floats, modes: int, theory: TheoryName
) -> tuple[Floats, Bools]:
    found = [natural_frequencies(arm.with_posture(p), modes, theory=theory) for p in postures]
    omega = np.array([np.asarray(each.frequencies_hz) for each in found]) * 2.0 * np.pi
    return omega, np.array([np.asarray(each.certified) for each in found])


def _counts(pieces: Any, links: int) -> list[int]:
    given = list(pieces) if isinstance(pieces, list | tuple | np.ndarray) else [pieces] * links
    if len(given) != links or not all(is_whole(n, 1, _MOST_PIECES) for n in given):
        raise ArmError(
            f"pieces = {shown(pieces)}: must be a whole number from 1 to {_MOST_PIECES}, or one for each of the "
            f"{links} links; 4 is usual."
        )
    return [int(n) for n in given]


def _postures(arm: SpatialArm, own: Floats, postures: Any) -> tuple[Floats, Floats]:
    """Return the postures for reported errors (given ones, or the arm's own and others), and those for the fit."""
    size = own.size
    bounds = np.empty((size, 2))
    for k, number in enumerate(arm.joints):
        limits_of = arm.links[number - 1].joint_limits
        usual = (own[k], own[k]) if arm.slides(number) else (-math.pi, math.pi)
        bounds[k] = usual if limits_of is None else limits_of
        infinite = ~np.isfinite(bounds[k])
        bounds[k][infinite] = np.array(usual)[infinite]
    if is_whole(postures, 0, MOST_POSTURES):
        count, given = int(postures), None
    else:
        given = reals("postures", postures, f"a whole number, or rows of {size} joint positions")
        if (
            given.ndim != 2
            or given.shape[1] != size
            or not given.size
            or not np.isfinite(given).all()
        ):
            raise ArmError(
                f"postures = {shown(postures)}: must be a whole number from 0 to {MOST_POSTURES}, or rows of {size} "
                "joint positions, a row for each posture."
            )
        count = len(given)
    fits = max(count, _FEWEST)
    shares = qmc.Halton(size, scramble=False).random(fits + count + 1)[1:]
    spread = bounds[:, 0] + shares * (bounds[:, 1] - bounds[:, 0])
    stated = np.vstack([own, spread[fits:]]) if given is None else given
    return stated, spread[:fits]


def _lost(arm: SpatialArm) -> tuple[str, ...]:
    """Return the features of the arm that the rigid pieces lack."""
    lost = []
    damped = [k for k, link in enumerate(arm.links, start=1) if link.loss_factor]
    if damped:
        names = ", ".join(f"link{k}" for k in damped)
        lost.append(f"the loss factor of {names}: hinges have viscous damping alone")
    return tuple(lost)
