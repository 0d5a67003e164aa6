"""Shell completion after ``jaxmodal``: run as a file with the standard library only, for a fast response.

``python completing.py LINE`` prints one line for each word that can complete LINE, the command line up to the cursor:
the word, a tab, and its meaning. Commands and options are read from a table made by `jaxmodal.cli.completion`, which is
renewed after a change of any command. Ports and addresses of an arm are computed by jaxmodal once, and cached until the
file changes.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

Words = Iterable[tuple[str, str]]

#: suffixes of files by kind of value
_SUFFIXES = {
    "arm": (".toml", ".json", ".urdf", ".xacro"),
    "sweep": (".toml",),
    "problem": (".toml",),
    "move": (".csv",),
    "measurements": (".csv", ".uff", ".unv", ".58"),
    "store": (".zarr",),
    "store or arm": (".zarr", ".toml", ".json", ".urdf", ".xacro"),
    "file": (),
}
_EXAMPLES = {"arm": "arms", "sweep": "sweeps", "problem": "problems", "store or arm": "arms"}


def _folder() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(base) / "jaxmodal"


def _asked(*arguments: str) -> Any:
    """Return the answer of jaxmodal, parsed from JSON; None if it fails."""
    command = [sys.executable, "-m", "jaxmodal", "completion", *arguments]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    try:
        return json.loads(answer.stdout)
    except ValueError:
        return None


def _stamp(path: str) -> list[int] | None:
    try:
        about = os.stat(path)
    except OSError:
        return None
    return [about.st_mtime_ns, about.st_size]


def _kept(key: str, sources: Iterable[str], *arguments: str) -> Any:
    """Return the cached answer of jaxmodal, which is valid while the files it depends on are unchanged."""
    own = f"{key} {sys.executable} {Path(__file__).parent}"
    place = _folder() / f"completion-{hashlib.sha256(own.encode()).hexdigest()[:16]}.json"
    try:
        found = json.loads(place.read_text(encoding="utf-8"))
        if all(_stamp(path) == stamp for path, stamp in found["sources"].items()):
            return found["answer"]
    except (OSError, ValueError, KeyError, AttributeError):
        pass
    answer = _asked(*arguments)
    if answer is not None:
        rests_on = [*sources, *(answer.get("sources", ()) if isinstance(answer, dict) else ())]
        found = {"sources": {path: _stamp(path) for path in rests_on}, "answer": answer}
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            part = place.with_suffix(f".{os.getpid()}")
            part.write_text(json.dumps(found), encoding="utf-8")
            part.replace(place)
        except OSError:
            pass
    return answer


def table() -> dict[str, Any]:
    """Return the table of commands, options and examples."""
    return _kept("table", (), "--table") or {"commands": {"": {"below": [], "options": []}}}


def split(line: str) -> tuple[list[str], str]:
    """Return the words before the cursor, for the last command of a line, and the beginning of the word at it."""
    words: list[str] = []
    last, inside, quote, escaped = "", False, "", False
    for sign in line:
        if escaped:
            last, escaped = last + sign, False
        elif sign == "\\" and quote != "'":
            inside = escaped = True
        elif quote:
            quote, last = ("", last) if sign == quote else (quote, last + sign)
        elif sign in "'\"":
            quote, inside = sign, True
        elif sign in ";|&":
            words, last, inside = [], "", False
        elif sign.isspace():
            if inside or last:
                words.append(last)
            last, inside = "", False
        else:
            last, inside = last + sign, True
    return words, last


class Position:
    """Position of the cursor in a command: the command, the words given, and the option that needs a value."""

    def __init__(self, known: dict[str, Any], words: list[str]) -> None:
        self.name, self.arguments, self.waiting = "", [], None
        self.commands = known["commands"]
        only_arguments = False
        for word in words:
            if self.waiting is not None:
                self.waiting = None
            elif word == "--":
                only_arguments = True
            elif word.startswith("-") and not only_arguments:
                option = self.option(word.partition("=")[0])
                if option and option["takes"] and "=" not in word:
                    self.waiting = option
            elif word in self.command.get("below", ()):
                self.name = f"{self.name} {word}".strip()
            else:
                self.arguments.append(word)

    @property
    def command(self) -> dict[str, Any]:
        """The command selected by the words."""
        found: dict[str, Any] = self.commands[self.name]
        return found

    def option(self, name: str) -> dict[str, Any] | None:
        """Return an option of the command, or of all commands, by name."""
        every = [*self.command["options"], *self.commands[""]["options"]]
        return next((each for each in every if name in each["names"]), None)


def completions(line: str) -> list[tuple[str, str]]:
    """Return words that can complete a line, each with its meaning."""
    known = table()
    words, incomplete = split(line)
    start = next((i for i, word in enumerate(words) if re.search(r"jaxmodal[\w.-]*$", word)), 0)
    at = Position(known, words[start + 1 :])
    if at.waiting is not None:
        return list(_values(known, at, at.waiting, incomplete))
    name, equals, begun = incomplete.partition("=")
    if equals and name.startswith("--"):
        option = at.option(name)
        values = _values(known, at, option, begun) if option and option["takes"] else ()
        return [(f"{name}={value}", meaning) for value, meaning in values]
    found: list[tuple[str, str]] = []
    if incomplete.startswith("-"):
        every = at.command["options"] + ([] if at.name == "" else at.commands[""]["options"])
        found = [(name, each["help"]) for each in every for name in each["names"]]
        return [pair for pair in found if pair[0].startswith(incomplete)]
    for below in at.command.get("below", ()):
        full = f"{at.name} {below}".strip()
        if below.startswith(incomplete):
            found.append((below, at.commands[full]["help"]))
    wanted = at.command.get("arguments", [])
    if wanted:
        place = len(at.arguments)
        if place < len(wanted) or wanted[-1].get("several"):
            argument = wanted[min(place, len(wanted) - 1)]
            found += _values(known, at, argument, incomplete)
    return found


def _values(
    known: dict[str, Any], at: Position, asked: dict[str, Any], begun: str
) -> Iterator[tuple[str, str]]:
    """Yield values of an option or an argument that start with the given text."""
    kind = asked["kind"]
    if kind == "choice":
        candidates: Words = ((choice, "") for choice in asked["choices"])
    elif kind in ("arms", "sweeps", "problems"):
        candidates = known["examples"][kind].items()
    elif kind in ("port", "address", "address="):
        candidates = _of_arm(at, kind)
    elif kind == "folder":
        candidates = _paths(begun, None)
    elif kind in _SUFFIXES:
        candidates = _files(known, kind, begun)
    else:
        return
    for value, meaning in candidates:
        if value.startswith(begun):
            yield value, meaning


def _files(known: dict[str, Any], kind: str, begun: str) -> Iterator[tuple[str, str]]:
    names = known["examples"].get(_EXAMPLES.get(kind, ""), {})
    if begun.startswith("example:"):
        yield from ((f"example:{name}", meaning) for name, meaning in names.items())
        return
    if names:
        yield "example:", "a built-in one"
    yield from _paths(begun, _SUFFIXES[kind])


def _paths(begun: str, suffixes: tuple[str, ...] | None) -> Iterator[tuple[str, str]]:
    """Yield folders, and files with one of the suffixes; all files if there are no suffixes, no files for None."""
    folder, _, start = begun.rpartition("/")
    before = f"{folder}/" if "/" in begun else ""
    try:
        inside = sorted(os.scandir(os.path.expanduser(before) or "."), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in inside:
        if entry.name.startswith(".") and not start.startswith("."):
            continue
        store = entry.name.endswith(".zarr")
        if entry.is_dir() and not (store and suffixes and ".zarr" in suffixes):
            yield f"{before}{entry.name}/", ""
        elif suffixes is not None and (not suffixes or entry.name.lower().endswith(suffixes)):
            yield f"{before}{entry.name}", ""


def _of_arm(at: Position, kind: str) -> Iterator[tuple[str, str]]:
    """Yield ports or addresses of the arm named in the line."""
    wanted = at.command.get("arguments", [])
    places = [i for i, argument in enumerate(wanted) if argument["kind"] == "arm"]
    if not places or len(at.arguments) <= places[0]:
        return
    arm = os.path.expanduser(at.arguments[places[0]])
    path = os.path.abspath(arm)
    key, sources = (arm, ()) if arm.startswith("example:") else (path, (path,))
    found = _kept(f"of {key}", (*sources, __file__), "--of", arm) or {}
    ends = "=" if kind == "address=" else ""
    for name, meaning in found.get("ports" if kind == "port" else "addresses", {}).items():
        yield f"{name}{ends}", meaning


def main(arguments: list[str]) -> None:
    """Print the completions of a line; after ``--bash BREAKS`` without prefixes that bash splits off as words."""
    breaks = ""
    if arguments[:1] == ["--bash"]:
        breaks = "".join(sign for sign in arguments[1] if sign in ":=@")
        arguments = arguments[2:]
    plain = arguments[:1] == ["--plain"]
    line = arguments[-1]
    incomplete = split(line)[1]
    cut = max((incomplete.rfind(sign) for sign in breaks), default=-1) + 1
    for value, meaning in completions(line):
        quoted = (
            value
            if plain or shlex.quote(value) == value
            else re.sub(r"([^\w@%+=:,./~*-])", r"\\\1", value)
        )
        print(f"{quoted[cut:]}\t{' '.join(meaning.split())}")


if __name__ == "__main__":
    main(sys.argv[1:])
