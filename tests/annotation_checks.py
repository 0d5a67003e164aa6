"""Run-time checks of the library's annotations, wherever beartype understands them."""

from collections.abc import Callable
from typing import Any

import beartype
from beartype.roar import BeartypeDecorHintException


def checked(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function with its annotations checked at every call.

    A function whose annotations beartype does not understand (it has no generic named tuples) is
    returned as it is; mypy checks those.
    """
    try:
        return beartype.beartype(function)
    except BeartypeDecorHintException:
        return function
