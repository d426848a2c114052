"""The public names of joint randomized response, `dt.jrr`.

PARTNER_REVEALED, INFORMED, HIDDEN, THEOREM_3   modes of accounting; see `dither.mechanisms.joint`
JointSUE, JointOLH                              correlated coins for other mechanisms; JRR.over returns them
Coin                                            the coin of one device
group, least_rho                                groups of more than two people
"""

from dither.mechanisms.joint.accounting import (
    HIDDEN,
    INFORMED,
    PARTNER_REVEALED,
    THEOREM_3,
    Group,
    Mode,
    group,
    least_rho,
)
from dither.mechanisms.joint.joint import JRR, Coin, JointOLH, JointSUE

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
]
