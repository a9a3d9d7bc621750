"""Rate how pages are cleaned by the three levels of the satisfiable-sub-tree paper (section 4, table 1).

    python -m benchmarks.levels --data cleanportaleval:DIR --methods satisfiable-subtree,docview,default

Level A means that all noise is removed without a loss of content, level B that most of the noise is removed without a
loss, and level C everything else. In the paper people rate 100 pages of each of four portals. Here words are counted.
There is no loss if 95 % of the gold words are kept (--loss). All noise is removed if at least 95 % of the other
words of the page are dropped, and most of it if at least half of them are.
"""

from __future__ import annotations

import html
from collections import Counter

from tqdm import tqdm

from benchmarks.lib.command import make_parser, run
from benchmarks.lib.pages import read_pages
from benchmarks.lib.tables import table
from victorpy.base.parameters import split_names
from victorpy.base.words import simple_words
from victorpy.errors import DataError
from victorpy.methods import load_method

LEVELS = "ABC"
ALL_NOISE, MOST_NOISE = 0.95, 0.5


def level(kept: str, gold: str, whole: str, most_loss: float = 0.05) -> str:
    """Return the level of a page from its cleaned text, its gold text and all its text.

    >>> [level(kept, "tea is hot", "home news tea is hot") for kept in ("tea is hot", "home tea is hot", "is hot")]
    ['A', 'B', 'C']
    """
    words, gold_words, all_words = (Counter(simple_words(text)) for text in (kept, gold, whole))
    lost = (gold_words - words).total() / max(gold_words.total(), 1)
    noise = (all_words - gold_words).total()
    removed = 1 - (words - gold_words).total() / noise if noise else 1.0
    if lost > most_loss or removed < MOST_NOISE:
        return "C"
    return "A" if removed >= ALL_NOISE else "B"


def main() -> None:
    """Print a table for each method."""
    parser = make_parser(__doc__)
    parser.add_argument("--methods", default="satisfiable-subtree", help="separated by commas")
    parser.add_argument("--loss", type=float, default=0.05, help="tolerated share of lost words (default: 0.05)")
    arguments = parser.parse_args()
    cleaners = {}
    for name, settings in split_names(arguments.methods):
        cleaners[f"{name}({', '.join(settings)})" if settings else name] = load_method(name, settings)
    everything = load_method("everything")
    levels: dict[str, dict[str, Counter[str]]] = {name: {} for name in cleaners}
    for _, gold in tqdm(read_pages(arguments.data, arguments.step), unit=" pages", disable=None):
        whole = everything.document(gold.html).text
        for name, cleaner in cleaners.items():
            # CleanPortalEval's gold texts contain references such as &#8217;.
            rated = level(cleaner.document(gold.html, gold.url).text, html.unescape(gold.text), whole, arguments.loss)
            for group in (gold.site, "all"):
                levels[name].setdefault(group, Counter())[rated] += 1
    if not all(levels.values()):
        raise DataError("there are no pages in the data")
    for name, groups in levels.items():
        rows = []
        for group in [*sorted(groups.keys() - {"all"}), "all"]:
            pages = groups[group].total()
            rows.append([group, str(pages), *(f"{groups[group][rating] / pages:.0%}" for rating in LEVELS)])
        print(f"### {name}\n\n{table(['site', 'pages', *LEVELS], rows)}\n")


if __name__ == "__main__":
    run(main)
