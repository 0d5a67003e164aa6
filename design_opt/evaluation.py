"""Values and exact derivatives of a problem: frequencies of all postures, gradients of those that matter."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from design_opt.designs import OWN, Design
from design_opt.errors import ProblemError
from design_opt.formulation import Program, make_program
from design_opt.problem import Problem
from design_opt.spectra import beam_gradients, cluster_derivatives, groups, search
from jaxmodal.arm import BeamArrays, beam_arrays
from jaxmodal.batches import natural_frequencies_batch
from jaxmodal.beams import Theory, theory_flags

TWO_PI = 2.0 * np.pi
#: from this number of postures on, frequencies come from the batch solver of jaxmodal
BATCH_CELLS = 512
#: derivatives of rows with respect to a frequency below this share of the largest are left out
_NEGLIGIBLE = 1e-12

Chosen = Mapping[str, np.ndarray]
#: link values by name, one row for each lane
Columns = dict[str, np.ndarray]
_NAMES = tuple(field.name for field in dataclasses.fields(BeamArrays) if field.name != "has_shear")


@dataclasses.dataclass(frozen=True)
class Report:
    """A design over all postures, exactly.

    ``terms`` and ``margins`` have an array (P, m) for every objective and constraint; ``score`` is the weighted
    objective, to be large; ``violation`` the largest negative margin, or deviation of an equality.
    """

    y: np.ndarray
    hz: dict[str, np.ndarray]
    terms: list[np.ndarray]
    margins: list[np.ndarray]
    score: float
    violation: float

    @property
    def objectives(self) -> np.ndarray:
        """The least value of every objective, as the problem counts it (mass negative)."""
        return np.array([float(np.min(values)) for values in self.terms])


@dataclasses.dataclass(frozen=True)
class Linearised:
    """Values and derivatives of a program at one point; ``rates`` are (rows, unknowns)."""

    objective: float
    inequalities: np.ndarray
    equalities: np.ndarray
    objective_rate: np.ndarray
    inequality_rates: np.ndarray
    equality_rates: np.ndarray


class Evaluator:
    """Evaluates the designs of one problem.

    Parameters
    ----------
    problem
        The problem.

    Notes
    -----
    Frequencies are found without derivatives. A row of the program (objective, constraint) is then differentiated by
    JAX with respect to variables and frequencies; only the frequencies on which some row depends at the moment are
    differentiated themselves, by the energies of their modes.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.flags = theory_flags(problem.theory)
        self.angles = {name: problem.sets[name] for name in problem.used_sets}
        space = problem.space

        def link_values(y: Any) -> dict[str, Any]:
            beams = beam_arrays(space.arm_at(y))
            return {name: getattr(beams, name) for name in _NAMES}

        self._link_values = jax.jit(link_values)
        self._link_rates = jax.jit(jax.jacfwd(link_values))
        today = self._solve(_columns(beam_arrays(problem.arm)), problem.arm, self.angles)
        self.today_hz = today
        self._pieces = jax.jit(self._make_pieces)
        start = self.report(space.start)
        self.program: Program = make_program(problem, start.terms)
        self.start = dataclasses.replace(start, score=self.program.score(start.terms))
        self._rows = jax.jit(self._make_rows)
        self._row_rates = jax.jit(jax.jacrev(self._make_rows, argnums=(0, 1)))

    # ---- frequencies

    def everything(self) -> dict[str, np.ndarray]:
        """Indices of all postures of every set."""
        return {name: np.arange(len(angles)) for name, angles in self.angles.items()}

    def frequencies(self, y: np.ndarray, chosen: Chosen | None = None) -> dict[str, np.ndarray]:
        """Return frequencies in Hz at the chosen postures, (P, K) for each set; all postures if none are chosen."""
        angles = self._chosen_angles(chosen)
        if not angles:
            return {}
        return self._solve(self._link_values(jnp.asarray(y)), self.problem.space.arm_at(y), angles)

    def _chosen_angles(self, chosen: Chosen | None) -> dict[str, np.ndarray]:
        if chosen is None:
            return self.angles
        return {name: angles[chosen[name]] for name, angles in self.angles.items()}

    def _solve(
        self, values: Columns, arm: Any, angles: Mapping[str, np.ndarray]
    ) -> dict[str, np.ndarray]:
        found = {}
        modes = self.problem.num_modes
        small = {k: v for k, v in angles.items() if k == OWN or len(v) < BATCH_CELLS}
        for name in angles.keys() - small.keys():
            columns = {
                f"link{i + 1}.joint_angle": angles[name][:, i] for i in range(1, arm.num_links)
            }
            result = natural_frequencies_batch(arm, columns, modes, self.problem.theory)
            found[name] = np.asarray(result.omega) / TWO_PI
        if small:
            cells = _posed(values, small)
            omega = _solve_cells(modes, cells, self.flags)
            ends = np.cumsum([len(v) for v in small.values()])[:-1]
            found.update(zip(small, np.split(omega / TWO_PI, ends), strict=True))
        for name, hz in found.items():
            if not np.isfinite(hz).all():
                raise ProblemError(
                    f"frequencies at the postures {name!r} were not found for a design within the bounds; narrow the"
                    " bounds to designs that are possible arms."
                )
        return {name: found[name] for name in angles}

    # ---- exact values

    def _make_pieces(self, y: Any, hz: Any, angles: Any, today_hz: Any) -> Any:
        problem = self.problem
        design = problem.design(y, hz, angles)
        return problem.terms(design), problem.margins(design, self._today(today_hz, angles), y)

    def _today(self, hz: Any, angles: Any) -> Design:
        problem = self.problem
        return Design(problem.arm, jnp.asarray(problem.space.today), dict(hz), dict(angles))

    def today_design(self) -> Design:
        """Today's design at all postures."""
        return self._today(self.today_hz, self.angles)

    def report(self, y: np.ndarray, chosen: Chosen | None = None) -> Report:
        """Return a design over the chosen postures, or over all."""
        hz = self.frequencies(y, chosen)
        angles = self._chosen_angles(chosen)
        terms, margins = self._pieces(jnp.asarray(y), hz, angles, self._chosen_today(chosen))
        return self.report_of(
            y, hz, [np.asarray(x) for x in terms], [np.asarray(x) for x in margins]
        )

    def report_of(
        self, y: np.ndarray, hz: Any, terms: list[np.ndarray], margins: list[np.ndarray]
    ) -> Report:
        """Return the report that given values make."""
        score = self.program.score(terms) if hasattr(self, "program") else 0.0
        violation = 0.0
        for equal, margin in zip(self.problem.equalities, margins, strict=True):
            worst = np.abs(margin).max() if equal else -margin.min()
            violation = max(violation, float(worst))
        return Report(np.array(y), hz, terms, margins, score, violation)

    def _chosen_today(self, chosen: Chosen | None) -> dict[str, np.ndarray]:
        if chosen is None:
            return self.today_hz
        return {name: hz[chosen[name]] for name, hz in self.today_hz.items()}

    # ---- values and derivatives of the program

    def _make_rows(
        self, w: Any, hz: Any, angles: Any, today_hz: Any, sharpness: Any
    ) -> tuple[Any, Any, Any]:
        return self.program.rows(w, hz, angles, self._today(today_hz, angles), sharpness)

    def linearise(
        self, w: np.ndarray, chosen: Chosen | None = None, sharpness: float | None = None
    ) -> Linearised:
        """Return values and derivatives of the program with the chosen postures at w."""
        size = self.problem.space.size
        sharp = jnp.float64(self.problem.sharpness if sharpness is None else sharpness)
        y = np.asarray(w)[:size]
        hz = self.frequencies(y, chosen)
        angles = self._chosen_angles(chosen)
        arguments = (jnp.asarray(w), hz, angles, self._chosen_today(chosen), sharp)
        values = [np.asarray(x) for x in self._rows(*arguments)]
        rates = self._row_rates(*arguments)
        slopes = self._slopes(y, hz, angles, [rate[1] for rate in rates])
        full = []
        for (own, of_hz), value in zip(rates, values, strict=True):
            rate = np.array(own).reshape(value.size, len(w))
            for name, slope in slopes.items():
                part = np.asarray(of_hz[name]).reshape(value.size, hz[name].size)
                rate[:, :size] += part[:, slope.at] @ slope.rates
            full.append(rate)
        return Linearised(
            float(values[0]), values[1], values[2], full[0].reshape(-1), full[1], full[2]
        )

    def _slopes(
        self, y: np.ndarray, hz: dict[str, np.ndarray], angles: dict[str, np.ndarray], of_hz: Any
    ) -> dict[str, _Slopes]:
        """Derivatives in Hz of those frequencies that some row depends on."""
        if not hz:
            return {}
        own = self._link_values(jnp.asarray(y))
        rates = self._link_rates(jnp.asarray(y))
        found = {}
        for name, values in hz.items():
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
            first, multiplicity = (np.asarray(x) for x in groups(jnp.asarray(values)))
            centre = TWO_PI * values[cell, first[cell, mode]]
            lanes = _lanes(own, name, angles[name][cell])
            gradient = _solve_gradients(
                self.problem.num_modes, lanes, self.flags, centre, multiplicity[cell, mode]
            )
            found[name] = _Slopes(at, _pulled_back(gradient, rates, name) / TWO_PI)
        return found

    def cluster_rates(
        self, y: np.ndarray, name: str, posture: int, modes: np.ndarray, hz: np.ndarray
    ) -> np.ndarray:
        """Projected derivatives, Hz per position, of a cluster of modes (indices from 0): shape (m, m, n)."""
        own = self._link_values(jnp.asarray(y))
        rates = self._link_rates(jnp.asarray(y))
        lane = _lanes(own, name, self.angles[name][[posture]])
        beams = _beam_arrays({key: values[0] for key, values in lane.items()})
        gradient = cluster_derivatives(
            self.problem.num_modes, beams, self.flags, TWO_PI * np.asarray(hz)
        )
        count = len(modes)
        flat = {
            key: values.reshape(count * count, -1) for key, values in _columns(gradient).items()
        }
        return _pulled_back(flat, rates, name).reshape(count, count, -1) / TWO_PI


@dataclasses.dataclass(frozen=True)
class _Slopes:
    """Flat indices into (P, K), and the derivatives of those entries, (entries, n)."""

    at: np.ndarray
    rates: np.ndarray


def _columns(beams: BeamArrays) -> Columns:
    return {name: np.asarray(getattr(beams, name)) for name in _NAMES}


def _beam_arrays(columns: Columns) -> BeamArrays:
    arrays = {name: jnp.asarray(values) for name, values in columns.items()}
    return BeamArrays(**arrays, has_shear=True)


def _posed(own: Columns, sets: Mapping[str, np.ndarray]) -> Columns:
    """One arm at all postures of the sets, arrays (cells, n)."""
    parts = [_lanes(own, name, angles) for name, angles in sets.items()]
    return {name: np.concatenate([part[name] for part in parts]) for name in _NAMES}


def _lanes(own: Columns, name: str, angles: np.ndarray) -> Columns:
    """One arm at given postures, arrays (lanes, n); the set ``own`` takes the design's angles."""
    count = len(angles)
    lanes = {
        key: np.broadcast_to(np.asarray(values), (count, *values.shape))
        for key, values in own.items()
    }
    return lanes if name == OWN else lanes | {"joint_angle": angles}


def _pulled_back(gradient: Columns, rates: Columns, name: str) -> np.ndarray:
    """Chain rule from link values, (lanes, n) and (n, variables), to the variables: (lanes, variables)."""
    total = np.zeros((gradient["length"].shape[0], rates["length"].shape[-1]))
    for key, of_variables in rates.items():
        rate = np.asarray(of_variables)
        if rate.any() and not (key == "joint_angle" and name != OWN):
            total += gradient[key] @ rate
    return total


def _solve_cells(modes: int, cells: Columns, flags: Theory) -> np.ndarray:
    """`search` over any number of cells in compiled pieces of few sizes."""
    count = cells["length"].shape[0]
    size = 1 if count == 1 else 16 if count <= 16 else 64
    parts = [
        np.asarray(search(modes, _beam_arrays(piece), flags)) for piece in _pieces(cells, size)
    ]
    return np.concatenate(parts)[:count]


def _solve_gradients(
    modes: int, lanes: Columns, flags: Theory, omega: np.ndarray, multiplicity: np.ndarray
) -> Columns:
    """`beam_gradients` over any number of lanes in compiled pieces of few sizes."""
    count, links = lanes["length"].shape
    if count == 0:
        return lanes
    size = 1 if count == 1 else 4 if links > 12 or count <= 4 else 32
    parts = []
    for piece in _pieces(lanes | {"omega": omega, "multiplicity": multiplicity}, size):
        own, number = jnp.asarray(piece.pop("omega")), jnp.asarray(piece.pop("multiplicity"))
        parts.append(_columns(beam_gradients(modes, _beam_arrays(piece), flags, own, number)))
    return {key: np.concatenate([part[key] for part in parts])[:count] for key in _NAMES}


def _pieces(columns: Columns, size: int) -> Iterator[Columns]:
    """Rows in pieces of one size, the last row repeated to fill the last piece."""
    count = columns["length"].shape[0]
    for start in range(0, count, size):
        at = np.minimum(np.arange(start, start + size), count - 1)
        yield {key: values[at] for key, values in columns.items()}
