"""Harmonically driven arms: ports, damping, exact frequency response, damped modes."""
