import shapely

import dither as dt

unit = dt.Interval(0, 1)
square = dt.Rectangle(unit, unit)
triangle = shapely.Polygon([(0, 0), (1, 0), (0, 1)])
told = dt.TraCSC(square, epsilon=2, reading=dt.maps.Projected(triangle)).perturb([(0.2, 0.2)] * 50).values
assert all(triangle.distance(shapely.Point(place)) < 1e-9 for place in told)
rounded = (
    dt.TraCSC(square, epsilon=2, reading=dt.maps.Rounded([(0, 0), (1, 1)])).perturb([(0.2, 0.2)] * 50).values
)
assert {tuple(place) for place in rounded.tolist()} <= {(0.0, 0.0), (1.0, 1.0)}
