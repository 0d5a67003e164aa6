"""Statics of arms under dead loads: section forces, deflections, buckling."""
