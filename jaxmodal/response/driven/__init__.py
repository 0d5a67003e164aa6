"""Arms that are driven: ports and what is asked of them, damping, members, all of an arm and of many as arrays."""
