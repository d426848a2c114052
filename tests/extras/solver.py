from dither_papers.ogpm.programs import solve

found = solve(1, "squared", pieces=3)
assert round(found.top, 3) == 1.509
