"""Size limits of a sweep, checked before anything is built from it; `docs/trust.md` lists them."""

#: values of one axis, those of all its parameters together
POINTS = 10_000_000
#: cells: the product of the axes' sizes
CELLS = 1_000_000_000
#: axes of a sweep
AXES = 20
#: bytes of a result that is kept in memory, without a store
MEMORY = 8_000_000_000
