"""Input shapers: delays and weights that leave modes at rest at their frequencies, or nearly so in frequency bands."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from jaxmodal.arm.arguments import is_whole, reals
from jaxmodal.arm.quantities import shown
from jaxmodal.runtime.array_types import Floats
from jaxmodal.runtime.errors import ArmError

#: largest number of impulses of one shaper
_IMPULSES = 4096
#: impulses per mode of each kind of shaper
_KINDS = {"zv": 2, "zvd": 3, "ei": 3}
#: share of the vibration that an extra-insensitive shaper leaves at its frequency
_LEFT = 0.05


def shaper(
    omega: Sequence[float],
    damping_ratio: Sequence[float] | float = 0.0,
    kind: str = "zv",
) -> tuple[Floats, Floats]:
    """Return delays and weights of an input shaper for some modes.

    Parameters
    ----------
    omega
        Angular frequencies of the modes to leave at rest, rad/s, such as certified ones of the arm at the end of its
        motion. The motion of the motors is shaped: for elastic joints these are the frequencies with ``motor="held"``,
        as computed by `linearise` with locked joints.
    damping_ratio
        Damping ratios of the modes, one number or one each, below 1.
    kind
        ``"zv"``: zero vibration at the frequencies, half a period for each. ``"zvd"``: also zero derivative of the
        vibration with respect to the frequency, a whole period. ``"ei"``: a whole period, 5 % vibration at the
        frequency and at most that within 19.9 % of it; for damping ratios of 0.

    Returns
    -------
    tuple of arrays
        Delays in s and weights, which sum to 1, each of shape (2^k,) for k modes, (3^k,) for the last two kinds.

    Raises
    ------
    ArmError
        If a frequency is not positive, a ratio not in [0, 1), the kind is unknown or does not allow damping, or there
        are more than 12 frequencies, 7 for the last two kinds.

    Notes
    -----
    Each mode has two impulses, half a damped period apart, the second exp(-zeta pi/sqrt(1 - zeta^2)) times the first
    (Singer and Seering 1990); ``"zvd"`` convolves this pair with itself; ``"ei"`` is the shaper of W. Singhose, W.
    Seering and N. Singer (1994) without damping. The impulses of several modes are convolved.

    Examples
    --------
    >>> delays, weights = shaper([3.141592653589793])
    >>> delays.tolist(), weights.tolist()
    ([0.0, 1.0], [0.5, 0.5])
    """
    omegas = np.atleast_1d(reals("omega", omega, "angular frequencies, rad/s"))
    if not isinstance(kind, str) or kind not in _KINDS:
        raise ArmError(f"kind = {shown(kind)}: must be one of {', '.join(map(repr, _KINDS))}.")
    each = _KINDS[kind]
    most = int(math.log(_IMPULSES + 0.5, each))
    if omegas.ndim > 1 or omegas.size > most:
        raise ArmError(
            f"omega: of shape {omegas.shape}; must be a row of at most {most}, for k modes make "
            f"{each}^k impulses."
        )
    zetas = reals("damping_ratio", damping_ratio, "one number, or one for each frequency")
    if zetas.shape not in ((), omegas.shape):
        raise ArmError(
            f"damping_ratio: of shape {zetas.shape}; must be one number, or {omegas.size}, one for each frequency."
        )
    if kind == "ei" and np.any(zetas != 0.0):
        raise ArmError(
            f"damping_ratio = {shown(damping_ratio)}: must be 0 for kind 'ei', which is known without damping; "
            "give 0 or kind 'zvd'."
        )
    zetas = np.broadcast_to(zetas, omegas.shape)
    delays, weights = np.zeros(1), np.ones(1)
    for each_omega, zeta in zip(omegas.tolist(), zetas.tolist(), strict=True):
        if not (0.0 < each_omega < math.inf and 0.0 <= zeta < 1.0):
            raise ArmError(
                f"omega: {each_omega!r} rad/s with damping ratio {zeta!r}; must be greater than 0, with a ratio "
                "from 0 to below 1: a mode that oscillates."
            )
        root = math.sqrt(1.0 - zeta**2)
        share = math.exp(-zeta * math.pi / root)
        pair = np.array([1.0, share]) / (1.0 + share)
        impulses = {
            "zv": pair,
            "zvd": np.convolve(pair, pair),
            "ei": np.array([0.25 * (1.0 + _LEFT), 0.5 * (1.0 - _LEFT), 0.25 * (1.0 + _LEFT)]),
        }[kind]
        half = math.pi / (each_omega * root)
        delays = (delays[:, None] + half * np.arange(impulses.size)).ravel()
        weights = (weights[:, None] * impulses).ravel()
    return delays, weights


#: largest number of impulses for one band, and number of test frequencies in the band per impulse
_MOST_FOR_A_BAND, _LOOKED_AT = 24, 64


def band_shaper(
    bands: Any,
    damping_ratio: Sequence[float] | float = 0.0,
    left: float = 0.05,
    impulses: int | Sequence[int] | None = None,
) -> tuple[Floats, Floats]:
    """Return delays and weights of a shaper that leaves at most a share of the vibration in frequency bands.

    Parameters
    ----------
    bands
        Lowest and highest angular frequency of each mode, rad/s, shape (K, 2).
    damping_ratio
        Damping ratios of the modes, one number or one each, below 1.
    left
        Largest share of the vibration that may remain at any frequency of a band, above 0 and below 1.
    impulses
        Number of impulses, from 2 to 24, one number or one for each mode; by default the smallest that keeps ``left``.
        Without damping, the weights are optimal for this number and spacing.

    Returns
    -------
    tuple of arrays
        Delays in s and weights, all greater than 0, which sum to 1.

    Raises
    ------
    ArmError
        If a band is not valid, a value is not allowed, or a band is too wide for 24 impulses, all bands together for
        4,096.

    Notes
    -----
    For one mode n + 1 impulses, half a damped period of the middle of its band apart, leave T_n(c/d)/T_n(1/d). Here T_n
    is the Chebyshev polynomial, c = cos(pi omega/(2 middle)), and d the size of c at the ends of the band. No other n +
    1 impulses with this spacing have a smaller maximum in the band, 1/T_n(1/d). Two impulses are the ZV shaper, three
    the extra-insensitive one of this band, more those with several humps. For damped modes the weights fall with the
    decay at the middle frequency, and the number of impulses follows from the vibration left at test frequencies in the
    band.

    Examples
    --------
    >>> delays, weights = band_shaper([(8.0, 12.0)], left=0.051)
    >>> len(weights), round(float(share_left(delays, weights, [8.0, 10.0, 12.0]).max()), 4)
    (3, 0.0501)
    """
    ends = reals("bands", bands, "lowest and highest angular frequency of each mode, rad/s")
    if ends.ndim != 2 or ends.shape[1] != 2 or not ends.size:
        raise ArmError(
            f"bands: of shape {ends.shape}; must be (K, 2), the lowest and the highest frequency of each mode, rad/s."
        )
    zetas = reals("damping_ratio", damping_ratio, "one number, or one for each band")
    if zetas.shape not in ((), ends.shape[:1]) or not np.all((zetas >= 0.0) & (zetas < 1.0)):
        raise ArmError(
            f"damping_ratio = {shown(damping_ratio)}: must be from 0 to below 1, one number or {len(ends)}, one "
            "for each band."
        )
    allowed = reals("left", left, "a share above 0 and below 1")
    if allowed.shape != () or not 0.0 < float(allowed) < 1.0:
        raise ArmError(f"left = {shown(left)}: must be a share above 0 and below 1, such as 0.05.")
    share = float(allowed)
    given: list[Any] = (
        [impulses] if impulses is None or np.ndim(impulses) == 0 else list(np.asarray(impulses))
    )
    each = given * len(ends) if len(given) == 1 else given
    if len(each) != len(ends) or not all(
        one is None or is_whole(one, 2, _MOST_FOR_A_BAND) for one in each
    ):
        raise ArmError(
            f"impulses = {shown(impulses)}: must be a whole number from 2 to {_MOST_FOR_A_BAND}, or {len(ends)}, one "
            "for each band; leave it out for as few as hold `left`."
        )
    delays, weights = np.zeros(1), np.ones(1)
    ratios = np.broadcast_to(zetas, len(ends)).tolist()
    for (low, high), zeta, count in zip(ends.tolist(), ratios, each, strict=True):
        if not 0.0 < low <= high < math.inf:
            raise ArmError(
                f"bands: {low!r} to {high!r} rad/s; must be above 0 and finite, the lower one first."
            )
        own_delays, own_weights = _for_a_band(low, high, zeta, share, count)
        delays = (delays[:, None] + own_delays).ravel()
        weights = (weights[:, None] * own_weights).ravel()
        if weights.size > _IMPULSES:
            raise ArmError(
                f"bands: take more than {_IMPULSES:,} impulses together; give fewer modes, or a greater `left` than "
                f"{share:g}."
            )
    return delays, weights


def share_left(delays: Any, weights: Any, omega: Any, damping_ratio: float = 0.0) -> Floats:
    """Return the share of the vibration that a shaper leaves at angular frequencies, of the same shape.

    This is the amplitude at the last impulse, relative to a single impulse of weight 1 at that time. ``delays`` in s
    and ``weights`` define the shaper; ``omega`` is in rad/s, and one ``damping_ratio`` applies to all modes.

    Raises
    ------
    ArmError
        If delays and weights are no two finite rows of one length, a frequency is not finite or below 0, or the ratio
        is not in [0, 1).
    """
    times, sizes = reals("delays", delays, "times, s"), reals("weights", weights, "weights")
    known = np.all(np.isfinite(times)) and np.all(np.isfinite(sizes))
    if times.ndim != 1 or times.shape != sizes.shape or not times.size or not known:
        raise ArmError(
            f"delays, weights: of shapes {times.shape} and {sizes.shape}; must be two rows of finite numbers of one "
            "length, as `shaper` returns them."
        )
    at = reals("omega", omega, "angular frequencies, rad/s")
    if not np.all((at >= 0.0) & np.isfinite(at)):
        raise ArmError(
            f"omega = {shown(omega)}: must be angular frequencies of 0 or more, finite, rad/s."
        )
    ratio = reals("damping_ratio", damping_ratio, "one number from 0 to below 1")
    if ratio.shape != () or not 0.0 <= float(ratio) < 1.0:
        raise ArmError(
            f"damping_ratio = {shown(damping_ratio)}: must be one number from 0 to below 1."
        )
    at, zeta = at[..., None], float(ratio)
    turned = at * math.sqrt(1.0 - zeta**2) * times
    grown = np.exp(zeta * at * (times - times.max()))
    return np.asarray(np.abs(np.sum(sizes * grown * np.exp(1j * turned), axis=-1)))


def _for_a_band(
    low: float, high: float, zeta: float, left: float, impulses: int | None
) -> tuple[Floats, Floats]:
    middle, root = 0.5 * (low + high), math.sqrt(1.0 - zeta**2)
    edge = math.sin(0.5 * math.pi * (high - low) / (high + low))
    for n in range(1, _MOST_FOR_A_BAND) if impulses is None else (impulses - 1,):
        weights = _least_in_a_band(n, edge) * np.exp(-zeta * math.pi / root) ** np.arange(n + 1)
        weights = np.asarray(weights / weights.sum(), np.float64)
        delays = np.arange(n + 1, dtype=np.float64) * (math.pi / (middle * root))
        looked_at = np.linspace(low, high, _LOOKED_AT * n + 1)
        if impulses is not None or share_left(delays, weights, looked_at, zeta).max() <= left:
            return delays, weights
    raise ArmError(
        f"bands: {low:.6g} to {high:.6g} rad/s takes more than {_MOST_FOR_A_BAND} impulses to leave {left:g}; give a "
        "narrower band, or a greater `left`."
    )


def _least_in_a_band(n: int, edge: float) -> Floats:
    """Return weights of n + 1 equally spaced impulses with sum T_n(c/edge), from its zeros; double for edge 0."""
    weights = np.ones(1)
    for k in range(n // 2):
        zero = edge * math.cos((2 * k + 1) * math.pi / (2 * n))
        weights = np.convolve(weights, [1.0, 2.0 - 4.0 * zero**2, 1.0])
    return np.convolve(weights, [1.0, 1.0]) if n % 2 else weights
