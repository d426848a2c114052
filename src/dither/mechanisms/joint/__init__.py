"""Joint randomized response: the coins of two people that decide between truth and lie are correlated.

Negatively correlated lies partly cancel in a count, so its error is smaller. But an adversary who knows a
partner's coin learns something about one's own coin, and one who knows all other answers learns something
about the partner's coin. The guarantee depends on what the adversary knows. `jrr.accounting` takes one of
four modes:

    "partner revealed"   the partner's coin is known, and anything else; assumes that the dealer is honest
    "informed"           all other answers are known, but not who is paired with whom: (ε, δ)
    "hidden"             the coins of some colluders are known, but no answers
    "theorem 3"          the ε stated in the dissertation; not a guarantee against any adversary

In the mode "partner revealed" plain randomized response has the smallest variance of all.
"""
