"""Annotated pages to a model."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from victorpy.anno import load_anno, load_progress, write_anno
from victorpy.config import Config
from victorpy.crf.training import Progress
from victorpy.document import CleanPage, Label
from victorpy.errors import DataError
from victorpy.evidence.stage import Report
from victorpy.labellers.crf import CRFLabeller
from victorpy.model import save_model


@dataclass(frozen=True)
class Trained:
    """A labeller and the story of its training, as it goes into the model's meta.json."""

    labeller: CRFLabeller
    config: Config
    story: dict[str, Any]

    def save(self, directory: Path) -> None:
        """Write the model directory."""
        save_model(directory, self.labeller, self.config, self.story)


def load_pages(paths: Sequence[Path], config: Config) -> list[CleanPage]:
    """Read annotation files; a directory stands for those in it."""
    return [load_anno(file, config.cuts) for file in find_annotations(paths)]


def find_annotations(paths: Sequence[Path]) -> list[Path]:
    """Find annotation files; a directory stands for those in it."""
    files = [file for path in paths for file in (sorted(path.glob("**/*.anno")) if path.is_dir() else [path])]
    if not files:
        raise DataError("no annotation files (*.anno) to learn from")
    return files


@dataclass(frozen=True)
class Unconfirmed:
    """An annotation file of which nobody has decided on some blocks."""

    path: Path
    blocks: int
    of: int
    """How many blocks it has."""


def find_unconfirmed(files: Sequence[Path]) -> list[Unconfirmed]:
    """Find the files in which some blocks have only a model's label, or none; gold standards are a person's."""
    progress = ((file, *load_progress(file)) for file in files)
    return [Unconfirmed(file, blocks - decided, blocks) for file, decided, blocks in progress if decided < blocks]


def train(
    pages: Sequence[CleanPage],
    config: Config,
    progress: Progress | None = None,
    report: Report = lambda said: None,
) -> Trained:
    """Train a model on annotated pages: its stages of evidence, if it has any, and its CRF."""
    documents = [page.document for page in pages]
    labels = [page.labels for page in pages]
    labeller = CRFLabeller(config).fit(documents, labels, progress, report)
    return Trained(labeller, config, tell_story(pages, labeller))


def tell_story(pages: Sequence[CleanPage], labeller: CRFLabeller) -> dict[str, Any]:
    """Say what a labeller was trained on, and how well it does on that."""
    digest = hashlib.sha256()
    for page in sorted(write_anno(page) for page in pages):
        digest.update(page.encode())
    return {
        "pages": len(pages),
        "blocks": sum(len(page.labels) for page in pages),
        "labels": dict(sorted(Counter(str(label) for page in pages for label in page.labels).items())),
        "data-sha256": digest.hexdigest(),
        "scores": _training_scores(pages, labeller),
    }


def _training_scores(pages: Sequence[CleanPage], labeller: CRFLabeller) -> dict[str, float]:
    """How well the model labels the pages that it was trained on; new pages are harder."""
    total = right = right_content = 0
    for page in pages:
        for ours, gold in zip(labeller.label(page.document).labels, page.labels, strict=True):
            total += 1
            right += ours == gold
            right_content += (ours is Label.OTHER) == (gold is Label.OTHER)
    return {
        "label_accuracy": round(right / max(total, 1), 6),
        "content_accuracy": round(right_content / max(total, 1), 6),
    }
