"""Forced responses: harmonic, random and transient, peaks, and response sizes for optimisation."""
