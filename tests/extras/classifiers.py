import numpy as np
from sklearn.linear_model import LogisticRegression

import dither as dt
from dither.sklearn import Perturb

values = np.random.default_rng(1).uniform(size=(200, 2))
model = LogisticRegression().fit(values, values[:, 0] > 0.5)
kept = dt.classifiers.utility(model, [0.95, 0.5], dt.OGPM(dt.Interval(0, 1), epsilon=4))
assert 0.5 < kept.lower <= 1.0
assert Perturb(epsilon=2).fit_transform(values).shape == values.shape
