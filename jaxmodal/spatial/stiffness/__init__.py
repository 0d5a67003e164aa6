"""Determinant and mode count of an arm in space at one frequency, over six directions."""
