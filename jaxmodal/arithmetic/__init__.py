"""Numbers that formulas are computed with: float64, double-double, recorded programs, registers of a kernel."""
