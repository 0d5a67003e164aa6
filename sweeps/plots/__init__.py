"""Plots of sweeps; they need matplotlib, an optional dependency."""
