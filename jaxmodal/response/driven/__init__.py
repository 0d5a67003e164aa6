"""Driven arms: ports and their quantities, damping, members, and arms as arrays for one or many cells."""
