"""Questions for the kind of an arm: their number is that of docs/developers/README.md, and no more are asked."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
KINDS = {"Arm", "SpatialArm", "AnyArm", "Link", "SpatialLink"}
KINDS |= {"PlanarModel", "SpatialModel", "TracedModel", "OtherArm"}
KINDS |= {"FlexibleArm", "SpatialFlexibleArm", "Loads", "SpatialLoads"}
KINDS |= {"ModeShapes", "SpatialModeShapes", "Energies", "SpatialEnergies"}
#: what a module that asks has in it
ASKS = re.compile(rf"\brequire_planar\b|\bisinstance\b(?s:.*)\b({'|'.join(sorted(KINDS))})\b")


def questions():
    """File and line of every ``isinstance(x, SpatialArm)`` and the like, and of every ``require_planar(x)``."""
    for room in ("jaxmodal", "sweeps", "design_opt"):
        for path in sorted((ROOT / room).rglob("*.py")):
            text = path.read_text("utf-8")
            if not ASKS.search(text):
                continue  # to parse all takes a second
            for node in ast.walk(ast.parse(text)):
                if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
                    continue
                asked = node.func.id == "require_planar"
                if node.func.id == "isinstance":
                    named = ast.walk(node.args[1])
                    asked = any(
                        getattr(each, "id", getattr(each, "attr", "")) in KINDS for each in named
                    )
                if asked:
                    yield f"{path.relative_to(ROOT)}:{node.lineno}"


def test_the_kind_of_an_arm_is_asked_as_often_as_the_page_says():
    page = (ROOT / "docs/developers/README.md").read_text()
    page = page.partition("## Where the kind of an arm is asked")[2].partition("\n## ")[0]
    listed = sum(int(number) for number in re.findall(r"^\|[^|]+\| (\d+) \|", page, re.M))
    found = list(questions())
    assert len(found) == listed, "\n".join(found)
    assert f"{listed} questions remain" in page
