import dither as dt

solved = dt.Optimal(dt.Interval(0, 1), epsilon=1.234, loss=1.5, fresh=True)
assert solved.gap < 0.02
assert dt.audit(solved).ok
