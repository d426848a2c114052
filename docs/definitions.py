r"""The definition of each mechanism as a formula, in TeX, for the pages of the catalogue.

Lengths are those of the domain: x is the value and y the report, from 0 to 1 on an interval. E stands for e^ε.
"""

from __future__ import annotations

# ruff: noqa: E501

WINDOW = (
    r"f(y \mid x) = p \text{ for } a(x) \le y < a(x) + s, \quad f(y \mid x) = p/E \text{ elsewhere},"
    r" \qquad p = \frac{E}{1 + (E - 1)\,s},"
)
GLIDING = r"a(x) = (1 - s)\,x"
POWERS = r"k\,(E - 1)\,s^{k+1} + (k + 1)\,s^k = 1"
ESTIMATE = r"\hat f = \frac{c/n - q}{p - q}"
SUBSET = (
    r"P(S \mid x) \propto E \text{ if } S \text{ contains } x, \text{ else } 1,"
    r" \quad |S| = d \approx \frac{k}{E + 1}, \qquad p = \frac{d E}{d E + k - d}"
)
CHANNEL = (
    r"P(y \mid x) \le E\,P(y \mid x'), \qquad"
    r" \operatorname{tr}\bigl(W^{\top} W\,K^{-1}\bigr) - \frac{\operatorname{tr}(W^{\top} W)}{k} \to \min"
)
COINS = (
    r"P(\text{both true}) = p^2 + \rho\,p\,(1 - p), \quad P(\text{both false}) = (1 - p)^2 + \rho\,p\,(1 - p)"
)
POINTS = r"P(i \mid x) \propto e^{-\kappa\,d(x, y_i)}, \qquad \kappa \text{ the largest with } \frac{P(i \mid x)}{P(i \mid x')} \le E"
SCALED = r"P(i \mid x) \propto \exp\Bigl(-\kappa\,\frac{d_i - \min_j d_j}{\max_j d_j - \min_j d_j}\Bigr), \qquad \kappa \text{ the largest with } \frac{P(i \mid x)}{P(i \mid x')} \le E"

DEFINITIONS = {
    "PM": (WINDOW + r" \qquad s = \frac{1}{1 + e^{\varepsilon/2}}, \qquad " + GLIDING, "window"),
    "Podium": (
        WINDOW
        + r" \qquad s = \frac{1}{1 + e^{\sigma}}, \quad \sinh(2\sigma - \varepsilon) + 2 \sinh\sigma = 0, \qquad "
        + GLIDING,
        "window",
    ),
    "SW": (WINDOW + r" \qquad s = \frac{\varepsilon - 1 + 1/E}{E + 1/E - 2}, \qquad " + GLIDING, "window"),
    "OGPM": (
        WINDOW + r" \qquad " + POWERS + r", \qquad a(x) = \min\bigl(\max(x - s/2, 0), 1 - s\bigr)",
        "window",
    ),
    "OGPMU": (
        WINDOW + r" \qquad s = \frac{1}{1 + e^{\varepsilon/2}}, \qquad \mathrm{E}[Y \mid x] = x",
        "window",
    ),
    "Focused": (
        WINDOW
        + r" \qquad W'(s) = \frac{W(1) + (E - 1)\,W(s)}{1 + (E - 1)\,s}, \quad W(s) = \int_{a(x_0)}^{a(x_0) + s} \ell(y - x_0)\,dy",
        "window",
    ),
    "Duchi": (
        r"Y = \frac12 \pm \frac12\,\frac{E + 1}{E - 1}, \qquad P(Y > \tfrac12 \mid x) = \frac12 + \Bigl(x - \frac12\Bigr)\,\frac{E - 1}{E + 1}",
        "",
    ),
    "Hybrid": (
        r"P(\text{PM}) = 1 - e^{-\varepsilon/2} \text{ for } \varepsilon > 0.6094, \text{ else } 0, \qquad P(\text{Duchi}) = 1 - P(\text{PM})",
        "",
    ),
    "TwoPoint": (
        r"Y = \frac12 \pm \min\Bigl(\frac{\kappa}{2}, \frac{1}{4\kappa}\Bigr), \quad \kappa = \tanh\frac{\varepsilon}{2}, \qquad P(Y \text{ in the half of } x) = \frac{E}{E + 1}",
        "",
    ),
    "Laplace": (r"f(y \mid x) = \frac{\varepsilon}{2}\,e^{-\varepsilon |y - x|}", ""),
    "Staircase": (
        r"f(y \mid x) = a\,b^{\lfloor |y - x| + 1 - \gamma \rfloor}, \qquad b = e^{-\varepsilon}, \quad a = \frac{1 - b}{2\,(\gamma + b\,(1 - \gamma))}",
        "",
    ),
    "Gaussian": (
        r"f(y \mid x) = \frac{1}{\sigma \sqrt{2\pi}}\,e^{-(y - x)^2 / 2\sigma^2}, \qquad \Phi\Bigl(\frac{1}{2\sigma} - \varepsilon\sigma\Bigr) - E\,\Phi\Bigl(-\frac{1}{2\sigma} - \varepsilon\sigma\Bigr) \le \delta",
        "",
    ),
    "BoundedLaplace": (
        r"f(y \mid x) = \frac{e^{-|y - x|/b}}{b\,(2 - e^{-x/b} - e^{-(1 - x)/b})}, \quad 0 \le y \le 1",
        "",
    ),
    "Purkayastha": (
        r"f(y \mid x) = \frac{\varepsilon\,e^{-2 \varepsilon\,d(x, y)}}{1 - e^{-\varepsilon}}, \quad d(x, y) \le \tfrac12 \text{ in turns}",
        "",
    ),
    "Exponential": (POINTS, "sensitivity"),
    "Matrix": (
        r"P(j \mid i) = \frac{w_{ij}}{\sum_l w_{il}}, \qquad E = \max_{j} \max_{i, i'} \frac{P(j \mid i)}{P(j \mid i')}",
        "",
    ),
    "Optimal": (
        r"\sup_x \int \ell(y - x)\,f_x(y)\,dy \to \min \quad \text{over all } g \le f_x \le E\,g",
        "",
    ),
    "RR": (r"P(x \mid x) = p = \frac{E}{E + 1}, \qquad " + ESTIMATE, "estimate"),
    "KRR": (
        r"P(x \mid x) = p = \frac{E}{E + k - 1}, \qquad P(y \mid x) = q = \frac{1}{E + k - 1} \text{ for } y \ne x, \qquad "
        + ESTIMATE,
        "estimate",
    ),
    "SUE": (
        r"p = \frac{e^{\varepsilon/2}}{e^{\varepsilon/2} + 1}, \quad q = 1 - p, \qquad " + ESTIMATE,
        "estimate",
    ),
    "OUE": (r"p = \frac12, \quad q = \frac{1}{E + 1}, \qquad " + ESTIMATE, "estimate"),
    "OLH": (
        r"g = \lfloor E + 1 \rceil \text{ buckets}, \quad p = \frac{E}{E + g - 1}, \quad q = \frac{1}{g}, \qquad "
        + ESTIMATE,
        "estimate",
    ),
    "BLH": (r"p = \frac{E}{E + 1}, \quad q = \frac12, \qquad " + ESTIMATE, "estimate"),
    "HadamardResponse": (r"p = \frac{E}{E + 1}, \quad q = \frac12, \qquad " + ESTIMATE, "estimate"),
    "SetResponse": (
        r"P(S \mid x) \propto E \text{ if } |S \cap x| \ge t, \text{ else } 1, \qquad |S| = d, \quad |x| = m \text{ with dummies}, \qquad "
        + ESTIMATE,
        "estimate",
    ),
    "SubsetSelection": (SUBSET, ""),
    "SubsetIndices": (SUBSET, ""),
    "ProjectiveResponse": (
        r"P(y \mid x) = \frac{E \text{ or } 1}{E\,m + K - m}, \qquad K = \frac{r^t - 1}{r - 1} \text{ points}, \quad m = \frac{r^{t-1} - 1}{r - 1} \text{ in the hyperplane of } x",
        "",
    ),
    "PEM": (
        r"P(\text{prefix length}) = \frac1L, \qquad \text{the prefix by OLH with } p = \frac{E}{E + g - 1}, \quad q = \frac1g",
        "",
    ),
    "Marginals": (
        r"P(\text{question } j) = w_j, \qquad P(y \mid x, j) \le E\,P(y \mid x', j)",
        "",
    ),
    "Cumulative": (CHANNEL, "channel"),
    "Workload": (CHANNEL, "channel"),
    "JointMoments": (CHANNEL, "channel"),
    "JRR": (COINS, "coins"),
    "JointOLH": (COINS, "coins"),
    "JointSUE": (COINS, "coins"),
    "Sectors": (
        r"P(\text{own sector}) = \frac{E}{E + k - 1}, \qquad P(\text{any other}) = \frac{1}{E + k - 1}, \qquad y \text{ uniform in the sector}",
        "",
    ),
    "TraCSC": (
        r"f(y \mid x) = f_{\varepsilon_1}(y_1 \mid x_1)\,f_{\varepsilon_2}(y_2 \mid x_2), \qquad \varepsilon_1 + \varepsilon_2 = \varepsilon",
        "inner",
    ),
    "TraCSD": (
        r"f(y \mid x) = f_{\varepsilon_1}(\varphi_y \mid \varphi_x)\,f_{\varepsilon_2}(r_y \mid r_x), \qquad \varepsilon_1 = \frac{\pi}{\pi + 1}\,\varepsilon, \quad \varepsilon_2 = \varepsilon - \varepsilon_1",
        "inner",
    ),
    "Polar": (
        r"f(y \mid x) = f_{\varepsilon_1}(r_y \mid r_x)\,f_{\varepsilon_2}(\varphi_y \mid \varphi_x), \qquad \varepsilon_1 + \varepsilon_2 = \varepsilon",
        "inner",
    ),
    "Strawman": (
        r"P(\text{own sector}) = \frac{e^{\varepsilon_1}}{e^{\varepsilon_1} + k - 1}, \quad y \text{ uniform in it}, \qquad \varepsilon_1 + \varepsilon_2 = \varepsilon",
        "inner",
    ),
    "Gridding": (SCALED, "cells"),
    "NGram": (SCALED, "points"),
    "LSRR": (
        r"P(i \mid x) \propto c \text{ near } x, \quad (c + 1)/2 \text{ in the middle ring}, \quad 1 \text{ beyond}, \qquad \frac{P(i \mid x)}{P(i \mid x')} \le E",
        "",
    ),
    "ATP": (
        r"y = \text{the point nearest to two copies of the path, of } \frac{\varepsilon}{2} \text{ each}",
        "",
    ),
    "PlanarLaplace": (
        r"f(y \mid x) \propto e^{-\varepsilon\,|y - x| / D}, \qquad D \text{ the diameter of the area}",
        "",
    ),
    "PlanarStaircase": (
        r"f(y \mid x) \propto b^{\lfloor |y - x| / \Delta + 1 - \gamma \rfloor}, \qquad b = e^{-\varepsilon}",
        "",
    ),
}
NOTES = {
    "": "Lengths are those of the domain, and E is e^ε.",
    "window": "y is the report as a share of all its cells, from 0 to 1; the codebook maps it to a number. E is e^ε.",
    "estimate": (
        "p and q are the probabilities that a report supports the true category and another one, c is the number of reports that support a "
        "category, and E is e^ε."
    ),
    "channel": "W are the queries, K the second moment of the channel ([theory](../theory.md)), and E is e^ε.",
    "coins": "p is the probability of a true answer, and ρ the correlation of the coins of two people.",
    "inner": "Each part is a mechanism of one number with its share of ε; φ are directions and r distances.",
    "cells": "d are the distances of the cells' centres from that of the true cell. The report is uniform in its cell.",
    "points": "d are the distances of the public points from the true place.",
    "sensitivity": "d is the distance of two points. With a sensitivity Δ, or as published, κ is ε/(2Δ).",
}


def definition(name: str) -> list[str]:
    """Return the lines of the section that defines a mechanism."""
    formula, note = DEFINITIONS[name]
    lines = [part.strip().rstrip(",") for part in formula.split(r"\qquad")]  # one below the other, for phones
    return [text for line in lines for text in ("$$", line, "$$", "")] + [NOTES[note]]
