"""Sweeps with a purpose: the gallery, the paper's flexible joints, the pictures of real arms."""
