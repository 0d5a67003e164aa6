"""Foundations of the package: double precision, compilation, devices, errors."""
