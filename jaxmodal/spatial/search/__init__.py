"""Searches for the frequencies of one arm in space or of many in parallel, in NumPy."""
