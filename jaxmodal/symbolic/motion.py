"""Motions of the links of a planar chain, from the base outwards."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from jaxmodal.symbolic.chain import Chain, Link
from jaxmodal.symbolic.graph import Expression
from jaxmodal.symbolic.planar import Planar, Scalar


@dataclasses.dataclass(frozen=True)
class _Rates:
    """First or second time derivatives of the deflections of a link: modes, pairs, end, slope."""

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


def _second(chain: Chain, link: Link, rates: list[Scalar], more: list[Scalar]) -> _Rates:
    """Return the second derivatives from rates and accelerations of the modal coordinates."""
    made, driven = link.constants, _first(chain, link, more)
    squares = [
        rates[j] * rates[j] if j == k else 2.0 * (rates[j] * rates[k]) for j, k in made.pairs
    ]
    shorter = [
        chain.lift(made.shortening[j][k]) * square
        for (j, k), square in zip(made.pairs, squares, strict=True)
    ]
    return _Rates(
        more,
        [a + b for a, b in zip(squares, driven.squares, strict=True)],
        Planar(-chain.total(shorter), chain.zero) + driven.zeta,
        driven.slope,
    )


def accelerations(
    chain: Chain,
    rates: Sequence[Expression] | None,
    more: Sequence[Expression] | None = None,
    gravity: tuple[Expression, Expression] | None = None,
) -> list[list[Planar]]:
    """Return the accelerations of the functions of each link; ``rates`` and ``more`` (accelerations) are 0 if None.

    Gravity enters as an opposite acceleration of the base. Without rates, the accelerations are the same linear
    function of ``more`` as velocities are of rates.
    """
    base, letter = chain.still, "a" if more is None else ""
    if gravity is not None:
        base, letter = Planar(-chain.lift(gravity[0]), -chain.lift(gravity[1])), "g"
    still = [chain.graph.zero] * len(chain.names.rates)
    rates, more = rates or still, more or still
    turning, growing = chain.zero, chain.zero
    axis, change, bend = Planar(chain.one, chain.zero), chain.still, chain.still
    fields = []
    for i, link in enumerate(chain.links):
        own = _first(chain, link, chain.modal(rates, i, chain.lift))
        twice = _second(chain, link, own.deltas, chain.modal(more, i, chain.lift))
        turning, growing = turning + chain.lift(rates[i]), growing + chain.lift(more[i])
        chain.named(Planar(turning, chain.zero), f"Omega_{i + 1}")
        base = link.turn.conjugate * base
        if letter:
            chain.named(base, f"{letter}_{i + 1}")
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
