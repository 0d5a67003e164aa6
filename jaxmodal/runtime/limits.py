"""Limits of input, checked before anything is built from it; `docs/trust.md` lists them."""

#: bytes of a file
FILE_BYTES = 1_000_000
#: seconds without a word from a FIFO
PIPE_SECONDS = 5.0
#: tables and lists inside one another, and parts of a dotted key
DEPTH = 20
#: characters of a number, a key or an unquoted word
WORD = 100
#: characters of a text
TEXT = 1_000
#: links of an arm, segments and the pieces of tapers counted
LINKS = 1_000
#: modes of one call
MODES = 1_000
#: samples, starts, postures, points or stations of one call
SAMPLES = 1_000_000
#: modes of one link in motion
LINK_MODES = 30
#: generalised coordinates of an arm in motion
COORDINATES = 400
#: times at which a simulation is told
TIMES = 1_000_000
#: steps of a simulation
STEPS = 10_000_000
