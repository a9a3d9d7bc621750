"""Measure how well gold text is aligned with blocks: the word F1 of exactly the blocks that are labelled content.

    python -m benchmarks.oracle --data cleaneval:DIR/cleaneval/dev dragnet:DIR/dragnet l3s:DIR/l3s-gn1 wcxb:DIR/wcxb/dev

No cleaner that keeps or drops whole blocks can score higher.
"""

from __future__ import annotations

from collections import defaultdict
from functools import partial
from statistics import mean

from benchmarks.lib.command import make_parser, run
from benchmarks.lib.pages import read_pages
from benchmarks.lib.tables import cpu_seconds, table
from victorpy import load_config, read_document
from victorpy.research.align import align
from victorpy.research.scores import word_f1


def main() -> None:
    """Print a row for each data set and page type."""
    parser = make_parser(__doc__)
    parser.add_argument("--config", default="default")
    arguments = parser.parse_args()
    config = load_config(arguments.config)
    measured: dict[str, list[tuple[float, float, float]]] = defaultdict(list)
    for data, page in read_pages(arguments.data, arguments.step):
        document = read_document(page.html, config)
        align_page = partial(align, gold=page.gold, block_level=config.cuts.block_level)
        seconds, (labels,) = cpu_seconds(align_page, [document])
        texts = [block.text for block in document.blocks]
        kept = [text for text, label in zip(texts, labels, strict=True) if label.is_content]
        scores = [word_f1("\n".join(words), page.text).f1 for words in (kept, texts)]
        for name in {data, f"{data} {page.page_type}".strip()}:
            measured[name].append((scores[0], scores[1], seconds))
    rows = []
    for name, pages in sorted(measured.items()):
        oracle, everything, seconds = (mean(column) for column in zip(*pages, strict=True))
        slowest = max(page[2] for page in pages)
        rows.append([name, len(pages), f"{oracle:.4f}", f"{everything:.4f}", f"{1000 * seconds:.2f}", f"{slowest:.2f}"])
    print(table(["set", "pages", "oracle F1", "keep all", "ms per page", "slowest s"], rows))


if __name__ == "__main__":
    run(main)
