"""Numerical methods without scipy: root finding, minimisation, quadrature, quantiles, directed rounding."""
