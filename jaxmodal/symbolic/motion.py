"""What moves every link of a chain: velocities, accelerations and gravity, from the base outwards."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from jaxmodal.symbolic.chain import Chain, Link
from jaxmodal.symbolic.graph import Expression
from jaxmodal.symbolic.planar import Planar, Scalar


@dataclasses.dataclass(frozen=True)
class _Rates:
    """First and second derivatives in time of what bends in a link: modes, pairs, end, slope."""

    deltas: list[Scalar]
    squares: list[Scalar]
    zeta: Planar
    slope: Scalar


def _first(chain: Chain, link: Link, rates: list[Scalar]) -> _Rates:
    made = link.constants
    squares = [
        rates[j] * link.deltas[j]
        if j == k
        else rates[j] * link.deltas[k] + link.deltas[j] * rates[k]
        for j, k in made.pairs
    ]
    end = Planar(
        chain.total([kappa.x * rate for kappa, rate in zip(link.kappa, rates, strict=True)]),
        chain.total([kappa.y * rate for kappa, rate in zip(link.kappa, rates, strict=True)]),
    )
    slope = chain.total([a * b for a, b in zip(link.slope, rates, strict=True)])
    return _Rates(rates, squares, end, slope)


def _second(chain: Chain, link: Link, rates: list[Scalar], more: list[Scalar] | None) -> _Rates:
    """With ``more``, the accelerations of the modal coordinates; None are 0."""
    made = link.constants
    squares = [
        rates[j] * rates[j] if j == k else 2.0 * (rates[j] * rates[k]) for j, k in made.pairs
    ]
    shorter = []
    if made.shortening:
        for j, k in made.pairs:
            value = chain.lift(made.shortening[j][k])
            shorter.append(value * squares[made.pairs.index((j, k))])
    end = Planar(-chain.total(shorter), chain.zero)
    if more is None:
        return _Rates([chain.zero] * made.modes, squares, end, chain.zero)
    driven = _first(chain, link, more)
    return _Rates(
        more,
        [a + b for a, b in zip(squares, driven.squares, strict=True)],
        end + driven.zeta,
        driven.slope,
    )


def velocities(chain: Chain, rates: Sequence[Expression]) -> list[list[Planar]]:
    """Velocities of each link's functions, by a vector of rates."""
    base, turning, axis, change = (
        chain.still,
        chain.zero,
        Planar(chain.one, chain.zero),
        chain.still,
    )
    fields = []
    for i, link in enumerate(chain.links):
        own = _first(chain, link, chain.modal(rates, i, chain.lift))
        turning = turning + chain.lift(rates[i])
        base = link.turn.conjugate * base
        spin = change + axis.turned.times(turning)
        field = [base, spin]
        for delta, rate in zip(link.deltas, own.deltas, strict=True):
            field.append((spin.times(delta) + axis.times(rate)).turned)
        for square, rate in zip(link.squares, own.squares, strict=True):
            field.append(-(spin.times(square) + axis.times(rate)))
        fields.append(field)
        base = base + spin * link.zeta + axis * own.zeta
        if link.stretch is None:
            turning = turning + own.slope
        else:
            change = change * link.stretch + axis.turned.times(own.slope)
            axis = axis * link.stretch
    return fields


def accelerations(
    chain: Chain,
    rates: Sequence[Expression],
    more: Sequence[Expression] | None = None,
    gravity: tuple[Expression, Expression] | None = None,
) -> list[list[Planar]]:
    """Accelerations of each link's functions; ``more`` are those of the coordinates, None are 0.

    Gravity is an acceleration of the base against it.
    """
    base = chain.still
    if gravity is not None:
        base = Planar(-chain.lift(gravity[0]), -chain.lift(gravity[1]))
    turning, growing = chain.zero, chain.zero
    axis, change, bend = Planar(chain.one, chain.zero), chain.still, chain.still
    fields = []
    for i, link in enumerate(chain.links):
        number = i + 1
        own = _first(chain, link, chain.modal(rates, i, chain.lift))
        driven = None if more is None else chain.modal(more, i, chain.lift)
        twice = _second(chain, link, own.deltas, driven)
        turning = turning + chain.lift(rates[i])
        chain.named(Planar(turning, chain.zero), f"Omega_{number}")
        if more is not None:
            growing = growing + chain.lift(more[i])
        base = chain.named(link.turn.conjugate * base, f"a_{number}")
        spin = change + axis.turned.times(turning)
        swing = bend + change.turned.times(2.0 * turning) - axis.times(turning * turning)
        swing = swing + axis.turned.times(growing)
        double = spin.times(2.0 * chain.one)
        field = [base, swing]
        for j, delta in enumerate(link.deltas):
            part = swing.times(delta) + double.times(own.deltas[j])
            field.append((part + axis.times(twice.deltas[j])).turned)
        for p, square in enumerate(link.squares):
            part = swing.times(square) + double.times(own.squares[p])
            field.append(-(part + axis.times(twice.squares[p])))
        fields.append(field)
        base = base + swing * link.zeta + double * own.zeta + axis * twice.zeta
        if link.stretch is None:
            turning, growing = turning + own.slope, growing + twice.slope
        else:
            bend = bend * link.stretch + change.turned.times(2.0 * own.slope)
            bend = bend + axis.turned.times(twice.slope)
            change = change * link.stretch + axis.turned.times(own.slope)
            axis = axis * link.stretch
    return fields


def weights(chain: Chain, gravity: tuple[Expression, Expression]) -> list[list[Planar]]:
    """The accelerations that gravity stands for, of each link's functions at rest."""
    base = Planar(-chain.lift(gravity[0]), -chain.lift(gravity[1]))
    fields = []
    for number, link in enumerate(chain.links, start=1):
        base = chain.named(link.turn.conjugate * base, f"g_{number}")
        fields.append([base] + [chain.still] * (len(link.gram) - 1))
    return fields
