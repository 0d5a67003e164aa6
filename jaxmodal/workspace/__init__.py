"""Frequencies over ranges of parameters: extremes, and the share of the ranges below a frequency."""
