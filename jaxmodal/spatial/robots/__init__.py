"""Robots from URDF files: the tree of links and joints, a chain in it, and the corresponding arm in space."""
