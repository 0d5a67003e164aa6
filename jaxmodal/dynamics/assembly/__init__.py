"""From an arm to the arrays of its model: links between joints, their constants, the model itself."""
