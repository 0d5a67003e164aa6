"""Determinant and count over six directions at one frequency."""
