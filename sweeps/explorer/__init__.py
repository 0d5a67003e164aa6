"""Pages for a browser: a sweep to look at, with maps, curves and spectra; an arm that the page solves by itself."""
