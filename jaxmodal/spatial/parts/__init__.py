"""Parts of an arm in space: directions and rotations, bodies, sections, links, an elastic base; their addresses."""
