"""Mode shapes of planar and spatial arms, and the modal assurance criterion."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, overload

import numpy as np
from jax.typing import ArrayLike

from jaxmodal.arm.arguments import station_shares
from jaxmodal.arm.arm import Arm, require_arm
from jaxmodal.arm.quantities import shown
from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.frequencies.certificate import TOLERANCE
from jaxmodal.frequencies.models import PlanarModel, TracedModel, concrete_model, model_of
from jaxmodal.frequencies.one_arm import lowest_frequencies
from jaxmodal.modes.exact_shapes import ExactShapes
from jaxmodal.modes.planar_shapes import ModeShapes, planar_mode_shapes, planar_motions
from jaxmodal.modes.spatial_shapes import SpatialModeShapes, spatial_mode_shapes, spatial_motions
from jaxmodal.runtime.errors import ArmError
from jaxmodal.runtime.namespace import Array, at_once, product, xp
from jaxmodal.spatial.arms.arm import AnyArm, SpatialArm
from jaxmodal.spatial.preload.model import LoadedModel
from jaxmodal.spatial.stiffness.model import SpatialModel

#: what gives the shapes of arms of each kind
_SHAPES: dict[type, Callable[..., Any]] = {
    PlanarModel: planar_mode_shapes,
    TracedModel: planar_mode_shapes,
    SpatialModel: spatial_mode_shapes,
    LoadedModel: spatial_mode_shapes,
}


#: what gives the motions of known modes
_MOTIONS: dict[type, Callable[..., tuple[np.ndarray, np.ndarray]]] = {
    PlanarModel: planar_motions,
    SpatialModel: spatial_motions,
    LoadedModel: spatial_motions,
}


@overload
def mode_shapes(
    arm: Arm,
    num_modes: int = 10,
    *,
    theory: TheoryName = "timoshenko",
    stations: int | ArrayLike | Sequence[float] = 21,
    throw: bool = True,
) -> ModeShapes: ...


@overload
def mode_shapes(
    arm: SpatialArm,
    num_modes: int = 10,
    *,
    theory: TheoryName = "timoshenko",
    stations: int | ArrayLike | Sequence[float] = 21,
    throw: bool = True,
) -> SpatialModeShapes: ...


def mode_shapes(
    arm: AnyArm,
    num_modes: int = 10,
    *,
    theory: TheoryName = "timoshenko",
    stations: int | ArrayLike | Sequence[float] = 21,
    throw: bool = True,
) -> ModeShapes | SpatialModeShapes:
    """Return the mode shapes of the lowest natural frequencies of an arm with blocked joints.

    Parameters
    ----------
    arm : Arm or SpatialArm
        The arm; the values of a planar arm may be traced (jit, vmap, grad).
    num_modes, theory, throw
        As for `natural_frequencies`.
    stations : int or array, shape (S,)
        Number of equally spaced stations per link from base to tip, at least 2, or values of x/L in [0, 1].

    Returns
    -------
    ModeShapes or SpatialModeShapes
        Mode shapes of unit modal mass. NaN where the input is invalid or static forces buckle the arm, and in the rows
        of modes of zero frequency (free joints), which are motions without strain.

    Raises
    ------
    ValueError
        If ``stations`` is invalid. Other errors as for `natural_frequencies`.

    Notes
    -----
    The shapes are exact solutions of the beam equations (the paper's eqs 31-38), without interpolation. Sign: of
    v, u, psi (times the length of the arm) at the tip of the last link, then of the link before it, and so on, the
    first that exceeds a millionth of the largest displacement is positive; in space, of v, w, u, phi_z, phi_y, phi_x.
    The modes of a repeated frequency are an orthonormal basis.

    Examples
    --------
    >>> import jaxmodal as jm
    >>> link = jm.Link(1.0, 1.0, 1.0, jm.raw_section(1.0, 1.0))
    >>> shapes = jm.mode_shapes(jm.Arm((link,)), 3, theory="bending_only", stations=2)
    >>> [round(abs(float(v)), 9) for v in shapes.v[:, 0, -1]]   # a cantilever's tip: 2 for unit mass
    [2.0, 2.0, 2.0]
    """
    xi = station_shares(stations)
    require_arm(arm)
    model = model_of(arm, theory)
    found = lowest_frequencies(model, arm.name, num_modes, theory, throw)
    shapes: ModeShapes | SpatialModeShapes = _SHAPES[type(model)](model, found, xi)
    return shapes


def known_motions(
    arm: AnyArm, omega: np.ndarray, theory: TheoryName
) -> tuple[np.ndarray, np.ndarray]:
    """Return the motions of modes of known frequencies (K,), rad/s, at all points with a mass, (K, D), and the masses.

    No search is made. These are ``motions`` and ``masses`` of `mode_shapes` of a concrete arm, from the first mode that
    vibrates; masses have shape (D,).
    """
    apart = np.diff(omega, prepend=-np.inf) > TOLERANCE * omega
    first = np.maximum.accumulate(np.where(apart, np.arange(omega.size), 0))
    multiplicity = np.bincount(first, minlength=omega.size)[first]
    model = concrete_model(arm, theory)
    with np.errstate(all="ignore"):
        return _MOTIONS[type(model)](model, omega, first, multiplicity)


def modal_assurance(a: ModeShapes | SpatialModeShapes, b: ModeShapes | SpatialModeShapes) -> Array:
    """Return the modal assurance criterion (MAC) of every mode of ``a`` with every mode of ``b``.

    Parameters
    ----------
    a, b : ModeShapes or SpatialModeShapes
        Both of planar arms or both of arms in space, with the same number of links, computed for the same
        ``num_modes``; theory, posture and values may differ.

    Returns
    -------
    Array, shape (K, K)
        ``(a, b)^2/((a, a)(b, b))``, in [0, 1]; 1 for equal shapes, whatever the theories. All products use the mean of
        the two mass matrices, with bodies at their centres of gravity.

    Raises
    ------
    ArmError, ValueError
        If one of them is not a set of mode shapes, or if their sizes differ.

    Examples
    --------
    >>> import jaxmodal as jm
    >>> arm = jm.examples.two_link_flexible()
    >>> full, simple = (jm.mode_shapes(arm, 2, theory=theory) for theory in ("timoshenko", "euler_bernoulli"))
    >>> [round(float(x), 6) for x in jm.modal_assurance(full, simple).diagonal()]
    [1.0, 1.0]
    """
    for name, shapes in (("a", a), ("b", b)):
        if not isinstance(shapes, ExactShapes):
            raise ArmError(
                f"{name} = {shown(shapes)}: must be mode shapes; mode_shapes(arm) gives them."
            )
    if type(a) is not type(b) or a.motions.shape[-1] != b.motions.shape[-1]:
        sizes = [(len(x.omega), *x.position.shape[:2], x.position.shape[-1]) for x in (a, b)]
        raise ValueError(
            f"a has sizes {sizes[0]}, b {sizes[1]} (modes, links, stations, axes): compute both for"
            " the same numbers of modes and links, both in the plane or both in space"
        )
    return at_once(assurance, a.masses, b.masses, a.motions, b.motions)


def assurance(mass_a: Array, mass_b: Array, a: Array, b: Array) -> Array:
    """Return `modal_assurance` of motions (K, P) with masses (P,)."""
    mass = 0.5 * (mass_a + mass_b)[None, :]
    products = product(a * mass, b.T)
    own_a, own_b = (xp.sum(x**2 * mass, axis=-1) for x in (a, b))
    return products**2 / (own_a[:, None] * own_b[None, :])
