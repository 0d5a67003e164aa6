"""Run-time checks of the library's annotations, wherever beartype understands them."""

from collections.abc import Callable
from typing import Any, Literal

import beartype
from beartype import BeartypeConf, FrozenDict
from beartype.roar import BeartypeDecorHintException

#: `jaxmodal.dynamic_stiffness.beams.TheoryName`; nothing of the library may be imported before its checks are
_THEORIES = Literal["timoshenko", "rayleigh", "euler_bernoulli", "bending_only"]
_CONF = BeartypeConf(hint_overrides=FrozenDict({_THEORIES: str}))

_CHECKED: dict[tuple[Any, ...], Callable[..., Any]] = {}


def _identity(hint: Any) -> Any:
    """What two annotations share that mean the same."""
    return hint if isinstance(hint, type | str) else repr(hint)


def checked(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function with its annotations checked at every call.

    Names of theories may be any text here: the library itself answers those that are none.
    A function whose annotations beartype does not understand (it has no generic named tuples) is
    returned as it is; mypy checks those.

    jaxtyping gives an empty function with the signature of the one that it checks, and does so for an inner function
    each time the outer one runs: writing the checks anew each time took a third of the slow tests' time.
    """
    key = (
        *(function.__module__, function.__qualname__, function.__code__.co_varnames),
        tuple((name, _identity(hint)) for name, hint in function.__annotations__.items()),
    )
    if key not in _CHECKED:
        try:
            _CHECKED[key] = beartype.beartype(conf=_CONF)(function)
        except BeartypeDecorHintException:
            _CHECKED[key] = function
    return _CHECKED[key]


#: what is checked at every call: without the packages whose functions run by the ten thousand when NumPy solves an arm,
#: which takes twenty times as long when all are (0.95 s instead of 0.05 s); mypy checks those
CHECKED = [
    f"jaxmodal.{room}"
    for room in (
        *("arm", "eigenspaces", "frequencies", "postures", "batches", "modes", "plots"),
        *("references", "cli"),
    )
]
CHECKED += ["benchmarks.reproduction"]

#: of arms in space what reads, makes and tells of them; what runs at every frequency is left out as well
IN_SPACE = [
    f"jaxmodal.spatial.{name}"
    for name in (
        *("parts.bases", "parts.geometry", "parts.parameters", "parts.sections", "parts.tables"),
        *("arms.planar", "files.arm_files", "search.cells"),
    )
]
CHECKED += IN_SPACE

#: what the fast tests check: the modules of the public functions that take or give arrays. Elsewhere, in arms and their
#: tables above all, the checks take as long as what they check
CHECKED_IN_FAST_TESTS = [
    *(f"jaxmodal.frequencies.{name}" for name in ("one_arm", "counts", "results", "tapers")),
    *(f"jaxmodal.modes.{name}" for name in ("mode_shapes", "sensitivities", "batches")),
    *(f"jaxmodal.postures.{name}" for name in ("inverse", "resonance_maps", "series")),
    *(f"jaxmodal.eigenspaces.{name}" for name in ("clusters", "frequency_derivatives")),
    "jaxmodal.batches.many_arms",
    *(f"jaxmodal.spatial.{name}" for name in ("files.arm_files", "arms.planar")),
]
