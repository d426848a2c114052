"""Joint randomized response under its short name, `dt.jrr`: the modes of accounting, and what goes with them.

PARTNER_REVEALED, INFORMED, HIDDEN, THEOREM_3   who knows what; see `dither.mechanisms.joint`
JointSUE, JointOLH                              shared coins over other mechanisms: JRR.over makes them
Coin                                            what a device is dealt
group, least_rho                                groups larger than two
"""

from dither.mechanisms.joint.accounting import HIDDEN, INFORMED, PARTNER_REVEALED, THEOREM_3, Mode
from dither.mechanisms.joint.coin import Coin
from dither.mechanisms.joint.extensions import JointOLH, JointSUE
from dither.mechanisms.joint.groups import Group, group, least_rho
from dither.mechanisms.joint.jrr import JRR

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
