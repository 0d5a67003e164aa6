"""Linearity in the parameters: forces as a matrix of the motion times masses, moments, inertias and stiffnesses.

With fixed shapes, inverse dynamics is linear in the Gram matrices, the rotary inertias, the stiffness and the friction
of a model. Some columns are linearly dependent: a mass at the end of one link acts like a mass on the next.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import jax
import jax.numpy as jnp
import numpy as np

from jaxmodal.arm.arguments import reals
from jaxmodal.arm.kinds import ByKind
from jaxmodal.dynamics.layout_in_space import DEFORMATIONS
from jaxmodal.dynamics.mechanics import equations
from jaxmodal.dynamics.mechanics.states import over_states
from jaxmodal.dynamics.model import FlexibleArm, FlexibleModel, require_model
from jaxmodal.dynamics.model_in_space import SpatialFlexibleArm
from jaxmodal.runtime.errors import ArmError
from jaxmodal.runtime.namespace import Array, is_traced
from jaxmodal.statics.link_parts import ROTOR

Model = TypeVar("Model", bound=FlexibleModel)


class _Place(NamedTuple):
    """One parameter: the array of the model that contains it, its index there, and its name."""

    field: str
    where: tuple[int, ...]
    name: str


#: fields that hold parameters of a model of either kind, and those of them that are symmetric
_FIELDS = (
    *("gram", "stiffness", "inertias", "spin", "base_gram", "rotor"),
    *("support_stiffness", "damping", "coulomb"),
)
_SYMMETRIC = ("gram", "stiffness", "spin", "base_gram")


def _upper(field: str, owner: tuple[int, ...], indices: list[int], name: Any) -> list[_Place]:
    """Return the entries on and above the diagonal of a symmetric matrix at some indices, each with a name."""
    return [
        _Place(field, (*owner, row, column), name(a, b))
        for a, row in enumerate(indices)
        for b, column in enumerate(indices[a:], start=a)
    ]


def _friction(driven: np.ndarray) -> list[_Place]:
    found = []
    for i, at in enumerate(driven):
        found.append(_Place("damping", (at, at), f"joint{i + 1}.viscous_friction"))
        found.append(_Place("coulomb", (i,), f"joint{i + 1}.coulomb_friction"))
    return found


def _supports(model: FlexibleModel) -> list[_Place]:
    return [
        _Place(
            "support_stiffness",
            (k,),
            f"link{model.numbers[link]}.support_stiffness({kind} {k + 1})",
        )
        for k, (link, kind) in enumerate(model.supported)
    ]


def _in_the_plane(model: FlexibleArm) -> list[_Place]:
    layout = model.layout
    pairs = list(zip(*layout.pairs, strict=True))
    found = []
    for i, count in enumerate(model.modes):
        functions = {0: "1", 1: "x"} | {2 + j: f"phi{j + 1}" for j in range(count)}
        if model.foreshortening:
            for number, (j, k) in enumerate(pairs):
                if k < count:
                    functions[2 + layout.width + number] = f"gamma{j + 1}{k + 1}"
        order = sorted(functions)

        found += _upper(
            "gram", (i,), order, _named(f"link{i + 1}.mass", [functions[k] for k in order])
        )
        own = layout.places[i, :count].tolist()
        found += _upper("stiffness", (), own, _numbered(f"link{i + 1}.stiffness"))
    found += [_Place("inertias", (k,), f"inertia{k + 1}") for k in range(len(model.inertias))]
    return found + _supports(model) + _friction(layout.driven)


def _in_space(model: SpatialFlexibleArm) -> list[_Place]:
    if not model.is_of_turning_links:
        raise ArmError(
            "model: has joints that slide, segments, or a base that is elastic or driven, whose parameters are not "
            "supported; must consist of links with turning joints, on a clamped or free base."
        )
    layout, known = model.layout, model.layout.functions
    found = []
    for i, counts in enumerate(model.counts):
        link = f"link{i + 1}"
        functions = {}
        for k in model.kept.tolist():
            factors = known.factors[k]
            if all(j < counts[d] for d, j in factors):
                functions[k] = "*".join(f"{DEFORMATIONS[d]}{j + 1}" for d, j in factors) or "1x"[k]
        own = [k for k in layout.places[i].tolist() if k < layout.size]
        coordinates = [layout.names[k].partition(".")[2] for k in own]
        twists = ["x", *(f"torsion{j + 1}" for j in range(counts[1]))]
        found += _upper("gram", (i,), [*functions], _named(f"{link}.mass", [*functions.values()]))
        for body, first in (("at_joint", known.number), ("at_tip", known.number + 4)):
            frame = list(range(first, first + 4))
            found += _upper("gram", (i,), frame, _named(f"{link}.{body}", ["1", *"xyz"]))
        found += _upper("stiffness", (), own, _named(f"{link}.stiffness", coordinates))
        found += _upper("spin", (i,), list(range(len(twists))), _named(f"{link}.spin", twists))
    found += [_Place("rotor", (k,), f"joint{k + 1}.{ROTOR[0]}") for k in range(model.num_links)]
    found += _supports(model)
    if model.floats:
        found += _upper("base_gram", (), list(range(4)), _named("base", ["1", *"xyz"]))
    return found + _friction(layout.driven)


_PLACES: ByKind[Callable[..., list[_Place]]] = ByKind(_in_the_plane, _in_space)


def _places(model: FlexibleModel) -> list[_Place]:
    return _PLACES.along(model.axes)(model)


def _numbered(what: str) -> Any:
    """Return a function that names an entry by the numbers of its row and column."""
    return lambda a, b: f"{what}{a + 1}{b + 1}"


def _named(what: str, names: list[str]) -> Any:
    """Return a function that names an entry by the names of its row and column."""
    return lambda a, b: f"{what}({names[a]}, {names[b]})"


def parameter_names(model: FlexibleModel) -> tuple[str, ...]:
    """Return the names of the entries of `parameters`: mass-weighted scalar products of each link, and the others."""
    return tuple(place.name for place in _places(model))


def parameters(model: FlexibleModel) -> np.ndarray:
    """Return the parameters in which a model is linear, shape (p,), SI units, in the order of `parameter_names`."""
    return np.array([np.asarray(getattr(model, p.field))[p.where] for p in _places(model)])


def with_parameters(model: Model, values: Array) -> Model:
    """Return the model with other parameters, shape (p,); everything else, structural damping included, is 0."""
    made: dict[str, Any] = {
        field: jnp.zeros(np.shape(getattr(model, field)))
        for field in _FIELDS
        if hasattr(model, field)
    }
    for field in made:
        members = [(n, p.where) for n, p in enumerate(_places(model)) if p.field == field]
        numbers = np.array([n for n, _ in members], int)
        indices = tuple(
            np.array(axis) for axis in zip(*(index for _, index in members), strict=True)
        )
        if not members:
            continue
        entries = values[numbers]
        made[field] = made[field].at[indices].set(entries)
        if field in _SYMMETRIC:
            mirrored = (*indices[:-2], indices[-1], indices[-2])
            made[field] = made[field].at[mirrored].set(entries)
    return dataclasses.replace(model, **made)  # type: ignore[type-var]  # every kind of it is a dataclass


def regressor(model: FlexibleModel, q: Any, rate: Any, acceleration: Any) -> Array:
    """Return the matrix Y of a motion: the generalised forces are Y times `parameters`.

    Parameters
    ----------
    model
        The arm. Its lengths, shapes, gravity and formulation count. Joint springs and structural damping, which are not
        parameters, are not allowed.
    q, rate, acceleration
        States and their accelerations, shape (..., N).

    Returns
    -------
    Array, shape (..., N, p), or (..., N + 6, p) with a free base

    Raises
    ------
    ArmError
        If shapes do not fit, or the model has joint springs or structural damping.
    """
    require_model(model)
    _check_all_are_parameters(model)
    return over_states(_regressor, model, ("q", "rate", "acceleration"), q, rate, acceleration)


def _regressor(model: FlexibleModel, *motion: Array) -> Array:
    def forces(values: Array) -> Array:
        return equations.generalised_forces(with_parameters(model, values), *motion)

    return jax.jacfwd(forces)(jnp.zeros(len(_places(model))))


def _check_all_are_parameters(model: FlexibleModel) -> None:
    """Raise ArmError if joint springs or structural damping act, which are not parameters and would be ignored."""
    springs = [str(i) for i, elastic in enumerate(model.elastic, start=1) if elastic]
    if springs:
        raise ArmError(
            f"model: joint {', '.join(springs)} has a spring (joint_stiffness), which is no parameter here; leave "
            "joint_stiffness out."
        )
    sprung = [str(i) for i, number in enumerate(model.springs, start=1) if number]
    if sprung:
        raise ArmError(
            f"model: joint {', '.join(sprung)} has joint_springs, which are no parameters here; leave them out."
        )
    if is_traced(model):
        return
    damping = np.array(model.damping)
    damping[(model.layout.driven,) * 2] = 0.0
    largest = float(np.abs(damping).max(initial=0.0))
    if largest > 0.0:
        raise ArmError(
            f"model: has structural damping (up to {largest:.3g} in D), which is no parameter here; make the model "
            "with kelvin_voigt_time = 0 and damping_ratio = 0; if the damping is known, subtract D q' from the "
            "forces."
        )


class Identified(NamedTuple):
    """Parameters fitted to measured forces.

    Attributes
    ----------
    values : shape (p,)
        Best-fitting parameters; where the fit is not unique, those of the smallest norm in the scale of the columns.
    rank
        Number of base parameters: combinations that the motion can distinguish.
    base : shape (rank, p)
        These combinations, as rows.
    estimates, half_widths : shape (rank,)
        Values of the combinations, and half the width of the 95 % confidence interval of each.
    """

    values: np.ndarray
    rank: int
    base: np.ndarray
    estimates: np.ndarray
    half_widths: np.ndarray


def identify(matrix: Any, forces: Any, tolerance: float = 1e-9) -> Identified:
    """Fit parameters to forces by least squares.

    Parameters
    ----------
    matrix
        Stacked results of `regressor`, shape (..., p).
    forces
        Measured generalised forces of equal uncertainty, shape (...,).
    tolerance
        Singular values below this, relative to the largest of the scaled matrix, count as 0.

    Raises
    ------
    ArmError
        If shapes do not fit, or there are not more forces than base parameters.

    Notes
    -----
    Singular value decomposition of the matrix with columns scaled to length 1. The variance of the forces is estimated
    from the residual, so that the intervals follow Student's t distribution.
    """
    from scipy.special import stdtrit

    table = reals("matrix", matrix, "numbers, shape (..., p)")
    if table.ndim < 2 or table.size == 0 or not np.all(np.isfinite(table)):
        raise ArmError(f"matrix: of shape {table.shape}; must be finite numbers, shape (..., p).")
    table = table.reshape(-1, table.shape[-1])
    measured = reals("forces", forces, "numbers, one for each row of the matrix").ravel()
    if not np.all(np.isfinite(measured)):
        raise ArmError("forces: hold values that are not finite; leave their rows out.")
    if measured.shape != table.shape[:1]:
        raise ArmError(
            f"forces: {measured.size} given; must be {table.shape[0]}, one for each row of the matrix."
        )
    scale = np.linalg.norm(table, axis=0)
    scale = np.where(scale > 0.0, scale, 1.0)
    left, singular, right = np.linalg.svd(table / scale, full_matrices=False)
    rank = int(np.sum(singular > tolerance * singular[0]))
    if measured.size <= rank:
        raise ArmError(f"forces: {measured.size} for {rank} base parameters; must be more.")
    estimates = (left[:, :rank].T @ measured) / singular[:rank]
    residual = measured - left[:, :rank] @ (left[:, :rank].T @ measured)
    freedom = measured.size - rank
    spread = np.sqrt(residual @ residual / freedom)
    half = stdtrit(freedom, 0.975) * spread / singular[:rank]
    return Identified(
        right[:rank].T @ estimates / scale, rank, right[:rank] * scale, estimates, half
    )
