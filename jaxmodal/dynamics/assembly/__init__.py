"""Assembly of the arrays of a model from an arm: links between joints, their constants, the model itself."""
