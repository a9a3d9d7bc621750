"""Cross-validate a config with evidence once, and score several ways to decide what is content.

    python -m benchmarks.decodings --data wcxb:DIR --folds 5 --save results.json

Folds are grouped by site, so no stage of a fold's models has seen a site of its pages. The shipped way (the trees'
probabilities, cut for the page's expected F1) is compared with the CRF's own marginals, its best sequence, plain
thresholds, and the average of both models' log-odds. The saved file has the confidence and the scores of every page;
`python -m benchmarks.reliability --results` reads it.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.lib.command import make_parser, run
from benchmarks.lib.tables import table
from victorpy.base.variables import FAVORS
from victorpy.columns import Columns, Flags, Floats
from victorpy.config import Config, load_config
from victorpy.document import Label
from victorpy.model.evidence import Keeping, best_cut, block_weights, expected_f1, probabilities
from victorpy.model.evidence.cut import BETA
from victorpy.model.labeller import ModelLabeller
from victorpy.research.gold import LabelledPage, load_gold
from victorpy.research.scores import BlockCounts, word_f1
from victorpy.sites.grouping import make_folds


def content_flags(page: LabelledPage, labeller: ModelLabeller, config: Config) -> Iterator[tuple[str, Flags, float]]:
    """Yield the blocks that each way keeps, and the F1 that it expects."""
    columns = Columns(page.document, config)
    weight = block_weights(columns)
    assert labeller.stages_ is not None
    assert labeller.stages_.evidence is not None
    odds = labeller.stages_.evidence.judge(columns).log_odds
    (shares,) = labeller.predict_marginals([page.document])
    chain = np.array([1 - block.get(Label.OTHER, 0.0) for block in shares])
    trees = probabilities(odds)
    both = probabilities((odds + logit(chain)) / 2)
    for name, content in (("trees", trees), ("CRF marginals", chain), ("both", both)):
        cut, _ = best_cut(content, weight, BETA["balanced"])
        yield f"{name}, expected F1", content >= cut, expected_f1(content, weight, content >= cut)
    yield "trees, 0.3", trees >= 0.3, 0.0
    yield "trees, 0.5", trees >= 0.5, 0.0
    for favor in FAVORS:
        keep = Keeping.of(changed(config, favor=favor)).kept(trees, columns)
        yield (
            f"trees, favor {favor}, empty below {config.one('empty-below', '0')}",
            keep,
            expected_f1(trees, weight, keep),
        )
    path = labeller.with_config(changed(config, decode="viterbi")).label(page.document).labels
    yield "CRF's best sequence", np.array([label.is_content for label in path], dtype=bool), 0.0


def changed(config: Config, **values: str) -> Config:
    """Return a config with some variables changed."""
    return replace(config, values={**config.values, **{name: (value,) for name, value in values.items()}})


def logit(probability: Floats) -> Floats:
    """Turn probabilities into finite log-odds."""
    safe = np.clip(probability, 1e-6, 1 - 1e-6)
    return np.asarray(np.log(safe / (1 - safe)))


def run_fold(pages: list[LabelledPage], fold_of: list[int], fold: int, config: Config) -> Iterator[dict[str, object]]:
    """Train on the other folds and score this one's pages in every way."""
    training = [page for page, its in zip(pages, fold_of, strict=True) if its != fold]
    labeller = ModelLabeller(config).fit(
        [page.document for page in training],
        [page.labels for page in training],
        report=lambda said: print(f"fold {fold + 1}: {said}", file=sys.stderr, flush=True),
    )
    for page, its in zip(pages, fold_of, strict=True):
        if its == fold:
            yield score(page, labeller, config)


def score(page: LabelledPage, labeller: ModelLabeller, config: Config) -> dict[str, object]:
    """Score one page in every way; labels are scored for the shipped way."""
    gold = "\n".join(segment.text for segment in page.gold)
    f1, confidence = {}, {}
    for name, keep, expected in content_flags(page, labeller, config):
        text = "\n".join(block.text for block, kept in zip(page.document.blocks, keep, strict=True) if kept)
        f1[name] = round(word_f1(text, gold).f1, 4)
        confidence[name] = round(expected, 4)
    found = labeller.label(page.document)
    blocks = BlockCounts.of(found.labels, page.labels)
    return {
        "data": page.data.partition(":")[0],
        "name": page.name,
        "type": page.page_type,
        "confidence": found.confidence,
        "word_f1": f1[next(name for name in f1 if "favor balanced" in name)],
        "ways": f1,
        "expected": confidence,
        "blocks": blocks.total,
        "label_accuracy": round(blocks.label_accuracy, 4),
        "content_accuracy": round(blocks.content_accuracy, 4),
    }


def main() -> None:
    """Cross-validate, and print one table of the ways and one of the page types."""
    parser = make_parser(__doc__, step=False)
    parser.add_argument("-c", "--config", default="default")
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--save", type=Path, metavar="FILE.json")
    arguments = parser.parse_args()
    report(cross_validate(arguments))


def cross_validate(arguments: argparse.Namespace) -> list[dict[str, object]]:
    """Train and score fold after fold, and save the results after each."""
    config = load_config(arguments.config)
    pages = load_gold(arguments.data, config, lambda said: None)
    pages = [page for page in pages if page.document.blocks]
    fold_of = make_folds([page.site for page in pages], arguments.folds, seed=1)
    results: list[dict[str, object]] = []
    for fold in range(arguments.folds):
        results += run_fold(pages, fold_of, fold, config)
        if arguments.save:
            arguments.save.write_text(json.dumps(results, indent=0), encoding="utf-8")
    return results


def report(results: list[dict[str, object]]) -> None:
    """Print the means as Markdown."""
    ways = {name: [page["ways"][name] for page in results] for name in results[0]["ways"]}  # type: ignore[index, attr-defined]
    print(
        table(["way", f"word F1 ({len(results)} pages)"], [[name, f"{np.mean(f1):.4f}"] for name, f1 in ways.items()])
    )
    rows = []
    for kind in ["", *sorted({str(page["type"]) for page in results} - {""})]:
        chosen = [page for page in results if page["type"] == kind or not kind]
        columns = ("word_f1", "label_accuracy", "content_accuracy")
        means = [np.mean([float(str(page[name])) for page in chosen]) for name in columns]
        rows.append([kind or "all", len(chosen), *(f"{value:.4f}" for value in means)])
    print(f"\n{table(['type', 'pages', 'word F1', 'labels right', 'content right'], rows)}")
    weights = np.array([float(str(page["blocks"])) for page in results])
    for name in ("label_accuracy", "content_accuracy"):
        right = weights * np.array([float(str(page[name])) for page in results])
        print(f"{name} over all blocks: {right.sum() / weights.sum():.4f}")


if __name__ == "__main__":
    run(main)
