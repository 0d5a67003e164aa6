"""Outputs of a sweep from damped modes, response peaks, static compliances and buckling factors."""

from __future__ import annotations

from jaxmodal.runtime.statuses import OF_DAMPED_MODES
from sweeps.solution.quantity import Quantity, flags, of_part
from sweeps.solution.responses import OF_BUCKLING, OF_COMPLIANCES, OF_PEAKS

_DAMPED = of_part(
    "damped",
    Quantity(
        "damped_status",
        "1",
        "status of the damped modes",
        "Certified: the argument principle confirms that no root is lost. Uncertified: it does not. Shared: strong"
        " damping led this mode to a root of a lower one. No_value: the arm has no such modes, or a damped free joint,"
        " or its forces at rest buckle it",
        lambda own, _: own.damped.status,
        **flags(OF_DAMPED_MODES),
    ),
    Quantity(
        "damping_ratio",
        "1",
        "damping ratio",
        "Decay rate over the size of the complex root that continues the undamped mode; 1 where overdamped",
        lambda own, _: own.damped.damping_ratio,
    ),
    Quantity(
        "damped_frequency",
        "Hz",
        "damped frequency",
        "Frequency of the free damped motion that continues the undamped mode; 0 where overdamped",
        lambda own, _: own.damped.frequencies_hz,
    ),
    Quantity(
        "decay_rate",
        "1/s",
        "decay rate",
        "The amplitude falls by a factor of e in 1/decay_rate; of an overdamped mode the slower one",
        lambda own, _: own.damped.decay_rate,
    ),
)

_PEAK = of_part(
    "peak",
    Quantity(
        "peak_status",
        "1",
        "status of the peak",
        "Resolved: found exactly. Resonance: infinite, for no damping acts on a mode of the band. No_peak: the response"
        " has none inside the band. No_value: the values of the arm do not fit together, its frequencies are not"
        " certified, or its forces at rest buckle it",
        lambda own, _: own.peak.status,
        **flags(OF_PEAKS),
    ),
    Quantity(
        "peak_response",
        "output per input",
        "highest peak of the response",
        "Largest stationary value of the size of the response in the band; inf where no damping acts",
        lambda own, _: own.peak.size,
    ),
    Quantity(
        "peak_frequency",
        "Hz",
        "frequency of the highest peak",
        "Where the response has its highest peak",
        lambda own, _: own.peak.frequency,
    ),
)

_COMPLIANCE = of_part(
    "compliance",
    Quantity(
        "compliance_status",
        "1",
        "status of the compliance",
        "Resolved: exactly. No_value: nothing holds the tip where a joint or the base is free, the values of the arm do"
        " not fit together, or its forces at rest buckle it",
        lambda own, _: own.compliance.status,
        **flags(OF_COMPLIANCES),
    ),
    Quantity(
        "tip_compliance",
        "m/N",
        "static compliance of the tip",
        "Displacement of the tip along `direction` for a unit force there along `force_direction`, axes of the ground",
        lambda own, _: own.compliance.values,
        dims=("direction", "force_direction"),
    ),
)

_BUCKLING = of_part(
    "buckling",
    Quantity(
        "buckling_status",
        "1",
        "status of the buckling factor",
        "Certified: counts on both sides confirm it. Uncertified: they do not. Nothing_pressed: no factor exists."
        " No_value: the arm is not held, or no factor was found as far as the search went",
        lambda own, _: own.buckling.status,
        **flags(OF_BUCKLING),
    ),
    Quantity(
        "buckling_factor",
        "1",
        "lowest buckling factor",
        "The loads of the arm times this factor buckle it; inf where no member is compressed",
        lambda own, _: own.buckling.factor,
    ),
)

OF_RESPONSES = (*_DAMPED, *_PEAK, *_COMPLIANCE, *_BUCKLING)
"""Outputs of responses; the unit of ``peak_response`` depends on the ports of the sweep."""
