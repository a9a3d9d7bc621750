"""What one method made of many pages, as shares and means by name; what does not apply is None."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from victorpy.compare.run import Outcome
from victorpy.scores import BlockCounts, Score
from victorpy.statistics import summarise


def total(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Everything that is known of a method on these pages but for sites."""
    found = text_scores(outcomes) | _block_scores(outcomes) | value_scores(outcomes)
    found["words_removed"] = mean([outcome.measured.removed for outcome in outcomes])
    found["empty"] = sum(outcome.measured.empty for outcome in outcomes)
    found["failed"] = sum(bool(outcome.error) for outcome in outcomes)
    found["cpu_ms"] = mean([1000 * outcome.seconds for outcome in outcomes])
    return found


def brief(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """What is shown of some of the pages: the measure that decides, with its interval, and what was removed."""
    texts = text_scores(outcomes)
    kept = {name: texts[name] for name in ("words_f1", "words_f1_interval")}
    return kept | value_scores(outcomes) | {"words_removed": mean([found.measured.removed for found in outcomes])}


def text_scores(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Scores of texts, means over pages; `pooled` counts the words of all pages together."""
    words = [outcome.measured.words for outcome in outcomes if outcome.measured.words]
    aligned = [outcome.measured.aligned for outcome in outcomes if outcome.measured.aligned]
    shingles = [outcome.measured.shingles for outcome in outcomes if outcome.measured.shingles]
    return {
        "words_f1": mean([score.f1 for score in words]),
        "words_f1_interval": _interval([score.f1 for score in words]),
        "words_precision": mean([score.precision for score in words]),
        "words_recall": mean([score.recall for score in words]),
        "words_f1_pooled": Score.pool(words).f1 if words else None,
        "cleaneval_words_f1": mean([score.f1 for score in aligned]),
        "shingle_f1": mean([score.f1 for score in shingles]),
    }


def _block_scores(outcomes: Sequence[Outcome]) -> dict[str, float | None]:
    """Shares of all blocks, where the method labels any; pages on which it failed have none."""
    pages = [outcome.measured.blocks for outcome in outcomes if outcome.measured.blocks]
    blocks = BlockCounts.sum(pages)
    return {
        "label_accuracy": blocks.label_accuracy if pages else None,
        "content_accuracy": blocks.content_accuracy if pages else None,
    }


def value_scores(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """The share of a page's values that survive, the mean over pages."""
    shares = [outcome.measured.values.recall for outcome in outcomes if outcome.measured.values]
    return {"value_recall": mean(shares), "value_recall_interval": _interval(shares)}


def decisive(outcome: Outcome) -> float:
    """The score of one page that decides: word F1, or the share of its values that survive."""
    measured = outcome.measured
    if measured.values is not None:
        return measured.values.recall
    return measured.words.f1 if measured.words else 0.0


def page_scores(outcome: Outcome) -> dict[str, Any]:
    """What is written down of one page."""
    measured = outcome.measured
    found: dict[str, Any] = measured.words.shares() if measured.words else {}
    found |= {"value_recall": measured.values.recall} if measured.values else {}
    return found | {"words_removed": measured.removed, "cpu_ms": 1000 * outcome.seconds, "error": outcome.error}


def mean(values: Sequence[float]) -> float | None:
    """The mean; None of nothing."""
    return sum(values) / len(values) if values else None


def _interval(values: Sequence[float]) -> list[float] | None:
    if not values:
        return None
    found = summarise(values)
    return [found.low, found.high]
