"""Solvers for the best design, its optimality conditions, and the results."""
