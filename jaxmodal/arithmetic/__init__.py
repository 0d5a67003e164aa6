"""Number types for the formulas: float64, double-double, recorded programs, registers of a kernel."""
