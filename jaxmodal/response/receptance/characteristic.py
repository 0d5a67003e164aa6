"""Characteristic determinant of damped planar arms at complex frequencies, for many arms at once."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, Protocol

import jax
import numpy as np

from jaxmodal.arm.arm import Arm
from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.dynamic_stiffness.member import FreeEndMember
from jaxmodal.response.driven.damping import SPRINGS, Damping, damped_beams
from jaxmodal.response.driven.driven_arms import some_cells
from jaxmodal.response.driven.held_tips import on_dampers
from jaxmodal.response.driven.members import members_of_links
from jaxmodal.response.driven.ports import PortRow
from jaxmodal.response.driven.systems import system_of
from jaxmodal.response.receptance.pieces import Terminal, pieces_of
from jaxmodal.response.receptance.recursion import inward
from jaxmodal.response.receptance.rigid_supports import support_pivots
from jaxmodal.runtime.array_types import Complexes, Floats, Integers

#: number of points that NumPy processes at a time, so that arrays fit into the cache
_BLOCK = 4096


class Characteristic(Protocol):
    """Logarithm of the characteristic determinant, up to positive factors, at complex frequencies and scaled damping.

    Attributes
    ----------
    highest : array, shape (cells,)
        Imaginary part of the frequency above which a modulus may vanish.
    springless : complex array, shape (cells, S)
        Frequencies at which the complex stiffness of a spring and its damper vanishes; NaN for no such pair.
    """

    highest: Floats
    springless: Complexes

    def __call__(self, cells: Integers, omega: Complexes, share: Any = 1.0) -> Complexes:
        """Return the logarithm at one frequency per entry, all arrays of shape (N,); ``share`` scales the damping."""


class PlanarCharacteristic:
    """`Characteristic` of planar arms.

    Parameters
    ----------
    arm, theory
        The arm and the theory.
    addresses, values
        Values that vary from cell to cell, shape (addresses, cells); rigid supports must not vary.
    """

    def __init__(
        self, arm: Arm, theory: TheoryName, addresses: Sequence[str], values: Floats
    ) -> None:
        cells = values.shape[1]
        system = system_of(arm, theory, "receptance", (), (), (addresses, values))
        self.beams, self.damping, self.theory = system.beams, system.damping, system.theory
        self.cut, self.held = system.cut, system.held_links
        self.terminals = [
            Terminal(each, PortRow(*place, row))
            for each, place, row in zip(system.held, system.places, system.rows, strict=True)
        ]
        times = self.damping.kelvin_voigt_time
        longest = np.zeros(1) if times is None else times.max(axis=0)
        with np.errstate(divide="ignore"):
            self.highest = np.broadcast_to(0.5 / longest, (cells,))
        self.springless = self._springless(cells)

    def _springless(self, cells: int) -> Complexes:
        found = []
        for name, spring in SPRINGS.items():
            stiffness, damper = getattr(self.beams, spring), getattr(self.damping, name)
            if stiffness is not None and damper is not None:
                pair = (damper > 0.0) & (stiffness > 0.0) & (stiffness < np.inf)
                ratio = np.where(pair, stiffness, np.nan) / np.where(pair, damper, 1.0)
                found += [np.broadcast_to(1j * row, (cells,)) for row in ratio]
        return np.stack(found, axis=1) if found else np.empty((cells, 0), complex)

    def __call__(self, cells: Integers, omega: Complexes, share: Any = 1.0) -> Complexes:
        share = np.broadcast_to(share, omega.shape)
        found = np.empty(omega.shape, complex)
        for start in range(0, omega.size, _BLOCK):
            at = slice(start, start + _BLOCK)
            found[at] = self._block(cells[at], omega[at], share[at])
        return found

    def _block(self, cells: Integers, omega: Complexes, share: Complexes) -> Complexes:
        beams = some_cells(self.beams, cells)
        damping: Damping = jax.tree_util.tree_map(
            lambda x: share * x, some_cells(self.damping, cells)
        )
        terminals = {
            number: Terminal(each, row._replace(row=some_cells(row.row, cells)))
            for number, (each, row) in enumerate(self.terminals)
        }
        with np.errstate(all="ignore"):
            at = damped_beams(beams, damping, omega)
            members = members_of_links(at, self.theory, omega, self.cut)
            count = range(len(self.cut.links))
            links = [jax.tree_util.tree_map(lambda x, k=k: x[k], at) for k in count]
            every = [FreeEndMember(*(x[k] for x in members)) for k in count]
            links, dampers = on_dampers(links, self.held, omega)
            pieces = pieces_of(links, every, self.cut, terminals)
            pairs = list(itertools.combinations_with_replacement(terminals, 2))
            condensed = inward(pieces, omega, pairs)
            factors = [np.log(x + 0j) for x in condensed.factors]
            square = [
                [condensed.responses[min(s, t), max(s, t)] for t in terminals] for s in terminals
            ]
            # without forces of supports that alone keep these at rest
            factors += [
                np.log(size * pivot + 0j)
                for size, pivot in zip(reversed(dampers), support_pivots(square), strict=True)
            ]
            # pivots of springs have poles where a damped spring vanishes
            for name in SPRINGS.values():
                springs, plain = getattr(at, name), getattr(beams, name)
                if springs is not None and np.iscomplexobj(springs):
                    known = np.isfinite(plain) & (plain > 0.0)
                    ratio = springs / np.where(known, plain, 1.0)
                    factors += list(np.where(known, np.log(np.where(known, ratio, 1.0)), 0.0))
            total: Complexes = np.sum(np.broadcast_arrays(*factors, omega)[:-1], axis=0)
            return total
