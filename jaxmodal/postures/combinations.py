"""Combinations of terms that suffice on some panels of a posture series, and products with them."""

from __future__ import annotations

import dataclasses

import jax
import numpy as np

from jaxmodal.runtime.namespace import Array, once, product, xp


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Combinations:
    """Of each group of neighbouring panels, how combinations are made of terms, and coefficients of them.

    Attributes
    ----------
    terms, coefficients : tuple of Array, shapes (R, H)
        What combinations of the terms are; and of the coefficients of terms, those of the combinations.
    panels : tuple of int
        How many panels each group has.
    """

    terms: tuple[Array, ...]
    coefficients: tuple[Array, ...]
    panels: tuple[int, ...] = dataclasses.field(metadata={"static": True})


def combined(combinations: Combinations | None, terms: Array) -> list[Array]:
    """The combinations of terms (H, cells) of each group; None stands for the terms, of one group."""
    if combinations is None:
        return [terms]
    found, start = list[Array](), 0
    every = once(product(xp.concatenate(combinations.terms), terms))
    for basis in combinations.terms:
        found.append(every[start : start + basis.shape[0]])
        start += basis.shape[0]
    return found


def in_groups(combinations: Combinations | None, coefficients: np.ndarray) -> list[np.ndarray]:
    """Coefficients (P, ..., H) of terms on panels as those of combinations, (panels, ..., R) of each group."""
    if combinations is None:
        return [coefficients]
    ends = np.cumsum(combinations.panels)[:-1]
    parts = np.split(coefficients, ends)
    return [
        np.asarray(x @ np.asarray(basis).T)
        for x, basis in zip(parts, combinations.coefficients, strict=True)
    ]


def products(tables: tuple[Array, ...], groups: list[Array]) -> Array:
    """Tables of each group times its combinations, one below the other."""
    rows = [product(table, group) for table, group in zip(tables, groups, strict=True)]
    return rows[0] if len(rows) == 1 else xp.concatenate(rows)
