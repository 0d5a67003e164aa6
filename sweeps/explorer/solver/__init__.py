"""The solver in the page: a JavaScript module, and arms in the form it reads."""

from __future__ import annotations

from sweeps.explorer.solver.module import arm_json, module_text

__all__ = ["arm_json", "module_text"]
