"""How quiet shaped moves are: twenty random moves of two flexible links with a payload that is 10 % wrong.

``python -m benchmarks.quiet_moves --plot results/moves/quiet_moves.png``

Each is shaped as ``"wide"`` and as ``"zv"``, and evaluated with the payload as given, a tenth lighter and heavier.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import jaxmodal as jm
from jaxmodal import dynamics
from jaxmodal.dynamics import Motion
from jaxmodal.moves import ShaperComparison, compare_shapers

#: moves, and the share by which the payload may be wrong
MOVES, PAYLOAD_ERROR = 20, 0.1
#: what may be left of the unshaped vibration
LEFT = 0.03


def arm() -> jm.Arm:
    """Two strips of aluminium, 1 m together, with a payload of 0.2 kg."""
    strip = {
        "length": 0.5,
        "youngs_modulus": 7e10,
        "density": 2700.0,
        "section": jm.rectangle(depth=0.005, width=0.04),
        "hub_inertia": 0.01,
    }
    return jm.Arm((jm.Link(**strip), jm.Link(**strip, hub_mass=0.5)), jm.Payload(0.2))


def random_moves(number: int = MOVES, seed: int = 1) -> Iterator[Motion]:
    """Trapezoids: joints turn by up to 0.6 rad from postures that are neither straight nor folded."""
    rng = np.random.default_rng(seed)
    for _ in range(number):
        start = rng.uniform([-1.0, 0.3], [1.0, 2.2])
        end = start + rng.uniform(-0.6, 0.6, 2)
        yield dynamics.trapezoid(start, end, rng.uniform(0.3, 1.5), rng.uniform(1.5, 6.0))


def compared(move: Motion, kinds: tuple[str, ...] = ("zv", "wide")) -> ShaperComparison:
    """One of the moves by several kinds of shaping."""
    return compare_shapers(
        arm(),
        move,
        kinds,
        3,
        theory="euler_bernoulli",
        left=LEFT,
        payload_error=PAYLOAD_ERROR,
        num_postures=9,
    )


def draw(found: list[ShaperComparison], path: Path) -> None:
    """Shares that are left over delays in periods of the first mode."""
    from jaxmodal.plots.figures import COLOURS, finished, new_figure

    figure = new_figure(6.4, 4.0)
    axes = figure.subplots()
    for kind, colour in zip(("zv", "wide"), COLOURS, strict=False):
        own = [move for each in found for move in each.moves if move.kind == kind]
        periods = [move.delay * move.unshaped[0].frequencies_hz[0] for move in own]
        axes.plot(
            periods, [100.0 * move.worst_share for move in own], "o", color=colour, label=kind
        )
    axes.axhline(100.0 * LEFT, color="0.5", linewidth=0.9, linestyle="--")
    axes.set_yscale("log")
    axes.set_xlabel("delay [periods of mode 1]")
    axes.set_ylabel("left of the unshaped, worst payload [%]")
    axes.grid(color="0.9", linewidth=0.6)
    axes.legend(fontsize=8, frameon=False)
    finished(figure, path, f"{len(found)} random moves, payload within 10 %")


def main() -> None:
    """Print a row for each move, and draw them all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plot", type=Path)
    chosen = parser.parse_args()
    found = []
    print("move  unshaped mm   zv left %  zv delay s  wide left %  wide delay s  impulses")
    for number, move in enumerate(random_moves(), start=1):
        found.append(compared(move))
        zv, wide = found[-1].moves
        print(
            f"{number:4d} {wide.unshaped[0].amplitudes_mm.sum():12.2f} {100 * zv.worst_share:11.2f} "
            f"{zv.delay:11.3f} {100 * wide.worst_share:12.2f} {wide.delay:13.3f} {wide.weights.size:9d}"
        )
    wides = [each.moves[1] for each in found]
    print(
        f"wide: at most {100 * max(move.worst_share for move in wides):.2f} % left, delays "
        f"{min(move.delay for move in wides):.3f} to {max(move.delay for move in wides):.3f} s"
    )
    if chosen.plot is not None:
        draw(found, chosen.plot)


if __name__ == "__main__":
    import jax

    jax.config.update("jax_enable_x64", True)
    main()
