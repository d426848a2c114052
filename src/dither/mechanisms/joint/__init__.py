"""Joint randomized response: people tell the truth or lie as coins say that two of them share.

Correlated lies cancel in a count, so its error shrinks. But whoever knows a partner's coin knows something
about one's own, and whoever knows everybody else's answer knows something about the partner's coin. What is
promised depends on who knows what; `jrr.accounting` takes one of four modes:

    PARTNER_REVEALED   the partner's coin is known, and whatever else; assumes only that the dealer is honest
    INFORMED           everybody else's answer is known, but not who is paired with whom: (ε, δ)
    HIDDEN             only the coins of some colluders are known, and nobody's answer
    THEOREM_3          what the dissertation states; not a guarantee against anybody

Under the first, plain randomized response has the smallest variance of all.
"""
