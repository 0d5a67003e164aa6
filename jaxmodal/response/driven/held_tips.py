"""Rigid supports of tips: ports that are held at rest, and dampers beside them.

What lies parallel to a rigid support has no effect on the arm. The arm without its rigid supports may be in resonance,
or swing freely, where the arm on them does not; forces of the supports found from its responses would have no digits
there. A damper in place of each support, as stiff as a wave in its link, keeps it from both.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from jaxmodal.arithmetic.dual import Dual
from jaxmodal.arm.arm import Arm
from jaxmodal.response.driven.ports import Port
from jaxmodal.runtime.errors import ArmError
from jaxmodal.runtime.namespace import Array, constant, is_traced, xp
from jaxmodal.statics.beam_arrays import SUPPORTS, BeamArrays
from jaxmodal.statics.laws import line_mass

#: wave number of a damper at rest, times the length of its link
SLOWEST = 2.0
#: a spring of a support so many times as stiff as the one beside the force of a support is such a force, too
STIFF = 1e2
_FIELDS = dict(zip(("x", "y", "rotation"), SUPPORTS, strict=True))


def rigid_supports(arm: Arm) -> tuple[Port, ...]:
    """Return the directions in which tips are held in every cell."""
    found = []
    for number, link in enumerate(arm.links, start=1):
        for direction, name in _FIELDS.items():
            stiffness = getattr(link, name)
            if stiffness is not None and not is_traced(stiffness) and np.isposinf(stiffness).all():
                found.append(Port("tip", direction, number))
    return tuple(found)


def require_unvaried(held: Sequence[Port], addresses: Iterable[str]) -> None:
    """Refuse parameters that are rigid supports.

    Raises
    ------
    ArmError
        Naming the parameter.
    """
    names = {_FIELDS[each.direction] for each in held}
    for address in addresses:
        if address.rpartition(".")[2] in names:
            raise ArmError(
                f"parameters: {address!r} is rigid in this arm; give the arm a finite value there to vary it."
            )


def require_soft(beams: BeamArrays, held: Iterable[tuple[int, Port]]) -> None:
    """Refuse rigid supports of some cells, among others that are not ``held`` in all of them."""
    known = {(place, _FIELDS[port.direction]) for place, port in held}
    for name in SUPPORTS:
        values = getattr(beams, name)
        for place, cells in enumerate(() if values is None else values):
            if (place, name) not in known and not is_traced(cells) and np.isinf(cells).any():
                raise ArmError(
                    f"link{place + 1}.{name} = inf: responses of many arms between which a support varies take it as a "
                    "spring; give a large finite stiffness, such as a million times that of the link."
                )


def on_dampers(
    links: Sequence[BeamArrays], held: Iterable[tuple[int, Port]], omega: Array
) -> tuple[list[BeamArrays], list[Any]]:
    """Return the links with dampers in place of rigid supports, and the size of the stiffness of each.

    Parameters
    ----------
    links
        Values of links, in shapes that broadcast with ``omega``.
    held
        Ports that are held, with the indices of the links at whose tips they are.
    omega
        Angular frequencies; complex on circles and in a search for roots.
    """
    made, sizes = list(links), []
    for place, port in held:
        size = _size(links[place], port, omega)
        made[place] = dataclasses.replace(made[place], **{_FIELDS[port.direction]: 1j * size})
        sizes.append(size)
    return made, sizes


def _size(beam: BeamArrays, port: Port, omega: Array) -> Any:
    """Return the stiffness against which the end of a long link bends at a frequency, and no less than at rest."""
    length, modulus, moment, mass, omega = (
        constant(x.value if isinstance(x, Dual) else x)
        for x in (beam.length, beam.youngs_modulus, beam.second_moment, line_mass(beam), omega)
    )
    bending = modulus.real * moment
    waves = SLOWEST / length + xp.sqrt(xp.sqrt(mass / bending) * xp.abs(omega))
    return bending * (waves if port.turns else waves * waves * waves)


def beside_force(length: Any, bending: Any, turns: bool) -> Any:
    """Return the stiffness of a spring beside the force of a support: some times that with which the link bends.

    ``bending`` is the lesser E I of the link; ``turns`` says whether the support resists rotation alone.
    """
    waves = SLOWEST / length
    return bending * (waves if turns else waves**3)
