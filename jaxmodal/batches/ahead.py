"""Compiling ahead: what a large batch will need, compiled side by side while its first cells are searched."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable

import numpy as np

from jaxmodal.batches.engines import Compiled
from jaxmodal.batches.guided_search import Purpose
from jaxmodal.batches.kernels import EXTRA, BatchProblem, extended, improved, searched
from jaxmodal.batches.pilots import PILOTS, Guess
from jaxmodal.dynamic_stiffness.beams import theory_flags
from jaxmodal.frequencies.brackets import Enclosure


@dataclasses.dataclass(frozen=True)
class Shape:
    """All that the programs of a batch know of it: fields, links and features, and what `BatchProblem` says."""

    fields: int
    links: int
    features: int
    modes: int
    hinged: bool


@functools.lru_cache(maxsize=256)
def ahead(shape: Shape, engine: Compiled, size: int) -> list[Callable[[], object]]:
    """Calls that compile the programs of large batches, and solve no cell, when they are first made for a shape.

    None where a program takes one block, which it would solve.

    What fails here fails again, and is reported, where the program is used.
    """
    problem = BatchProblem(theory_flags("timoshenko"), shape.modes, shape.hinged)
    sizes, none = engine.sizes, np.int64(0)
    if engine.blocks(size, True) == 1 or sizes.open_blocks == 1:
        return []

    def columns(cells: int) -> np.ndarray:
        return np.ones((shape.fields, shape.links, cells))

    def first() -> None:
        guess = Guess(
            centres=np.zeros((shape.features, PILOTS)),
            weights=np.zeros((shape.modes + EXTRA, PILOTS + 1 + shape.features)),
        )
        blocks = engine.blocks(size, True)
        cells = blocks * size
        features = np.zeros((shape.features, cells))
        searched(
            problem, columns(cells), features, none, guess, kernel=engine.kernel, blocks=blocks
        )

    def more() -> None:
        lanes = sizes.open_modes * sizes.open_mode_blocks
        one = np.ones(lanes)
        names = [f.name for f in dataclasses.fields(Enclosure)]
        e = Enclosure(**{name: one > 0.0 if name == "consistent" else one for name in names})
        omegas, beyond = (np.ones((rows, lanes)) for rows in (shape.modes, EXTRA))
        known = columns(lanes), e, one, omegas, beyond, np.int64(Purpose.cut), none
        improved(problem, *known, blocks=sizes.open_mode_blocks)

    def last() -> None:
        lanes = sizes.extended_modes * sizes.open_blocks
        extended(problem, columns(lanes), np.ones(lanes), none, blocks=sizes.open_blocks)

    return [functools.cache(program) for program in (first, more, last)]  # each called once
