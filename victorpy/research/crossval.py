"""Cross-validation: train on some sites and score on the others, fold by fold."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from victorpy.config import Config
from victorpy.document import Label, Labelling
from victorpy.labellers.base import Labeller
from victorpy.model.labeller import ModelLabeller
from victorpy.research.gold import LabelledPage
from victorpy.research.scores import BlockCounts, PageResult, measure_texts
from victorpy.research.site_runs import label_by_site, map_in_jobs
from victorpy.sites.grouping import SITE_KEYS, make_folds

MakeLabeller = Callable[[], Labeller]

_NEEDS_SEGMENTS = frozenset(
    "cleaneval_text cleaneval_markup cleaneval_total cleaneval_words_tags_f1 cleaneval_segments_f1 "
    "cleaneval_segments_unlabelled_f1".split()
)
"""Measures that mean nothing if the gold has no tags."""


def cross_validate(
    pages: Sequence[LabelledPage],
    make_labeller: MakeLabeller,
    folds: int = 6,
    group: str = "site",
    seed: int = 1,
    jobs: int = 1,
    share: float = 1.0,
) -> Iterator[list[PageResult]]:
    """Yield the results of each fold, labelled by a model that was trained on the other folds only.

    With a `share` below 1, only that share of the groups is trained on. The test pages stay the same.
    """
    groups = [page.site if group == "site" else f"{page.data}/{page.name}" for page in pages]
    fold_of = make_folds(groups, folds, seed)
    order = sorted(set(groups))
    random.Random(seed).shuffle(order)  # the same for every share
    trained_groups = frozenset(order[: max(round(share * len(order)), 1)])
    in_training = [name in trained_groups for name in groups]
    yield from map_in_jobs(partial(_run_fold, list(pages), fold_of, in_training, make_labeller), range(folds), jobs)


def _run_fold(
    pages: list[LabelledPage], fold_of: list[int], in_training: list[bool], make_labeller: MakeLabeller, fold: int
) -> list[PageResult]:
    training = [pages[page] for page in range(len(pages)) if fold_of[page] != fold and in_training[page]]
    labeller = make_labeller().fit([page.document for page in training], [page.labels for page in training])
    tested = [page for page, its_fold in zip(pages, fold_of, strict=True) if its_fold == fold]
    labellings: dict[int, Labelling] = {}
    for site in label_by_site(labeller, tested):
        labellings |= site
    return [score_page(page, labellings[index], fold) for index, page in enumerate(tested)]


def score_page(page: LabelledPage, labelling: Labelling, fold: int = 0) -> PageResult:
    """Score the labels of a gold page."""
    scores, counts = measure_texts(page.output_text(labelling.labels), page.gold_text)
    if not page.has_segments:
        scores = {name: value for name, value in scores.items() if name not in _NEEDS_SEGMENTS}
    blocks = BlockCounts.of(labelling.labels, page.labels)
    scores |= {"label_accuracy": blocks.label_accuracy, "content_accuracy": blocks.content_accuracy}
    return PageResult(
        *(page.name, page.data, page.site, page.page_type, scores, counts, blocks),
        fold=fold,
        labelling=labelling,
        gold_content=tuple(label.is_content for label in page.labels),
    )


def crf_maker(config: Config, site_key: str = SITE_KEYS[0], **parameters: float) -> MakeLabeller:
    """Return a function that makes CRF labellers of a config, with parameters that override its own."""
    return partial(ModelLabeller, config, site_key=site_key, **parameters)  # type: ignore[arg-type]


def keep_everything(page: LabelledPage) -> PageResult:
    """Score keeping every block as a paragraph, the baseline that any cleaner has to beat."""
    return score_page(page, Labelling((Label.PARAGRAPH,) * len(page.document.blocks)))
