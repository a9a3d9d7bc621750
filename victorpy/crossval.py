"""Cross-validation: train on some sites, score on others, fold after fold."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial

from victorpy.config import Config
from victorpy.document import Label, Labelling
from victorpy.gold import LabelledPage
from victorpy.groups import make_folds
from victorpy.labellers.base import Labeller
from victorpy.labellers.crf import CRFLabeller
from victorpy.scores import BlockCounts, TextScores, measure

MakeLabeller = Callable[[], Labeller]


@dataclass(frozen=True, slots=True)
class PageResult:
    """How one page was cleaned by a model that had not seen its site."""

    name: str
    data: str
    site: str
    page_type: str
    fold: int
    scores: dict[str, float]
    blocks: BlockCounts
    labelling: Labelling = field(repr=False)
    gold_content: tuple[bool, ...] = field(repr=False)
    """Whether each block is content by the gold."""
    texts: TextScores = field(repr=False)
    """The counts that the scores of texts are made of, to pool them."""


def cross_validate(
    pages: Sequence[LabelledPage],
    make_labeller: MakeLabeller,
    folds: int = 6,
    group: str = "site",
    seed: int = 1,
    jobs: int = 1,
    share: float = 1.0,
) -> Iterator[list[PageResult]]:
    """Yield the results of each fold; everything that learns sees the other folds' pages alone.

    With a `share` below 1 only so much of those pages is trained on, whole groups of them; what is tested stays.
    """
    groups = [page.site if group == "site" else f"{page.data}/{page.name}" for page in pages]
    fold_of = make_folds(groups, folds, seed)
    kept = _first_groups(groups, share, seed)
    run = partial(_run_fold, list(pages), fold_of, kept, make_labeller)
    if jobs == 1:
        yield from map(run, range(folds))
        return
    with ProcessPoolExecutor(max_workers=jobs) as pool:
        yield from pool.map(run, range(folds))


def _first_groups(groups: Sequence[str], share: float, seed: int) -> list[bool]:
    """Which pages are of the first so many groups, in an order that is the same for every share."""
    order = sorted(set(groups))
    random.Random(seed).shuffle(order)
    kept = frozenset(order[: max(round(share * len(order)), 1)])
    return [group in kept for group in groups]


def _run_fold(
    pages: list[LabelledPage], fold_of: list[int], kept: list[bool], make_labeller: MakeLabeller, fold: int
) -> list[PageResult]:
    training = [page for page, its, use in zip(pages, fold_of, kept, strict=True) if its != fold and use]
    labeller = make_labeller().fit([page.document for page in training], [page.labels for page in training])
    tested = [page for page, its in zip(pages, fold_of, strict=True) if its == fold]
    found = _label_by_site(labeller, tested) if labeller.wants_site else [labeller.label(p.document) for p in tested]
    return [score_page(page, labelling, fold) for page, labelling in zip(tested, found, strict=True)]


def _label_by_site(labeller: Labeller, pages: Sequence[LabelledPage]) -> list[Labelling]:
    """Label pages as in use, each with those of its site in sight; a site of two data sets is two."""
    sites: dict[tuple[str, str], list[int]] = {}
    for place, page in enumerate(pages):
        sites.setdefault((page.data, page.site), []).append(place)
    found: dict[int, Labelling] = {}
    for places in sites.values():
        at_site = labeller.at_site([pages[place].document for place in places])
        found |= {place: at_site.label(pages[place].document) for place in places}
    return [found[place] for place in range(len(pages))]


def score_page(page: LabelledPage, found: Labelling, fold: int = 0) -> PageResult:
    """Measure a labeller's answer for a gold page."""
    texts = measure(page.output_text(found.labels), page.gold_text)
    scores = texts.by_name()
    if not page.has_segments:  # gold without tags says nothing of markup
        scores = {name: value for name, value in scores.items() if name not in _NEEDS_SEGMENTS}
    blocks = BlockCounts.of(found.labels, page.labels)
    gold_content = tuple(label.is_content for label in page.labels)
    scores |= {"label_accuracy": blocks.label_accuracy, "content_accuracy": blocks.content_accuracy}
    return PageResult(page.name, page.data, page.site, page.page_type, fold, scores, blocks, found, gold_content, texts)


_NEEDS_SEGMENTS = frozenset(
    [
        "cleaneval_text",
        "cleaneval_markup",
        "cleaneval_total",
        "cleaneval_words_tags_f1",
        "cleaneval_segments_f1",
        "cleaneval_segments_unlabelled_f1",
    ]
)


def crf_maker(config: Config, **parameters: float) -> MakeLabeller:
    """Make CRF labellers of a config, with parameters that override its own."""
    return partial(CRFLabeller, config, **parameters)  # type: ignore[arg-type]


def keep_everything(page: LabelledPage) -> PageResult:
    """Score keeping every block as a paragraph: a cleaner that does worse has learned nothing."""
    labels = tuple(Label.PARAGRAPH for _ in page.document.blocks)
    return score_page(page, Labelling(labels))
