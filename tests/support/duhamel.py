"""A pulse on a damped oscillator: Duhamel's integral."""

import numpy as np
import scipy.integrate


def pulse(t):
    """A force of size 1 at 1 s that lasts about 0.3 s."""
    return np.exp(-(((t - 1.0) / 0.15) ** 2))


def motion_under_pulse(end, inertia, natural, ratio):
    """Where the oscillator is at the time ``end``, s: natural frequency in rad/s, damping ratio below 1."""
    damped = natural * np.sqrt(1.0 - ratio**2)

    def rate(s):
        decay = np.exp(-ratio * natural * (end - s))
        return pulse(s) * decay * np.sin(damped * (end - s)) / (inertia * damped)

    points = [min(1.0, end / 2)]
    return scipy.integrate.quad(rate, 0.0, end, points=points, epsabs=1e-14, limit=400)[0]
