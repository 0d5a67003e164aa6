"""The solver in the page: a module of JavaScript, and arms as it reads them."""

from __future__ import annotations

from sweeps.explorer.solver.module import arm_json, module_text

__all__ = ["arm_json", "module_text"]
