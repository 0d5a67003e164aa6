"""Values and exact derivatives of a problem at a design."""
