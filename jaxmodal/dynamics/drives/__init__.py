"""Inputs of a simulation: motions of the joints, torques of the motors, events, and rules for their values."""
