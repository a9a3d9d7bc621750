"""Snapshots of deduplication: which random texts repeat others, by each method."""

import random

import pytest
from support.replicapages import story
from support.snapshots import check

from victorpy.dedup import find_replicas

SHARES = [0, 0.2, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 1]


def texts(seed):
    """Return pairs of text and site. Texts share sentences with earlier ones, in another order, and a title."""
    chance, made = random.Random(seed), []
    for number in range(40):
        sentences = story(1_000 * seed + number, chance.choice([1, 2, 3, 5, 8, 12, 20]))
        if made and chance.random() < 0.7:
            other = chance.choice(made)[0]
            shared = [sentence for sentence in other if chance.random() < chance.choice(SHARES)]
            sentences = shared + sentences[: chance.choice([0, 0, 1, 2, 5])]
        made.append((sentences, f"{chance.choice('abc')}.example"))
    return [("\n\n".join(sentences), site) for sentences, site in made]


@pytest.mark.parametrize("keep", ["first", "longest"])
@pytest.mark.parametrize("method", ["pages", "fingerprint"])
def test_replicas(method, keep):
    found = {}
    for seed in range(4):
        repeats = find_replicas(texts(seed), method, keep)
        found[f"texts {seed}"] = ", ".join(
            f"{number}={other}" for number, other in enumerate(repeats) if other is not None
        )
    check("replicas", f"{method}, {keep}", found)
