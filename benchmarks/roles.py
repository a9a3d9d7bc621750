"""Score the roles of blocks, and measure what the switches for parts of a page do to word F1.

    python -m benchmarks.roles --data l3s:DIR dragnet:DIR wcxb:DIR pages:DIR [--step 4]

Roles are compared with what gold standards say about blocks:

- headline: the title of a WCXB page, and class 1 of L3S;
- byline: blocks of a WCXB page with at most 12 words that contain the author or the date;
- comment: class 5 of L3S, and the comments of Dragnet;
- related: class 4 of L3S.

The second table has the word F1 of all pages with the labels of the model, and the difference that each choice of parts
makes. Gold standards contradict each other: Dragnet and L3S contain bylines, the others do not.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from difflib import SequenceMatcher
from pathlib import Path

from benchmarks.lib.command import make_parser, run
from benchmarks.lib.tables import table
from victorpy import Cleaner, CleanPage, Document, Parts, read_document
from victorpy.base.score import Score
from victorpy.base.words import aligned_words
from victorpy.description.metadata.dates import read_date
from victorpy.document import Role
from victorpy.model.parts import AS_LABELLED, DEFAULT_PARTS, choose_parts, drop_by_default
from victorpy.page.decode import decode
from victorpy.research.align import Gold, align
from victorpy.research.datasets import GoldPage, parse_data, read_dataset, set_name

L3S = {"1": Role.HEADLINE, "4": Role.RELATED, "5": Role.COMMENT}
LONGEST_BYLINE = 12
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

GoldRoles = dict[Role, set[int]]
"""The blocks of each role, for the roles that a gold standard knows."""


def roles_of_l3s(page: GoldPage, document: Document, directory: Path, cleaner: Cleaner) -> GoldRoles:
    """Find the blocks of the annotated page in the original page. Both have the same words in the same order."""
    marked = read_document((directory / "annotated" / f"{page.name}.html").read_bytes(), cleaner.config)
    elements = marked.elements
    role_of_word: list[Role | None] = []
    words: list[str] = []
    for block in marked.blocks:
        element = block.pieces[0].element
        while element >= 0 and "x-nc-sel" not in elements.attributes[element].get("class", ""):
            element = elements.parent[element]
        name = elements.attributes[element].get("class", "") if element >= 0 else ""
        own = aligned_words(block.text)
        words += own
        role_of_word += [L3S.get(name.partition("x-nc-sel")[2][:1])] * len(own)
    own_words = [aligned_words(text) for text in document.texts]
    block_of_word = [number for number, own in enumerate(own_words) for _ in own]
    votes: dict[int, Counter[Role | None]] = defaultdict(Counter)
    matcher = SequenceMatcher(None, words, [word for own in own_words for word in own], autojunk=False)
    for first, other, count in matcher.get_matching_blocks():
        for offset in range(count):
            votes[block_of_word[other + offset]][role_of_word[first + offset]] += 1
    gold: GoldRoles = {role: set() for role in L3S.values()}
    for number, counts in votes.items():
        role = counts.most_common(1)[0][0]
        if role:
            gold[role].add(number)
    return gold


def roles_of_dragnet(page: GoldPage, document: Document, directory: Path, cleaner: Cleaner) -> GoldRoles:
    """Align the comments of a page with its blocks."""
    text = decode((directory / "Corrected" / f"{page.name}.html.corrected.txt").read_bytes()).text
    article, _, comments = text.partition("!@#$%^&*()  COMMENTS")
    labels = align(
        document, [Gold(article), Gold(comments)] if comments.strip() else [], cleaner.config.cuts.block_level
    )
    of_article = align(document, [Gold(article)], cleaner.config.cuts.block_level)
    pairs = zip(labels, of_article, strict=True)
    return {Role.COMMENT: {n for n, (both, own) in enumerate(pairs) if both.is_content and not own.is_content}}


def roles_of_wcxb(page: GoldPage, document: Document, directory: Path, cleaner: Cleaner) -> GoldRoles:
    """Find the first block with the title, and the short blocks with the author or the date."""
    truth = json.loads((directory / "ground-truth" / f"{page.name}.json").read_bytes())["ground_truth"]
    title, author, date = (aligned_words(truth.get(name) or "") for name in ("title", "author", "publish_date"))
    words = [aligned_words(text) for text in document.texts]
    headline = [number for number, own in enumerate(words) if own and own == title][:1]
    short = [number for number, own in enumerate(words) if 0 < len(own) <= LONGEST_BYLINE]
    day = "-".join(date)
    bylines = {n for n in short if author and " ".join(author) in " ".join(words[n])}
    bylines |= {n for n in short if day and str(read_date(document.texts[n])) == day}
    return {Role.HEADLINE: set(headline)} | ({Role.BYLINE: bylines} if bylines else {})


READERS = {"l3s": roles_of_l3s, "dragnet": roles_of_dragnet, "wcxb": roles_of_wcxb}


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
    arguments = parser.parse_args()
    cleaner = Cleaner.load()
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
                chosen = choose_parts(drop_by_default(page, parts), parts)
                scores[name][choice].append(word_f1(chosen, gold_words) - base)
            gold = READERS[kind](gold_page, page.document, directory, cleaner) if kind in READERS else {}
            for role, blocks in gold.items():
                own = {number for number, found in enumerate(page.roles) if found is role}
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
