"""The protocol for a question that names none: the smallest variance among those with short reports."""

from __future__ import annotations

from typing import Final

from dither.domains import Categories
from dither.errors import InvalidParameter
from dither.mechanisms.base import CategoryMechanism
from dither.mechanisms.frequency.krr import KRR
from dither.mechanisms.frequency.olh import OLH
from dither.mechanisms.frequency.projective import ProjectiveResponse
from dither.mechanisms.frequency.rr import RR
from dither.mechanisms.frequency.subset_indices import SubsetIndices

_NEARLY: Final = 1.03


def default_protocol(domain: Categories, epsilon: float) -> CategoryMechanism:
    """Return `RR` for two answers; else `KRR`, `ProjectiveResponse` or `SubsetIndices` by computed variance.

    Variances within 3 % of the smallest count as equal, and the shortest report decides. For more categories
    than these take it is `OLH`.
    """
    if len(domain) == 2:
        return RR(domain, epsilon=epsilon)
    found: list[CategoryMechanism] = [KRR(domain, epsilon=epsilon)]
    for kind in (ProjectiveResponse, SubsetIndices):
        try:
            found.append(kind(domain, epsilon=epsilon))
        except InvalidParameter:  # too many categories, or sets too small or too large
            continue
    if len(found) == 1 and len(domain) > 1 << 16:
        found.append(OLH(domain, epsilon=epsilon))
    share = 1.0 / len(domain)
    near = _NEARLY * min(one.variance(share) for one in found)
    alike = [one for one in found if one.variance(share) <= near]
    return min(alike, key=lambda one: (one.report_bytes, one.variance(share)))
