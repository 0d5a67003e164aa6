"""An optimisation problem: arm, variables, objectives, constraints, posture sets; validated when it is created."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array

from design_opt.problem.constraints import Constraint, LastLength
from design_opt.problem.design_space import DesignSpace
from design_opt.problem.designs import OWN, Design, check_number, check_set, of_joints, posture_sets
from design_opt.problem.errors import ProblemError, about
from design_opt.problem.objectives import Objective
from design_opt.problem.variables import FixedReach, Variable
from design_opt.problem.zero_modes import ZeroModes, check_spring_bounds, zero_modes
from jaxmodal.arm.arguments import is_whole
from jaxmodal.arm.quantities import shown
from jaxmodal.arm.serial_arms import SerialArm
from jaxmodal.dynamic_stiffness.beams import THEORIES, TheoryName
from jaxmodal.frequencies.models import require_theory
from jaxmodal.runtime import limits
from jaxmodal.runtime.errors import ArmError, suggestion
from jaxmodal.runtime.precision import require_x64
from jaxmodal.runtime.tables import ShowsTables, Table, shortened
from jaxmodal.spatial.arms.arm import AnyArm

AGGREGATES = ("bound", "ks", "pnorm")


class Problem(ShowsTables):
    """An optimisation problem, validated when it is created.

    Parameters
    ----------
    arm
        The given arm (today's design), planar or in space.
    variables
        Design variables, see `Variable` and `per_link`.
    objective
        One objective, or several with a weighted sum: `MinimiseMass`, `MaximiseFrequency`, `MaximiseGap`,
        `MinimiseResponse`, `MaximiseBuckling`, `Maximise`, `Minimise`. Each is divided by its value at the start before
        it is weighted.
    constraints
        `FrequencyLimit`, `ForbiddenBand`, `MassLimit`, `DeflectionLimit`, `BucklingLimit`, `WallLimit`,
        `ResponseLimit`, `Require`.
    postures
        Named posture sets, each an array of joint angles in rad of shape (P, joints - 1) or (P, joints); see
        `workspace`. ``"own"`` is always the arm's own posture.
    lengths
        A `FixedReach`, to make link lengths variables with a constant sum.
    theory
        Beam theory.
    aggregate
        Form of the smallest of several values: ``"bound"``, exact, with an additional variable as their lower bound;
        ``"ks"`` (Kreisselmeier and Steinhauser) or ``"pnorm"``, a smooth function of all values that is never above the
        smallest (margins of constraints, which have any sign, use ``"ks"`` in both cases). Smooth aggregates include
        every mode of a cluster, and so have a gradient where frequencies coincide.
    sharpness
        Final exponent of the smooth aggregates; values are relative to those at the start. The aggregate of N values is
        below the smallest by at most ln(N)/sharpness.
    name
        Title.

    Raises
    ------
    ProblemError
        If an argument is invalid or inconsistent with others; the message names it.
    X64DisabledError
        If JAX runs in single precision.

    Examples
    --------
    >>> import jaxmodal as jm
    >>> from design_opt import MassLimit, MaximiseFrequency, Problem, per_link
    >>> arm = jm.examples.three_link_industrial()
    >>> walls = per_link(arm, "link*.section.wall_thickness", 0.003, 0.03)
    >>> problem = Problem(arm, walls, MaximiseFrequency(1), [MassLimit(at_most="today")])
    >>> problem.space.size, problem.num_modes
    (3, 3)
    """

    def __init__(
        self,
        arm: AnyArm,
        variables: Sequence[Variable],
        objective: Objective | Sequence[Objective],
        constraints: Sequence[Constraint] = (),
        *,
        postures: Mapping[str, Any] | None = None,
        lengths: FixedReach | None = None,
        theory: TheoryName = "timoshenko",
        aggregate: str = "bound",
        sharpness: float = 2000.0,
        name: str = "",
    ) -> None:
        require_x64()
        if not isinstance(arm, SerialArm):
            raise ProblemError(f"arm = {shown(arm)}: must be an Arm or a SpatialArm.")
        if not isinstance(name, str):
            raise ProblemError(f"name = {shown(name)}: must be text.")
        self.variables: list[Variable] = _listed("variables", variables, "Variable(...)")
        for entry in self.variables:
            if not isinstance(entry, Variable):
                raise ProblemError(f"variables: {shown(entry)}: must be a Variable.")
        if not isinstance(lengths, FixedReach | None):
            raise ProblemError(f"lengths = {shown(lengths)}: must be a FixedReach.")
        if not isinstance(postures, Mapping | None):
            raise ProblemError(
                f"postures = {shown(postures)}: must be a table of names with arrays of joint angles."
            )
        self.arm, self.name, self.theory, self.lengths = arm, name, theory, lengths
        self.space = DesignSpace(arm, self.variables, lengths)
        several = isinstance(objective, Sequence)
        self.objectives: tuple[Objective, ...] = tuple(objective) if several else (objective,)  # type: ignore[arg-type, assignment]
        rules: list[Constraint] = _listed("constraints", constraints, "MassLimit(...)")
        self.constraints = tuple(rules)
        self.sets = posture_sets(arm, postures or {})
        check_number("problem", "sharpness", sharpness)
        self.aggregate, self.sharpness = aggregate, float(sharpness)
        self._check()
        used = {part.postures for part in self.parts} - {""}
        self.used_sets = tuple(key for key in self.sets if key in used)
        check_spring_bounds(self.space, self.sets, self.used_sets)
        self.zero_modes = self._zero_modes()
        modes = [part.highest_mode for part in self.parts]
        self.num_modes = max([self._lowest_shown(), *modes])

    def tables(self) -> list[Table]:
        """Return a table of variables, bounds and starts, with objectives, constraints and posture sets as notes."""
        starts = self.space.physical(self.space.start)
        rows = [
            [entry.name, *(f"{float(x):.6g}" for x in (entry.lower, entry.upper, start))]
            for entry, start in zip(self.space.variables, np.asarray(starts), strict=True)
        ]
        several = "s" * (self.space.size != 1)
        title = f"problem {self.name or 'of an arm'}: {self.space.size} variable{several}, {self.theory}"
        sets = ", ".join(f"{key} ({len(self.sets[key])})" for key in self.used_sets)
        notes = [
            f"objective: {', '.join(part.label for part in self.objectives)}",
            f"constraints: {', '.join(rule.label for rule in self.rules) or 'none'}",
            f"postures: {sets or 'none'}",
        ]
        headings = ("variable", "lower", "upper", "start")
        return [Table(title, headings, shortened(rows), notes, ("variable",))]

    def changed(self, **changes: Any) -> Problem:
        """Return the problem with some arguments replaced; it keeps only the posture sets in use."""
        used = [key for key in self.used_sets if key != OWN]
        own: dict[str, Any] = {
            "arm": self.arm,
            "variables": self.variables,
            "objective": self.objectives,
            "constraints": self.constraints,
            "postures": {key: of_joints(self.arm, self.sets[key]) for key in used},
            "lengths": self.lengths,
            "theory": self.theory,
            "aggregate": self.aggregate,
            "sharpness": self.sharpness,
            "name": self.name,
        }
        return Problem(**(own | changes))

    @property
    def parts(self) -> list[Objective | Constraint]:
        """Objectives and constraints."""
        return [*self.objectives, *self.constraints]

    def _lowest_shown(self) -> int:
        """Return the number of the lowest mode with nonzero frequency, to be reported in any case; 1 for rigid arms."""
        links: Sequence[Any] = self.arm.links
        if all(link.rigid for link in links):
            return 1
        return 1 + max((zeros.most for zeros in self.zero_modes.values()), default=0)

    def _zero_modes(self) -> dict[str, ZeroModes]:
        """Return the zero-frequency modes of each set in use; raise an error for parts that may not use such modes."""
        designs = zero_modes(self.space.possible_at(self.space.start), self.sets, self.used_sets)
        today = zero_modes(self.arm, self.sets, self.used_sets)
        for part in self.parts:
            if hasattr(part, "check_zero_modes") and part.postures != "":
                part.check_zero_modes(designs[part.postures], today[part.postures])
        return designs

    def _check(self) -> None:
        _check_name("theory", self.theory, THEORIES)
        _check_name("aggregate", self.aggregate, AGGREGATES)
        if not self.objectives:
            raise ProblemError("objective: there is none; give one, such as MinimiseMass().")
        for part in self.objectives:
            if not hasattr(part, "terms"):
                raise ProblemError(
                    f"objective {shown(part)}: is not an objective; give one such as MinimiseMass()."
                )
            _require_names("objective", part, ("weight", "sign"))
        for rule in self.constraints:
            if not hasattr(rule, "margins"):
                raise ProblemError(
                    f"constraint {shown(rule)}: is not a constraint; give one such as MassLimit(...)."
                )
            _require_names("constraint", rule, ("equality",))
        for entry in self.parts:
            if hasattr(entry, "check_arm"):
                entry.check_arm(self.arm)
            if not is_whole(entry.highest_mode, 0, limits.MODES):
                raise ProblemError(
                    f"{entry.label!r}: highest_mode = {shown(entry.highest_mode)}: must be a whole number from 0 to"
                    f" {limits.MODES}."
                )
            if entry.postures != "":
                check_set(entry.label, entry.postures, self.sets)
        for part in self.objectives:
            check_number(f"objective {part.label!r}", "weight", part.weight)
        with about("theory", ArmError):
            require_theory(self.arm, self.theory)
        labels = [rule.label for rule in self.constraints]
        for label in labels:
            if labels.count(label) > 1:
                raise ProblemError(f"constraint {label!r} is given twice; give it once.")

    def design(self, y: Any, hz: Mapping[str, Any], angles: Mapping[str, Any]) -> Design:
        """Return the design at positions y, shape (n,), as the argument of objectives and constraints."""
        return Design(self.space.arm_at(y), self.space.physical(y), dict(hz), dict(angles))

    def terms(self, design: Design) -> list[Array]:
        """Return the values of every objective, each of shape (P, m)."""
        return [part.terms(design) for part in self.objectives]

    @property
    def rules(self) -> list[Constraint]:
        """The constraints, with that of a fixed reach last."""
        return [*self.constraints, *([LastLength(self.lengths)] if self.lengths else [])]

    def margins(self, design: Design, today: Design) -> list[Array]:
        """Return the margins of all `rules`, each of shape (P, m)."""
        return [rule.margins(design, today) for rule in self.rules]

    @property
    def fingerprint(self) -> str:
        """SHA-256 of everything that determines the results; user-defined functions enter only by name."""
        described = {
            "arm": self.arm.to_dict(),
            "variables": [
                [v.addresses, v.lower, v.upper, v.scale, sorted(v.follow.items()), sorted(v.maps)]
                for v in self.space.variables
            ],
            "objectives": [_described(part) for part in self.objectives],
            "constraints": [_described(part) for part in self.constraints],
            "sets": {k: hashlib.sha256(v.tobytes()).hexdigest() for k, v in self.sets.items()},
            "options": [self.theory, self.aggregate, self.sharpness, repr(self.lengths)],
        }
        text = json.dumps(described, sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()


def _require_names(kind: str, part: Any, own: tuple[str, ...]) -> None:
    """Raise an error if a user-defined class lacks a required attribute."""
    needed = ("label", "postures", "highest_mode", *own)
    for name in needed:
        if name not in dir(part):  # properties are not evaluated yet
            raise ProblemError(
                f"{kind} {shown(part)}: has no {name}; a class of your own needs {', '.join(needed)}."
            )


def _listed(key: str, given: Any, example: str) -> list[Any]:
    """Return the items of an argument as a list; raise an error if it is not an iterable of items."""
    if not isinstance(given, Iterable) or isinstance(given, (str, Mapping)):
        raise ProblemError(f"{key} = {shown(given)}: must be a list, such as [{example}].")
    return list(given)


def _described(part: Any) -> str:
    function = getattr(part, "function", None)
    if function is None:
        return repr(part)
    values = {key: value for key, value in vars(part).items() if value is not function}
    return f"{type(part).__name__} {values} {getattr(function, '__qualname__', '')}"


def _check_name(key: str, value: Any, known: Sequence[str]) -> None:
    if value not in known:
        raise ProblemError(
            f"{key} = {shown(value)} is unknown; choose one of {', '.join(map(repr, known))}."
            f"{suggestion(str(value), known)}"
        )


def least(values: Array, aggregate: str, sharpness: Any) -> Array:
    """Return a smooth smallest value of an array: below the smallest by at most ln(N)/sharpness, and never above it.

    For ``"pnorm"`` this distance is relative.

    Notes
    -----
    G. Kreisselmeier and R. Steinhauser, IFAC Proceedings 12(7) (1979) 113-117, for ``"ks"``.
    """
    flat = values.reshape(-1)
    if aggregate == "pnorm":
        logs = jnp.log(flat)
        return jnp.exp(-_log_sum_exp(-sharpness * logs) / sharpness)
    return -_log_sum_exp(-sharpness * flat) / sharpness


def _log_sum_exp(x: Array) -> Array:
    top = jnp.max(x)
    return top + jnp.log(jnp.sum(jnp.exp(x - top)))


def size_of(values: np.ndarray) -> float:
    """Return the divisor of an objective: its smallest value, or a tenth of its largest if that is close to 0."""
    low, top = float(abs(values.min())), float(np.abs(values).max())
    return (low if low > 0.01 * top else 0.1 * top) or 1.0
