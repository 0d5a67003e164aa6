"""Translation of library messages for the shell: option names for arguments, values as typed."""

from __future__ import annotations

import re

import click
from click.core import ParameterSource

from jaxmodal.runtime.errors import suggestion

#: arguments of the library that have options with other names
_OTHER_NAMES = {
    "family": "shapes",
    "posture": "posture_deg",
    "num_modes": "modes",
    "num_postures": "postures",
}
#: an argument at the beginning of a message, a place inside it, its value, and the error
_ARGUMENT = re.compile(
    r"(?P<robot>\S+\.(?:urdf|xacro): )?(?P<name>[a-z_]+)(?P<place>(?:\[[^\]]{0,100}\])?(?:\.[a-z_]+)?)"
    r"(?: = (?P<value>.{0,200}?)[:;]|:) (?P<rest>.+)",
    re.DOTALL,
)
_NUMBER = r"-?\d[\d.e+-]*|-?inf"
_ROW = re.compile(rf"[(\[]({_NUMBER})((?:, (?:{_NUMBER}))*),?[)\]]")
_TABLE = re.compile(r"\{'([^']+)': ([^{}]+)\}")
#: remedies that exist only in Python
_PYTHON = re.compile(
    r"(?:; | \()[^;()]*\b(?:jaxmodal|jm|model|arm)\.[a-z_]+(?:\([^()]*\))?[^;()]*(?:\)(?=\.)|(?=[;.]|$))"
)


def in_shell_words(message: str, argument: str) -> str:
    """Return a message with the argument at its start replaced by its option; other messages are unchanged."""
    found = _ARGUMENT.fullmatch(message)
    context = click.get_current_context(silent=True)
    if found is None or context is None:
        return message
    if argument.startswith("--"):
        return _typed(found["rest"]) if _option(context, found["name"], argument) else message
    option = _option(context, found["name"])
    if option is None or (found["value"] is not None and not _given(context, option)):
        return message
    value = "" if found["value"] is None else f" {_key(found['place'])}{_plain(found['value'])}"
    rest = _typed(_PYTHON.sub("", found["rest"]))
    return f"{found['robot'] or ''}{option.opts[0]}{value}: {rest}{'' if rest.endswith(('.', '?')) else '.'}"


def _key(place: str) -> str:
    """Return the key of a place inside a table, as typed."""
    named = re.match(r"\['(.+)'\]", place)
    return f"{named[1]}=" if named else ""


def _plain(value: str) -> str:
    """Return a value without Python syntax around it."""
    return re.sub(r"^\((.*?),?\)$|'", r"\1", _typed(value)).replace("'", "")


def _option(context: click.Context, name: str, within: str = "--") -> click.Option | None:
    """Return the option for an argument of the library, or None."""
    name = _OTHER_NAMES.get(name, name)
    for parameter in context.command.params:
        if isinstance(parameter, click.Option) and parameter.name == name:
            return parameter if parameter.opts[0].startswith(within.split(" ")[0]) else None
    return None


def _given(context: click.Context, option: click.Option) -> bool:
    source = context.get_parameter_source(option.name or "")
    return source is ParameterSource.COMMANDLINE


def _typed(text: str) -> str:
    """Return rows of numbers and tables as typed: ``1,2`` for ``(1.0, 2.0)``, ``a=1,2`` for ``{'a': (1.0, 2.0)}``."""

    def row(found: re.Match[str]) -> str:
        numbers = [found[1], *found[2].split(", ")[1:]]
        return ",".join(f"{float(number):g}" for number in numbers)

    return _TABLE.sub(r"\1=\2", _ROW.sub(row, text))


def with_choices(error: click.ClickException) -> str:
    """Return the message of an error, with a suggestion for a misspelled choice, and the help of a missing option."""
    message = error.message
    if isinstance(error, click.MissingParameter) and isinstance(error.param, click.Option):
        return message or error.param.help or ""
    if isinstance(error, click.BadParameter) and error.param is not None:
        kind = error.param.type
        word = re.match(r"'([^']{1,100})'", message)
        if isinstance(kind, click.Choice) and word:
            return f"{message}{suggestion(word[1], list(map(str, kind.choices)))}"
    return message
