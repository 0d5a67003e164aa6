"""What the cells of a campaign are drawn from: random numbers of one case, and the case that they make."""

from __future__ import annotations

import dataclasses
import zlib
from typing import Any

import numpy as np

import jaxmodal as jm
from jaxmodal.dynamic_stiffness.beams import THEORIES, TheoryName

#: relative distances from what is exactly equal, straight, folded or at right angles
_NEAR = -12.0, -3.0


@dataclasses.dataclass(frozen=True)
class Case:
    """An arm and the cells of a batch of it."""

    arm: Any
    parameters: dict[str, np.ndarray]
    modes: int = 8
    theory: TheoryName = "timoshenko"
    chunk: int | None = None


class Draw:
    """Random numbers of one case."""

    def __init__(self, kind: str, seed: int, number: int, cells: int) -> None:
        self.rng = np.random.default_rng([seed, zlib.crc32(kind.encode()), number])
        self.cells, self.number = cells, number

    def log(self, low: float, high: float) -> float:
        """One number, 10 to a power between two."""
        return float(10.0 ** self.rng.uniform(low, high))

    def logs(self, low: float, high: float) -> np.ndarray:
        """One for each cell."""
        return np.asarray(10.0 ** self.rng.uniform(low, high, self.cells))

    def uniform(self, low: float, high: float) -> np.ndarray:
        """A number between two for each cell."""
        return self.rng.uniform(low, high, self.cells)

    def angles(self) -> np.ndarray:
        """An angle for each cell."""
        return self.uniform(-np.pi, np.pi)

    def near(self) -> np.ndarray:
        """A distance from what is exactly equal for each cell, of either sign, 0 one time in sixteen."""
        signs = self.rng.choice([-1.0, 1.0], self.cells)
        return np.where(self.uniform(0.0, 1.0) < 1.0 / 16.0, 0.0, signs * self.logs(*_NEAR))

    def pick(self, *choices: Any) -> Any:
        """One of several."""
        return choices[self.rng.integers(len(choices))]

    def theory(self, choices: int = len(THEORIES)) -> TheoryName:
        """Each theory in turn, of so many; the last, whose links do not stretch, lies against no rigid support."""
        return THEORIES[self.number % choices]

    def link(self, slender: tuple[float, float] = (0.7, 2.3), **values: Any) -> jm.Link:
        """A link of random size; L/h is 10 to a power within ``slender``."""
        length, width = self.log(-0.7, 0.2), self.log(-2.0, -1.0)
        depth = length / self.log(*slender)
        return jm.Link(
            length,
            self.log(10.0, 11.3),
            self.pick(2700.0, 7800.0),
            jm.rectangle(depth, width, 0.85),
            poisson_ratio=0.3,
            **values,
        )

    def links(self, number: int, **values: Any) -> tuple[jm.Link, ...]:
        """Links of random size and posture."""
        return tuple(
            self.link(joint_angle=float(self.rng.uniform(-np.pi, np.pi)), **values)
            for _ in range(number)
        )


def rigidity(link: Any) -> float:
    """E I of a link."""
    return float(link.youngs_modulus * link.second_moment)


def turned(draw: Draw, number: int) -> dict[str, np.ndarray]:
    """A random posture of each cell."""
    return {f"link{k}.joint_angle": draw.angles() for k in range(2, number + 1)}
