"""Scripts without comments, indentation and spaces that a browser does not need."""

from __future__ import annotations

import re

#: quoted text, which is kept unchanged
_QUOTED = re.compile(r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'")
_COMMENT = re.compile(r"//[^\n]*|/\*(?:[^*]|\*(?!/))*\*/")
_PATTERN = re.compile(r"/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\[\n])+/[a-z]*")
_SPACE = re.compile(r"\s+")
_PLAIN = re.compile(r"[\w$.]+|.", re.DOTALL)
#: text after which a slash begins a regular expression; after all other text it divides
_BEFORE_PATTERN = re.compile(r"(?:^|[(,=:\[!&|?{};>\n]|\b(?:return|case|typeof))$")
#: pairs of characters that need a space between them: words, and signs that would merge
_PARTED = re.compile(r"[\w$][\w$]|\+\+|--|//")


def spared(script: str) -> str:
    """Return the script with the same tokens and the same line breaks between them, so that statements end alike."""
    return "".join(_tokens(script))


def _tokens(script: str) -> list[str]:
    found: list[str] = []
    at, gap = 0, ""
    while at < len(script):
        nothing = _COMMENT.match(script, at) or _SPACE.match(script, at)
        if nothing:
            gap = "\n" if "\n" in gap + nothing[0] else " "
            at = nothing.end()
            continue
        token = _token(script, at, found[-1] if found else "")
        if found and (gap == "\n" or (gap and _PARTED.fullmatch(found[-1][-1] + token[0]))):
            found.append(gap)
        found.append(token)
        at, gap = at + len(token), ""
    return [*found, "\n"]


def _token(script: str, at: int, before: str) -> str:
    if script[at] == "`":
        return script[at : _end_of_template(script, at)]
    kinds = [_PLAIN]
    if script[at] in "\"'":
        kinds = [_QUOTED]
    elif script[at] == "/" and _BEFORE_PATTERN.search(before):
        kinds = [_PATTERN, _PLAIN]
    return next(found[0] for kind in kinds if (found := kind.match(script, at)))


def _end_of_template(script: str, at: int) -> int:
    """Return the index after the end of a template literal, which may contain nested templates."""
    at += 1
    while script[at] != "`":
        if script[at] == "\\":
            at += 2
        elif script.startswith("${", at):
            at = _end_of_place(script, at + 2)
        else:
            at += 1
    return at + 1


def _end_of_place(script: str, at: int) -> int:
    depth = 1
    while depth:
        quoted = _QUOTED.match(script, at) if script[at] in "\"'" else None
        if quoted:
            at = quoted.end()
        elif script[at] == "`":
            at = _end_of_template(script, at)
        else:
            depth += {"{": 1, "}": -1}.get(script[at], 0)
            at += 1
    return at
