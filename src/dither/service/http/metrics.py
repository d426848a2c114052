"""Metrics in the text format of Prometheus. Counts alone: nothing tells what anybody reported."""

from __future__ import annotations

from collections import Counter

from dither.service.writer import Writer


def exposition(writer: Writer) -> str:
    """Return all metrics as text."""
    collector = writer.collector
    lines: list[str] = []

    def family(name: str, kind: str, words: str, samples: list[tuple[str, int]]) -> None:
        lines.extend([f"# HELP dither_{name} {words}", f"# TYPE dither_{name} {kind}"])
        lines.extend(f"dither_{name}{labels} {value}" for labels, value in samples)

    reports = [
        (f'{{campaign="{one.id[:16]}",question="{_escaped(name)}"}}', collector.live.n(one.id, name))
        for one in collector.campaigns.values()
        for name in one.contract.questions
    ]
    refused: Counter[str] = Counter()
    for key, count in collector.refused.items():
        refused[key.reason.value] += count
    family("reports_total", "counter", "Reports that are counted.", [(name, n) for name, n in reports])
    family(
        "refused_total",
        "counter",
        "Batches that were refused, by reason.",
        [(f'{{reason="{reason}"}}', count) for reason, count in sorted(refused.items())],
    )
    family("opened_total", "counter", "Batches that came sealed.", [("", collector.opened)])
    family("commits_total", "counter", "Transactions that stored batches.", [("", writer.commits)])
    family("repeated_total", "counter", "Batches that came again.", [("", writer.repeated)])
    family(
        "unavailable_total",
        "counter",
        "Transactions that failed.",
        [("", writer.unavailable)],
    )
    family("waiting", "gauge", "Batches that wait to be stored.", [("", writer.waiting)])
    family("campaigns", "gauge", "Campaigns that are published.", [("", len(collector.campaigns))])
    family("seconds", "gauge", "Seconds since the start.", [("", collector.health()["seconds"])])
    return "\n".join(lines) + "\n"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
