"""Outputs of a sweep: the computations they need, and their formulas."""
