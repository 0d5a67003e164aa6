"""Arm files in space, the built-in arms, and arms by name, planar ones too."""
