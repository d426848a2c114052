"""What reports are collected for: `dt.goals`. A goal predicts the error that a mechanism will have.

    Mean(n)              the mean of n people, or on a circle their mean direction
    Distribution(n)      how the values of n people are distributed over an interval or a circle
    Quantile(n, share)   a quantile of n people's values
    Frequencies(n)       how frequent each category is among n people
    Ranges(n)            shares below the edges of cells, or up to an answer of an ordinal scale
    Tables(n)            tables of pairs of several attributes
    SingleValues(loss)   each report by itself
    Locations(places)    each location of a path by itself

The error of an estimate is the root mean square of what privacy adds, in the domain's units: the distance of
the estimate from the same number computed from the people who answered. The sampling error, because not
everybody was asked, is not part of it. Leave `n` out to ask `dt.people_for`.
"""

from dither.advice.goals.answers import Locations, Ranges, Tables
from dither.advice.goals.numbers import Distribution, Frequencies, Goal, Mean, Quantile, SingleValues

__all__ = [
    "Distribution",
    "Frequencies",
    "Goal",
    "Locations",
    "Mean",
    "Quantile",
    "Ranges",
    "SingleValues",
    "Tables",
]
