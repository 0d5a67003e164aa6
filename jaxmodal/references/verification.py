"""Reference values recomputed on this machine: published or proven values, and those that jaxmodal finds.

The references are stored in ``data/references/claims.json``: arms as in files, with the values that a source gives.
Printed values are compared to their last digit, proven values and closed forms to a relative tolerance. A claim with a
known misprint gives the exact value as well, and both are shown. Each claim names the test that checks it.
"""

from __future__ import annotations

import json
import math
import platform
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib import metadata, resources
from typing import Any

from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.references.printed import agrees_with_print
from jaxmodal.runtime.tables import ShowsTables, Table

#: how many significant digits of a value are shown that is not compared with print
_DIGITS = 13


@dataclass(frozen=True)
class Claim:
    """Values that a source gives for an arm."""

    case: str
    source: str
    quantity: str
    """A key of `QUANTITIES`."""
    unit: str
    test: str
    """The test that holds it: file::function."""
    values: tuple[str, ...]
    """As printed, of the modes from the first on or of those in ``modes``."""
    modes: tuple[int, ...]
    tolerance: float | None
    """Relative; None: half a unit of the last printed digit."""
    theory: TheoryName
    arm: Mapping[str, Any]
    exact: str = ""
    """The value that should be printed, where the printed one is wrong."""
    note: str = ""


@dataclass(frozen=True)
class Row:
    """A claim and the computed values."""

    claim: Claim
    ours: tuple[float, ...]
    """One for each value of the claim."""
    differences: tuple[float, ...]
    """Relative to the true values; of 0 as they are."""
    fails: tuple[bool, ...]

    @property
    def holds(self) -> bool:
        """Whether every value of the claim holds."""
        return not any(self.fails)

    @property
    def worst(self) -> int:
        """Index of the value with the largest difference; among the failing values if there are any."""
        pairs = list(zip(self.fails, self.differences, strict=True))
        return pairs.index(max(pairs))

    @property
    def difference(self) -> float:
        """Difference of the worst value."""
        return self.differences[self.worst]

    def shown(self, index: int) -> str:
        """The computed value, with two digits more than printed, or `_DIGITS`."""
        if self.claim.tolerance is not None:
            return f"{self.ours[index]:.{_DIGITS}g}"
        decimals = len(self.claim.values[index].partition(".")[2])
        return f"{self.ours[index]:.{decimals + 2}f}"

    @property
    def tolerance(self) -> str:
        """The tolerance in words."""
        return "its last digit" if self.claim.tolerance is None else f"{self.claim.tolerance:.0e}"

    @property
    def verdict(self) -> str:
        """Text of whether the claim holds."""
        if not self.holds:
            return "FAILS"
        return (
            f"holds; print is wrong, {self.claim.exact} is right" if self.claim.exact else "holds"
        )


@dataclass(frozen=True)
class Verification(ShowsTables):
    """All recomputed claims, with the machine and the versions."""

    rows: tuple[Row, ...]
    machine: Mapping[str, str]

    @property
    def ok(self) -> bool:
        """Whether every claim holds."""
        return all(row.holds for row in self.rows)

    def tables(self) -> list[Table]:
        """Return a table with one row per claim, and the machine as a note."""
        headings = (
            "case",
            "source",
            "printed",
            "ours",
            "unit",
            "difference",
            "tolerance",
            "verdict",
        )
        rows = [
            (
                *(row.claim.case, row.claim.source, row.claim.values[row.worst]),
                *(row.shown(row.worst), row.claim.unit),
                *(f"{row.difference:.0e}", row.tolerance, row.verdict),
            )
            for row in self.rows
        ]
        failed = sum(not row.holds for row in self.rows)
        conclusion = f"{len(rows) - failed} of {len(rows)} claims hold"
        notes = (conclusion, *(f"{name}: {text}" for name, text in self.machine.items()))
        left = ("case", "source", "unit", "verdict")
        return [Table("References, recomputed here", headings, rows, notes, left)]

    def document(self) -> dict[str, Any]:
        """Return the results as plain data at full precision."""
        claims = [
            {
                "case": row.claim.case,
                "source": row.claim.source,
                "quantity": row.claim.quantity,
                "unit": row.claim.unit,
                "modes": row.claim.modes,
                "printed": row.claim.values,
                "exact": row.claim.exact or None,
                "ours": row.ours,
                "differences": row.differences,
                "tolerance": row.claim.tolerance,
                "holds": row.holds,
                "note": row.claim.note,
                "test": row.claim.test,
            }
            for row in self.rows
        ]
        return {"ok": self.ok, "claims": claims, "machine": dict(self.machine)}


def load_claims() -> tuple[Claim, ...]:
    """Load the claims of the package, in the order of the table.

    Examples
    --------
    >>> claims = load_claims()
    >>> claims[0].case, claims[0].values[0]
    ('cantilever', '1.87510407')
    """
    file = resources.files("jaxmodal") / "data" / "references" / "claims.json"
    return tuple(_claim(**entry) for entry in json.loads(file.read_text("utf-8")))


def _claim(
    *,
    values: list[str],
    modes: list[int] | None = None,
    tolerance: float | None = None,
    **others: Any,
) -> Claim:
    numbers = tuple(modes or range(1, len(values) + 1))
    defaults = {"quantity": "frequency", "unit": "Hz", "theory": "timoshenko"}
    return Claim(values=tuple(values), modes=numbers, tolerance=tolerance, **{**defaults, **others})


def verify(
    on_progress: Callable[[int, int], None] | None = None, claims: tuple[Claim, ...] | None = None
) -> Verification:
    """Recompute the reference values and compare them.

    Parameters
    ----------
    on_progress
        Called with (claims done, total number of claims).
    claims
        Claims to use instead of those of the package.

    Raises
    ------
    X64DisabledError
        If JAX runs in single precision.
    """
    claims = load_claims() if claims is None else claims
    rows = []
    for claim in claims:
        rows.append(_row(claim))
        if on_progress is not None:
            on_progress(len(rows), len(claims))
    return Verification(tuple(rows), this_machine())


def this_machine() -> dict[str, str]:
    """The machine, and the versions of packages that determine the digits."""
    import jax

    device = jax.devices()[0]
    versions = (f"{name} {metadata.version(name)}" for name in ("jax", "jaxlib", "numpy", "scipy"))
    return {
        "machine": f"{platform.system()} {platform.machine()}, {device.platform} ({device.device_kind})",
        "versions": f"jaxmodal {_own_version()}, Python {platform.python_version()}, {', '.join(versions)}",
    }


def _own_version() -> str:
    from jaxmodal import __version__

    return __version__


def _row(claim: Claim) -> Row:
    """Compare a claim with the computed values; an uncertified value does not hold."""
    computed, trusted = QUANTITIES[claim.quantity](claim)
    differences, fails = [], []
    for text, ours in zip(claim.values, computed, strict=True):
        true = float(claim.exact or text)
        differences.append(abs(ours - true) / (abs(true) or 1.0))  # a frequency of 0 is exactly 0
        if claim.tolerance is not None:
            near = differences[-1] <= claim.tolerance
        else:
            near = agrees_with_print(ours, claim.exact or text)
        if claim.exact:  # that print is wrong is shown, not only said
            near = near and not agrees_with_print(ours, text)
        fails.append(not (near and trusted))
    return Row(claim, tuple(computed), tuple(differences), tuple(fails))


def _arm(claim: Claim) -> Any:
    from jaxmodal.spatial.files.arm_files import arm_from_dict

    return arm_from_dict(dict(claim.arm))


def _frequencies(claim: Claim) -> tuple[list[float], bool]:
    """Angular frequencies of the modes of a claim, and whether all are certified."""
    from jaxmodal.frequencies.one_arm import natural_frequencies

    found = natural_frequencies(_arm(claim), max(claim.modes), theory=claim.theory, throw=False)
    kept = [mode - 1 for mode in claim.modes]
    return [float(found.omega[k]) for k in kept], all(bool(found.certified[k]) for k in kept)


def _hertz(claim: Claim) -> tuple[list[float], bool]:
    omega, trusted = _frequencies(claim)
    return [value / (2.0 * math.pi) for value in omega], trusted


def _wave_numbers(claim: Claim) -> tuple[list[float], bool]:
    """Square roots of angular frequencies, which are the roots of the equation of a beam of unit properties."""
    omega, trusted = _frequencies(claim)
    return [math.sqrt(value) for value in omega], trusted


def _critical_factors(claim: Claim) -> tuple[list[float], bool]:
    """Buckling load factors of an arm under a unit axial force."""
    from jaxmodal.at_rest.buckling import buckling

    found = buckling(
        _arm(claim), tip_force=(-1.0, 0.0), num_factors=max(claim.modes), theory=claim.theory
    )
    return [float(found.factors[mode - 1]) for mode in claim.modes], bool(found.ok)


def _deflections(claim: Claim) -> tuple[list[float], bool]:
    """Tip deflection under a unit transverse force."""
    from jaxmodal.response.exact.compliance import static_compliance

    found = static_compliance(_arm(claim), "tip.y", "tip.y", theory=claim.theory)
    return [float(found.values[0, 0])], bool(found.ok)


#: by name: what computes the values of a claim and says whether they may be trusted
QUANTITIES: Mapping[str, Callable[[Claim], tuple[list[float], bool]]] = {
    "frequency": _hertz,
    "angular frequency": _frequencies,
    "root of the frequency equation": _wave_numbers,
    "critical load": _critical_factors,
    "deflection": _deflections,
}


def as_markdown(verification: Verification) -> Iterator[str]:
    """Lines of the table in ``docs/validation.md``: last value of each claim, and a bound on the differences seen."""
    yield "| case | source | printed | ours | unit | tolerance | difference below | held by |"
    yield "|---|---|--:|--:|---|--:|--:|---|"
    for row in verification.rows:
        claim = row.claim
        seen = "1e-15" if row.difference < 1e-15 else f"1e{math.ceil(math.log10(row.difference))}"
        file, _, test = claim.test.partition("::")
        ours = f"{row.shown(-1)} ({claim.note})" if claim.note else row.shown(-1)
        yield (
            f"| {claim.case} | {claim.source} | {claim.values[-1]} | {ours} | {claim.unit} | {row.tolerance} | {seen} "
            f"| [`{test}`](../{file}) |"
        )
