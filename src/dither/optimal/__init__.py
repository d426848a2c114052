"""The solved mechanism: the smallest error that ε allows, with a certificate. `solver/` finds designs."""
