"""Arm files in space, the built-in arms, and lookup of arms by name."""
