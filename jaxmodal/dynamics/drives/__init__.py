"""Inputs of a simulation: motions of the joints, torques of the motors, events, and the rules of their values."""
