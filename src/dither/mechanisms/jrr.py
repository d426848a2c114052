"""The public names of joint randomized response in `dt.jrr`, in addition to `dt.JRR`.

JointSUE, JointOLH    correlated coins for other mechanisms; JRR.over returns them
Coin                  the coin of one device
group, least_rho      groups of more than two people

Modes of accounting are "partner revealed", "informed", "hidden" and "theorem 3".
"""

from dither.mechanisms.joint.group import group, least_rho
from dither.mechanisms.joint.joint import Coin, JointOLH, JointSUE

__all__ = ["Coin", "JointOLH", "JointSUE", "group", "least_rho"]
