"""Joint randomized response: people tell the truth or lie as coins say that two of them share.

Correlated lies cancel in a count, so its error shrinks. But whoever knows a partner's coin knows something
about one's own, and whoever knows everybody else's answer knows something about the partner's coin. What is
promised depends on who knows what; `jrr.accounting` takes one of four modes:

    PARTNER_REVEALED   the partner's coin is known, and whatever else; the only mode that needs no hope
    INFORMED           everybody else's answer is known, but not who is paired with whom: (ε, δ)
    HIDDEN             only the coins of some colluders are known, and nobody's answer
    THEOREM_3          what the dissertation states; not a guarantee against anybody

Under the first, plain randomized response has the smallest variance of all.
"""

from dither.mechanisms.joint.accounting import HIDDEN, INFORMED, PARTNER_REVEALED, THEOREM_3, Mode
from dither.mechanisms.joint.coin import Coin
from dither.mechanisms.joint.groups import Group, group, least_rho
from dither.mechanisms.joint.jrr import JRR
from dither.mechanisms.joint.over import JointOLH, JointSUE
from dither.mechanisms.joint.shuffle import shuffled

__all__ = [
    "HIDDEN",
    "INFORMED",
    "JRR",
    "PARTNER_REVEALED",
    "THEOREM_3",
    "Coin",
    "Group",
    "JointOLH",
    "JointSUE",
    "Mode",
    "group",
    "least_rho",
    "shuffled",
]
