"""Frozen records of physical quantities, registered as pytrees.

A record is a frozen dataclass. Each physical field is declared once with `quantity`: its unit, its
meaning and the `Rule` for its value. These serve the validation of concrete values, the traceable
validity mask, the parameter addresses and the files.

Records are registered as pytrees by hand and not with ``jax.tree_util.register_dataclass``, because that rebuilds
through ``__init__`` and would validate on unflattening. A gradient with respect to an arm is itself an arm, with values
(negative lengths, say) that no arm may have.
"""

import contextlib
import dataclasses
import functools
import math
import numbers
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, NamedTuple, TypeAlias, TypeVar, dataclass_transform

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from jaxmodal.arm.plain_arrays import labelled, refuse_labels, unmasked
from jaxmodal.runtime.errors import ArmError, suggestion
from jaxmodal.runtime.precision import require_x64
from jaxmodal.runtime.public_names import explain_frozen
from jaxmodal.runtime.tables import Table

Scalar: TypeAlias = float | jax.Array | NDArray[np.inexact[Any]]
"""One physical value: a float64 number, a traced or batched JAX array, or a column of numbers.

Columns are complex where a derivative is taken (`columns.rates_of`).
"""


@dataclasses.dataclass(frozen=True)
class Rule:
    """The allowed values: a description, and an elementwise test that is false for NaN."""

    allowed: str
    holds: Callable[[Any], Any]


POSITIVE = Rule("finite and greater than 0", lambda x: (x > 0.0) & (x < math.inf))
NON_NEGATIVE = Rule("finite and 0 or more", lambda x: (x >= 0.0) & (x < math.inf))
FINITE = Rule("finite", lambda x: (x > -math.inf) & (x < math.inf))
#: joint angles beyond this size, rad, have fewer than ten digits behind their whole turns
LARGEST_ANGLE = 1e6
ANGLE = Rule(
    "finite and at most 1e6 in size", lambda x: (x >= -LARGEST_ANGLE) & (x <= LARGEST_ANGLE)
)
POISSON = Rule("greater than -1 and at most 0.5", lambda x: (x > -1.0) & (x <= 0.5))
STIFFNESS = Rule("0 (a free hinge) or more (inf for a rigid joint)", lambda x: x >= 0.0)
SPRING = Rule("0 (a free slide) or more (inf for a rigid joint)", lambda x: x >= 0.0)
BASE = Rule("0 (free) or more (inf for rigid)", lambda x: x >= 0.0)
SUPPORT = Rule("0 (no support) or more (inf for a rigid one)", lambda x: x >= 0.0)


class Constraint(NamedTuple):
    """A condition on several fields of one record."""

    name: str
    value: Any
    holds: Any
    allowed: str
    remedy: str


def quantity(
    unit: str,
    meaning: str,
    rule: Rule = FINITE,
    remedy: str = "leave it out for none",
    *,
    default: Any = dataclasses.MISSING,
) -> Any:
    """Declare a physical field of a record.

    Parameters
    ----------
    unit
        SI unit, ``"1"`` for a pure number.
    meaning
        What the value is, in a few words.
    rule
        What values are allowed; a default of None makes the field optional as well.
    remedy
        What to do about a value that is not allowed, for the error message.
    default
        Value of the field when it is left out. Always written as a keyword: type checkers read
        from that which fields are optional.
    """
    about = {"unit": unit, "meaning": meaning, "rule": rule, "remedy": remedy}
    return dataclasses.field(default=default, metadata=about)


def static(*, default: Any = dataclasses.MISSING) -> Any:
    """Declare a static field (part of the pytree structure), such as a name or a rule."""
    return dataclasses.field(default=default, metadata={"static": True})


def as_scalar(name: str, value: object, about: str) -> Scalar:
    """Return ``value`` as float64: a NumPy scalar or column if it is one, else a JAX array.

    Parameters
    ----------
    name
        Name of the value in error messages.
    value
        A real number, a concrete array (0-d, or batched), or a traced array.
    about
        The allowed values in words, for the error message.

    Raises
    ------
    ArmError
        If ``value`` is no real number: text, a truth value, None, a complex number, a list; or has labels.

    Notes
    -----
    Masked numbers are NaN.
    """
    if isinstance(value, (jax.Array, np.ndarray)):
        array: Any = unmasked(value)
        real = jnp.issubdtype(array.dtype, jnp.floating) or jnp.issubdtype(array.dtype, jnp.integer)
        if real and not isinstance(array, jax.core.Tracer) and array.ndim == 0:
            return np.float64(np.asarray(array))
        if real and isinstance(array, np.ndarray):
            return array.astype(np.float64)
        if real:
            return jnp.asarray(array, jnp.float64)
    elif not isinstance(value, bool) and isinstance(value, numbers.Real):
        with contextlib.suppress(OverflowError):
            return np.float64(float(value))
    refuse_labels(name, value)
    raise ArmError(f"{name} = {shown(value)}: must be a number, {about}.")


def shown(value: object) -> str:
    """Return a short text of a value for messages and reprs: ``0.5``, not ``np.float64(0.5)``."""
    if isinstance(value, jax.core.Tracer):
        return f"<traced {value.dtype}{list(value.shape)}>"
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        return f"<masked {value.dtype}{list(value.shape)}>"
    if isinstance(value, (np.generic, np.ndarray, jax.Array)):
        return repr(value.item()) if value.ndim == 0 else f"<{value.dtype}{list(value.shape)}>"
    kind = labelled(value)
    text = f"<{kind} {list(getattr(value, 'shape', ()))}>" if kind else repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def value_text(value: object) -> str:
    """Return a number with six digits for tables; anything else as `shown`."""
    return f"{value:.6g}" if isinstance(value, float) else shown(value)


R = TypeVar("R", bound="Record")


class Record:
    """Base of the frozen pytrees: validation, equality, repr and replacement.

    Two records are equal when they have the same structure and all their values are equal;
    records are not hashable.
    """

    # construction judges its arguments itself and answers with an ArmError, also where a
    # run-time type checker is at work
    __no_type_check__: ClassVar[bool] = True
    place: ClassVar[str] = ""
    """Prefix of the field names of this record in addresses and messages."""
    symbols: ClassVar[Mapping[str, str]] = {}
    """Field names by their common symbols, for suggestions."""

    def __post_init__(self) -> None:
        require_x64()
        for item in quantities(self):
            value, rule = getattr(self, item.name), item.metadata["rule"]
            if value is None and item.default is None:
                continue
            if type(value) is np.float64 and rule.holds(value):  # as nearly all of a changed copy
                continue
            name, remedy = self.place + item.name, item.metadata["remedy"]
            unit = "" if item.metadata["unit"] == "1" else f" ({item.metadata['unit']})"
            scalar = as_scalar(name, value, rule.allowed + unit)
            if isinstance(scalar, np.float64) and not rule.holds(scalar):
                raise ArmError(f"{name} = {shown(scalar)}: must be {rule.allowed}{unit}; {remedy}.")
            object.__setattr__(self, item.name, scalar)
        with np.errstate(all="ignore"):
            constraints = self.constraints()
        for name, value, holds, allowed, remedy in constraints:
            if isinstance(holds, np.bool_) and not holds:
                raise ArmError(f"{self.place}{name} = {shown(value)}: must be {allowed}; {remedy}.")

    def constraints(self) -> tuple[Constraint, ...]:
        """Return the conditions on several fields, evaluated elementwise."""
        return ()

    def replace(self: R, **changes: Any) -> R:
        """Return a validated copy with the named fields changed."""
        return dataclasses.replace(self, **changes)  # type: ignore[type-var]

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        if jax.tree.structure(self) != jax.tree.structure(other):  # type: ignore[operator]
            return False
        mine, theirs = jax.tree.leaves(self), jax.tree.leaves(other)
        return all(a is b or bool(np.array_equal(a, b)) for a, b in zip(mine, theirs, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        return "\n".join(table.text() for table in self.tables())

    def _repr_html_(self) -> str:
        return "".join(table.html() for table in self.tables())

    def tables(self) -> list[Table]:
        """Return a table of all values of the record, with units and meanings."""
        rows = []
        for item, value in given(self):
            unit = item.metadata["unit"]
            words = "" if unit == "1" else unit, item.metadata["meaning"]
            rows.append([item.name, value_text(value), *words])
        headings = ("value of", "", "unit", "meaning")
        return [
            Table(type(self).__name__.lower(), headings, rows, (), ("value of", "unit", "meaning"))
        ]

    def __repr__(self) -> str:
        parts = []
        for item in dataclasses.fields(self):  # type: ignore[arg-type]
            value = getattr(self, item.name)
            if not _is_default(value, item):
                parts.append(f"{item.name}={shown_field(value)}")
        return f"{type(self).__name__}({', '.join(parts)})"


def _check_names(kind: type[Record], given: Mapping[str, Any]) -> None:
    """Refuse names that a record does not have, and suggest the field that was probably meant."""
    units = _units_of(kind)  # type: ignore[arg-type]  # as in `quantities`
    for name in given:
        if name in units:
            continue
        hint = suggestion(name, units)
        with_unit = [known for known in units if name.startswith(f"{known}_") and units[known]]
        if with_unit:
            known = max(with_unit, key=len)
            hint = f" In Python values are in SI units and radians: give {known} in {units[known]}."
        elif name in kind.symbols:
            hint = f" Did you mean {kind.symbols[name]!r}?"
        has = hint or f" It has {', '.join(units)}."
        raise ArmError(f"{kind.__name__} has no field {name!r}.{has}")


@functools.cache
def _units_of(kind: type[Record]) -> dict[str, str | None]:
    """Return the fields of a record with their units, None for fields without one."""
    return {item.name: item.metadata.get("unit") for item in dataclasses.fields(kind)}  # type: ignore[arg-type]


def _with_known_names(cls: type[R]) -> type[R]:
    """Make the constructor check the names of its arguments with `_check_names`."""
    made = cls.__init__

    @functools.wraps(made)
    def judged(self: R, *args: Any, **given: Any) -> None:
        _check_names(cls, given)
        made(self, *args, **given)

    cls.__init__ = judged  # type: ignore[method-assign, assignment]
    return cls


def shown_field(value: object) -> str:
    """Return the repr of a field: numbers by `shown`, records and tuples of them in full."""
    if isinstance(value, tuple):
        return f"({', '.join(map(repr, value))}{',' if len(value) == 1 else ''})"
    return repr(value) if isinstance(value, (Record, str)) else shown(value)


def _is_default(value: object, item: "dataclasses.Field[Any]") -> bool:
    default = item.default
    if item.default_factory is not dataclasses.MISSING:
        default = item.default_factory()
    if isinstance(value, (float, str, Record)) and isinstance(default, (float, str, Record)):
        return bool(value == default)
    return value is default


def given(record: Record) -> "list[tuple[dataclasses.Field[Any], Any]]":
    """Return the physical fields of a record that are not at their defaults, with their values."""
    values = [(item, getattr(record, item.name)) for item in quantities(record)]
    return [(item, value) for item, value in values if not _is_default(value, item)]


def quantities(record: Record | type[Record]) -> "tuple[dataclasses.Field[Any], ...]":
    """Return the physical fields of a record, in order."""
    kind = record if isinstance(record, type) else type(record)
    return _quantities_of(kind)  # type: ignore[arg-type]  # records have no hash, their types have


@functools.cache
def _quantities_of(kind: type[Record]) -> "tuple[dataclasses.Field[Any], ...]":
    return tuple(item for item in dataclasses.fields(kind) if "rule" in item.metadata)  # type: ignore[arg-type]


@dataclass_transform(
    frozen_default=True, eq_default=False, field_specifiers=(quantity, static, dataclasses.field)
)
def frozen_pytree(cls: type[R]) -> type[R]:
    """Make a frozen dataclass of a `Record` and register it as a pytree.

    Fields with ``metadata={"static": True}`` are part of the structure, all others are children.
    Flattening and unflattening do not validate, so that any object may be a leaf.
    """
    cls = _with_known_names(dataclasses.dataclass(frozen=True, eq=False, repr=False)(cls))
    explain_frozen(cls)
    names = [item.name for item in dataclasses.fields(cls)]  # type: ignore[arg-type]
    fixed = [
        item.name
        for item in dataclasses.fields(cls)  # type: ignore[arg-type]
        if item.metadata.get("static", False)
    ]
    dynamic = [name for name in names if name not in fixed]
    keys = [jax.tree_util.GetAttrKey(name) for name in dynamic]

    def flatten(record: R) -> tuple[list[Any], tuple[Any, ...]]:
        return [getattr(record, name) for name in dynamic], tuple(
            getattr(record, name) for name in fixed
        )

    def flatten_with_keys(record: R) -> tuple[list[tuple[Any, Any]], tuple[Any, ...]]:
        children, aux = flatten(record)
        return list(zip(keys, children, strict=True)), aux

    def unflatten(aux: tuple[Any, ...], children: Any) -> R:
        record = object.__new__(cls)
        record.__dict__.update(zip(dynamic, children, strict=True))
        record.__dict__.update(zip(fixed, aux, strict=True))
        return record

    jax.tree_util.register_pytree_with_keys(cls, flatten_with_keys, unflatten, flatten)
    return cls
