"""Vibration of arms that move: what joint motions excite, what remains after the stop, and moves that leave little."""

from jaxmodal.moves.export import controller_settings, klipper_text, write_move, write_settings
from jaxmodal.moves.files import read_move
from jaxmodal.moves.orders import Order
from jaxmodal.moves.results import MoveVibration
from jaxmodal.moves.shaped_moves import ShapedMove, ShaperComparison
from jaxmodal.moves.shaping import compare_shapers, shape_move
from jaxmodal.moves.speed_results import MoveCrossings, SpeedsToAvoid
from jaxmodal.moves.speeds import crossings_along, speeds_to_avoid
from jaxmodal.moves.stretching import StretchedMove, quickest_stretch
from jaxmodal.moves.timing import TimedMove, time_optimal
from jaxmodal.moves.vibration import move_vibration
from jaxmodal.runtime.public_names import report_package

__all__ = [
    "MoveCrossings",
    "MoveVibration",
    "Order",
    "ShapedMove",
    "ShaperComparison",
    "SpeedsToAvoid",
    "StretchedMove",
    "TimedMove",
    "compare_shapers",
    "controller_settings",
    "crossings_along",
    "klipper_text",
    "move_vibration",
    "quickest_stretch",
    "read_move",
    "shape_move",
    "speeds_to_avoid",
    "time_optimal",
    "write_move",
    "write_settings",
]

report_package(globals())
