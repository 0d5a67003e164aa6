"""Checks of optima from outside, fronts, and the gallery."""
