"""What an arm is: links, sections, payload, its files, its parameters, and the arrays that are computed with."""
