"""Train a model on gold standards, and score it on their pages with trees that have not seen a page's site.

    python -m tools.bundled --data wcxb:DIR dragnet:DIR ... -o victorpy/data/models/default --scores scores.json

This is how the bundled models are made. Training already computes, for every page, the predictions of trees grown on
other sites (the CRF learns from them), so the scores cost nothing extra. They are a little low, because those trees saw
fewer pages. A model for sites is scored on the pages of each site together.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import numpy as np

from victorpy.columns import Columns, Floats
from victorpy.config import Config, load_config
from victorpy.errors import VictorError
from victorpy.model.beliefs import adjust, believe
from victorpy.model.evidence import Findings, Keeping, block_weights, expected_f1, probabilities
from victorpy.model.labeller import ModelLabeller
from victorpy.model.store import check_target
from victorpy.model.train import Trained, describe_training
from victorpy.outputs import CleanPage
from victorpy.research.datasets import set_name
from victorpy.research.gold import LabelledPage, load_gold
from victorpy.research.scores import word_f1
from victorpy.sites.grouping import site_of
from victorpy.sites.statistics import SiteStatistics


def score(page: LabelledPage, log_odds: Floats, config: Config) -> dict[str, object]:
    """Clean a page with its out-of-fold log-odds, and score its words."""
    columns = Columns(page.document, config)
    probability = probabilities(log_odds)
    kept = Keeping.of(config).kept(probability, columns)
    text = "\n".join(block.text for block, keep in zip(page.document.blocks, kept, strict=True) if keep)
    gold = "\n".join(segment.text for segment in page.gold)
    return {
        "data": set_name(page.data),
        "name": page.name,
        "site": page.site,
        "type": page.page_type,
        "language": language(page),
        "word_f1": round(word_f1(text, gold).f1, 4),
        "confidence": round(expected_f1(probability, block_weights(columns), kept), 4),
    }


def at_their_sites(pages: list[LabelledPage], found: list[Floats], labeller: ModelLabeller) -> list[Floats]:
    """Return the log-odds of a model for sites, which depend on the same places of other pages of the site."""
    by_site: dict[str, list[int]] = {}
    for number, page in enumerate(pages):
        by_site.setdefault(site_of(page.document.url) or page.document.source or str(number), []).append(number)
    adjusted = list(found)
    for numbers in by_site.values():
        site = SiteStatistics(pages[number].document for number in numbers)
        if site.pages < 2:
            continue
        config = labeller.prepare().config
        judged: dict[int, tuple[Columns, Findings]] = {}
        for number in numbers:
            document = pages[number].document
            nothing = np.zeros((0, len(document.blocks)), dtype=np.float32)  # only trees for kinds would read them
            judged[id(document)] = Columns(document, config), Findings(found[number], nothing)
        known = [(pages[number].document, None) for number in numbers]
        beliefs = believe(known, site, lambda document, judged=judged: judged[id(document)])  # type: ignore[misc]
        for number in numbers:
            columns, findings = judged[id(pages[number].document)]
            adjusted[number] = adjust(findings, columns, site, beliefs).log_odds
    return adjusted


def language(page: LabelledPage) -> str:
    """Return the declared language of a page, as two or three letters."""
    attributes = page.document.elements.attributes
    said = attributes[0].get("lang", "") if attributes else ""
    return said.replace("_", "-").partition("-")[0].lower()


def main() -> None:
    """Train, save, score."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="+", required=True, metavar="KIND:DIR")
    parser.add_argument("-c", "--config", default="default")
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="MODEL")
    parser.add_argument("--scores", type=Path, metavar="FILE.json")
    arguments = parser.parse_args()
    try:
        train(arguments)
    except VictorError as error:
        parser.error(str(error))


def train(arguments: argparse.Namespace) -> None:
    """Train on the data that the arguments name, save the model, and print its scores by set."""
    check_target(arguments.output)
    config = load_config(arguments.config)
    pages = load_gold(arguments.data, config, lambda said: print(said, file=sys.stderr))
    pages = [page for page in pages if page.document.blocks]
    labeller = ModelLabeller(config)
    weights = [page.weights for page in pages]
    labeller.fit(
        [page.document for page in pages],
        [page.labels for page in pages],
        lambda info: print(f"iteration {info['num']}", file=sys.stderr),
        lambda said: print(said, file=sys.stderr, flush=True),
        weights,
    )
    annotated = [CleanPage(page.document, page.labels) for page in pages]
    Trained(
        labeller,
        config,
        describe_training(annotated, labeller, weights) | {"data": list(map(set_name, arguments.data))},
    ).save(arguments.output)
    sets = sorted({set_name(page.data) for page in pages if page.weights is None})
    found = list(labeller.training_log_odds_)
    if labeller.wants_site:
        found = at_their_sites(pages, found, labeller)
    known = [(page, log_odds) for page, log_odds in zip(pages, found, strict=True) if page.weights is None]
    scores = [score(page, log_odds, config) for page, log_odds in known]
    if arguments.scores:
        arguments.scores.write_text(json.dumps(scores, indent=0), encoding="utf-8")
    for name in sets:
        values = [float(str(entry["word_f1"])) for entry in scores if entry["data"] == name]
        print(f"{name}: {len(values)} pages, word F1 {np.mean(values):.4f}")


if __name__ == "__main__":
    main()
