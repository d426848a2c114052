"""How utility is bounded: boxes, linear relaxations, densities, samples."""
