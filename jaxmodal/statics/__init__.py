"""Arms at rest under dead loads: section forces, deflections, buckling."""
