"""Score the roles of blocks, and measure what the switches for parts of a page do to word F1.

    python -m benchmarks.roles --data l3s:DIR dragnet:DIR wcxb:DIR pages:DIR [--step 4]

Roles are compared with what gold standards say about blocks (`benchmarks.lib.role_gold`):

- headline: the heading with the title of a WCXB page, and the first headline of L3S;
- byline: blocks of a WCXB page near the headline, with at most 12 words, that contain the author or the date;
- comment: the comments of L3S and Dragnet;
- related: the related content of L3S, which is a part of the links and teasers that have this role.

The bundled model has seen these pages. `tools.roles` prints the scores of trees for roles on other sites.

The second table has the word F1 of all pages with the labels of the model, and the difference that each choice of parts
makes. Gold standards contradict each other: Dragnet and L3S contain bylines, the others do not.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

from benchmarks.lib.command import make_parser, run
from benchmarks.lib.role_gold import READERS
from benchmarks.lib.tables import table
from victorpy import Cleaner, CleanPage, Parts
from victorpy.base.score import Score
from victorpy.base.words import aligned_words
from victorpy.document import Role
from victorpy.model.labeller import role_trees_of
from victorpy.model.parts import AS_LABELLED, DEFAULT_PARTS, choose_parts, drop_by_default
from victorpy.research.datasets import GoldPage, parse_data, read_dataset, set_name

CHOICES = {
    "default": DEFAULT_PARTS,
    "without byline": Parts(excluded=frozenset(["byline"]), defaults=False),
    "without comments": Parts(excluded=frozenset(["comments"]), defaults=False),
    "without tags": Parts(excluded=frozenset(["tags"]), defaults=False),
    "without captions": Parts(excluded=frozenset(["captions"]), defaults=False),
    "headline always": Parts(headline="always", defaults=False),
    "headline never": Parts(headline="never", defaults=False),
    "headline model": Parts(headline="model", defaults=False),
}


def word_f1(page: CleanPage, gold: Counter[str]) -> float:
    """Return the word F1 of the kept blocks."""
    pairs = zip(page.document.texts, page.labels, strict=True)
    words = Counter(word for text, label in pairs if label.is_content for word in aligned_words(text))
    return Score((words & gold).total(), words.total(), gold.total()).f1


def read(spec: str, step: int) -> Iterator[tuple[GoldPage, Path]]:
    """Yield every `step`-th page of a data set."""
    kind, directory = parse_data(spec)
    for number, page in enumerate(read_dataset(kind, directory, lambda _: None)):
        if number % step == 0:
            yield page, directory


def main() -> None:
    """Print both tables."""
    parser = make_parser(__doc__)
    parser.add_argument("--model", default="default")
    arguments = parser.parse_args()
    cleaner = Cleaner.load(arguments.model)
    trees = role_trees_of(cleaner.labeller)
    counts: dict[tuple[str, Role], list[int]] = defaultdict(lambda: [0, 0, 0])  # right, found, gold
    scores: dict[str, dict[str, list[float]]] = {}
    for spec in arguments.data:
        name, kind = set_name(spec), parse_data(spec)[0]
        scores[name] = {choice: [] for choice in ("as labelled", *CHOICES)}
        for gold_page, directory in read(spec, arguments.step):
            page = cleaner.document(gold_page.html, gold_page.url or None, roles=True, parts=AS_LABELLED)
            gold_words = Counter(aligned_words(gold_page.text))
            base = word_f1(page, gold_words)
            scores[name]["as labelled"].append(base)
            for choice, parts in CHOICES.items():
                chosen = choose_parts(drop_by_default(page, parts, trees=trees), parts, trees=trees)
                scores[name][choice].append(word_f1(chosen, gold_words) - base)
            gold = READERS[kind](gold_page, page.document, directory, cleaner.config) if kind in READERS else {}
            for role, (blocks, unknown) in gold.items():
                own = {number for number, found in enumerate(page.roles) if found is role} - unknown
                for position, size in enumerate((len(own & blocks), len(own), len(blocks))):
                    counts[name, role][position] += size
    rows = []
    for (name, role), (right, found, total) in counts.items():
        score = Score(right, found, total)
        rows.append(
            [name, str(role), str(total), *(f"{value:.3f}" for value in (score.precision, score.recall, score.f1))]
        )
    print(table(["data", "role", "blocks", "precision", "recall", "F1"], rows))
    rows = []
    for name, by_choice in scores.items():
        base, *differences = (sum(values) / len(values) for values in by_choice.values())
        rows.append(
            [name, str(len(by_choice["as labelled"])), f"{base:.4f}", *(f"{value:+.4f}" for value in differences)]
        )
    print("\n" + table(["data", "pages", "as labelled", *CHOICES], rows))


if __name__ == "__main__":
    run(main)
