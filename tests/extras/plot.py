from pathlib import Path

import dither as dt

unit = dt.Interval(0, 1)
question = dt.SW(unit, epsilon=1)
question.plot([0.2, 0.7]).figure.savefig("law.png")
dt.distribution(question.perturb([0.5] * 500), bins=8).plot(level=0.95).figure.savefig("shape.png")
dt.compare(dt.Categories(4), epsilon=1).plot()[0].figure.savefig("errors.png")
assert all(picture.stat().st_size > 5000 for picture in Path().glob("*.png"))
