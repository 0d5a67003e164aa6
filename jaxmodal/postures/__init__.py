"""One arm in many postures: the determinant as a series in the joint angles, its roots, its inverse."""
