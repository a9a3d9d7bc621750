"""Quality and speed beside other cleaners, on the same pages in one process, page by page in turn.

    python benchmarks/compare.py                                  the sample pages in data/
    python benchmarks/compare.py --data cleaneval:DIR wcxb:DIR    gold standards that you have
    python benchmarks/compare.py --model default --model my-model

Quality is the word F1 of WCXB (overlap of the words of output and gold), the mean over pages. Time is CPU time,
as a ratio to trafilatura's where it is installed (pip install 'victorpy[peers]').
"""

from __future__ import annotations

import argparse
import importlib.util
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from victorpy import Cleaner, load_config, read_document
from victorpy.anno import load_anno
from victorpy.datasets import read_dataset
from victorpy.document import Label

DATA = Path(__file__).parents[1] / "data"
Extractor = Callable[[bytes], str]


def word_f1(output: str, gold: str) -> float:
    """Overlap of two texts' words as multisets; an empty gold wants an empty output."""
    ours, theirs = (Counter(re.findall(r"\w+", text.lower())) for text in (output, gold))
    if not theirs:
        return float(not ours)
    shared = (ours & theirs).total()
    return 2 * shared / (ours.total() + theirs.total())


def pages(data: list[str], step: int) -> Iterator[tuple[str, bytes, str]]:
    """Give the name of the set, the page and the gold text."""
    if not data:
        cuts = load_config("default").cuts
        for path in sorted(DATA.glob("*/*.anno")):
            page = load_anno(path, cuts)
            kept = [
                block.text
                for block, label in zip(page.document.blocks, page.labels, strict=True)
                if label is not Label.OTHER
            ]
            yield "data/", path.with_suffix(".html").read_bytes(), "\n".join(kept)
    for name in data:
        kind, _, directory = name.partition(":")
        for number, gold in enumerate(read_dataset(kind, Path(directory), lambda _: None)):
            if number % step == 0:
                yield kind, gold.html, gold.text


def keep_everything(page: bytes) -> str:
    """Give all text of a page: a cleaner that does no better has learned nothing."""
    return "\n".join(block.text for block in read_document(page, load_config("default")).blocks)


def peers() -> dict[str, Extractor]:
    """Find the other cleaners that are installed."""
    found: dict[str, Extractor] = {}
    if importlib.util.find_spec("trafilatura"):
        import trafilatura

        found["trafilatura"] = lambda page: trafilatura.extract(page) or ""
    if importlib.util.find_spec("resiliparse"):
        from resiliparse.extract.html2text import extract_plain_text
        from resiliparse.parse.encoding import bytes_to_str, detect_encoding

        found["resiliparse"] = lambda page: extract_plain_text(
            bytes_to_str(page, detect_encoding(page)), main_content=True
        )
    if importlib.util.find_spec("readability"):
        import lxml.html
        import readability

        def readable(page: bytes) -> str:
            summary = readability.Document(page.decode("utf-8", "replace")).summary()
            return str(lxml.html.fromstring(summary).xpath("string()"))

        found["readability-lxml"] = readable
    if importlib.util.find_spec("justext"):
        import justext

        stop_words = justext.get_stoplist("English")
        found["jusText"] = lambda page: "\n".join(
            paragraph.text for paragraph in justext.justext(page, stop_words) if not paragraph.is_boilerplate
        )
    return found


def main() -> None:
    """Run every cleaner on every page and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="*", default=[], metavar="KIND:DIR")
    parser.add_argument("--model", action="append", default=[])
    parser.add_argument("--step", type=int, default=1, help="every so many pages of each set")
    arguments = parser.parse_args()
    cleaners: dict[str, Extractor] = {
        f"victorpy ({model})": Cleaner.load(model).clean for model in arguments.model or ["default", "cleaneval"]
    }
    cleaners |= peers()
    cleaners["keep everything"] = keep_everything
    scores: dict[tuple[str, str], list[float]] = {}
    seconds = dict.fromkeys(cleaners, 0.0)
    for kind, page, gold in pages(arguments.data, arguments.step):
        for name, extract in cleaners.items():
            began = time.process_time()
            try:
                text = extract(page)
            except Exception as error:  # a peer may fail on a page; that page scores 0
                print(f"{name}: {type(error).__name__}: {error}", file=sys.stderr)
                text = ""
            seconds[name] += time.process_time() - began
            scores.setdefault((kind, name), []).append(word_f1(text, gold))
    report(scores, seconds, list(cleaners))


def report(scores: dict[tuple[str, str], list[float]], seconds: dict[str, float], names: list[str]) -> None:
    """Print word F1 by set, CPU time, and the share of pages left without a word that counts."""
    kinds = list(dict.fromkeys(kind for kind, _ in scores))
    base = seconds.get("trafilatura") or seconds[names[0]]
    count = sum(len(scores[kind, names[0]]) for kind in kinds)
    print(f"| | {' | '.join(f'{kind} ({len(scores[kind, names[0]])})' for kind in kinds)} | CPU ratio | ms a page |")
    print("|---" * (len(kinds) + 3) + "|")
    for name in names:
        cells = [f"{sum(found) / len(found):.3f}" for found in (scores[kind, name] for kind in kinds)]
        print(f"| {name} | {' | '.join(cells)} | {seconds[name] / base:.3f} | {1000 * seconds[name] / count:.1f} |")


if __name__ == "__main__":
    main()
