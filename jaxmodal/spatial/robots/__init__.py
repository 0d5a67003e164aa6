"""Robots by their URDF: the file's tree of links and joints, the chain in it, and the arm in space that it is."""
