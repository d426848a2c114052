"""What reports are collected for: `dt.goals`. A goal predicts the error that a mechanism will have.

    Mean(n)              the mean of n people, or on a circle their mean direction
    Distribution(n)      how the values of n people are distributed over an interval or a circle
    Quantile(n, share)   a quantile of n people's values
    Frequencies(n)       how frequent each category is among n people
    Ranges(n)            shares below the edges of cells, or up to an answer of an ordinal scale
    Tables(n)            tables of pairs of several attributes
    SingleValues(loss)   each report by itself
    Locations(places)    each location of a path by itself
    CompletePaths(prior) each complete path by itself, with one ε for it
    Maps(n)              a map of where n people are
    Districts(n)         the shares of n people in districts
    MeanPlace(n)         the mean place of n people
    MeanOfVectors(n, each)  the mean of n people's vectors

The error of an estimate is the root mean square of what privacy adds, in the domain's units: the distance of
the estimate from the same number computed from the people who answered. The sampling error, because not
everybody takes part, is not included; `sampling(domain)` is n times its square, for the population that has
most. The errors of distributions and quantiles are simulated, with the sampling error. `dt.people_for` and
`dt.epsilon_for` include both. Leave `n` out to ask `dt.people_for`.

`__init__.pyi` lists the names; a module is imported when one of its names is first used.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
