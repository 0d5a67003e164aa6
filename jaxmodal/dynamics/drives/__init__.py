"""What a simulation is given: motions of the joints, torques of the motors, events, and what they must be."""
