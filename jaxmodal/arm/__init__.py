"""Planar arms: links, sections, payload, files, parameters, and the arrays for computations."""
