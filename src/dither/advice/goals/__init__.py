"""`dt.goals`: the purposes of a collection. A goal predicts the error of a mechanism.

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

The error of an estimate is the root mean square of the noise of privacy, in the domain's units: the
difference between the estimate and the same number computed from the people who answered. It does not include
the sampling error, which arises because not everybody takes part. `sampling(domain)` is n times the squared
sampling error, for the population with the largest one. The errors of distributions and quantiles are
simulated and include the sampling error. `dt.people_for` and `dt.epsilon_for` include both errors. Leave `n`
out for `dt.people_for`.

`__init__.pyi` lists the names; a module is imported when one of its names is first used.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
