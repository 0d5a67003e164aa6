"""Symbolic equations of motion of an arm."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from jaxmodal.arm.quantities import shown
from jaxmodal.dynamics.model import FlexibleModel, one_of
from jaxmodal.runtime.errors import ArmError
from jaxmodal.symbolic.equations import QUANTITIES, USUAL, WrittenEquations
from jaxmodal.symbolic.writers import writer_of


def written_equations(
    model: FlexibleModel,
    quantities: Sequence[str] = USUAL,
    *,
    integrals: str = "symbolic",
) -> WrittenEquations:
    """Return the symbolic equations of motion of an arm.

    Parameters
    ----------
    model
        The arm and the formulation of its equations, from `jaxmodal.dynamics.flexible_arm`.
    quantities
        Any of ``"B"``, ``"h"``, ``"C"``, ``"K"``, ``"D"``, ``"g"``, ``"c"``, ``"Q"`` and ``"tau"``, see
        `QUANTITIES`.
    integrals
        ``"symbolic"`` names lengths, masses, shape integrals and stiffnesses, and keeps their values separately;
        ``"numeric"`` inserts the numbers. Terms that are exactly 0 in the model are left out in both cases.

    Returns
    -------
    WrittenEquations
        Equations for `write`, `function`, `to_sympy` and `operation_counts`.

    Raises
    ------
    ArmError
        If an argument is not allowed, the model holds traced values, it is an arm in space with an inertia matrix of
        first order, or ``"C"`` is requested with a free base.

    Notes
    -----
    The equations are built by recursion along the chain: no expression is expanded or simplified. B follows from
    composite bodies, h and tau from the Newton-Euler recursion; with ``inertia_order = "first"``, h follows from the
    kinetic energy with the truncated B. C is formed from the Christoffel symbols.

    Examples
    --------
    >>> import jax; jax.config.update("jax_enable_x64", True)
    >>> import jaxmodal as jm
    >>> from jaxmodal import dynamics, symbolic
    >>> model = dynamics.flexible_arm(jm.examples.two_link_flexible(), modes=2)
    >>> symbolic.written_equations(model, ["B", "h"]).shapes
    {'B': (6, 6), 'h': (6,)}
    """
    wanted = names_of_quantities(quantities)
    writer = writer_of(model, integrals)
    by_name: dict[str, Callable[[], Any]] = {
        "B": writer.inertia,
        "h": writer.velocity_forces,
        "C": writer.velocity_matrix,
        "K": writer.stiffness,
        "D": writer.damping,
        "g": writer.gravity,
        "c": writer.friction,
        "Q": writer.inputs,
        "tau": writer.inverse_dynamics,
    }
    made = {name: by_name[name]() for name in wanted}
    return writer.written(made, {name: QUANTITIES[name] for name in wanted}, integrals)


def names_of_quantities(quantities: Sequence[str]) -> list[str]:
    """Return the names of quantities in their usual order, without duplicates; unknown names are refused."""
    if isinstance(quantities, str) or not isinstance(quantities, (list, tuple)) or not quantities:
        raise ArmError(
            f"quantities = {shown(quantities)}: must be a list of some of {', '.join(map(repr, QUANTITIES))}."
        )
    for name in quantities:
        one_of("quantities", name, tuple(QUANTITIES), "a list of them")
    return [name for name in QUANTITIES if name in quantities]
