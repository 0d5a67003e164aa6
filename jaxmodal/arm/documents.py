"""Input documents: UTF-8 text, TOML and JSON, and tables with every key checked.

The caller gives the exception type. Limits on size and depth are checked before the text is parsed.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from jaxmodal.arm.file_kinds import KINDS, STORE, kind_at, kind_of
from jaxmodal.arm.quantities import shown
from jaxmodal.runtime import limits
from jaxmodal.runtime.errors import meant_or_known
from jaxmodal.runtime.tables import printable
from jaxmodal.runtime.whole_files import is_named_pipe, read_pipe

#: what stands in a text: strings and comments, which the others are not looked for in; words and numbers; signs.
#: Every alternative matches whatever follows its beginning, so that the time is proportional to the length.
_TOML = re.compile(
    r'"""(?:\\.|[^\\])*?(?:"""|\Z)'
    r"|'''.*?(?:'''|\Z)"
    r'|"(?:\\.|[^"\\\n])*+"?'
    r"|'[^'\n]*'?|\#[^\n]*"
    r"|(?P<word>[\w.+-]+)|(?P<sign>[\[\]{}=,\n])",
    re.DOTALL,
)
_JSON = re.compile(r'"(?:\\.|[^"\\])*+"?|(?P<word>[\w.+-]+)|(?P<sign>[\[\]{}:,\n])', re.DOTALL)

#: what files are that hold no text, by their first bytes
_NO_TEXT = {
    b"\x89HDF": "an HDF5 or netCDF file",
    b"CDF\x01": "a netCDF file",
    b"CDF\x02": "a netCDF file",
    b"PK\x03\x04": "a zip archive, as .xlsx, .ods and .npz are",
    b"\x1f\x8b": "compressed by gzip",
    b"\x93NUMPY": "an array of NumPy",
    b"MATLAB 5.0 MAT-file": "a MAT-file",
    b"\x89PNG": "a picture (PNG)",
    b"GIF8": "a picture (GIF)",
    b"%PDF": "a PDF",
}
#: what files in TOML are, which a slip in one does not make another
_TOML_KINDS = {kind.what for kind in KINDS.values()}
#: what stands before the first element of an XML document
_BEFORE_ELEMENT = re.compile(r"\s+|<\?.*?\?>|<!--.*?-->|<![^>]*>", re.DOTALL)
_ELEMENT = re.compile(r"<([A-Za-z_][\w.:-]{0,60})")


def read_text(path: Path, error: type[ValueError], remedy: str) -> str:
    """Return the text of a file without its byte order mark.

    Raises
    ------
    error
        If the file cannot be read or is not text. The message starts with the path and ends with ``remedy``.
    """
    if "\0" in str(path):
        raise error(f"{path!s:.100}: is not a path, because it has the character NUL; {remedy}")
    try:
        data = _content(path, limits.FILE_BYTES + 1)
        for beginning, what in _NO_TEXT.items():
            if data.startswith(beginning):
                raise error(f"{path}: is {what}, not text; {remedy}")
        if len(data) > limits.FILE_BYTES:
            raise error(
                f"{path}: is larger than {limits.FILE_BYTES:,} bytes, the most that a file may hold; give long lists "
                "of values from Python."
            )
        return data.decode("utf-8-sig")
    except TimeoutError as failure:
        raise error(
            f"{path}: is a FIFO, and nobody wrote to it for {limits.PIPE_SECONDS:g} s; {remedy} A program may write to "
            "standard input, which is the file /dev/stdin."
        ) from failure
    except IsADirectoryError as failure:
        if kind_at(path) is STORE:
            raise error(
                f"{path}: is {STORE.what}, not a file; {STORE.taken} Or {remedy}"
            ) from failure
        raise error(f"{path}: cannot be read ({failure.strerror}); {remedy}") from failure
    except OSError as failure:
        reason = failure.strerror or str(failure)
        raise error(f"{path}: cannot be read ({reason}); {remedy}") from failure
    except UnicodeDecodeError as failure:
        raise error(f"{path}: is not text in UTF-8; {remedy}") from failure


def _content(path: Path, size: int) -> bytes:
    """Return the first bytes of a file."""
    if is_named_pipe(path):
        return read_pipe(path, size, limits.PIPE_SECONDS)
    with path.open("rb") as file:
        return file.read(size)


def check_kind(document: object, key: str, error: type[ValueError]) -> None:
    """Refuse a document of another kind: it lacks its own ``key`` and has the key of another kind.

    ``key`` is one of `KINDS`.
    """
    if not isinstance(document, Mapping) or key in document:
        return
    for other, kind in KINDS.items():
        if other in document and kind.what != KINDS[key].what:
            raise error(kind.instead_of(KINDS[key].what, f", which has {key}"))


def parse_toml(text: str, error: type[ValueError], remedy: str) -> dict[str, Any]:
    """Return the tables of a TOML document.

    Raises
    ------
    error
        If the text is not TOML, gives a key twice, or exceeds `jaxmodal.runtime.limits`.
    """
    _refuse_xml(text, error, remedy)
    _check_text(text, _TOML, error)
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as failure:
        twice = _given_twice(text, str(failure))
        if twice:
            raise error(f"{twice}; keep one.") from failure
        other = kind_of(text)
        braced = text.lstrip().startswith("{")
        if other is not None and (braced or other.what not in _TOML_KINDS):
            json_name = " JSON needs a name that ends in .json." if braced else ""
            raise error(
                f"is {other.what}{other.reason}{' in JSON' * braced}, not TOML; {other.taken}{json_name} Or {remedy}"
            ) from failure
        raise error(f"is not TOML: {failure}; {remedy}") from failure
    check_document(document, error)
    return document


def parse_json(text: str, error: type[ValueError]) -> Any:
    """Return the content of a JSON document.

    Raises
    ------
    error
        If the text is not JSON, gives a key twice, or exceeds `jaxmodal.runtime.limits`.
    """

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, value in pairs:
            if key in found:
                raise error(f"{key[: limits.WORD]} is given twice; keep one.")
            found[key] = value
        return found

    _refuse_xml(text, error, "give JSON.")
    _check_text(text, _JSON, error)
    try:
        document = json.loads(text, object_pairs_hook=once)
    except json.JSONDecodeError as failure:
        raise error(f"is not JSON: {failure}.") from failure
    check_document(document, error)
    return document


def _refuse_xml(text: str, error: type[ValueError], remedy: str) -> None:
    """Refuse an XML document; for a URDF, the message tells how to read it."""
    if not text.lstrip().startswith("<"):
        return
    first = first_element(text)
    if first == "robot":
        raise error(
            "is a URDF (XML), the description of a robot, and neither TOML nor JSON: where an arm is expected, give it "
            "under a name that ends in .urdf, or read it with jaxmodal.read_urdf (docs/robots.md)."
        )
    element = f" (its first element is <{first}>)" if first else ""
    raise error(f"is XML{element}, neither TOML nor JSON; {remedy}")


def first_element(text: str) -> str:
    """Return the name of the first element of an XML document; empty if there is none."""
    place = 0
    while before := _BEFORE_ELEMENT.match(text, place):
        place = before.end()
    first = _ELEMENT.match(text, place)
    return first[1] if first else ""


def check_document(document: object, error: type[ValueError]) -> None:
    """Refuse tables and lists that are nested deeper, or hold longer texts, than `jaxmodal.runtime.limits` allows."""
    level = [document]
    for _ in range(limits.DEPTH + 1):
        inner: list[object] = []
        for value in level:
            if isinstance(value, Mapping):
                for key in value:
                    _check_string(key, limits.WORD, "a key", error)
                    if isinstance(key, str) and printable(key) != key:
                        raise error(f"a key {key!a} holds a control character; take it out.")
                inner += value.values()
            elif isinstance(value, (list, tuple)):
                inner += value
            else:
                _check_string(value, limits.TEXT, "a text", error)
        if not inner:
            return
        level = inner
    raise error(_too_deep())


def _check_string(value: object, most: int, what: str, error: type[ValueError]) -> None:
    if not isinstance(value, str):
        return
    if len(value) > most:
        raise error(f"{what} {value[:20]!r}... has {len(value):,} characters; at most {most:,}.")
    if any("\ud800" <= character <= "\udfff" for character in value):
        raise error(
            f"{what} {value[:20]!r} holds half of a pair of surrogates; give whole characters."
        )


def _check_text(text: str, tokens: re.Pattern[str], error: type[ValueError]) -> None:
    """Refuse brackets, dotted keys and words beyond the limits; linear in the length of the text."""
    depth = dots = 0
    for token in tokens.finditer(text):
        word, sign = token["word"], token["sign"]
        if word is not None:
            if len(word) > limits.WORD:
                raise error(
                    f"{word[:20]}... is a number or word of {len(word):,} characters; at most {limits.WORD}."
                )
            dots += word.count(".")
            if dots > limits.DEPTH:
                raise error(_too_deep())
        elif sign is not None:
            dots = 0
            depth = max(depth + (sign in "[{") - (sign in "]}"), 0)
            if depth > limits.DEPTH:
                raise error(_too_deep())


def _too_deep() -> str:
    return f"tables and lists lie deeper than {limits.DEPTH} inside one another; give them flatter."


def _given_twice(text: str, failure: str) -> str:
    """Return which key or table the TOML parser found twice; empty for other failures."""
    inline = re.match(r"Duplicate inline table key '(.{1,100}?)' ", failure)
    at = re.search(r"\(at line (\d+),", failure)
    last = (
        int(at[1]) if at else len(text.rstrip().split("\n"))
    )  # else it is the end of the document
    where = f" (line {last})"
    if inline:
        return f"{inline[1]} is given twice{where}"
    if failure.startswith("Cannot declare"):
        key = re.match(r"Cannot declare \((.{1,200})\) twice", failure)
        name = ".".join(re.findall(r"'([^']*)'", key[1])) if key else "a table"
        return f"[{name}] is given twice{where}"
    if not failure.startswith(("Cannot overwrite a value", "Cannot redefine namespace")):
        return ""
    for line in reversed(text.split("\n")[:last]):
        found = re.match(r"\s*(?:(\[+[^\[\]=]{1,200}\]+)|([^\[\]=,]{1,200}?)\s*=)", line)
        if found:
            return f"{found[1] or found[2]} is given twice{where}"
    return ""


def table(what: str, value: object, error: type[ValueError]) -> Mapping[str, Any]:
    """Return ``value`` if it is a table, else raise an error that names it."""
    if not isinstance(value, Mapping):
        raise error(f"{what} = {shown(value)}: must be a table of keys and values.")
    return value


def check_keys(
    entries: Mapping[str, Any],
    known: Iterable[str],
    required: Iterable[str],
    error: type[ValueError],
    also: Iterable[str] = (),
) -> None:
    """Refuse unknown keys, with a suggestion, and missing keys.

    ``also`` are further spellings to suggest: keys with a unit suffix.
    """
    known, required, also = list(known), list(required), list(also)
    for key, value in entries.items():
        if key not in known:
            units = ", each also with its unit behind it: " if also else ""
            endings = list(dict.fromkeys(_ending(name, known) for name in also))
            near = also if str(key).endswith(tuple(endings)) else known
            every = f"{', '.join(known)}{units}{', '.join(endings)}"
            more = meant_or_known(str(key), near, every)
            raise error(f"{key} = {shown(value)}: is not a known key{more}")
    for key in required:
        if key not in entries:
            raise error(f"{key} is missing; add it (required are {', '.join(required)}).")


def _ending(name: str, known: Iterable[str]) -> str:
    """Return the suffix behind a known key."""
    return next(name.removeprefix(key) for key in known if name.startswith(f"{key}_"))
