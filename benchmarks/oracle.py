"""How well gold text is aligned with blocks: the word F1 of exactly the blocks that are labelled content, and its cost.

    python -m benchmarks.oracle --data cleaneval:DIR/cleaneval/dev dragnet:DIR/dragnet l3s:DIR/l3s-gn1 wcxb:DIR/wcxb/dev

No cleaner that keeps or drops whole blocks can score higher.
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict

from victorpy import load_config, read_document
from victorpy.research.align import align
from victorpy.research.datasets import read_dataset
from victorpy.research.gold import parse_data
from victorpy.research.scores import word_f1


def main() -> None:
    """Print a row for each data set and page type."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="+", required=True, metavar="KIND:DIR")
    parser.add_argument("--config", default="default")
    parser.add_argument("--step", type=int, default=1, help="every so many pages")
    arguments = parser.parse_args()
    config = load_config(arguments.config)
    print(f"{'set':<24} {'pages':>6} {'oracle F1':>10} {'keep all':>9} {'ms a page':>10} {'slowest s':>10}")
    for spec in arguments.data:
        kind, directory = parse_data(spec)
        scores: dict[str, list[float]] = defaultdict(list)
        everything: dict[str, list[float]] = defaultdict(list)
        seconds: dict[str, list[float]] = defaultdict(list)
        for number, page in enumerate(read_dataset(kind, directory, lambda _: None)):
            if number % arguments.step:
                continue
            document = read_document(page.html, config)
            began = time.process_time()
            labels = align(document, page.gold, config.cuts.block_level)
            spent = time.process_time() - began
            kept = [block.text for block, label in zip(document.blocks, labels, strict=True) if label.is_content]
            for name in {kind, f"{kind} {page.page_type}".strip()}:
                scores[name].append(word_f1("\n".join(kept), page.text).f1)
                everything[name].append(word_f1("\n".join(block.text for block in document.blocks), page.text).f1)
                seconds[name].append(spent)
        for name in sorted(scores):
            count = len(scores[name])
            means = [sum(found[name]) / count for found in (scores, everything, seconds)]
            print(
                f"{name:<24} {count:>6} {means[0]:>10.4f} {means[1]:>9.4f} {1000 * means[2]:>10.2f} "
                f"{max(seconds[name]):>10.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
