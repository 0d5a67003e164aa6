"""Size limits of a sweep, checked before anything is built from it; `docs/trust.md` lists them."""

#: most values of one axis, over all its parameters
POINTS = 10_000_000
#: most cells: the product of the axes' sizes
CELLS = 1_000_000_000
#: most axes of a sweep
AXES = 20
#: largest result in memory, without a store, in bytes
MEMORY = 8_000_000_000
