"""Imports inside jaxmodal point one way: a module uses only what stands before it."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "jaxmodal"
ORDER = [
    "errors", "precision", "compilation", "devices", "double_double", "programs", "registers", "arithmetic",
    "status", "quantities", "documents", "shapes", "sections", "links", "payloads", "tables", "arm", "arm_arrays",
    "segments", "arm_files", "parameters", "examples", "plausibility", "beams", "member", "joints", "attachments",
    "fields", "modal_mass", "eigenspaces", "null_vectors", "energies", "simple_modes",
    "clusters", "frequency_derivatives", "characteristic", "stiffness", "condensation", "root_search", "certificate",
    "frequency_results", "frequency_programs", "counts", "frequencies", "tapers", "interpolation",
    "posture_harmonics", "posture_tables", "series_roots", "series_search",
    "trigonometric_zeros", "inverse_postures", "resonance_maps", "pilots",
    "guided_search", "open_modes", "batch_kernels", "fused_search", "batch_sizes", "batch_results", "batch_work",
    "batches",
    "mode_tables", "shape_checks", "mode_fields", "modes", "sensitivities", "modal_kernels", "modal_batches",
    "mode_plots", "resonance_plots", "published", "comparison", "reproduction_report",
    "reproduce", "cli_output", "cli", "cli_modes", "cli_postures", "__init__", "__main__",
]  # fmt: skip
MODULES = sorted(PACKAGE.glob("*.py"))


def imported_modules(path):
    """Names of the jaxmodal modules that a file imports, at the top or inside a function."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            inside = node.level > 0 or (node.module or "").split(".")[0] == "jaxmodal"
            module = (node.module or "").removeprefix("jaxmodal").strip(".")
            if inside:
                yield from [module] if module else [alias.name for alias in node.names]
        elif isinstance(node, ast.Import):
            dotted = [alias.name.split(".") for alias in node.names]
            yield from (parts[1] for parts in dotted if parts[0] == "jaxmodal" and len(parts) > 1)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_imports_point_one_way(path):
    assert path.stem in ORDER, f"give {path.stem} its place in ORDER"
    place = ORDER.index(path.stem)
    names = {name.split(".")[0] for name in imported_modules(path)}
    later = {name for name in names & set(ORDER) if ORDER.index(name) >= place}
    assert not later, f"{path.stem} imports {sorted(later)}, which stand after it"


def test_the_package_is_seen():
    assert {"arm", "member", "frequencies"} <= {path.stem for path in MODULES}
