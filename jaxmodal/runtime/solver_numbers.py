"""Version of the numerical results of the solvers, which stores of sweeps record."""

#: raised by every change after which a solver gives other bits for the same input, by however little: a store that was
#: begun with another number is not gone on with, for its cells would not be those of one computation
SOLVER_NUMBERS = 12
