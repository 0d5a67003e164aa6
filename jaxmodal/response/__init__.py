"""Arms that are driven harmonically: ports, damping, the exact frequency response, damped modes."""
