"""Optimisation problems: variables, objectives, constraints and postures, read from files."""
