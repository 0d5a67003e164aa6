"""What an arm in space is made of: directions and turns, bodies, sections, links, an elastic base; their addresses."""
