"""Recomputation of published results and comparison with the printed values."""
