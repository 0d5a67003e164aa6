"""Result of `lumped`: a lumped arm with its frequency errors."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.exchange.chain import Chain
from jaxmodal.runtime.array_types import Bools, Floats, Integers
from jaxmodal.runtime.datasets import in_hertz, variable
from jaxmodal.runtime.results import Result, certified_where
from jaxmodal.runtime.tables import Table

if TYPE_CHECKING:
    import xarray


@dataclasses.dataclass(frozen=True, repr=False)
class LumpedArm(Result):
    """An arm as rigid pieces on hinges with springs, with K frequencies and errors in P postures, motors locked.

    Attributes
    ----------
    arm, theory : str
        Name of the arm, and beam theory of its frequencies.
    joints : tuple of str
        Names of the n motor-driven joints.
    postures : array, shape (P, n)
        Postures of the reported errors in rad (prismatic joints: m); the first is the arm's own, unless postures were
        given.
    exact : array, shape (P, K)
        Frequencies of the flexible arm, rad/s.
    certified : array, shape (P, K)
        True where the frequencies ``exact`` are certified.
    omega : array, shape (P, K)
        Frequencies of the pieces, rad/s.
    factors : dict of str to float
        Fitted stiffness factor of each spring of a link, by link, kind and number of the point.
    lost : tuple of str
        Features of the arm that the pieces lack.
    chain : Chain
        The rigid pieces.
    """

    arm: str
    theory: TheoryName
    joints: tuple[str, ...]
    postures: Floats
    exact: Floats
    certified: Bools
    omega: Floats
    factors: dict[str, float]
    lost: tuple[str, ...]
    chain: Chain

    @property
    def status(self) -> Integers:
        """`Status` codes of the exact frequencies, shape (P, K)."""
        return certified_where(self.certified)

    @property
    def frequencies_hz(self) -> Floats:
        """Frequencies of the pieces, Hz, shape (P, K)."""
        return np.asarray(self.omega / (2.0 * np.pi))

    @property
    def errors(self) -> Floats:
        """Relative errors of the frequencies of the pieces, shape (P, K)."""
        return np.asarray(self.omega / self.exact - 1.0)

    @property
    def total_mass(self) -> float:
        """Mass of all pieces, including those at rest, kg."""
        return float(sum(piece.lump.mass for piece in self.chain.pieces))

    def tables(self) -> list[Table]:
        """Return a table of the frequencies of arm and pieces with errors, one row for each mode."""
        errors, hertz = 100.0 * np.abs(self.errors), self.exact / (2.0 * np.pi)
        rows = [
            [
                str(k + 1),
                f"{hertz[0, k]:.5g}",
                f"{self.frequencies_hz[0, k]:.5g}",
                f"{hertz[:, k].min():.5g}",
                f"{hertz[:, k].max():.5g}",
                f"{np.sqrt(np.mean(errors[:, k] ** 2)):.2g}",
                f"{errors[:, k].max():.2g}",
                "certified" if self.certified[:, k].all() else "not certified",
            ]
            for k in range(hertz.shape[1])
        ]
        headings = (
            *("mode", "arm [Hz]", "pieces [Hz]", "lowest [Hz]", "highest [Hz]"),
            *("error, rms [%]", "error, largest [%]", "certificate"),
        )
        joints = self.chain.joints
        springs = len(joints) - len(self.joints)
        title = (
            f"{self.arm or 'arm'} ({self.theory}) as {len(self.chain.pieces) - 1} rigid pieces with {springs} springs "
            "within links"
        )
        count = len(self.postures)
        where = (
            f"the first of {count} postures; lowest, highest and errors: all"
            if count > 1
            else "the posture given"
        )
        notes = [f"motors held; arm and pieces: in {where}"]
        if self.factors:
            low, high = min(self.factors.values()), max(self.factors.values())
            notes.append(
                f"springs within links: fitted to {low:.3g} to {high:.3g} times those of the beam cut in pieces"
            )
        notes += [f"not in it: {what}" for what in self.lost]
        return [Table(title, headings, rows, notes, ("certificate",))]

    def lines(self) -> list[str]:
        """Return the errors in every posture as lines of plain text, for comments in files."""
        modes = range(1, self.omega.shape[1] + 1)
        found = [
            "Relative errors of frequencies [%] while motors hold, against the certified ones of the flexible arm",
            f"({self.theory}), by posture ({', '.join(self.joints)}; rad, of slides m):",
            "".join(f"{f'f{k}':>9}" for k in modes) + "   posture",
        ]
        for posture, errors in zip(self.postures, 100.0 * self.errors, strict=True):
            at = ", ".join(f"{value:.6g}" for value in posture)
            found.append("".join(f"{error:9.4f}" for error in errors) + f"   {at}")
        worst = 100.0 * np.abs(self.errors).max(axis=0)
        found.append("".join(f"{error:9.4f}" for error in worst) + "   largest")
        found.append("Certified frequencies in the first posture [Hz]:")
        found.append(", ".join(f"{value:.6g}" for value in self.exact[0] / (2.0 * np.pi)))
        return [*found, *(f"Not in it: {what}." for what in self.lost)]

    def to_xarray(self) -> xarray.Dataset:
        """Return frequencies of arm and pieces with errors, with dims posture and mode."""
        import xarray

        where = ("posture", "mode")
        variables = {
            "joint_position": variable(
                ("posture", "joint"), self.postures, "positions of the joints", "rad or m"
            ),
            "frequency": in_hertz(where, self.exact, "frequency of the arm"),
            "certified": variable(where, self.certified, "whether it is certified"),
            "lumped_frequency": in_hertz(where, self.omega, "frequency of the pieces"),
            "error": variable(where, self.errors, "relative error of the pieces", "1"),
        }
        labels = {
            "mode": np.arange(1, self.omega.shape[1] + 1),
            "joint": list(self.joints),
        }
        return xarray.Dataset(variables, labels, {"arm": self.arm, "theory": self.theory})
