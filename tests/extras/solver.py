from dither.optimal.solver.bilinear import solve

import dither as dt

found = solve(1, dt.squared, pieces=3)
assert round(found.top, 3) == 1.509
