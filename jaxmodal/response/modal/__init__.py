"""Sums over certified modes: what they leave out, how many are enough, state space."""
