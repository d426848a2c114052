"""What public functions return, and which errors they raise."""

from __future__ import annotations

NO_REPORTS = "`NotIdentifiable` if there are too few reports, or if they do not determine the quantity"
WRONG_KIND = (
    "`InvalidParameter` if the reports are about another kind of question, or a parameter is not allowed"
)
WRONG_PARAMETER = "`InvalidParameter` if a parameter is not among the allowed values"
UNREADABLE = "`MalformedReport` if the data are damaged, or no device could have sent them"

# What a function returns, and the errors that it raises.
OUTCOMES: dict[str, tuple[str, tuple[str, ...]]] = {
    "Dates": ("an `Interval` of days since 1970", (WRONG_PARAMETER,)),
    "Times": ("a `Circle` of the 1 440 minutes of a day", (WRONG_PARAMETER,)),
    "ask": (
        "the chosen mechanism, with the reason in `why`; it draws and decodes reports like any mechanism",
        ("`InvalidParameter` if no mechanism serves the goal on this domain",),
    ),
    "audit": (
        "a `Finding`: the privacy loss that the integers spend, the verdict `ok`, and contradictions",
        ("`InvalidParameter` if the object is not a mechanism, a combinator or a questionnaire",),
    ),
    "audit_function": (
        "a `Finding`: a lower bound on the ε that is spent, the verdict `ok`, and the evidence",
        (WRONG_PARAMETER, "`InvalidParameter` if the randomiser raises an error at every value"),
    ),
    "bounds": (
        "two quantiles with intervals, and the interval `low` to `high` for further reports",
        (NO_REPORTS, "`InvalidParameter` if `q` is not a pair of increasing shares"),
    ),
    "by_day": ("an estimate for each day or period, None where it is not possible", (NO_REPORTS, WRONG_KIND)),
    "compare": (
        "a table of mechanisms, the best first, with errors relative to the smallest possible one",
        (WRONG_PARAMETER,),
    ),
    "cumulative": ("the cumulative share at each edge, with intervals", (NO_REPORTS, WRONG_KIND)),
    "distribution": (
        "the share of people in each bin, with quantiles, the mode and intervals",
        (NO_REPORTS, WRONG_KIND),
    ),
    "epsilon_for": (
        "the smallest ε, a number rounded to four digits",
        ("`Infeasible` if no ε reaches the target", WRONG_PARAMETER),
    ),
    "estimate": (
        "an estimate of the usual quantity, or with `by` a table with an estimate for each group",
        (NO_REPORTS, WRONG_KIND, "`Mismatch` if reports of different questions are mixed"),
    ),
    "frequencies": (
        "the unbiased share of each category or item, by label, with intervals",
        (NO_REPORTS, WRONG_KIND, "`MalformedReport` if the counts of a summary are impossible"),
    ),
    "from_bytes": (
        "the reports, with their question",
        (UNREADABLE, "`BudgetExceeded` or `InvalidParameter` if the policy does not accept the question"),
    ),
    "from_json": (
        "the question of the specification",
        (UNREADABLE, "`BudgetExceeded` or `InvalidParameter` if the policy does not accept the question"),
    ),
    "heavy_hitters": (
        "the common texts with their shares and intervals, the most frequent first",
        ("`NotIdentifiable` if a level has no reports", WRONG_KIND),
    ),
    "mean": (
        "the mean with its standard error and 95 % interval; for several questions a table",
        (NO_REPORTS, WRONG_KIND),
    ),
    "over_time": (
        "a table of ways to repeat the question, the recommended one first; `best` is its mechanism",
        (WRONG_PARAMETER,),
    ),
    "people_for": (
        "the number of people, an integer",
        ("`Infeasible` if no number of people reaches the target", WRONG_PARAMETER),
    ),
    "quantile": (
        "the quantile with its 95 % interval; for a list of shares a sequence of such estimates",
        (NO_REPORTS, WRONG_KIND),
    ),
    "recommend": (
        "a table of mechanisms with predicted errors and reasons; `best` is the first mechanism",
        ("`Infeasible` if no mechanism serves the goal", WRONG_PARAMETER),
    ),
    "retention": (
        "the retention curve, the exact numbers of active devices and the cohorts",
        ("`NotIdentifiable` if the counts have no label of days of installation", WRONG_PARAMETER),
    ),
    "rows": (
        "`n` synthetic rows, `rows[name]` for a column; they are not people",
        (NO_REPORTS, WRONG_KIND),
    ),
    "shuffled": (
        "a central guarantee (ε, δ), with its assumptions",
        ("`InvalidParameter` if shuffling has no bound for the mechanism, or a parameter is not allowed",),
    ),
    "variance": ("the variance with its 95 % interval", (NO_REPORTS, WRONG_KIND)),
    "stats.combine": (
        "one estimate of the common quantity",
        ("`Mismatch` if the domains differ", WRONG_PARAMETER),
    ),
    "stats.contrasts": (
        "a table of the weighted sums, with joint intervals and p-values",
        (WRONG_PARAMETER,),
    ),
    "stats.correlation": ("the correlation, from −1 to 1, with its interval", (NO_REPORTS, WRONG_KIND)),
    "stats.covariance": ("the covariance with its interval", (NO_REPORTS, WRONG_KIND)),
    "stats.crosstab": ("the share of people with each pair of answers", (NO_REPORTS, WRONG_KIND)),
    "stats.difference": ("a table of differences, with joint intervals and p-values", (WRONG_PARAMETER,)),
    "stats.equal_groups": ("the statistic of Welch's F test and its p-value", (NO_REPORTS, WRONG_PARAMETER)),
    "stats.fit_family": (
        "the fitted parameters with intervals, and a test of the family",
        (NO_REPORTS, WRONG_KIND),
    ),
    "stats.goodness_of_fit": ("the statistic of the test and its p-value", (NO_REPORTS, WRONG_KIND)),
    "stats.joint_frequency": ("the share of people with both items", (NO_REPORTS, WRONG_KIND)),
    "stats.post_stratified": ("one estimate for the population", (WRONG_PARAMETER,)),
    "stats.rake": (
        "a weight for each person, with their design effect",
        ("`Infeasible` if no weights have all totals", WRONG_PARAMETER),
    ),
    "stats.regression": (
        "the coefficients by name, with intervals and predictions",
        (NO_REPORTS, WRONG_KIND),
    ),
    "stats.response_rate": ("the share of people who answered", (NO_REPORTS, WRONG_KIND)),
    "stats.resultant": ("the mean resultant length, from 0 to 1", (NO_REPORTS, WRONG_KIND)),
    "stats.same_distribution": (
        "the statistic of the test and its p-value",
        (NO_REPORTS, WRONG_KIND, "`Mismatch` if the groups answered different questions"),
    ),
    "stats.answers": ("the answer to each query, with intervals", (NO_REPORTS, WRONG_KIND)),
    "stats.tables": ("the table of each pair of attributes, by names", (NO_REPORTS, WRONG_KIND)),
}
