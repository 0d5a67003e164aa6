"""Values and exact derivatives of a problem: frequencies at all postures, gradients of the relevant ones."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from design_opt.evaluation.formulation import Measure, Program, make_program
from design_opt.evaluation.gradients import PlanarRates
from design_opt.evaluation.spatial_gradients import SpatialRates
from design_opt.problem.designs import OWN, Design, degrees, own_angles, posture_columns
from design_opt.problem.errors import ProblemError
from design_opt.problem.problem import Problem
from jaxmodal.arm.kinds import ByKind
from jaxmodal.batches.many_arms import natural_frequencies_batch
from jaxmodal.eigenspaces.clusters import clusters
from jaxmodal.runtime.statuses import Status
from jaxmodal.spatial.arms.arm import AnyArm

TWO_PI = 2.0 * np.pi
#: frequencies closer than this, relative, form a group, of which the mean is differentiated
GROUP_TOLERANCE = 1e-8
#: least number of postures at which the batch solver chooses its own chunk size
BATCH_CELLS = 512
#: chunk size for fewer postures: its program is compiled in 8 s and takes 0.01 s per call
_SIDE_BY_SIDE = 16
#: seconds per call and per cell in NumPy (nominal values, so that a search is reproducible), and the sum after which
#: compiled programs are used: about the time to compile; 200 calls, by when most searches have ended, or 12 calls with
#: 4096 postures
_OF_A_CALL, _OF_A_CELL, _IN_NUMPY = 0.05, 2e-4, 10.0
#: derivatives of rows with respect to frequencies below this share of the largest one are neglected
_NEGLIGIBLE = 1e-12

_RATES: ByKind[Any] = ByKind(PlanarRates, SpatialRates)

Chosen = Mapping[str, np.ndarray]
_Solved = dict[str, tuple[np.ndarray, np.ndarray]]


@dataclasses.dataclass(frozen=True)
class Report:
    """Exact values of a design at a set of postures, in general all.

    ``y`` are the positions of the variables, ``hz`` the frequencies by posture set, (P, K). ``terms`` and ``margins``
    have one array (P, m) per objective and constraint. ``score`` is the weighted objective, to be maximised;
    ``violation`` the largest violation of a constraint.
    """

    y: np.ndarray
    hz: dict[str, np.ndarray]
    terms: list[np.ndarray]
    margins: list[np.ndarray]
    score: float
    violation: float

    @property
    def lowest_mode(self) -> int:
        """Number of the lowest mode with nonzero frequency in all postures."""
        still = [int((hz == 0.0).sum(axis=1).max()) for hz in self.hz.values()]
        return 1 + max(still, default=0)

    def shown_mode(self, name: str) -> int:
        """Return `lowest_mode`, or the last mode of a set if that has fewer (rigid arms)."""
        return min(self.lowest_mode, self.hz[name].shape[1])

    @property
    def objectives(self) -> np.ndarray:
        """Smallest value of each objective, with the sign for maximisation (mass is negative)."""
        return np.array([float(np.min(values)) for values in self.terms])


@dataclasses.dataclass(frozen=True)
class Linearised:
    """Values and derivatives of a program at one point; each array of ``rates`` has shape (rows, unknowns)."""

    objective: float
    inequalities: np.ndarray
    equalities: np.ndarray
    objective_rate: np.ndarray
    inequality_rates: np.ndarray
    equality_rates: np.ndarray


class Evaluator:
    """Evaluator of the designs of one problem.

    Parameters
    ----------
    problem
        The problem.

    Notes
    -----
    Frequencies are computed without derivatives. JAX differentiates each row of the program (objective, constraint)
    with respect to variables and frequencies. Frequencies on which a row depends are differentiated by the energies of
    their modes.
    """

    def __repr__(self) -> str:
        return f"<Evaluator of {self.problem!r}>"

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.angles = {name: problem.sets[name] for name in problem.used_sets}
        self.rates = _RATES.of(problem.arm)(problem, problem.arm)
        self._spent = 0.0
        self._solutions, self._reports, self._linearised = _Latest(), _Latest(), _Latest()
        self.today_hz = _hz(self._solve(problem.arm, self.angles))
        self._pieces = jax.jit(self._make_pieces)
        y = problem.space.start
        hz = self.frequencies(y)
        self._require_vibrating(y, hz)
        terms, _ = self._pieces(jnp.asarray(y), hz, self.angles, self.today_hz)
        self.program: Program = make_program(problem, [np.asarray(x) for x in terms])
        self.start = self.report(y)
        # values and derivatives are always needed together: one program, traced and compiled once
        self._rows = jax.jit(jax.jacrev(self._make_rows, argnums=(0, 1), has_aux=True))

    # ---- frequencies

    def everything(self) -> dict[str, np.ndarray]:
        """Return the indices of all postures of every set."""
        return {name: np.arange(len(angles)) for name, angles in self.angles.items()}

    def frequencies(self, y: np.ndarray, chosen: Chosen | None = None) -> dict[str, np.ndarray]:
        """Return frequencies in Hz at the chosen postures, (P, K) for each set; all postures if none are chosen.

        The latest result is cached, because solvers need the report of a design just after its linearisation.
        """
        return _hz(self._solved(np.asarray(y, float), chosen))

    def _solved(self, y: np.ndarray, chosen: Chosen | None) -> _Solved:
        angles = _chosen_rows(self.angles, chosen)
        solved: _Solved = self._solutions.of(
            (y, *angles.values()), lambda: self._solve(self.problem.space.arm_at(y), angles)
        )
        return solved

    def _solve(self, arm: AnyArm, angles: Mapping[str, np.ndarray]) -> _Solved:
        """Return, per set, frequencies in Hz and the number of modes that the last group has beyond them."""
        if not angles:
            return {}
        own = own_angles(arm)
        sets = [own if name == OWN else np.asarray(rows) for name, rows in angles.items()]
        cells = np.concatenate(sets)
        columns = posture_columns(arm, cells)
        often = self._spent > _IN_NUMPY and self.rates.has_programs
        self._spent += _OF_A_CALL + _OF_A_CELL * len(cells)
        size = _SIDE_BY_SIDE if often and len(cells) < BATCH_CELLS else None
        kernel = "portable" if often else "auto"
        result = natural_frequencies_batch(
            arm,
            columns,
            self.problem.num_modes,
            theory=self.problem.theory,
            chunk_size=size,
            kernel=kernel,
        )
        ends = np.cumsum([len(rows) for rows in sets])[:-1]
        found = np.split(np.asarray(result.frequencies_hz), ends)
        beyond = np.asarray(result.count_above)[:, -1] - self.problem.num_modes
        status = np.split(np.asarray(result.status), ends)
        for name, hz, codes in zip(angles, found, status, strict=True):
            # the search may use uncertified frequencies; the final design is certified, or reports that it is not
            missing = ~np.isfinite(hz)
            if missing.any():
                self._require_modes(name, np.isfinite(hz).sum(axis=1))
                worst = Status.worst(codes[missing])
                loaded = arm.loads is not None
                held = ", and postures to those in which free joints are at rest under the loads"
                raise ProblemError(
                    f"frequencies at the postures {name!r} are missing ({worst.name}: {worst.cause}) for a"
                    " design within the bounds; narrow the bounds to designs that are possible arms"
                    f"{held * loaded}."
                )
        return dict(zip(angles, zip(found, np.split(beyond, ends), strict=True), strict=True))

    def _require_modes(self, name: str, known: np.ndarray) -> None:
        """Raise an error for parts that need more modes than a rigid arm has (one for each spring)."""
        links: Sequence[Any] = self.problem.arm.links
        if not all(link.rigid for link in links):
            return
        few = int(known.min())
        for part in self.problem.parts:
            if part.postures == name and part.highest_mode > few:
                raise ProblemError(
                    f"{part.label!r}: looks at modes up to {part.highest_mode}, and the arm, of rigid links, has {few}"
                    f" at the postures {name!r}. A limit on a frequency looks at the next mode as well, an objective at"
                    " `cluster` (2) more: ask for a lower mode, give cluster = 0, make a link flexible, or write a"
                    f" function of your own with highest_mode = {few}."
                )

    # ---- exact values

    def _make_pieces(self, y: Any, hz: Any, angles: Any, today_hz: Any) -> Any:
        problem = self.problem
        design = problem.design(y, hz, angles)
        return problem.terms(design), problem.margins(design, self._today(today_hz, angles))

    def _today(self, hz: Any, angles: Any) -> Design:
        problem = self.problem
        return Design(problem.arm, jnp.asarray(problem.space.today), dict(hz), dict(angles))

    def at_size_of(self, report: Report) -> Evaluator:
        """Return the evaluator whose objectives count relative to those of a design, see `Program.at_size_of`."""
        program = self.program.at_size_of(report.terms)
        if program is self.program:
            return self
        made = copy.copy(self)
        made.program, made._linearised = program, _Latest()
        return made

    def today_design(self) -> Design:
        """Return the given arm (today's design) at all postures."""
        return self._today(self.today_hz, self.angles)

    def report(self, y: np.ndarray, chosen: Chosen | None = None) -> Report:
        """Return the report of a design at the chosen postures, or at all; the latest one is cached."""
        y, angles = np.array(y, float), _chosen_rows(self.angles, chosen)

        def made() -> Report:
            hz, today = self.frequencies(y, chosen), _chosen_rows(self.today_hz, chosen)
            terms, margins = self._pieces(jnp.asarray(y), hz, angles, today)
            return self.report_of(
                y, hz, [np.asarray(x) for x in terms], [np.asarray(x) for x in margins]
            )

        report: Report = self._reports.of((y, *angles.values()), made)
        return report

    def report_of(
        self, y: np.ndarray, hz: Any, terms: list[np.ndarray], margins: list[np.ndarray]
    ) -> Report:
        """Return a report from values of frequencies, objectives and margins.

        Raises
        ------
        ProblemError
            If an objective is not finite, or a margin is NaN.
        """
        for part, values in zip(self.problem.objectives, terms, strict=True):
            _require("objective", part.label, values, np.isfinite(values))
        violation = 0.0
        for rule, margin in zip(self.problem.rules, margins, strict=True):
            _require("constraint", rule.label, margin, ~np.isnan(margin))
            worst = np.abs(margin).max() if rule.equality else -margin.min()
            violation = max(violation, float(worst))
        return Report(np.array(y), hz, terms, margins, self.program.score(terms), violation)

    def _require_vibrating(self, y: np.ndarray, hz: Mapping[str, np.ndarray]) -> None:
        """Raise an error if a user-defined function depends on a mode of frequency 0, which does not vibrate.

        The functions are evaluated once with NaN in place of zero frequencies. Built-in objectives and constraints
        declare their modes.
        """
        still = {name: np.where(own == 0.0, np.nan, own) for name, own in hz.items()}
        if all(np.isfinite(own).all() for own in still.values()):
            return
        problem = self.problem
        terms, margins = self._pieces(jnp.asarray(y), still, self.angles, self.today_hz)
        for part, values in zip(problem.parts, [*terms, *margins], strict=False):
            zeros = problem.zero_modes.get(part.postures)
            if hasattr(part, "check_zero_modes") or not np.isnan(np.asarray(values)).any():
                continue
            zeros = zeros or max(problem.zero_modes.values(), key=lambda x: x.most)
            raise ProblemError(
                f"{part.label!r}: reads a frequency that is 0: {zeros.words}, and these come first. Modes from "
                f"{zeros.most + 1} on vibrate: read the columns of design.hz from {zeros.most} on."
            )

    # ---- values and derivatives of the program

    def _make_rows(
        self, w: Any, hz: Any, angles: Any, today_hz: Any, sharpness: Any, measure: Measure
    ) -> tuple[Any, Any]:
        """Return the rows twice: to be differentiated, and as values."""
        rows = self.program.rows(w, hz, angles, self._today(today_hz, angles), sharpness, measure)
        return rows, rows

    def linearise(
        self, w: np.ndarray, chosen: Chosen | None = None, sharpness: float | None = None
    ) -> Linearised:
        """Return values and derivatives of the program at w for the chosen postures; the latest ones are cached."""
        sharp = np.float64(self.problem.sharpness if sharpness is None else sharpness)
        w, angles = np.array(w, float), _chosen_rows(self.angles, chosen)
        found: Linearised = self._linearised.of(
            (w, sharp, *angles.values()), lambda: self._linearise(w, chosen, sharp)
        )
        return found

    def _linearise(self, w: np.ndarray, chosen: Chosen | None, sharp: np.float64) -> Linearised:
        size = self.problem.space.size
        y = w[:size]
        solved = self._solved(y, chosen)
        hz, today = _hz(solved), _chosen_rows(self.today_hz, chosen)
        angles = _chosen_rows(self.angles, chosen)
        rates, rows = self._rows(
            jnp.asarray(w), hz, angles, today, jnp.float64(sharp), self.program.measure
        )
        values = [np.asarray(x) for x in rows]
        slopes = self._slopes(y, solved, angles, [rate[1] for rate in rates])
        full = []
        for (own, of_hz), value in zip(rates, values, strict=True):
            rate = np.array(own).reshape(value.size, len(w))
            for name, slope in slopes.items():
                part = np.asarray(of_hz[name]).reshape(value.size, hz[name].size)
                rate[:, :size] += part[:, slope.at] @ slope.rates
            full.append(rate)
        if not all(np.isfinite(rate).all() for rate in full):
            raise ProblemError(
                "derivatives of the objectives and constraints are not all known at a design within the bounds, as at "
                "a very sharp peak of a response, or where a function of your own has no slope; narrow the bounds to "
                "designs that have them, of a response to those with more damping, and start at one."
            )
        return Linearised(
            float(values[0]), values[1], values[2], full[0].reshape(-1), full[1], full[2]
        )

    def _slopes(
        self, y: np.ndarray, solved: _Solved, angles: dict[str, np.ndarray], of_hz: Any
    ) -> dict[str, _Slopes]:
        """Return the derivatives, in Hz, of the frequencies that a row depends on."""
        found = {}
        for name, (values, beyond) in solved.items():
            weight = np.zeros(values.size)
            for part in of_hz:
                weight = np.maximum(
                    weight,
                    np.abs(np.asarray(part[name]))
                    .reshape(-1, values.size)
                    .max(axis=0, initial=0.0),
                )
            at = np.flatnonzero(weight > _NEGLIGIBLE * weight.max(initial=0.0))
            cell, mode = np.divmod(at, values.shape[1])
            self._require_derivatives(name, angles[name], values, cell, mode)
            alone = np.broadcast_to(np.arange(values.shape[1]), values.shape)
            first, last = clusters(values, alone, GROUP_TOLERANCE)
            centre = TWO_PI * np.take_along_axis(values, first, axis=1)[cell, mode]
            size = last - first + 1 + np.where(last == values.shape[1] - 1, beyond[:, None], 0)
            slopes = self.rates.of_groups(y, name, angles[name][cell], centre, size[cell, mode])
            found[name] = _Slopes(at, slopes / TWO_PI)
        return found

    def _require_derivatives(
        self, name: str, angles: np.ndarray, values: np.ndarray, cell: np.ndarray, mode: np.ndarray
    ) -> None:
        """Raise an error if a needed frequency is 0 at this design, where it has no derivative."""
        still = np.flatnonzero(values[cell, mode] == 0.0)
        if still.size:
            first = still[0]
            where = (
                "its own posture"
                if name == OWN
                else f"{degrees(self.problem.arm, angles[cell[first]], angles)} of {name}"
            )
            raise ProblemError(
                f"mode {mode[first] + 1}: its frequency falls to 0 at {where} for a design within the bounds, as no "
                "support hinders a motion without strain there, and has no derivative; narrow the bounds, start "
                "elsewhere, or leave the posture out."
            )

    def cluster_rates(self, y: np.ndarray, name: str, posture: int, hz: np.ndarray) -> np.ndarray:
        """Return the derivatives projected on the modes of a cluster, in Hz per position, shape (m, m, n)."""
        close = bool(np.ptp(hz) <= GROUP_TOLERANCE * hz[-1])
        at = self.angles[name][posture]
        return self.rates.of_cluster(y, name, at, TWO_PI * hz, close) / TWO_PI


class _Latest:
    """Cache of the latest result: solvers evaluate the same point several times."""

    def __init__(self) -> None:
        self._key: tuple[bytes, ...] = ()
        self._value: Any = None

    def of(self, arrays: tuple[Any, ...], make: Callable[[], Any]) -> Any:
        """Return the cached result if the arrays are those of the last call, otherwise the result of ``make``."""
        key = tuple(x.tobytes() for x in arrays)
        if key != self._key:
            self._value, self._key = make(), key
        return self._value


def _chosen_rows(sets: dict[str, np.ndarray], chosen: Chosen | None) -> dict[str, np.ndarray]:
    """Return the rows of each set for the chosen postures, or all rows."""
    return sets if chosen is None else {name: rows[chosen[name]] for name, rows in sets.items()}


def _hz(solved: _Solved) -> dict[str, np.ndarray]:
    return {name: hz for name, (hz, _) in solved.items()}


def _require(kind: str, label: str, values: np.ndarray, known: np.ndarray) -> None:
    """Raise a `ProblemError` unless all values are ``known``; the message names the first that is not."""
    if not known.all():
        raise ProblemError(
            f"{kind} {label!r}: is {float(values[~known][0])} for a design within the bounds; narrow these to designs "
            "that are possible arms, with damping where a peak of a response counts."
        )


@dataclasses.dataclass(frozen=True)
class _Slopes:
    """Flat indices into (P, K), and derivatives of the frequencies there, (entries, n)."""

    at: np.ndarray
    rates: np.ndarray
