"""Checks of an optimum without derivatives."""
