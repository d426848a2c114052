"""How utility is bounded: boxes, linear relaxations, importance sampling, Monte Carlo, confidence bounds."""
