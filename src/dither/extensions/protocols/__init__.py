"""Joint randomized response between devices: correlated coins that no single party knows.

Terms                        the agreement of two devices, and the guarantee of their coins
Exchange, Role               one device's side of a toss, over any stream of bytes
local_pairs                  the same protocol with all devices in this process
deal_pairs, shuffle_pairs    the pairing: drawn by a trusted dealer, or by three servers
toss, report, collect        devices and a collector over TCP; `Collection` estimates from the reports
DeviceTLS, Certificates      TLS for their sockets
"""

from dither.extensions.protocols.collector import collect
from dither.extensions.protocols.device import local_pairs, report, toss
from dither.extensions.protocols.exchange import Exchange, Role
from dither.extensions.protocols.messages import Certificates, DeviceTLS
from dither.extensions.protocols.pairing import Pairing, deal_pairs
from dither.extensions.protocols.pairs import shuffle_pairs
from dither.extensions.protocols.terms import Terms

__all__ = [
    "Certificates",
    "DeviceTLS",
    "Exchange",
    "Pairing",
    "Role",
    "Terms",
    "collect",
    "deal_pairs",
    "local_pairs",
    "report",
    "shuffle_pairs",
    "toss",
]
