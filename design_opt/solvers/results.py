"""Result of `optimise`: the design found, its tables and datasets."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from design_opt.solvers.found_designs import FoundDesign
from design_opt.solvers.history import history_dataset
from design_opt.solvers.report import compared, result_table
from jaxmodal.runtime.tables import Table

if TYPE_CHECKING:
    import pandas
    import xarray


@dataclasses.dataclass(eq=False, repr=False)
class OptimisationResult(FoundDesign):
    """The best design found by `optimise`.

    Attributes
    ----------
    status : Status
        ``converged``, ``infeasible``, ``stalled``, ``iteration_limit`` or ``interrupted``.
    message : str
        Description of the status, with numbers.
    report : Report
        Exact objectives, margins and frequencies of the design over all postures.
    optimality : Optimality or None
        Optimality conditions of the design; None if no solver ended at it, or derivatives are not known there.
    failed_starts : dict
        Why starts ended at a design that could not be evaluated, by their numbers from 0. Each counts with the best of
        its iterates.
    """

    def tables(self) -> list[Table]:
        """Return a table of the design before and after, with status, active constraints and certificates as notes."""
        return [result_table(self)]

    def __repr__(self) -> str:
        return f"<OptimisationResult: {self.problem.name or 'optimisation'}, {self.status.name}>"

    def to_dataframe(self) -> pandas.DataFrame:
        """Return variables, objectives, mass and smallest frequencies before and after; names include units."""
        import pandas

        rows = [row[:3] for row in compared(self)]
        return pandas.DataFrame(rows, columns=["quantity", "before", "after"]).set_index("quantity")

    def to_xarray(self) -> xarray.Dataset:
        """Return the history as a dataset, see `design_opt.solvers.history.history_dataset`."""
        return history_dataset(self)
