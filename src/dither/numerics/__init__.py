"""NumberMechanism methods: bisection, golden section, quadrature, quantiles, beta functions."""
