import torch

import dither as dt

torch.manual_seed(1)
model = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2)).eval()
kept = dt.classifiers.utility(model, [0.9, 0.2], dt.OGPM(dt.Interval(0, 1), epsilon=4), queries=2000)
assert 0.0 <= kept.lower <= 1.0
