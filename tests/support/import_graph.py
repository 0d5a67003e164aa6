"""Which modules know which: all imports, those inside functions and for type checkers alone too, and names.

A name is a string such as ``"jaxmodal.plots.arms:draw_arm"``, or the argument of ``import_module``: what is imported by
it is known as well, only later. ``python -m tests.support.import_graph`` lists everything that is not imported at once,
and the circles.
"""

import ast
import re
from collections import defaultdict
from pathlib import Path

PACKAGES = ("jaxmodal", "sweeps", "design_opt", "benchmarks")
ROOT = Path(__file__).parent.parent.parent
AT_ONCE, LATER, FOR_TYPES, BY_NAME = "at once", "inside a function", "for types", "by name"
_ENTRY = re.compile(r"[a-z_]\w*(\.\w+)+:\w+")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def sources(root=ROOT, packages=PACKAGES):
    """The text of every module, by its name."""
    found = {}
    for file in (file for package in packages for file in (root / package).rglob("*.py")):
        parts = file.relative_to(root).with_suffix("").parts
        found[".".join(parts).removesuffix(".__init__")] = file.read_text()
    return found


def _named(node, name):
    """Whether an expression is this name, or an attribute so named."""
    return name in (getattr(node, "id", None), getattr(node, "attr", None))


def edges(modules):
    """How modules know others: sets of kinds by (who, whom); ``modules`` are texts by name."""
    found = defaultdict(set)
    packages = {name.rpartition(".")[0] for name in modules}

    def note(who, whom, kind):
        while whom and whom not in modules:
            whom = whom.rpartition(".")[0]
        if whom and whom != who:
            found[who, whom].add(kind)

    def walk(who, node, kind):
        if isinstance(node, ast.Import):
            for each in node.names:
                note(who, each.name, kind)
        elif isinstance(node, ast.ImportFrom):
            start = who.split(".") + ["self"] * (who in packages)
            base = ".".join(
                [*start[: -node.level], node.module or ""] if node.level else [node.module]
            )
            for each in node.names:
                note(who, f"{base.strip('.')}.{each.name}", kind)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            if _ENTRY.fullmatch(node.value):
                note(who, node.value.partition(":")[0], BY_NAME)
        elif isinstance(node, ast.Call) and _named(node.func, "import_module"):
            for each in node.args:
                if isinstance(each, ast.Constant):
                    note(who, str(each.value), BY_NAME)
        for inner in ast.iter_child_nodes(node):
            if isinstance(node, _FUNCTIONS):
                walk(who, inner, LATER)
            elif isinstance(node, ast.If) and _named(node.test, "TYPE_CHECKING"):
                walk(who, inner, FOR_TYPES)
            else:
                walk(who, inner, kind)

    for who, text in modules.items():
        walk(who, ast.parse(text), AT_ONCE)
    return dict(found)


def circles(pairs):
    """Sets of nodes that know each other, directly or through others (R. Tarjan's components of more than one)."""
    after = defaultdict(list)
    for who, whom in pairs:
        after[who].append(whom)
    order, low, stack, found = {}, {}, [], []

    def visit(node):
        order[node] = low[node] = len(order)
        stack.append(node)
        for other in after[node]:
            if other not in order:
                visit(other)
            if other in stack:
                low[node] = min(low[node], low[other])
        if low[node] == order[node]:
            place = stack.index(node)
            if len(stack) - place > 1:
                found.append(sorted(stack[place:]))
            del stack[place:]

    for node in list(after):
        if node not in order:
            visit(node)
    return found


def rooms(pairs):
    """The same between the children of each package: pairs of siblings, of which one knows something in the other."""
    found = set()
    for who, whom in pairs:
        one, other = who.split("."), whom.split(".")
        shared = next((k for k, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), None)
        if shared is not None:
            found.add((".".join(one[: shared + 1]), ".".join(other[: shared + 1])))
    return found


def all_circles(known):
    """Circles of modules and of rooms, each as lines that say who knows whom how."""
    found = []
    for circle in [*circles(known), *circles(rooms(known))]:
        inside = tuple(f"{name}." for name in circle)
        lines = [
            f"{who} -> {whom} ({', '.join(sorted(kinds))})"
            for (who, whom), kinds in sorted(known.items())
            if f"{who}.".startswith(inside) and f"{whom}.".startswith(inside)
        ]
        found.append("\n".join([f"a circle of {', '.join(circle)}", *lines]))
    return found


if __name__ == "__main__":
    everything = edges(sources())
    for (who, whom), kinds in sorted(everything.items()):
        if AT_ONCE not in kinds:
            print(f"{who} -> {whom} ({', '.join(sorted(kinds))})")
    print(f"{len(everything)} edges between {len(sources())} modules")
    print("\n".join(all_circles(everything)) or "no circle")
