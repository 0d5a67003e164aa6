"""The design that a search found: its values, active conditions and certificates."""

from __future__ import annotations

import dataclasses
import functools

import jax
import numpy as np

import jaxmodal
from design_opt.evaluation.evaluator import Chosen, Evaluator, Linearised, Report
from design_opt.problem.constraints import ForbiddenBand
from design_opt.problem.designs import OWN, of_joints, own_angles
from design_opt.problem.problem import Problem, size_of
from design_opt.solvers.kkt import Optimality
from design_opt.solvers.recording import Step
from design_opt.solvers.scipy_solver import Outcome
from jaxmodal.batches.many_arms import natural_frequencies_batch
from jaxmodal.frequencies.one_arm import natural_frequencies
from jaxmodal.frequencies.results import NaturalFrequencies
from jaxmodal.runtime.results import Result
from jaxmodal.runtime.statuses import Status
from jaxmodal.spatial.arms.arm import AnyArm

#: values within this relative distance of the smallest are reported as active
ACTIVE_SHOWN = 1e-4
#: most postures of one set at which modes in a forbidden band are counted
COUNTED = 64
#: largest relative difference between certified frequencies and those of the search
AGREEMENT = 1e-9


@dataclasses.dataclass(eq=False, repr=False)
class FoundDesign(Result):
    """Data of the best design that a search found; `OptimisationResult` adds tables and datasets."""

    evaluator: Evaluator
    report: Report
    status: Status
    message: str
    method: str
    tolerance: float
    outcome: Outcome | None
    optimality: Optimality | None
    steps: tuple[Step, ...]
    failed_starts: dict[int, str] = dataclasses.field(default_factory=dict)

    @property
    def seconds(self) -> float:
        """Time from the start of the search to the last iterate, s."""
        return self.steps[-1].seconds if self.steps else 0.0

    @property
    def problem(self) -> Problem:
        """The optimised problem."""
        return self.evaluator.problem

    @property
    def values(self) -> dict[str, float]:
        """Values of the variables, SI units, by name."""
        found = self.problem.space.physical(self.report.y)
        return {
            name: float(value) for name, value in zip(self.problem.space.names, found, strict=True)
        }

    @property
    def arm(self) -> AnyArm:
        """The arm of the optimised design."""
        return self.problem.space.design_at(self.report.y)

    @property
    def kkt_residual(self) -> float:
        """Residual of the optimality conditions; NaN if not checked."""
        return float("nan") if self.optimality is None else self.optimality.residual

    @functools.cached_property
    def terms_before(self) -> list[np.ndarray]:
        """Objective values of the given arm, an array (P, m) each; NaN if not computable."""
        evaluator = self.evaluator
        if self.problem.space.starts_today:
            return evaluator.start.terms
        found = []
        for part, start in zip(self.problem.objectives, evaluator.start.terms, strict=True):
            try:
                found.append(np.asarray(jax.jit(part.terms)(evaluator.today_design())))
            except (ValueError, jax.errors.JaxRuntimeError):  # the search started elsewhere
                found.append(np.full(start.shape, np.nan))
        return found

    @property
    def objectives(self) -> dict[str, tuple[float, float]]:
        """Every objective of the given arm and of the design, in its own unit."""
        return {
            part.label: (part.sign * float(np.min(old)), part.sign * float(new))
            for part, old, new in zip(
                self.problem.objectives,
                self.terms_before,
                self.report.objectives,
                strict=True,
            )
        }

    @property
    def aggregate_gap(self) -> float:
        """Largest relative error of the smooth aggregate: ln(N)/sharpness; 0 without smoothing."""
        if self.problem.aggregate == "bound":
            return 0.0
        count = max(values.size for values in (*self.report.terms, *self.report.margins))
        return float(np.log(count)) / self.problem.sharpness

    def active_set(
        self, tolerance: float = ACTIVE_SHOWN
    ) -> list[tuple[str, str, np.ndarray, float]]:
        """Return the active objectives and constraints: name, posture set, joint angles (rad), margin.

        With several postures, objectives are listed at every posture within the relative ``tolerance`` of the worst.
        Constraints are listed if their margin is below ``tolerance``.
        """
        found = []
        problem = self.problem
        for part, values in zip(problem.objectives, self.report.terms, strict=True):
            if len(values) > 1:
                slack = (values.min(axis=1) - values.min()) / size_of(values)
                found += self._rows(part.label, part.postures, slack, tolerance)
        for rule, margin in zip(problem.rules, self.report.margins, strict=True):
            found += self._rows(rule.label, rule.postures, margin.min(axis=1), tolerance)
        return found

    def _rows(
        self, label: str, name: str, slack: np.ndarray, tolerance: float
    ) -> list[tuple[str, str, np.ndarray, float]]:
        rows = []
        for posture in np.flatnonzero(slack <= tolerance):
            angles = self.evaluator.angles[name][posture] if name else np.zeros(0)
            rows.append((label, name, angles, float(slack[posture])))
        return rows

    @functools.cached_property
    def certificates(self) -> list[tuple[str, np.ndarray, NaturalFrequencies]]:
        """Certified frequencies of the design, in its own posture and at the worst posture of every set."""
        if not self.problem.num_modes:
            return []
        found = []
        for name, index in self._worst_postures().items():
            angles = self.evaluator.angles[name][index]
            if name == OWN:
                angles = own_angles(self.arm)[0]
            arm, problem = self._at(name, index), self.problem
            alone = natural_frequencies(arm, problem.num_modes, theory=problem.theory, throw=False)
            found.append((name, angles, alone))
        return found

    def _worst_postures(self) -> dict[str, int]:
        worst = {}
        for name, hz in self.report.hz.items():
            slack = hz[:, self.report.shown_mode(name) - 1]
            for part, values in zip(self.problem.objectives, self.report.terms, strict=True):
                if part.postures == name and len(values) == len(slack):
                    slack = values.min(axis=1)
            worst[name] = int(slack.argmin())
        return worst

    @functools.cached_property
    def certified_postures(self) -> dict[str, tuple[int, int]]:
        """Number of postures with all frequencies certified, and total number, for every set.

        A posture is counted only if the search used the same frequencies.
        """
        found = {}
        arm, problem = self.arm, self.problem
        for name, hz in self.report.hz.items():
            angles = own_angles(arm) if name == OWN else self.evaluator.angles[name]
            columns = {f"link{i}.{arm.position_of(i)}": angles[:, i - 1] for i in arm.joints}
            cells = natural_frequencies_batch(
                arm, columns, problem.num_modes, theory=problem.theory
            )
            searched = 2.0 * np.pi * hz
            close = np.abs(np.asarray(cells.omega) - searched) <= AGREEMENT * searched  # 0 is 0
            certain = np.asarray(cells.status) == Status.certified
            found[name] = (int((close & certain).all(axis=1).sum()), len(hz))
        return found

    def _at(self, name: str, posture: int) -> AnyArm:
        """Return the arm at one posture of a set."""
        if name == OWN:
            return self.arm
        (angles,) = of_joints(self.arm, self.evaluator.angles[name][[posture]])
        return self.arm.with_posture(angles)

    @property
    def certified(self) -> bool:
        """True if all frequencies at all postures are certified, and no mode is counted in a forbidden band."""
        good = all(done == whole for done, whole in self.certified_postures.values())
        good = good and all(np.all(found.certified) for _, _, found in self.certificates)
        return good and self.modes_in_bands == 0

    @property
    def ok(self) -> bool:
        """True if the optimality conditions hold and the design is `certified`."""
        return self.status.usable and self.certified

    def explain(self) -> str:
        """Return how the search ended, and how far the frequencies of the design are certified."""
        proven = (
            "all frequencies are certified"
            if self.certified
            else "NOT all frequencies are certified"
        )
        return f"{self.status.name}: {self.message}\n{proven}; see certified_postures and modes_in_bands."

    @functools.cached_property
    def modes_in_bands(self) -> int:
        """Number of frequencies, of any mode, counted in forbidden bands at their critical postures.

        The count is taken a millionth inside the ends of the bands, where an active limit lies, at up to `COUNTED`
        postures of each set.
        """
        found = 0
        for rule, margin in zip(self.problem.constraints, self.report.margins, strict=False):
            if isinstance(rule, ForbiddenBand):
                ends = np.array([rule.low_hz * (1.0 + 1e-6), rule.high_hz * (1.0 - 1e-6)])
                for posture in np.argsort(margin.min(axis=1), kind="stable")[:COUNTED]:
                    arm = self._at(rule.postures, int(posture))
                    counts = jaxmodal.count_below(
                        arm, 2.0 * np.pi * ends, theory=self.problem.theory
                    )
                    found += int(counts[1] - counts[0])
        return found

    def refined(self, chosen: Chosen | None = None) -> Linearised:
        """Return values and derivatives of the program at the design, for user-defined checks."""
        bounds = self.evaluator.program.best_bounds(self.report.terms)
        return self.evaluator.linearise(np.concatenate([self.report.y, bounds]), chosen)
