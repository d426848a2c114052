"""The closed forms against values computed independently with 50 digits: 1e-10 relative, 1e-12 absolute."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import dither as dt
from dither.foundation.losses import as_power
from dither.mechanisms.numeric.ogpm import best_width
from dither.mechanisms.numeric.podium import best_step
from tests.support.repository import reference

NUMERIC: dict[str, Any] = reference("numeric")
NOISE: dict[str, Any] = reference("noise")
UNIT = dt.Interval(0, 1)

MAKERS = {
    "ogpm": lambda eps: dt.OGPM(UNIT, epsilon=eps),
    "gpm_l2_optimal": lambda eps: dt.OGPM(UNIT, epsilon=eps, loss="squared"),
    "ogpm_u": lambda eps: dt.rivals.OGPMU(UNIT, epsilon=eps),
    "pm_on_01": lambda eps: dt.PM(UNIT, epsilon=eps),
    "pm_original_minus1_1": lambda eps: dt.PM(dt.Interval(-1, 1), epsilon=eps),
    "pm_c": lambda eps: dt.PM(UNIT, epsilon=eps).compressed(),
    "t_pm": lambda eps: dt.PM(UNIT, epsilon=eps).truncated(),
    "duchi_on_01": lambda eps: dt.Duchi(UNIT, epsilon=eps),
    "hybrid_on_01": lambda eps: dt.Hybrid(UNIT, epsilon=eps),
    "podium_on_01": lambda eps: dt.Podium(UNIT, epsilon=eps),
    "sw": lambda eps: dt.SW(UNIT, epsilon=eps),
    "sw_c": lambda eps: dt.SW(UNIT, epsilon=eps).compressed(),
    "t_sw": lambda eps: dt.SW(UNIT, epsilon=eps).truncated(),
}


def close(found: Any, wanted: Any) -> None:
    np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-12)


def answers(name: str, mechanism: Any, row: dict[str, Any]) -> None:
    """Check every answer of a mechanism against the reference."""
    assert row["cases"]
    for case in row["cases"]:
        x = case["x"]
        close(mechanism.mean(x), case["mean"])
        close(mechanism.variance(x), case["variance"])
        close(mechanism.error("absolute", x), case["l1"])
        close(mechanism.error("squared", x), case["l2"])
        for y, density in case["pdf"]:
            close(mechanism.pdf(y, x), density)
        for y, mass in case["cdf"]:
            close(mechanism.cdf(y, x), mass)
        places, masses = mechanism.atoms(x)
        wanted = [atom for atom in case.get("atoms", []) if atom[1] > 0]
        kept = masses > 0
        close(places[kept], [place for place, _ in wanted])
        close(masses[kept], [mass for _, mass in wanted])
    low, high = mechanism.support
    if "support_lo" in row["params"]:
        close([low, high], [row["params"]["support_lo"], row["params"]["support_hi"]])
    for key, loss in (("worst_l1", "absolute"), ("worst_l2", "squared")):
        if key in row["params"]:
            close(mechanism.worst_error(loss), row["params"][key])


@pytest.mark.some(every=3)
@pytest.mark.parametrize("name", MAKERS)
def test_every_question(name: str) -> None:
    assert len(NUMERIC[name]) >= 5
    for row in NUMERIC[name]:
        answers(name, MAKERS[name](row["eps"]), row)


@pytest.mark.parametrize("name", MAKERS)
def test_a_budget_that_is_off_by_a_millionth_is_seen(name: str) -> None:
    for row in NUMERIC[name]:
        with pytest.raises(AssertionError):
            answers(name, MAKERS[name](row["eps"] * (1 + 1e-6)), row)


@pytest.mark.some(every=4)
@pytest.mark.parametrize("row", NUMERIC["gpm_lk_optimal_length"], ids=lambda row: f"{row['eps']}-{row['k']}")
def test_best_width_for_a_power(row: dict[str, float]) -> None:
    close(best_width(row["eps"], as_power(row["k"])), row["s"])
    mechanism = dt.OGPM(UNIT, epsilon=row["eps"], loss=row["k"])
    close(mechanism.pdf(0.0, 0.0), row["p"])
    close(mechanism.worst_error(row["k"]), row["worst_case_error"])


@pytest.mark.parametrize("epsilon", [0.05, 0.5, math.log(2), 1.0, 3.0, 8.0, 20.0])
def test_best_width_has_closed_forms_for_one_and_two(epsilon: float) -> None:
    close(best_width(epsilon, as_power("absolute")), 1 / (1 + math.exp(epsilon / 2)))
    z = math.expm1(epsilon)
    angle = math.acosh(z) / 3 if z >= 1 else math.acos(z) / 3
    close(
        best_width(epsilon, as_power("squared")), 1 / (2 * (math.cosh(angle) if z >= 1 else math.cos(angle)))
    )


@pytest.mark.parametrize("row", NUMERIC["ogpm_affine"], ids=lambda row: f"{row['domain']}-{row['x']}")
def test_other_units(row: dict[str, Any]) -> None:
    mechanism = dt.OGPM(dt.Interval(*row["domain"]), epsilon=row["eps"])
    close(mechanism.mean(row["x"]), row["mean"])
    close(mechanism.variance(row["x"]), row["variance"])
    close(mechanism.error("absolute", row["x"]), row["l1"])
    close(mechanism.error("squared", row["x"]), row["l2"])
    for y, density in row["pdf"]:
        close(mechanism.pdf(y, row["x"]), density)
    for y, mass in row["cdf"]:
        close(mechanism.cdf(y, row["x"]), mass)


@pytest.mark.parametrize("row", NUMERIC["ogpm_circular"], ids=lambda row: f"{row['eps']}-{row['variant']}")
def test_circle(row: dict[str, Any]) -> None:
    loss = "absolute" if "L1" in row["variant"] else "squared"
    mechanism = dt.OGPM(dt.Circle(2 * math.pi), epsilon=row["eps"], loss=loss)
    for case in row["cases"]:
        x = case["x"]
        close(mechanism.error("absolute", x), row["l1"])
        close(mechanism.error("squared", x), row["l2"])
        close(1 - mechanism.variance(x), row["resultant_length"])
        close(mechanism.pdf(x, x), row["p"])
        close(mechanism.pdf((x + math.pi) % (2 * math.pi), x), row["q"])
        for edge, inside in ((case["l_mod"], 1e-6), (case["r_mod"], -1e-6)):
            close(mechanism.pdf((edge + inside) % (2 * math.pi), x), row["p"])
            close(mechanism.pdf((edge - inside) % (2 * math.pi), x), row["q"])


@pytest.mark.some(every=2)
@pytest.mark.parametrize("row", NUMERIC["unbiased_variance_table"], ids=lambda row: f"{row['eps']}")
def test_unbiased_variances(row: dict[str, Any]) -> None:
    kinds = {
        "ogpm_u": dt.rivals.OGPMU,
        "pm": dt.PM,
        "duchi": dt.Duchi,
        "hybrid": dt.Hybrid,
        "podium_exact": dt.Podium,
    }
    for name, kind in kinds.items():
        mechanism = kind(UNIT, epsilon=row["eps"])
        close(mechanism.worst_error("squared"), row[name]["worst"])
        close(mechanism.average_error("squared"), row[name]["avg"])
        close(mechanism.variance(0.0), row[name]["at_0"])
        close(mechanism.variance(0.5), row[name]["at_half"])


@pytest.mark.some(every=4)
@pytest.mark.parametrize("row", NOISE["podium"], ids=lambda row: f"{row['eps']:g}")
def test_podium_at_every_budget(row: dict[str, Any]) -> None:
    np.testing.assert_allclose(best_step(row["eps"]), row["s"], rtol=1e-14)
    mechanism = dt.Podium(dt.Interval(-0.5, 0.5), epsilon=row["eps"])
    close(mechanism.support, (-row["m"] / 2, row["m"] / 2))
    # At ε = 50 the variance is 10^−15: every digit counts, so the comparison is relative.
    np.testing.assert_allclose(mechanism.worst_error("squared"), row["V_end"], rtol=1e-7, atol=0)
    np.testing.assert_allclose(mechanism.variance(0.0), row["V_mid"], rtol=1e-7, atol=0)
    close(
        dt.Podium(dt.Interval(-0.5, 0.5), epsilon=row["eps"], approximate=True).variance(0.5),
        row["V_end_s_eps3"],
    )
    close(dt.PM(dt.Interval(-0.5, 0.5), epsilon=row["eps"]).variance(0.5), row["PM_wang_end"])
    close(dt.Duchi(dt.Interval(-0.5, 0.5), epsilon=row["eps"]).worst_error("squared"), row["duchi_worst"])
    for case in row["x_table"]:
        close(mechanism.variance(case["x"]), case["var"])
        # t is the window's edge as a double: its last bit is worth that much of the window's density.
        edge = 1e-12 + 4e-16 * row["d"] * math.exp(row["eps"])
        below, above = mechanism.cdf(case["t"], case["x"]), 1 - mechanism.cdf(case["t"] + row["w"], case["x"])
        np.testing.assert_allclose([below, above], [case["p1"], case["p3"]], rtol=1e-10, atol=edge)


@pytest.mark.parametrize("row", NOISE["podium_table1_correct"], ids=lambda row: f"{row['eps']:g}")
def test_podium_table_1_recomputed(row: dict[str, float]) -> None:
    mechanism = dt.Podium(dt.Interval(-0.5, 0.5), epsilon=row["eps"])
    close(mechanism.shape().width, row["w"] / row["m"])
    close(mechanism.pdf(row["m"] / 2 * 0.999, -0.5), row["d"])
    close(mechanism.pdf(-row["m"] / 2 * 0.999, -0.5), row["d"] * row["E"])


@pytest.mark.some(every=3)
@pytest.mark.parametrize("row", NOISE["ldp_worst_case_variance_Delta1"], ids=lambda row: f"{row['eps']:g}")
def test_worst_case_variances(row: dict[str, float]) -> None:
    centred = dt.Interval(-0.5, 0.5)
    eps = row["eps"]
    close(dt.Podium(centred, epsilon=eps).worst_error("squared"), row["podium"])
    close(dt.Podium(centred, epsilon=eps).variance(0.0), row["podium_mid"])
    close(dt.PM(centred, epsilon=eps).worst_error("squared"), row["pm_wang"])
    close(dt.PM(centred, epsilon=eps).variance(0.0), row["pm_wang_mid"])
    close(dt.Duchi(centred, epsilon=eps).worst_error("squared"), row["duchi"])
    close(dt.Hybrid(centred, epsilon=eps).worst_error("squared"), row["hybrid"])


def test_crossings() -> None:
    centred = dt.Interval(-0.5, 0.5)

    def gap(first: Any, second: Any, epsilon: float) -> float:
        worst = [kind(centred, epsilon=epsilon).worst_error("squared") for kind in (first, second)]
        return worst[0] - worst[1]

    crossings = NOISE["ldp_crossings"]
    for kind, other, epsilon in (
        (dt.Podium, dt.Duchi, crossings["podium_eq_duchi"]),
        (dt.PM, dt.Duchi, crossings["wangPM_eq_duchi"]),
        (dt.Podium, dt.Hybrid, crossings["podium_eq_hybrid"]),
    ):
        assert gap(kind, other, epsilon - 1e-6) > 0 > gap(kind, other, epsilon + 1e-6)
