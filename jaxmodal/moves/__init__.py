"""Moves of arms: what a path of the joints excites, and what vibration it leaves."""

from jaxmodal.moves.files import read_move
from jaxmodal.moves.results import MoveVibration
from jaxmodal.moves.vibration import move_vibration
from jaxmodal.runtime.public_names import report_package

__all__ = ["MoveVibration", "move_vibration", "read_move"]

report_package(globals())
