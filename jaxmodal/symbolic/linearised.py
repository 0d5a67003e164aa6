"""Symbolic small motions about a posture: M x'' + D x' + K x = G u."""

from __future__ import annotations

from jaxmodal.arm.arguments import require_truth
from jaxmodal.dynamics.mechanics.free_bases import require_held_base
from jaxmodal.dynamics.model import FlexibleModel, require_model
from jaxmodal.symbolic.differentiation import substitute, tangent
from jaxmodal.symbolic.equations import WrittenEquations
from jaxmodal.symbolic.graph import Expression
from jaxmodal.symbolic.terms import Writer
from jaxmodal.symbolic.writers import writer_of

MEANINGS = {
    "M": "inertia matrix at the state",
    "D": "derivative of all else by the rates",
    "K": "derivative of all else by the coordinates",
    "G": "places of the motors' torques",
}


def linearised_equations(
    model: FlexibleModel,
    *,
    deflections: bool = False,
    rates: bool = False,
    integrals: str = "symbolic",
) -> WrittenEquations:
    """Return the symbolic matrices of small motions about a state whose joint angles are symbols.

    Parameters
    ----------
    model
        The arm and the formulation of its equations.
    deflections
        True if the modal coordinates of the state are also symbols; otherwise they are 0.
    rates
        True if the state moves; otherwise it is at rest.
    integrals
        As for `written_equations`.

    Returns
    -------
    WrittenEquations
        Equations with M, D, K, each (N, N), and G, (N, n), as computed by `jaxmodal.dynamics.linearise` for free
        joints.

    Raises
    ------
    ArmError
        If an argument is not allowed, or the base of the model is free.

    Notes
    -----
    Under gravity, a straight arm is not in equilibrium: without deflections, K omits the effect of the sag.

    Examples
    --------
    >>> import jax; jax.config.update("jax_enable_x64", True)
    >>> import jaxmodal as jm
    >>> from jaxmodal import dynamics, symbolic
    >>> model = dynamics.flexible_arm(jm.examples.two_link_flexible(), modes=2)
    >>> sorted(symbolic.linearised_equations(model).shapes)
    ['D', 'G', 'K', 'M']
    """
    require_truth("deflections", deflections)
    require_truth("rates", rates)
    require_model(model)
    require_held_base(model, "symbolic.linearised_equations")
    writer = writer_of(model, integrals)
    graph, names, size = writer.graph, writer.names, range(writer.size)
    rest = writer.steady()
    if rates:  # at rest the velocity forces and all their derivatives are 0
        rest = [a + b for a, b in zip(rest, writer.velocity_forces(), strict=True)]

    def by(symbols: list[Expression]) -> list[list[Expression]]:
        columns = [tangent(graph, rest, {symbol.index: graph.one}) for symbol in symbols]
        return [[columns[b][a] for b in size] for a in size]

    fixed = {} if deflections else dict.fromkeys(_modal(writer), graph.zero)
    if not rates:
        fixed |= {rate.index: graph.zero for rate in names.rates}

    def at_state(table: list[list[Expression]]) -> list[list[Expression]]:
        flat = substitute(graph, [entry for row in table for entry in row], fixed)
        width = len(table[0])
        return [flat[k : k + width] for k in range(0, len(flat), width)]

    made = {
        "M": at_state(writer.inertia()),
        "D": at_state(by(names.rates)),
        "K": at_state(by(names.coordinates)),
        "G": writer.inputs(),
    }
    return writer.written(made, MEANINGS, integrals)


def _modal(writer: Writer) -> list[int]:
    """Return the indices of the symbols of the modal coordinates."""
    return [symbol.index for symbol in writer.names.coordinates[writer.model.layout.modal]]
