"""Values of nested records by path: ``link2.length`` is the length of the second entry of ``links``.

The entries of a tuple field are numbered from 1, with the name of the field in the singular.
"""

from __future__ import annotations

import copy
import dataclasses
import re
from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

import jax

from jaxmodal.arm.quantities import Record, Scalar
from jaxmodal.runtime.errors import within

_NUMBERED = re.compile(r"([a-z_]+)([1-9][0-9]*)", re.ASCII)

R = TypeVar("R")


def walk(record: Any, prefix: str = "") -> Iterator[tuple[str, Scalar]]:
    """Yield path and value of every physical quantity in a record."""
    for field in dataclasses.fields(record):
        name, value = field.name, getattr(record, field.name)
        if value is None or "static" in field.metadata:
            continue
        if "rule" in field.metadata:  # one of its `quantities`
            yield prefix + name, value
        elif isinstance(value, Record):
            yield from walk(value, f"{prefix}{name}.")
        elif isinstance(value, tuple):
            for number, part in enumerate(value, start=1):
                yield from walk(part, f"{prefix}{name.removesuffix('s')}{number}.")


def has(record: Any, path: str) -> bool:
    """Return True if a path is among those of `walk`, without building the list."""
    name, _, rest = path.partition(".")
    fields = record.__dataclass_fields__
    numbered = None if name in fields else _NUMBERED.fullmatch(name)
    if numbered is not None:
        field, index = _place(record, name)
        parts = getattr(record, field, None) if field.removesuffix("s") == numbered[1] else None
        return isinstance(parts, tuple) and index < len(parts) and has(parts[index], rest)  # type: ignore[operator, index]
    if name not in fields or "static" in fields[name].metadata:
        return False
    value = getattr(record, name)
    if value is None or "rule" in fields[name].metadata:
        return value is not None and name == path
    return isinstance(value, Record) and has(value, rest)


def value_at(record: Any, path: str) -> Any:
    """Return the value at a path."""
    for name in path.split("."):
        field, index = _place(record, name)
        record = getattr(record, field)
        if index is not None:
            record = record[index]
    return record


def with_values(record: R, values: Mapping[str, Any]) -> R:
    """Return a record with new values at some paths; every nested record is rebuilt once, with all its new values."""
    changes: dict[str, Any] = {}
    inner: dict[str, dict[str, Any]] = {}
    for path, value in values.items():
        name, _, rest = path.partition(".")
        if rest:
            inner.setdefault(name, {})[rest] = value
        else:
            changes[name] = value
    for name, below in inner.items():
        field, index = _place(record, name)
        part = value_at(record, name)
        with within("" if part.place else f"{name}."):
            changed = with_values(part, below)
        if index is None:
            changes[field] = changed
        else:
            parts = list(changes.get(field, getattr(record, field)))
            parts[index] = changed
            changes[field] = tuple(parts)
    changed_record: R = record.replace(**changes)  # type: ignore[attr-defined]
    return changed_record


def leaf_numbers(record: Any) -> dict[str, int]:
    """Return the index of each value among the leaves of a record, by path."""
    leaves, structure = jax.tree_util.tree_flatten(record)
    places = jax.tree_util.tree_unflatten(structure, range(len(leaves)))
    return {path: value_at(places, path) for path, _ in walk(record)}


def unchecked(record: R, path: str, value: Any) -> R:
    """Return a copy of a record with another value at a path, without validation."""
    name, _, rest = path.partition(".")
    field, index = _place(record, name)
    changed = unchecked(value_at(record, name), rest, value) if rest else value
    if index is not None:
        parts = getattr(record, field)
        changed = (*parts[:index], changed, *parts[index + 1 :])
    found = copy.copy(record)
    found.__dict__[field] = changed
    return found


def _place(record: Any, name: str) -> tuple[str, int | None]:
    """Return the field for one part of a path, and the index in it for an entry of a tuple."""
    numbered = None if hasattr(record, name) else _NUMBERED.fullmatch(name)
    if numbered is None:
        return name, None
    field = numbered[1] if hasattr(record, numbered[1]) else f"{numbered[1]}s"
    return field, int(numbered[2]) - 1
