"""Compilation ahead of use: programs of a large batch are compiled in parallel while its first cells are searched."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterator

import jax
import numpy as np

from jaxmodal.batches.engines import Compiled
from jaxmodal.batches.guided_search import Purpose
from jaxmodal.batches.kernels import EXTRA, BatchProblem, extended, improved, searched
from jaxmodal.batches.pilots import PILOTS, Guess
from jaxmodal.batches.resident_passes import Lanes, Passes, begun, later_passes
from jaxmodal.dynamic_stiffness.beams import theory_flags
from jaxmodal.frequencies.brackets import Enclosure


@dataclasses.dataclass(frozen=True)
class Shape:
    """Everything that programs of a batch depend on: fields, links, features, and the data of `BatchProblem`."""

    fields: int
    links: int
    features: int
    modes: int
    hinged: bool


@functools.lru_cache(maxsize=256)
def ahead(shape: Shape, engine: Compiled, size: int) -> Iterator[Callable[[], None]]:
    """Return an iterator of calls that compile the programs of large batches; each is yielded once, to any thread.

    The calls solve no cell. An error is ignored here, because it occurs again where the program is used.
    """
    problem = BatchProblem(theory_flags("timoshenko"), shape.modes, shape.hinged)
    sizes, none = engine.sizes, np.int64(0)
    if engine.kernel.on_gpu:
        return iter(_on_device(shape, engine, problem, size))
    if engine.blocks(size, True) == 1:  # the first call compiles the program
        return iter(())

    def columns(cells: int) -> np.ndarray:
        return np.ones((shape.fields, shape.links, cells))

    def first() -> None:
        guess = _no_guess(shape)
        blocks = engine.blocks(size, True)
        cells = blocks * size
        given = columns(cells), np.zeros((shape.features, cells))
        searched(problem, given, none, guess, kernel=engine.kernel, blocks=blocks)

    def more() -> None:
        lanes = sizes.open_modes * sizes.open_mode_blocks
        one = np.ones(lanes)
        names = [f.name for f in dataclasses.fields(Enclosure)]
        e = Enclosure(**{name: one > 0.0 if name == "consistent" else one for name in names})
        omegas, beyond = (np.ones((rows, lanes)) for rows in (shape.modes, EXTRA))
        known = columns(lanes), e, one, omegas, beyond
        improved(problem, known, none, np.int64(Purpose.cut), blocks=sizes.open_mode_blocks)

    def last() -> None:
        lanes = sizes.extended_modes * sizes.open_blocks
        extended(problem, (columns(lanes), np.ones(lanes)), none, blocks=sizes.open_blocks)

    return iter([first, more, last])


def _no_guess(shape: Shape) -> Guess:
    return Guess(
        centres=np.zeros((shape.features, PILOTS)),
        weights=np.zeros((shape.modes + EXTRA, PILOTS + 1 + shape.features)),
    )


def _on_device(
    shape: Shape, engine: Compiled, problem: BatchProblem, size: int
) -> list[Callable[[], None]]:
    """Return calls of the passes of `resident` on invalid cells; their results are discarded."""

    def begin() -> Passes:  # creates its arrays at every call, because the calls are stored
        columns = np.ones((shape.fields, shape.links, size))
        valid, features = np.zeros(size, bool), np.zeros((shape.features, size))
        given = problem, columns, valid, features, _no_guess(shape)
        found: Passes = begun(*given, kernel=engine.kernel)
        return found

    structures = []

    def leaves() -> list[object]:
        found, structure = jax.tree_util.tree_flatten(begin())
        structures.append(structure)
        return found

    shapes = jax.eval_shape(leaves)

    def first() -> None:
        begin()

    def later(program: Callable[[BatchProblem, Passes], Passes]) -> None:
        nothing = [np.zeros(x.shape, x.dtype) for x in shapes]
        program(problem, jax.tree_util.tree_unflatten(structures[0], nothing))

    # the earlier passes use the same programs
    last_three = later_passes(Lanes())[-3:]
    return [first, *(functools.partial(later, program) for program in last_three)]
