"""Joint randomized response under its short name, `dt.jrr`: the modes of accounting, and what goes with them.

PARTNER_REVEALED, INFORMED, HIDDEN, THEOREM_3   who knows what; see `dither.mechanisms.joint`
JointSUE, JointOLH                              shared coins over other mechanisms: JRR.over makes them
Coin                                            what a device is dealt
group, least_rho                                groups larger than two
shuffled                                        the shuffle model beside it
"""

from dither.mechanisms.joint import (
    HIDDEN,
    INFORMED,
    JRR,
    PARTNER_REVEALED,
    THEOREM_3,
    Coin,
    Group,
    JointOLH,
    JointSUE,
    Mode,
    group,
    least_rho,
    shuffled,
)

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
