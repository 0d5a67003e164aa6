"""The searches of one arm in space and of many side by side, in NumPy."""
