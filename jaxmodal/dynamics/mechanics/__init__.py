"""Equations of motion of one arm: kinematics, every term, forward dynamics, static states."""
