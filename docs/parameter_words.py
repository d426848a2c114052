"""What the parameters of the first names are, by name and parameter; `words.py` has the words of all others.

A text says what the parameter is, which values are allowed, and what its default means.
"""

from __future__ import annotations

EPSILON = "the privacy budget ε of one answer, from 10⁻⁶ to 50"
SOLVED = "the privacy budget ε of one answer, from 0.05 to 8"
CELLS = "the number of cells of the report space: a power of two from 2 to 2³²"
STEPS = "the largest number of different reports: a power of two from 8 to 2¹⁶"
NUMBERS = "the values of the question: an interval or a circle"
ON_A_LINE = "the values of the question: an interval"
LIST = "the possible answers: two or more categories"
AREA = "the area of the locations: a rectangle, a disk, a parallelogram or a sphere"
DECODING = (
    'how the collector decodes reports: "own" (the design\'s numbers), "compressed" (the report space as the '
    'domain; biased) or "truncated" (clipped to the domain; biased)'
)
UNBIASED_NOISE = 'how the collector decodes reports: "own", or "truncated" (clipped to the domain; biased)'
LOSS = 'the loss that the design minimises: "absolute", "squared" or a power of the distance such as 1.5'
CLIPPED = (
    "the declaration that values outside are moved to the ends on purpose: a result of `dt.bounds`, the "
    "wider "
    "interval that values come from, or the share outside with its interval; None: values outside are refused"
)
PATH_UNIT = 'the unit of ε: "location" (each location of a path) or "trajectory" (a complete path)'
READING = "a post-processing of decoded locations: `Rounded`, `Snapped` or `Projected` of `dt.maps`, or None"
WEIGHTS = "a public weight ≥ 0 for each report, such as those of `dt.stats.rake`; None: all count the same"
N = "the number of people who answer, at least 1; leave it out for `dt.people_for`"
LEVEL = "the probability with which all intervals hold, strictly between 0 and 1"
GROUPS = (
    "the result of `dt.estimate(reports, by=…)`, or a mapping from two or more names to estimates or reports"
)
ALTERNATIVE = (
    'the alternative of the p-values: "two-sided", "greater" or "less"; decide it before you see the data'
)
GOAL = "the purpose of the reports: one of `dt.goals`, such as `dt.goals.Mean(n=10_000)`"
ALSO = "mechanisms of your own on the same domain and with the same ε, to be listed with the others"
PROGRESS = "a function that is called with the number of finished simulations; None: nothing is called"
TARGET = "the largest standard error that is accepted, in the domain's units; None: use `detect`"
DETECT = (
    "two different shares, or means, of two arms whose difference is to be found; None: use `target_error`"
)
POWER = "the probability with which the difference is to be found, strictly between 0 and 1"
DELTA = "the δ of the central guarantee, at least 10⁻¹² and below 1"
QUESTION = "the question that made the reports"
ABOUT = "the name of the question in a campaign or a file, for titles; empty if it is not known"
POLICY = "the requirements of a device, a `dt.privacy.Policy`; None: every question is accepted"
DAYS = "the number of days of the collection, from 1 to 36 600"
PAIR_WEIGHTS = "a public weight ≥ 0 for each person; None: all people count the same"
METHOD_NUMBER = (
    '"linear" (unbiased, the default), "likelihood" (for every mechanism; states its resolution), '
    '"empirical bayes" (the mean of a smooth density), "smoothed", or "as reported" (the plain average)'
)

OWNED = {
    "Account": {
        "store": "where the account is kept; `Account.create` and `Account.open` make it from a path",
        "policy": POLICY,
        "key": "the 32 secret bytes of permanent answers; None: the account makes and keeps its own",
        "now": "a function that returns the time; None: the clock of the machine",
    },
    "BoundedLaplace": {
        "domain": ON_A_LINE,
        "cells": STEPS,
        "sensitivity": "the largest distance of two values that the guarantee covers, above 0 and at most "
        "the "
        "domain's length; None: all values",
    },
    "Box": {"sides": "two to eight numbers: a mapping from names to intervals"},
    "Categories": {"labels": "the possible answers, two or more, or their number; they must be public"},
    "Circle": {
        "period": "the length of the circle, above 0: 360 for degrees, 24 for hours, 2π by default",
        "step": "the distance between possible answers, which divides the period; None: any number",
        "unit": "the unit of the values, such as degrees, for axes and printed results",
    },
    "Counts": {
        "question": QUESTION,
        "counts": "the count of each report: a vector of integers ≥ 0",
        "n": "the number of reports, an integer ≥ 0",
        "about": ABOUT,
        "people": "the people who sent the reports, if they are known",
    },
    "Dates": {
        "first": "the first day: a date, or a text such as 2026-01-01",
        "last": "the last day, after the first: a date, or a text such as 2026-12-31",
        "zone": "the time zone of time stamps, such as Europe/Berlin; None: their day is taken as written",
        "clipped_from": CLIPPED,
    },
    "Disk": {
        "radius": "the radius of the disk, above 0, in the unit of the coordinates",
        "centre": "the centre of the disk: a pair of numbers",
    },
    "Duchi": {"domain": ON_A_LINE, "decoding": DECODING},
    "Each": {
        "parts": "the mechanism of each attribute, by name; an alternative to the keywords",
        "named": "the mechanism of each attribute as a keyword: `Each(age=…, income=…)`",
    },
    "Exponential": {
        "domain": "the values of the question: an interval, a circle, a rectangle, a disk or a parallelogram",
        "points": "the public points that can be reported, two or more: numbers, or pairs in an area",
    },
    "Gaussian": {
        "domain": ON_A_LINE,
        "cells": STEPS,
        "decoding": UNBIASED_NOISE,
        "delta": "the δ of the guarantee, from 10⁻¹⁵ to below 1; choose it far below 1/(number of people)",
        "calibration": 'the theorem that determines σ: "analytic" (the smallest σ), "classic" (ε ≤ 1), '
        '"pac" or '
        '"exact pac" (a privacy loss above ε has probability δ)',
    },
    "HadamardResponse": {"domain": LIST},
    "Hybrid": {"domain": ON_A_LINE, "cells": CELLS},
    "Inquiry": {
        "name": "the public name of the question",
        "question": "the question, or a mechanism such as `dt.Podium(…)`",
        "asker": "the public name of the person or organisation who asks",
        "repeat": 'how a second answer is made: "fresh", "same" (one permanent answer), "per value" (a '
        "permanent "
        'answer for each value), "once" (one drawn day) or "kept change"',
        "days": 'the number of days of "once" and "kept change"; None for the other rules',
        "changes": 'the largest number of kept changes for "kept change"; None for the other rules',
        "start": 'the first day of "once" and "kept change"',
        "times": "the number of locations of a path, if ε is for one location; None otherwise",
        "data": "the time span of the value: its first moment, and the moment after its last; None: the "
        "present",
        "otherwise": "the value that replaces a value outside the domain that cannot be clipped; None: "
        "refuse it",
        "every": 'the period of the calendar for "once": "day", "week" or "month"; None: `days` is the '
        "period",
        "terms": "the limit and the phase of a signed campaign; None without a campaign",
        "taken": "a function that maps a person's value to the question's input; None: values are unchanged",
        "words": "the texts for people of a signed campaign, by language; None without texts",
    },
    "Interval": {
        "low": "the smallest possible value",
        "high": "the largest possible value, above `low`",
        "step": "the distance between possible answers; None: any number",
        "unit": "the unit of the values, such as minutes, for axes and printed results",
        "clipped_from": CLIPPED,
        "scale": "the edges of a scale of positions, as `on_scale` sets them; empty: values are not "
        "positions",
    },
    "JRR": {
        "domain": LIST,
        "p": "the probability of the truth, above 1/k and below 1",
        "rho": "ρ, which determines the correlation ρ/(k − 1) of two people's coins; the range depends on p",
        "n": "the number of people, at least 2, who are paired",
    },
    "KRR": {"domain": LIST},
    "KeptChange": {
        "question": "a mechanism with two answers, two reports and a pure ε, such as `dt.KRR` on two "
        "categories",
        "days": "the number of days of the collection, from 2 to 36 600",
        "changes": "the largest number of changes that reports show, from 1 to 1000 and below `days`",
    },
    "Laplace": {"domain": ON_A_LINE, "cells": STEPS, "decoding": UNBIASED_NOISE},
    "Marginals": {
        "domain": "the attributes: a `dt.Profile`",
        "way": "the number of attributes of a table: 2 for tables of pairs, 1 for single attributes",
        "one_way": "the share of people who report one attribute, between 0 and 1, with way=2; None: the "
        "plan "
        "chooses it",
    },
    "Matrix": {"domain": "the inputs: categories, or an interval whose points are the inputs"},
    "Memoised": {
        "question": "the mechanism whose answers are permanent",
        "key": "the 32 secret bytes of this device, as `Memoised.new_key()` returns them",
        "name": "the public name of the question; it must be different for each question of a device",
    },
    "OGPM": {"domain": NUMBERS, "cells": CELLS, "decoding": DECODING, "loss": LOSS},
    "OLH": {"domain": LIST},
    "OUE": {"domain": LIST},
    "Once": {
        "question": "the mechanism of one answer",
        "days": DAYS,
        "every": "the number of days of a period with one answer; None: one answer in all days",
    },
    "Optimal": {
        "domain": "the values: an interval, a circle, an area, places with distances, a box, routes or "
        "vectors",
        "epsilon": "the privacy budget ε of one answer; from 0.05 to 8 on an interval",
        "decoding": "always the design's own decoding; leave it out",
        "loss": 'the minimised loss: "absolute", "squared", a power of the distance or a function of y − '
        "x; None: "
        '"absolute", or "squared" with `unbiased`',
        "criterion": 'the minimised error: "worst" (the largest over all values) or "average"',
        "unbiased": "True: E[report] is the value, for means; the variance is minimised",
        "fresh": "True: the design is solved now (needs scipy); False: a stored design is used if one exists",
        "outputs": "the number of different reports, even, from 2 to 2¹⁶; None: the best number",
        "prior": "public values that resemble people's, with the name of their source: `(values, 'census')`; "
        "None: the design fits every population",
    },
    "PEM": {"domain": "the possible texts: a `dt.Text`"},
    "PM": {"domain": ON_A_LINE, "cells": CELLS, "decoding": DECODING},
    "Paths": {
        "points": "the locations of all paths, one path after the other: an array of shape (n, 2)",
        "offsets": "the index in `points` at which each path begins, and the end of the last path",
    },
    "Places": {
        "labels": "the names of the places, two or more, or their number; they must be public",
        "distances": "a square matrix: row i has the distance from place i to each place, ≥ 0, in any unit",
    },
    "PlanarLaplace": {
        "domain": AREA.replace(", a parallelogram or a sphere", " or a parallelogram"),
        "unit": PATH_UNIT,
        "reading": READING,
        "cells": "the number of lattice points along the longer side: an integer from 2 to 2²⁰",
    },
    "PlanarStaircase": {
        "domain": AREA.replace(", a parallelogram or a sphere", " or a parallelogram"),
        "unit": PATH_UNIT,
        "reading": READING,
        "cells": "the number of lattice points along the longer side: an integer from 2 to 2²⁰",
        "distance": "the distance Δ at which two locations look alike up to ε; None: all locations of the "
        "area",
        "loss": LOSS,
    },
    "Podium": {
        "domain": ON_A_LINE,
        "cells": CELLS,
        "decoding": DECODING,
        "approximate": "True: the paper's approximate width, with at most 5 % more variance",
    },
    "Polar": {
        "domain": "the area: a disk",
        "loss": LOSS,
        "widths": "the loss for which the two windows are optimal; None: `loss`",
        "radian": "the number of units of distance that count as one radian, above 0",
        "cells": CELLS,
    },
    "Profile": {"attributes": "2 to 64 attributes: a mapping from names to `dt.Categories`"},
    "ProjectiveResponse": {"domain": LIST},
    "Question": {
        "domain": "the possible values",
        "kernel": "the integers from which devices sample, and the rule that maps a value to them",
        "book": "the codebook: the decoded value of each report; None for kernels without one",
        "epsilon": "the stated budget ε; the integers may not spend more",
        "name": "the name of the mechanism that made the question",
        "parameters": "the parameters of the mechanism, as JSON-compatible data",
        "made_by": "the mechanism itself, if it is at hand; None for a question that was read from a text",
    },
    "Questionnaire": {
        "questions": "one or more questions: a mapping from names to mechanisms",
        "sampled": "True: each person answers only one question, drawn at random, with the complete ε",
    },
    "Rectangle": {"x": "the interval of the first coordinate", "y": "the interval of the second coordinate"},
    "Reports": {
        "question": QUESTION,
        "cells": "the raw reports: integers, or rows of integers, one for each person",
        "about": ABOUT,
        "people": "the people who sent the reports, if they are known",
    },
    "SW": {
        "domain": NUMBERS,
        "cells": CELLS,
        "decoding": DECODING,
        "redesign": "True: the window stays inside the domain, as in the dissertation",
    },
    "Sampled": {
        "parts": "the mechanism of each attribute, by name; an alternative to the keywords",
        "named": "the mechanism of each attribute as a keyword: `Sampled(age=…, income=…)`",
    },
    "Seeded": {"seed": "an integer; the same seed gives the same draws, so use it for tests only"},
    "SetResponse": {
        "domain": "the possible sets: a `dt.Several`",
        "most_bytes": "the largest size of a report of elements, from 4 to 256 bytes; None: 16, or more if "
        "better",
        "report": 'the kind of report: "elements" or "polynomial"; None: the one with the smaller variance',
        "pairs": "True: reports also contain pairs of items, for `dt.stats.joint_frequency`",
    },
    "Several": {
        "items": "the possible items, or their number; they must be public",
        "most": "the largest number of items that a person reports, from 1 to the number of items",
        "empty": 'the meaning of an empty cell of a table: "missing" (no answer) or "none" (the empty set)',
    },
    "Sphere": {
        "radius": "the radius, above 0, which sets the unit of distances; the earth in metres by default"
    },
    "Staircase": {
        "domain": ON_A_LINE,
        "cells": STEPS,
        "decoding": UNBIASED_NOISE,
        "loss": 'the loss that the noise minimises: "absolute" or "squared"',
    },
    "SubsetSelection": {
        "domain": "the possible answers: 2 to 2¹⁶ categories",
        "report": 'the form of a report: "bits" (one bit for each category) or "indices" (two to eight '
        "numbers)",
    },
    "Text": {
        "length": "the largest number of symbols of a text, from 1 to 256",
        "alphabet": "the letters that a text may have, 1 to 255 different ones; None: all bytes of UTF-8",
    },
    "Times": {
        "zone": "the time zone of time stamps, such as Europe/Berlin; None: their time is taken as written"
    },
    "TraCSC": {
        "domain": AREA.replace("a disk, ", ""),
        "reading": READING,
        "cells": CELLS,
        "inner": "the mechanism of each coordinate, such as `dt.OGPM` or `dt.SW`",
        "split": "the share of ε for the first coordinate, strictly between 0 and 1",
    },
    "TraCSD": {
        "domain": AREA.replace(", a parallelogram or a sphere", " or a parallelogram"),
        "reading": READING,
        "cells": CELLS,
        "start": "the first public reference: a pair of numbers in the area; None: its centre",
        "reference": 'the reference of later locations: "last" (the place of the last report) or "fixed" '
        "(`start`)",
        "direction": "the mechanism of the direction, such as `dt.OGPM`",
        "split": "the share of ε for the direction, strictly between 0 and 1; π/(π + 1) by default",
    },
    "Vectors": {
        "length": "the largest distance of a vector from the centre, above 0; with `exact`, the only "
        "distance",
        "clipped_from": "the declaration that longer vectors are shortened on purpose: a result of "
        "`dt.bounds` on "
        "lengths, or True; None: longer vectors are refused",
    },
    "ask": {
        "domain": "the possible answers, such as `dt.Interval(18, 100)` or `dt.Categories([…])`",
        "goal": "the purpose of the reports, one of `dt.goals`; None: means of numbers, frequencies of "
        "answers",
    },
    "audit": {
        "mechanism": "the mechanism, combinator or questionnaire to check",
        "assume": "the assumptions of the promise that you accept, as `guarantee.assumes` lists them",
    },
    "audit_function": {
        "function": "the randomiser: a function that takes an array of values and returns as many reports",
        "domain": "the possible inputs: a domain, a list of inputs, or `dt.audits.Neighbours`",
        "epsilon": "the claimed ε, above 0; with `math.inf` nothing is claimed",
        "delta": "the claimed δ, from 0 to below 1",
        "samples": "the largest number of reports, at least 1000; None: it follows from ε",
        "confidence": "the probability with which the lower bound on ε is right, strictly between 0 and 1",
        "each": "True: the function takes one value and returns one report",
        "seconds": "the time after which the audit stops, approximately",
        "timing": "True: running times for two inputs are also compared",
        "seed": "the seed of the audit's own choices, an integer",
    },
    "bounds": {
        "reports": "reports of numbers on a wide interval or scale, or their summary",
        "q": "the shares below the two quantiles, increasing, strictly between 0 and 1",
    },
    "by_day": {
        "reports": "the reports of `dt.Once` or `dt.KeptChange`, or the counts of changes of a campaign",
        "smoothing": 'the odd number of days that are pooled for each day, or "auto"',
        "drift": "the largest change of the value from one day to the next, ≥ 0; None: unknown",
        "every": 'the period of an estimate: a number of days, "day", "week" or "month"',
        "begins": 'the date of the first day, needed for "week" and "month"; None: days are numbered',
    },
    "compare": {
        "domain": "the possible values: an interval, a circle, categories, sets of items, a profile or "
        "vectors",
        "losses": 'the losses of single values, one or more: "absolute", "squared" or a power',
        "goal": "the purpose by whose predicted error rows are sorted, one of `dt.goals`; None: no goal",
        "also": ALSO,
        "progress": PROGRESS,
    },
    "cumulative": {
        "reports": "the reports of `dt.optimal.Cumulative`, or their summary",
        "method": '"linear" (unbiased estimates), or "empirical bayes" (smaller errors for smooth shapes)',
        "monotone": "True: the shares are replaced by the nearest increasing ones; False: they stay unbiased",
    },
    "distribution": {
        "reports": "the reports of numbers or directions, or their summary",
        "bins": "the number of equal bins, their increasing edges, or a period of dates or times such as "
        '"month"; None: the error of the estimate determines the number',
        "method": '"empirical bayes" (a smooth density with point masses, the default), "likelihood", '
        '"smoothed" '
        '(EMS) or "as reported" (the histogram of the reports)',
        "weights": WEIGHTS,
    },
    "epsilon_for": {
        "domain": "the possible values of the question",
        "goal": GOAL,
        "target_error": TARGET,
        "detect": DETECT,
        "power": POWER,
        "sampling": "True: the error includes the sampling error of n people from a population",
        "shuffled": "the number of reports that are mixed, at least 2; None: reports are not shuffled",
        "delta": DELTA,
    },
    "estimate": {
        "reports": "the reports of one question, or their summary",
        "by": "a public label for each report, several columns of labels by name, or reports of the same "
        "people "
        "on a private category; None: no groups",
        "quantity": "a function of the reports of a group (and of its weights, if given) that returns an "
        "estimate; "
        "None: the usual quantity",
        "minimum": "the least number of reports of a group, at least 2; smaller groups are left out",
        "level": "the level of the intervals of groups, strictly between 0 and 1",
        "weights": WEIGHTS,
        "person": "a public id for each report, so that differences of groups with common people are paired; "
        "None: all reports are from different people",
    },
    "frequencies": {
        "reports": "the reports of categories or of sets of items, or their summary",
        "method": '"linear" (unbiased, the default), or "likelihood" for reports of `dt.Matrix` and `dt.KRR`',
        "weights": WEIGHTS,
        "items": "the items of sets that are counted; None: all items",
    },
    "from_bytes": {"data": "the bytes that `reports.to_bytes()` returned", "policy": POLICY},
    "from_json": {
        "text": "the specification that `to_json()` of a question or mechanism returned",
        "policy": POLICY,
    },
    "goals.CompletePaths": {"prior": "public paths of the same area with the name of their source: a pair"},
    "goals.Covariance": {"n": N},
    "goals.Distribution": {
        "n": N,
        "bins": "the number of equal parts that reports must distinguish at the ends, at least 2",
        "distance": 'the error of a distribution: "w1" (area between two cumulative curves) or "ks" '
        "(largest gap)",
    },
    "goals.Districts": {"n": N},
    "goals.Frequencies": {"n": N},
    "goals.Locations": {"places": "public locations that people resemble; None: uniform on the area"},
    "goals.Maps": {"n": N, "places": "public locations that people resemble; None: a city with five hills"},
    "goals.Mean": {
        "n": N,
        "criterion": '"worst" (people at the values with the largest variance) or "average" (uniform values)',
        "deviation": "the standard deviation of people's values, ≥ 0; None: unknown",
    },
    "goals.MeanOfVectors": {
        "n": N,
        "each": "the largest distance of a single number from its centre, above 0; None: the length of "
        "vectors",
    },
    "goals.MeanPlace": {"n": N},
    "goals.Quantile": {"n": N, "share": "the share of people below the quantile, strictly between 0 and 1"},
    "goals.Ranges": {
        "n": N,
        "cells": "the number of equal cells of an interval, an integer of at least 2; None on an ordinal "
        "scale",
    },
    "goals.SingleValues": {
        "loss": 'the loss of one report: "absolute", "squared" or a power of the distance',
        "criterion": '"worst" (the largest expected loss over all values) or "average" (uniform values)',
    },
    "goals.Tables": {
        "n": N,
        "way": "the number of attributes of a table: 2 for pairs, 1 for single attributes, or more",
        "rows": "True: the error is for synthetic rows by `dt.rows`",
    },
    "goals.Variance": {"n": N},
    "heavy_hitters": {
        "reports": "the reports of `dt.PEM`",
        "most": "the largest number of prefixes that are followed at a level, at least 1",
        "false_alarm": "the probability that an absent text is returned, strictly between 0 and 1",
    },
    "mean": {
        "reports": "the reports of numbers, directions or vectors, or their summary; several questions by "
        "name",
        "method": METHOD_NUMBER,
        "weights": WEIGHTS,
    },
    "over_time": {
        "question": "the mechanism of one answer",
        "days": "the number of days, at least 1",
        "changes": "the largest number of changes of a person's value in these days, ≥ 0; None: unknown",
        "n": "the number of people, at least 1, for the predicted errors",
    },
    "people_for": {
        "domain": "the possible values of the question",
        "goal": "the purpose of the reports: one of `dt.goals` without n, such as `dt.goals.Mean()`",
        "target_error": TARGET,
        "detect": DETECT,
        "power": POWER,
        "sampling": "True: the error includes the sampling error of a population; False: only privacy",
    },
    "quantile": {
        "reports": "the reports of numbers or cumulative shares, or their summary",
        "q": "the share of people below the quantile, strictly between 0 and 1, or a list of such shares",
        "method": 'None (a smooth density with a wider interval, the default), "empirical bayes" (only the '
        "smooth "
        'density), "likelihood" (assumes no smoothness), "smoothed" or "as reported"',
        "weights": WEIGHTS,
    },
    "recommend": {
        "domain": "the possible values of the question",
        "goal": GOAL,
        "epsilon": "the budget ε of one answer, from 10⁻⁶ to 50; with `shuffled`, the central ε",
        "shuffled": "the number of reports that are mixed, at least 2; None: reports are not shuffled",
        "delta": DELTA,
        "most_bytes": "the largest size of a report in bytes, at least 1; None: any size",
        "also": ALSO,
        "progress": PROGRESS,
        "guess": "the low and the high end of most values, inside the domain; None: no guess",
    },
    "retention": {
        "counts": "the counts of presence of a campaign, as `dither estimate --retention` fetches them",
        "level": "the level of the intervals, strictly between 0 and 1",
    },
    "rows": {
        "n": "the number of rows, at least 1",
        "copies": "the number of further sets of rows, ≥ 0, for standard errors by `error`",
        "seed": "the seed of the draws, an integer; None: a new seed. Nothing private depends on it",
    },
    "shuffled": {
        "mechanism": "a mechanism with a pure guarantee and one report for each person, or its ε",
        "n": "the number of people whose reports are mixed, at least 2",
        "delta": DELTA,
        "times": "the number of answers of each person, at least 1, with independent randomness",
    },
    "variance": {
        "reports": "the reports of numbers or directions, or their summary",
        "method": '"linear" (unbiased, the default), "likelihood", "smoothed" or "as reported"',
    },
    "optimal.Cumulative": {
        "domain": "the values: an interval with `cells`, or categories in the order of an ordinal scale",
        "epsilon": SOLVED,
        "cells": "the number of equal cells of an interval, from 2 to 256; None on an ordinal scale",
    },
    "optimal.Focused": {"domain": ON_A_LINE, "cells": CELLS, "decoding": DECODING, "loss": LOSS},
    "optimal.JointMoments": {
        "domain": "the numbers: an interval, or a box of two to four",
        "epsilon": SOLVED,
    },
    "optimal.TwoPoint": {"domain": ON_A_LINE, "decoding": DECODING},
    "optimal.Workload": {
        "domain": "the possible answers: categories",
        "epsilon": SOLVED,
        "target": "the gap to the lower bound at which the search stops, from 0.0001 to 1",
    },
    "optimal.shuffled_lower_bound": {
        "mechanism": "a mechanism with up to 2¹⁶ reports, or one for sets",
        "n": "the number of people whose reports are mixed, at least 2",
        "delta": DELTA,
    },
    "stats.combine": {
        "parts": "reports, summaries or estimates of different people, one or more, on the same domain",
        "weights": "the weight ≥ 0 of each part; None: inverse variances",
    },
    "stats.contrasts": {
        "groups": GROUPS,
        "weights": "the contrasts: a mapping from names to the weights of groups, which add up to 0",
        "level": LEVEL,
        "alternative": ALTERNATIVE,
    },
    "stats.correlation": {
        "first": "reports of the first number, or reports of `dt.optimal.JointMoments`",
        "second": "reports of the second number from the same people, or a pair of names; None: the only "
        "pair",
    },
    "stats.covariance": {
        "first": "reports of the first number, or reports of `dt.optimal.JointMoments`",
        "second": "reports of the second number from the same people, or a pair of names; None: the only "
        "pair",
    },
    "stats.crosstab": {
        "first": "reports of the first question, about categories",
        "second": "reports of the second question, in the same order of people",
        "weights": PAIR_WEIGHTS,
    },
    "stats.difference": {
        "groups": GROUPS,
        "baseline": "the name of the group that all others are compared with; None: all pairs are compared",
        "level": LEVEL,
        "alternative": ALTERNATIVE,
    },
    "stats.equal_groups": {"groups": GROUPS},
    "stats.fit_family": {
        "reports": "the reports of numbers on an interval, or their summary",
        "family": 'the family: "normal", "lognormal", "gamma", "beta", "exponential" or "poisson"',
    },
    "stats.goodness_of_fit": {
        "reports": "the reports of one question",
        "expected": "the expected distribution: a mapping from answers to shares that sum to 1, or a list of "
        "equally likely values",
    },
    "stats.joint_frequency": {
        "reports": "the reports of `dt.SetResponse(…, pairs=True)`",
        "first": "the first item",
        "second": "the second item, different from the first",
    },
    "stats.post_stratified": {
        "groups": GROUPS,
        "shares": "the share of the population in each group; shares sum to 1",
    },
    "stats.rake": {
        "columns": "a data frame, or a mapping from names to the public label of every person",
        "totals": "the published number or share of people with each label, by column or by tuple of columns",
        "base": "the weights ≥ 0 to begin with, such as inverse inclusion probabilities; None: equal weights",
    },
    "stats.regression": {
        "regressors": "reports or public columns of the same people, one or several by name, or a formula",
        "response": "the reports, or a public column, that the regressors explain; None with a formula",
        "data": "the columns of a formula, by name; None without a formula",
        "weights": PAIR_WEIGHTS,
        "answer": "the answer whose probability is modelled, of a question with two answers; None: the "
        "last one",
    },
    "stats.response_rate": {"reports": "the reports of a question on `dt.Nullable(…)`", "weights": WEIGHTS},
    "stats.resultant": {
        "reports": "the reports of directions on a `dt.Circle`, or their summary",
        "method": '"linear" (unbiased, the default) or "as reported"',
    },
    "stats.same_distribution": {
        "first": "the reports of the first group",
        "second": "the reports of the second group, of different people",
        "weights": "a pair of public weights: for the first and for the second group; None: no weights",
    },
    "stats.tables": {"reports": "the reports of `dt.Marginals`, or their summary"},
    "stats.answers": {"reports": "the reports of a workload of queries, or their summary"},
    "privacy.Guarantee": {
        "bound": "the bound on the privacy loss: `Pure`, `Approximate`, `PAC`, `Metric` or `Nothing`",
        "unit": 'what the bound protects: "value", "location", "trajectory", "record" or "person"',
        "assumes": "the assumptions of the bound, as texts; empty: it holds against any attacker",
    },
    "privacy.Ledger": {
        "epsilon": "the largest total ε that the person accepts",
        "delta": "the largest total δ that the person accepts",
        "entries": "the answers that were sent, each with its name and guarantee",
    },
    "privacy.Metric": {
        "epsilon": "the ε per unit of distance, ≥ 0",
        "distance": "the unit of the distance, as a text",
    },
    "privacy.Policy": {
        "epsilon": "the largest ε of a question that is accepted",
        "delta": "the largest δ of a question that is accepted, from 0 to 1",
        "mechanisms": "the accepted mechanisms, as classes or names; None: all mechanisms",
        "assumptions": "the accepted assumptions of a guarantee, as texts",
        "bytes": "the largest size of a specification, in bytes",
        "seconds": "the longest time for building the question, in seconds",
    },
    "maps.density": {
        "columns": "the number of columns of the map, at least 1",
        "rows": "the number of rows of the map, at least 1",
        "smoothing": 'the share of each cell that goes to its neighbours, from 0 to 1, or "measured"; '
        "None: the "
        "default of the mechanism",
    },
    "maps.flows": {
        "columns": "the number of columns of the grid, at least 1",
        "rows": "the number of rows of the grid, at least 1",
    },
    "maps.Snapped": {
        "area": "the rectangle of the grid",
        "columns": "the number of columns of the grid, from 1 to 2¹⁶",
        "rows": "the number of rows of the grid, from 1 to 2¹⁶",
    },
    "maps.Rounded": {
        "points": "the public points to which locations are rounded, one or more pairs of numbers"
    },
    "maps.Projected": {
        "shape": "the public shape: a shapely or GeoJSON geometry, or the corners of a polygon"
    },
    "maps.Parallelogram": {
        "corner": "the corner at which both sides begin: a pair of numbers",
        "first": "the first side, as a pair of numbers",
        "second": "the second side, as a pair of numbers; not parallel to the first",
    },
}
