"""The public surface: every public function and method with its arguments and the kind of its result.

``python tests/support/public_surface.py`` writes it to tests/data/public_surface.json, where a change of it is seen,
and into docs/developers/names.md.
"""

import importlib
import inspect
import json
from pathlib import Path

import jax

PLACE = Path(__file__).parent.parent / "data" / "public_surface.json"
PAGE = Path(__file__).parent.parent.parent / "docs" / "developers" / "names.md"
#: the heading of the page under which the surface is listed, to its end
HEADING = "## All functions and methods\n"
#: methods that every result has
ALIKE = ("explain", "tables", "to_dataframe", "to_xarray")
PACKAGES = json.loads((PLACE.parent / "public_names.json").read_text())["packages"]
OWN = ("jaxmodal", "sweeps", "design_opt")


def public(package):
    module = importlib.import_module(package)
    return {name: getattr(module, name) for name in module.__all__}


def functions():
    """Every public function by its full name."""
    return {
        f"{package}.{name}": it
        for package in PACKAGES
        for name, it in public(package).items()
        if callable(it) and not inspect.isclass(it)
    }


def classes():
    """Every public class but errors and warnings, by its full name."""
    return {
        f"{package}.{name}": it
        for package in PACKAGES
        for name, it in public(package).items()
        if inspect.isclass(it) and not issubclass(it, BaseException)
    }


def methods(kind):
    """The public methods of a class that are written here, by name."""
    found = {}
    for name in dir(kind):
        it = inspect.getattr_static(kind, name)
        it = it.__func__ if isinstance(it, classmethod | staticmethod) else it
        here = inspect.isfunction(it) and it.__module__.split(".")[0] in OWN
        if here and not name.startswith("_"):
            found[name] = it
    return found


def described(function):
    """``(arm, num_modes=, *, theory=) -> NaturalFrequencies``: names alone, with = where there is a default."""
    signature, texts, starred = inspect.signature(inspect.unwrap(function)), [], False
    for each in signature.parameters.values():
        if each.name in ("self", "cls"):
            continue
        if each.kind == each.KEYWORD_ONLY and not starred:
            texts.append("*")
            starred = True
        mark = {each.VAR_POSITIONAL: "*", each.VAR_KEYWORD: "**"}.get(each.kind, "")
        texts.append(f"{mark}{each.name}{'' if each.default is each.empty else '='}")
    result = signature.return_annotation
    name = result if isinstance(result, str) else getattr(result, "__name__", str(result))
    return f"({', '.join(texts)})" + ("" if result is signature.empty else f" -> {name}")


def surface():
    """All of it, sorted."""
    found = {name: described(it) for name, it in functions().items()}
    for name, kind in classes().items():
        found |= {f"{name}.{key}": described(it) for key, it in methods(kind).items()}
    return dict(sorted(found.items()))


def listing(found):
    """The surface as it stands on the page, by package: functions, then methods by class."""
    lines = [HEADING]
    for package in PACKAGES:
        own = {name.removeprefix(f"{package}."): text for name, text in found.items()}
        own = {name: text for name, text in own.items() if f"{package}.{name}" in found}
        of_package = [name for name in own if name.split(".")[0] in PACKAGES[package]]
        rows = [name for name in of_package if name.rpartition(".")[2] not in ALIKE]
        lines += [f"### `{package}`\n", "```text", *(name + own[name] for name in rows), "```\n"]
    return "\n".join(lines).rstrip() + "\n"


if __name__ == "__main__":
    jax.config.update("jax_enable_x64", True)
    PAGE.write_text(PAGE.read_text().partition(HEADING)[0] + listing(surface()))
    PLACE.write_text(json.dumps(surface(), indent=1, ensure_ascii=False) + "\n")
