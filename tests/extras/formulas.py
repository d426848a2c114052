import numpy as np

import dither as dt

x = np.linspace(0, 1, 2_000)
asked = dt.Podium(dt.Interval(0, 2), epsilon=8)
fit = dt.stats.regression("y ~ x + np.log(z)", {"y": asked.perturb(x + 0.5), "x": x, "z": np.exp(x**2)})
assert fit["x"].covers(1, 1 - 1e-9)
