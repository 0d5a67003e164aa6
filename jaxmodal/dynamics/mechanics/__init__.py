"""The equations of motion of one arm: kinematics, every term, forward dynamics, states of rest."""
